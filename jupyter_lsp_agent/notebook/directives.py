"""Comments that speak to a checker about a whole file: in a notebook they would speak for every cell.

Standing alone in the first code cell they are meant for the notebook and go to the top of the virtual document.
Anywhere else they are made harmless (`:` becomes `;`, so that no column moves); what they switch off in their own
cell is remembered. A directive behind code belongs to its line and is left alone.
"""

import io
import re
import tokenize
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jupyter_lsp_agent.core.positions import TextPosition, TextRange
from jupyter_lsp_agent.notebook.rewrite import Replace

_DIRECTIVE = re.compile(
    r"^[ \t\f]*#[ \t]*"
    r"(?:type:[ \t]*ignore|(?:based)?pyright:|pyrefly:|mypy:|ty:|(?:ruff|flake8):[ \t]*noqa|pylint:|zuban:)"
)
_RULE_OFF = re.compile(r"\b(report\w+)\s*=\s*(?:false|none)\b", re.IGNORECASE)
_CODES = re.compile(r"(?:noqa|disable)\s*[:=]\s*([\w, -]+)")
ALL_LINT_CODES = "noqa"
"""Stands for every code of the form that linters share: capitals and digits (`F401`)."""
_TRIPLE = ("'''", '"""')


@dataclass(frozen=True, slots=True)
class Directives:
    """The directives of one cell.

    Attributes:
        rewrites: what makes them harmless.
        texts: the comments, without indentation.
        alone: the cell holds nothing but comments and blank lines.
        silenced_codes: codes that they switch off.
    """

    rewrites: tuple[Replace, ...] = ()
    texts: tuple[str, ...] = ()
    alone: bool = False
    silenced_codes: frozenset[str] = frozenset()


_NONE = Directives()


def find_directives(lines: Sequence[str]) -> Directives:
    """The directives that stand on a line of their own."""
    numbers = [number for number, line in enumerate(lines) if _DIRECTIVE.match(line)]
    if not numbers:
        return _NONE
    if any(quote in line for line in lines for quote in _TRIPLE):
        comments = set(_comment_lines(lines))
        numbers = [number for number in numbers if number in comments]
    texts = tuple(lines[number].strip() for number in numbers)
    return Directives(
        rewrites=tuple(_disarm(number, lines[number]) for number in numbers),
        texts=texts,
        alone=all(not line.strip() or line.lstrip().startswith("#") for line in lines),
        silenced_codes=frozenset(_silenced(texts)),
    )


def _disarm(number: int, line: str) -> Replace:
    column = line.index(":")
    return Replace(TextRange(TextPosition(number, column), TextPosition(number, column + 1)), ";")


def _silenced(texts: Sequence[str]) -> Iterator[str]:
    for text in texts:
        yield from _RULE_OFF.findall(text)
        codes = _CODES.findall(text)
        for code in codes:
            yield from re.findall(r"[\w-]+", code)
        if "noqa" in text and not codes:
            yield ALL_LINT_CODES


def _comment_lines(lines: Sequence[str]) -> Iterator[int]:
    reader = io.StringIO("\n".join(lines)).readline
    try:
        for token in tokenize.generate_tokens(reader):
            if token.type == tokenize.COMMENT:
                yield token.start[0] - 1
    except (tokenize.TokenError, SyntaxError):
        return
