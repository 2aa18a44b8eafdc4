"""What SQL magics put into a statement before it is SQL: `{name}`, `{{ name }}`, `{% if … %}`.

No server of SQL knows them, so a hole becomes a name, or a list behind `in`, and a tag becomes blanks, each as wide as
it was. `:name`, `$name` and `?` are SQL's own.
"""

import re
from collections.abc import Iterator, Sequence

from jupyter_lsp_agent.core.positions import TextPosition, TextRange
from jupyter_lsp_agent.notebook.line_map import MappedLine
from jupyter_lsp_agent.notebook.rewrite import Replace, apply_rewrites

_TEMPLATE = re.compile(r"(?P<tag>\{%.*?%\}|\{#.*?#\})|\{\{.*?\}\}|\{[^{}]*\}")
_BEFORE_A_LIST = re.compile(r"\bin\s*$", re.IGNORECASE)


def fill_templates(lines: Sequence[MappedLine]) -> Sequence[MappedLine]:
    """The lines of a body with its templates filled."""
    rewrites = [rewrite for number, line in enumerate(lines) for rewrite in _fillings(number, line.text)]
    return apply_rewrites(lines, rewrites) if rewrites else lines


def _fillings(number: int, text: str) -> Iterator[Replace]:
    for found in _TEMPLATE.finditer(text):
        width = found.end() - found.start()
        filling = "x" * width
        if found["tag"]:
            filling = " " * width
        elif _BEFORE_A_LIST.search(text, 0, found.start()):
            filling = f"({'x' * (width - 2) or '0'})"
        place = TextRange(TextPosition(number, found.start()), TextPosition(number, found.end()))
        yield Replace(place, filling)
