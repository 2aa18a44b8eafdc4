"""What IPython strips from the left of a cell before it reads it: common indentation and pasted prompts.

These are the cleanup transforms of `IPython.core.inputtransformer2` (leading empty lines, leading indent, classic
prompt, IPython prompt), told as columns: each removes a prefix of a line and nothing else, so a line stays a line.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from jupyter_lsp_agent.core.positions import CellLine

_INDENT = re.compile(r"[ \t]*")
_DOCTEST_FIRST = re.compile(r"\s*>>>[ \t]?")
_DOCTEST_NEXT = re.compile(r"\s*\.\.\.[ \t]?")
_TRIPLE_QUOTE = re.compile(r"(?<!\\)(\"\"\"|''')")
_STRING_PREFIX = re.compile(r"[rubf]*", re.IGNORECASE)
_BLANK_START = re.compile(r"\s*[\v\x1c-\x1e\x85\u2028\u2029]")
"""Line ends to IPython, which takes empty lines off the start of a cell, and to nobody else."""
_IPYTHON_PROMPT = re.compile(r"((\[nav\]|\[ins\])?\ )?In\ \[\d+\]:\ |\s*\.{3,}:\ ?", re.VERBOSE)


@dataclass(frozen=True, slots=True)
class SourceLine:
    """One line of a cell, or what is left of it.

    Attributes:
        cell_line: the cell's line.
        text: what is left, without the line end; always a tail of the line, apart from white space at its end.
        cell_column: the column in the cell at which `text` begins.
    """

    cell_line: CellLine
    text: str
    cell_column: int = 0

    def without(self, width: int) -> "SourceLine":
        """This line without its first `width` characters."""
        return SourceLine(self.cell_line, self.text[width:], self.cell_column + width) if width else self


def source_lines(texts: Sequence[str]) -> list[SourceLine]:
    """The lines of a cell as they are."""
    return [SourceLine(CellLine(number), text) for number, text in enumerate(texts)]


def has_blank_start(source: str) -> bool:
    """Whether IPython takes characters off the start of a cell that are no Python."""
    return _BLANK_START.match(source) is not None


def clean_lines(lines: Sequence[SourceLine]) -> tuple[list[SourceLine], list[SourceLine]]:
    """The empty lines at the start, and the rest as IPython reads it: dedented and without prompts."""
    first = next((i for i, line in enumerate(lines) if line.text and not line.text.isspace()), 0)
    begun = [line.without(len(_leading(_BLANK_START, line.text))) for line in lines[first : first + 1]]
    rest = _strip_ipython_prompts(_strip_classic_prompts(_dedent([*begun, *lines[first + 1 :]])))
    return list(lines[:first]), rest


def _dedent(lines: Sequence[SourceLine]) -> list[SourceLine]:
    """As `textwrap.dedent`; lines of blanks and tabs alone do not count."""
    margin: str | None = None
    for line in lines:
        indent = _leading(_INDENT, line.text)
        if len(indent) == len(line.text):
            continue
        margin = indent if margin is None else _common_prefix(margin, indent)
        if not margin:
            return list(lines)
    width = len(margin or "")
    return [line.without(min(width, len(line.text))) if line.text.strip(" \t") else line for line in lines]


def _leading(pattern: re.Pattern[str], text: str) -> str:
    match = pattern.match(text)
    return match.group() if match else ""


def _common_prefix(one: str, other: str) -> str:
    for i, (a, b) in enumerate(zip(one, other, strict=False)):
        if a != b:
            return one[:i]
    return min(one, other, key=len)


def _strip_classic_prompts(lines: list[SourceLine]) -> list[SourceLine]:
    """Remove `>>> ` and `... ` where a line outside triple quotes has the former, then dedent what lost a prompt."""
    if not any(">>>" in line.text for line in lines):
        return lines
    kept = _lines_inside_strings(lines)
    if not any(_DOCTEST_FIRST.match(line.text) for line, inside in zip(lines, kept, strict=True) if not inside):
        return lines
    stripped = [line if inside else _without_prompt(line) for line, inside in zip(lines, kept, strict=True)]
    result: list[SourceLine] = []
    start = 0
    while start < len(lines):
        end = start
        while end < len(lines) and kept[end] == kept[start]:
            end += 1
        segment = stripped[start:end]
        changed = not kept[start] and segment != lines[start:end]
        result += _dedent(segment) if changed else segment
        start = end
    return result


def _without_prompt(line: SourceLine) -> SourceLine:
    prompt = _leading(_DOCTEST_FIRST, line.text) or _leading(_DOCTEST_NEXT, line.text)
    return line.without(len(prompt))


def _lines_inside_strings(lines: Sequence[SourceLine]) -> list[bool]:
    """Which lines IPython holds for parts of a triple-quoted string that was not itself pasted with a prompt."""
    inside: list[bool] = []
    quote: str | None = None
    keep = prompt_seen = False
    for line in lines:
        inside.append(quote is not None and keep)
        for match in _TRIPLE_QUOTE.finditer(line.text):
            if quote is None:
                quote = match.group(1)
                before = line.text[: match.start()]
                bare = _DOCTEST_NEXT.sub("", _DOCTEST_FIRST.sub("", before, count=1), count=1)
                prompted = bare != before and prompt_seen
                keep = not prompted and _STRING_PREFIX.fullmatch(bare.strip()) is not None
                inside[-1] = keep
            elif quote == match.group(1):
                quote, keep = None, False
        prompt_seen = prompt_seen or _DOCTEST_FIRST.match(line.text) is not None
    return inside


def _strip_ipython_prompts(lines: list[SourceLine]) -> list[SourceLine]:
    """Remove `In [1]: ` and `   ...: ` everywhere where one of the first two lines has one."""
    if not any(_IPYTHON_PROMPT.match(line.text) for line in lines[:2]):
        return lines
    return [line.without(len(_leading(_IPYTHON_PROMPT, line.text))) for line in lines]
