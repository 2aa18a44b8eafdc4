"""Where each character of a virtual document came from, and where each character of a cell went.

A virtual document is a prefix and then one `CellChunk` a cell; a chunk is a list of `MappedLine`s. Lines that no cell
has (the prefix, glue between lines) have no `cell_line`; characters that no cell has lie in no `ColumnSpan`. An
explicit table of lines, rather than "line n stays line n", is what lets glue be inserted anywhere.

Places inside rewritten characters are mapped to the nearest copied ones, so that a finding there still has its
line; only glue has no place at all. Chunks carry their own little tables and are shared between documents, so a map of
1,000 cells is made of 1,000 numbers.
"""

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate

from jupyter_lsp_agent.core.positions import CellLine, TextPosition, TextRange, split_lines


@dataclass(frozen=True, slots=True)
class ColumnSpan:
    """A run of characters copied unchanged: `length` code points from `cell_column` now stand at `virtual_column`."""

    virtual_column: int
    cell_column: int
    length: int


@dataclass(frozen=True, slots=True)
class MappedLine:
    """One line of virtual text, without its end, and where it came from.

    Attributes:
        text: the virtual text.
        cell_line: the cell's line that it stands for; `None` for glue.
        spans: what was copied, in order of `virtual_column`; `None` (with a `cell_line`): the whole line, columns
            equal.
    """

    text: str
    cell_line: CellLine | None
    spans: tuple[ColumnSpan, ...] | None = None


@dataclass(frozen=True, slots=True)
class CellLocation:
    """A place in a cell: `cell_index` counts all cells of the notebook, `position` is in the cell's source."""

    cell_index: int
    position: TextPosition


class CellChunk:
    """The virtual lines of one cell, with the way back. Immutable; does not know at which line of a document it stands.

    Raises:
        ValueError: a span lies outside its line, or spans overlap, or a text holds a line end.
    """

    __slots__ = ("_by_cell_line", "line_count", "lines", "text")

    def __init__(self, lines: Sequence[MappedLine]) -> None:
        self.lines = tuple(lines)
        self.line_count = len(self.lines)
        self.text = "".join([line.text + "\n" for line in self.lines])
        self._by_cell_line: dict[int, list[int]] = {}
        for number, line in enumerate(self.lines):
            if line.cell_line is not None:
                self._by_cell_line.setdefault(line.cell_line, []).append(number)
            if line.spans is not None:
                _check_spans(line)
        if self.text.count("\n") != len(self.lines) or "\r" in self.text:
            raise ValueError("a virtual line holds a line end")

    def to_cell(self, position: TextPosition) -> TextPosition | None:
        """The cell's place for a place of this chunk; `None` on glue."""
        line = self.lines[position.line]
        if line.cell_line is None:
            return None
        if line.spans is None:
            return TextPosition(line.cell_line, position.column)
        return TextPosition(line.cell_line, _cell_column(line.spans, position.column))

    def end_of_cell(self, line: int) -> TextPosition | None:
        """The cell's place at the end of the last of its own lines that is not after `line` of this chunk."""
        for number in range(line, -1, -1):
            found = self.to_cell(TextPosition(number, len(self.lines[number].text)))
            if found is not None:
                return found
        return None

    def to_virtual(self, position: TextPosition) -> TextPosition | None:
        """Where a character of the cell went; `None` for one that was rewritten or stands on a line that is not
        there."""
        for number in self._by_cell_line.get(position.line, ()):
            column = _virtual_column(self.lines[number], position.column)
            if column is not None:
                return TextPosition(number, column)
        return None


@dataclass(frozen=True, slots=True)
class ChunkPlace:
    """A chunk inside a document: the notebook's cell, and the chunk's first virtual line."""

    cell_index: int
    chunk: CellChunk
    first_line: int


@dataclass(frozen=True, slots=True)
class MovedLine:
    """A cell's line that stands above all chunks, on virtual line `virtual_line`."""

    virtual_line: int
    cell_index: int
    line: MappedLine


