"""Where a translation is written down, line by line, with what is learnt on the way."""

from collections.abc import Iterable, Sequence

from jupyter_lsp_agent.core.positions import CellLine, TextPosition, TextRange
from jupyter_lsp_agent.notebook.awaits import find_await_words
from jupyter_lsp_agent.notebook.cell_cleanup import SourceLine
from jupyter_lsp_agent.notebook.cell_translation import (
    CellScope,
    CellTranslation,
    ForeignBody,
    MagicBinding,
    NamespaceEffect,
    OwnScope,
    TranslationError,
    UncheckedLines,
)
from jupyter_lsp_agent.notebook.line_map import CellChunk, ColumnSpan, MappedLine
from jupyter_lsp_agent.notebook.magic_prelude import ANY, TYPE_NAMES
from jupyter_lsp_agent.notebook.python_syntax import parse
from jupyter_lsp_agent.notebook.reserved_names import MISSING_MODULE
from jupyter_lsp_agent.notebook.source_text import SourceText


class LineBuilder:
    """One virtual line in the making: pieces of a source line, and text of ours between them."""

    def __init__(self, source: SourceLine) -> None:
        self._source = source
        self._pieces: list[str] = []
        self._spans: list[ColumnSpan] = []
        self._width = 0

    def copy(self, start: int, end: int | None = None) -> "LineBuilder":
        """Append a stretch of the source line."""
        text = self._source.text[start:end]
        if text:
            self._spans.append(ColumnSpan(self._width, self._source.cell_column + start, len(text)))
        return self.write(text)

    def write(self, text: str) -> "LineBuilder":
        """Append text that the cell does not have."""
        self._pieces.append(text)
        self._width += len(text)
        return self

    def build(self) -> MappedLine:
        """The line."""
        return MappedLine("".join(self._pieces), self._source.cell_line, tuple(self._spans))


class TranslationSheet:
    """The lines and facts of one cell's translation, in the order in which they are found."""

    def __init__(self) -> None:
        self.lines: list[MappedLine] = []
        self.scope = CellScope.NOTEBOOK
        self.automagic: str | None = None
        self._bindings: list[MagicBinding] = []
        self._helpers: set[str] = set()
        self._foreign: list[ForeignBody] = []
        self._unchecked: list[UncheckedLines] = []
        self._effects: list[NamespaceEffect] = []
        self._errors: list[TranslationError] = []
        self._own_scopes: list[OwnScope] = []

    def copy(self, lines: Iterable[SourceLine]) -> None:
        """Lines that are Python."""
        for line in lines:
            whole = line.cell_column == 0
            self.lines.append(MappedLine(line.text, line.cell_line) if whole else LineBuilder(line).copy(0).build())

    def blank(self, lines: Iterable[SourceLine]) -> None:
        """Lines that are nothing to Python."""
        self.lines += (MappedLine("", line.cell_line, ()) for line in lines)

    def glue(self, text: str) -> None:
        """A line that the cell does not have."""
        self.lines.append(MappedLine(text, None))

    def use(self, helper: str) -> str:
        """A call of a prelude name."""
        self._helpers.add(helper)
        return f"{helper}()"

    def bind(self, name: str, line: SourceLine, gives: str) -> None:
        """Note a name that a magic binds."""
        self._bindings.append(MagicBinding(name, line.cell_line, TYPE_NAMES[gives]))

    def bind_anything(self, names: Sequence[str], line: SourceLine) -> None:
        """Bind names of which nothing is known: imported from nowhere, they may be types too; variables may not."""
        if names:
            self.glue(f"from {MISSING_MODULE} import {', '.join(names)}")
        for name in names:
            self.bind(name, line, ANY)

    def add_foreign(self, body: ForeignBody) -> None:
        """Note a body of another language."""
        self._foreign.append(body)

    def add_unchecked(self, first: CellLine, last: CellLine, reason: str) -> None:
        """Note lines that nobody will look at."""
        self._unchecked.append(UncheckedLines(first, last, reason))

    def add_effect(self, effect: NamespaceEffect) -> None:
        """Note what a magic does to the namespace."""
        self._effects.append(effect)

    def add_error(self, message: str, line: SourceLine, start: int, end: int) -> None:
        """Note what IPython refuses: columns `start` to `end` of what is left of a line."""
        begin, finish = line.cell_column + start, line.cell_column + max(end, start + 1)
        place = TextRange(TextPosition(line.cell_line, begin), TextPosition(line.cell_line, finish))
        self._errors.append(TranslationError(message, place))

    def refuse_awaits(self, first_index: int, reason: str) -> None:
        """Note an error at every `await`, and its like, outside functions in the lines from `first_index` on."""
        lines = self.lines[first_index:]
        if lines and lines[0].text[:1].isspace():
            lines.insert(0, MappedLine("if 1:", None))
        text = "\n".join(line.text for line in lines)
        tree = parse(text) if "await" in text or "async" in text else None
        if tree is None:
            return
        source, chunk = SourceText(text), CellChunk(lines)
        for place in sorted(find_await_words(tree, source)):
            begin = chunk.to_cell(place)
            if begin is not None:
                end = TextPosition(begin.line, begin.column + len("await"))
                message = f"'await' outside function: {reason}"
                self._errors.append(TranslationError(message, TextRange(begin, end)))

    def add_own_scope(self, first_index: int, names: frozenset[str]) -> None:
        """Note that the lines from `first_index` on run in a scope of their own."""
        if len(self.lines) > first_index:
            self._own_scopes.append(OwnScope(first_index, len(self.lines) - 1, names))

    def finish(self) -> CellTranslation:
        """What was written down."""
        return CellTranslation(
            lines=tuple(self.lines),
            scope=self.scope,
            bindings=tuple(self._bindings),
            helpers=frozenset(self._helpers),
            foreign=tuple(self._foreign),
            unchecked=tuple(self._unchecked),
            effects=tuple(self._effects),
            errors=tuple(self._errors),
            own_scopes=tuple(self._own_scopes),
            automagic=self.automagic,
        )
