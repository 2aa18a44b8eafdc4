"""One form of IPython's syntax with the lines that it stands in: which column of which line a piece of it comes from.

IPython joins lines that end in a backslash before it reads a form; what stands in the joined text is found again here.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from jupyter_lsp_agent.notebook.cell_cleanup import SourceLine
from jupyter_lsp_agent.notebook.ipython_syntax import Construct
from jupyter_lsp_agent.notebook.translation_sheet import LineBuilder

_NAMES = re.compile(r"[\s*(]*[^\W\d]\w*(?:[\s,*()]+[^\W\d]\w*)*[\s,)]*(?::[^=]*)?=\s*")


@dataclass(frozen=True, slots=True)
class Place:
    """A column of what is left of a source line."""

    index: int
    column: int


class PlacedForm:
    """A form with the lines that it stands in."""

    def __init__(self, form: Construct, lines: Sequence[SourceLine], indent: str) -> None:
        self.construct = form
        self.lines = lines
        self.first, self.last = form.first_line, form.last_line
        self.column = form.column
        self.line = lines[form.first_line]
        self.rest = lines[form.first_line + 1 : form.last_line + 1]
        self.name, _, self.arguments = form.content.partition(" ")
        own = self.line.text[: form.column]
        self.indent = indent + own[: len(own) - len(own.lstrip())]
        self._outer_indent = indent

    @property
    def assigns_to_names(self) -> bool:
        """Whether what is left of the form's `=`, from the lines before too, is nothing but names, annotated or not."""
        text, index = self.line.text[: self.column], self.first
        while index > 0 and self.lines[index - 1].text.endswith("\\"):
            index -= 1
            text = f"{self.lines[index].text[:-1]} {text}"
        return _NAMES.fullmatch(text) is not None

    def head(self) -> LineBuilder:
        """A line with everything that stands before the form."""
        return LineBuilder(self.line).write(self._outer_indent).copy(0, self.column)

    def indented(self, line: SourceLine) -> LineBuilder:
        """Another line of the form, at the form's indentation."""
        return self.head() if line is self.line else LineBuilder(line).write(self.indent)

    def argument_place(self, position: int) -> Place | None:
        """Where a position in `arguments` stands in the source; `None` in what was put between joined lines."""
        left = position + len(self.name) + 1 + self.construct.escape_width
        column = self.column
        for index in range(self.first, self.last + 1):
            text = self.lines[index].text[column:].rstrip()
            width = len(text) - 1 if index < self.last else len(text)
            if left < width or (index == self.last and left <= width):
                return Place(index, column + left)
            left -= width + 1
            column = 0
            if left < 0:
                return None
        return None

    def copy_argument(self, builder: LineBuilder, position: int, text: str) -> None:
        """Append a piece of `arguments`; as a copy where it stands in the form's first line."""
        place = self.argument_place(position)
        if place is not None and place.index == self.first:
            builder.copy(place.column, place.column + len(text))
        else:
            builder.write(text)

    def statement_text(self, start: int) -> str:
        """The statement at `start` as it will stand, over several lines."""
        place = self.argument_place(start)
        if place is None:
            return ""
        texts = [line.text for line in self.lines[place.index : self.last + 1]]
        return "\n".join([texts[0][place.column :], *texts[1:]])