class LineMap:
    """The two-way map of one virtual document.

    Args:
        prefix_lines: how many lines stand before the first chunk.
        cells: cell index and chunk, in document order.
        moved: lines of the prefix that are a cell's.
    """

    __slots__ = ("_cells", "_moved", "_numbers", "_starts", "line_count", "prefix_line_count")

    def __init__(
        self, prefix_lines: int, cells: Sequence[tuple[int, CellChunk]], moved: Sequence[MovedLine] = ()
    ) -> None:
        self._moved = {line.virtual_line: line for line in moved}
        self.prefix_line_count = prefix_lines
        starts = list(accumulate([chunk.line_count for _, chunk in cells], initial=prefix_lines))
        self.line_count = starts.pop()
        self._starts = starts
        self._cells = cells
        self._numbers = {cell_index: number for number, (cell_index, _) in enumerate(cells)}
        if len(self._numbers) != len(cells):
            raise ValueError("a cell stands twice in one virtual document")

    @property
    def places(self) -> Sequence[ChunkPlace]:
        """The chunks in document order."""
        return [self._place(number) for number in range(len(self._starts))]

    def _place(self, number: int) -> ChunkPlace:
        return ChunkPlace(*self._cells[number], self._starts[number])

    def place_at(self, line: int) -> ChunkPlace | None:
        """The chunk that a virtual line belongs to; `None` for the prefix and past the end."""
        number = bisect_right(self._starts, line) - 1
        # Chunks without lines share their start with the next one, and bisect gives the last of them.
        return None if number < 0 or line >= self.line_count else self._place(number)

    def place_of(self, cell_index: int) -> ChunkPlace | None:
        """Where a cell stands; `None` for a cell that is not in this document."""
        number = self._numbers.get(cell_index)
        return None if number is None else self._place(number)

    def to_cell(self, position: TextPosition) -> CellLocation | None:
        """The place in a cell that a virtual place stands for; `None` for the prefix, glue and past the end."""
        place = self.place_at(position.line)
        if place is None:
            return self._moved_to_cell(position)
        found = place.chunk.to_cell(TextPosition(position.line - place.first_line, position.column))
        return None if found is None else CellLocation(place.cell_index, found)

    def to_virtual(self, cell_index: int, position: TextPosition) -> TextPosition | None:
        """Where a cell's character stands; `None` where it was rewritten or is not in this document."""
        place = self.place_of(cell_index)
        found = None if place is None else place.chunk.to_virtual(position)
        if place is None or found is None:
            return self._moved_to_virtual(cell_index, position)
        return TextPosition(place.first_line + found.line, found.column)

    def _moved_to_cell(self, position: TextPosition) -> CellLocation | None:
        moved = self._moved.get(position.line)
        found = None if moved is None else CellChunk([moved.line]).to_cell(TextPosition(0, position.column))
        return None if moved is None or found is None else CellLocation(moved.cell_index, found)

    def _moved_to_virtual(self, cell_index: int, position: TextPosition) -> TextPosition | None:
        for moved in self._moved.values():
            if moved.cell_index == cell_index and moved.line.cell_line == position.line:
                column = _virtual_column(moved.line, position.column)
                return None if column is None else TextPosition(moved.virtual_line, column)
        return None

    def range_to_cell(self, virtual: TextRange) -> tuple[int, TextRange] | None:
        """A virtual range as a range of the one cell that it begins in, clamped to that cell.

        `None` where its start is in no cell.
        """
        place = self.place_at(virtual.start.line)
        if place is None:
            return self._moved_range_to_cell(virtual)
        start = place.chunk.to_cell(TextPosition(virtual.start.line - place.first_line, virtual.start.column))
        if start is None:
            return None
        return place.cell_index, TextRange(start, max(start, _range_end(place, virtual.end, start)))

    def _moved_range_to_cell(self, virtual: TextRange) -> tuple[int, TextRange] | None:
        start, end = self._moved_to_cell(virtual.start), self._moved_to_cell(virtual.end)
        if start is None:
            return None
        stays = end is not None and end.cell_index == start.cell_index
        last = end.position if end is not None and stays else start.position
        return start.cell_index, TextRange(start.position, max(start.position, last))


def _range_end(place: ChunkPlace, end: TextPosition, start: TextPosition) -> TextPosition:
    """The end of a range inside its cell: past the chunk it is the chunk's end, on glue the line before."""
    line, column = end.line - place.first_line, end.column
    if line >= place.chunk.line_count:
        line = place.chunk.line_count - 1
        column = len(place.chunk.lines[line].text)
    while line >= 0:
        found = place.chunk.to_cell(TextPosition(line, column))
        if found is not None:
            return found
        line -= 1
        column = len(place.chunk.lines[line].text)
    return start


def _check_spans(line: MappedLine) -> None:
    after = 0
    for span in line.spans or ():
        if span.virtual_column < after or span.cell_column < 0 or span.length < 0:
            raise ValueError(f"the spans of a virtual line overlap: {line.spans}")
        after = span.virtual_column + span.length
    if after > len(line.text):
        raise ValueError(f"a span passes the end of its virtual line: {line.spans}")


def _cell_column(spans: tuple[ColumnSpan, ...], column: int) -> int:
    """Exact inside a span; in rewritten characters the end of the span before, at the line's start the first span's."""
    nearest = spans[0].cell_column if spans else 0
    for span in spans:
        if span.virtual_column > column:
            break
        nearest = span.cell_column + min(column - span.virtual_column, span.length)
    return nearest


def _virtual_column(line: MappedLine, column: int) -> int | None:
    if line.spans is None:
        return column if column <= len(line.text) else None
    for span in line.spans:
        if span.cell_column <= column < span.cell_column + span.length:
            return span.virtual_column + column - span.cell_column
    last = line.spans[-1] if line.spans else None
    at_end = last is not None and column == last.cell_column + last.length
    return last.virtual_column + last.length if last is not None and at_end else None


def whole_lines(text: str) -> tuple[MappedLine, ...]:
    """The lines of `text`, unchanged."""
    return tuple(MappedLine(line, CellLine(number)) for number, line in enumerate(split_lines(text)))
