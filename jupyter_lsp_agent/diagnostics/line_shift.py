"""Where a line of an older state of a notebook is in the newer one.

Cells that did not change need no lines compared. A changed cell's lines are diffed, together with those of neighbours
that it was split into or merged from, so that of equal lines the order decides. What the diffs leave over on both
sides (all lines of cells that are gone or new too) is searched for runs that moved, by cut and paste or with parts of
cells. Inside a replaced stretch, lines that only changed their indentation are still told apart.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NewType

from jupyter_lsp_agent.core.positions import CellLine, split_lines
from jupyter_lsp_agent.diagnostics.line_diff import diff_lines
from jupyter_lsp_agent.diagnostics.moved_blocks import find_moved_lines, hunks_between_runs
from jupyter_lsp_agent.diagnostics.places import CellPlace, LineBlock
from jupyter_lsp_agent.notebook.identity import CellMatching, match_cells
from jupyter_lsp_agent.notebook.model import Cell, CellKind

HunkNumber = NewType("HunkNumber", int)
"""A stretch that was replaced by another, numbered through the notebook."""


@dataclass(frozen=True, slots=True)
class LineShift:
    """The map from the lines of one state to those of another; one to one.

    Attributes:
        matching: which cell is which.
        places: old to new, for lines of changed or vanished cells that are still there.
        old_hunks: the replaced stretch that an old line lies in.
        new_hunks: the replacement that a new line lies in, under the same number.
        old_lines: those lines of changed and new cells that were there before: the new places of `places`.
        rearranged: changed or vanished cells whose code is all still there, and nothing with it that is new: split,
            merged, or with other comments and blank lines.
    """

    matching: CellMatching
    places: Mapping[CellPlace, CellPlace]
    old_hunks: Mapping[CellPlace, HunkNumber]
    new_hunks: Mapping[CellPlace, HunkNumber]
    old_lines: frozenset[CellPlace]
    rearranged: frozenset[int]

    def new_place(self, old: CellPlace) -> CellPlace | None:
        """Where an old line is now; `None` where it is gone."""
        cell = self.new_cell(old.cell_index)
        if cell is not None and old.cell_index not in self.matching.changed:
            return CellPlace(cell, old.line)
        return self.places.get(old)

    def new_cell(self, old_cell: int) -> int | None:
        """Where an old cell is now; `None` where it is gone, or was never there."""
        return self.matching.new_of_old[old_cell] if old_cell < len(self.matching.new_of_old) else None

    def is_old_line(self, new: CellPlace) -> bool:
        """Whether a new line was there before, here or elsewhere."""
        old_cell = self.matching.old_of_new[new.cell_index]
        return new in self.old_lines or (old_cell is not None and old_cell not in self.matching.changed)

    def has_same_code(self, old_cell: int) -> bool:
        """Whether a cell's code is still there, and among nothing new."""
        if old_cell in self.rearranged:
            return True
        return self.new_cell(old_cell) is not None and old_cell not in self.matching.changed


def build_line_shift(old: Sequence[Cell], new: Sequence[Cell]) -> LineShift:
    """Map the lines of `old` to those of `new`."""
    builder = _Builder(old, new, match_cells(old, new))
    builder.compare_changed_cells()
    builder.find_moves()
    return builder.result()


class _Builder:
    """A line shift in the making."""

    def __init__(self, old: Sequence[Cell], new: Sequence[Cell], matching: CellMatching) -> None:
        self._old, self._new, self._matching = old, new, matching
        self._places: dict[CellPlace, CellPlace] = {}
        self._hunks: list[tuple[Sequence[CellPlace], Sequence[CellPlace]]] = []
        self._old_left: list[LineBlock] = []
        self._new_left: list[LineBlock] = []
        # Cells without a partner, until they turn out to be parts of a cell that was split or merged.
        self._gone = {cell for cell, partner in enumerate(matching.new_of_old) if partner is None}
        self._come = {cell for cell, partner in enumerate(matching.old_of_new) if partner is None}

    def result(self) -> LineShift:
        """What was found, frozen."""
        sides: tuple[dict[CellPlace, HunkNumber], dict[CellPlace, HunkNumber]] = ({}, {})
        for number, hunk in enumerate(self._hunks):
            for side, places in zip(sides, hunk, strict=True):
                for place in places:
                    side.setdefault(place, HunkNumber(number))
        old_lines = frozenset(self._places.values())
        return LineShift(self._matching, self._places, *sides, old_lines, frozenset(self._rearranged(old_lines)))

    def _rearranged(self, old_lines: frozenset[CellPlace]) -> Iterator[int]:
        clean = {
            cell: all(place in old_lines for place in _code_of(self._new, cell))
            for cell in {place.cell_index for place in old_lines}
        }
        for cell, partner in enumerate(self._matching.new_of_old):
            if partner is None or cell in self._matching.changed:
                now = [self._places.get(place) for place in _code_of(self._old, cell)]
                if all(place is not None and clean[place.cell_index] for place in now):
                    yield cell

    def compare_changed_cells(self) -> None:
        """Diff each changed cell, with the neighbours that it was split into or merged from."""
        for old_cell in sorted(self._matching.changed):
            new_cell = self._matching.new_of_old[old_cell]
            if new_cell is not None and CellKind.CODE is self._old[old_cell].kind is self._new[new_cell].kind:
                old_parts = _parts(self._old, old_cell, self._gone, _whole(self._new, new_cell))
                new_parts = _parts(self._new, new_cell, self._come, _whole(self._old, old_cell))
                self._gone.difference_update(old_parts)
                self._come.difference_update(new_parts)
                self._compare(_joined(self._old, old_parts), _joined(self._new, new_parts))

    def find_moves(self) -> None:
        """Look for the lines left over among each other."""
        old = _rest([*self._old_left, *(_whole(self._old, cell) for cell in self._gone)])
        new = _rest([*self._new_left, *(_whole(self._new, cell) for cell in self._come)])
        moved = find_moved_lines(old, new)
        self._places |= moved
        self._hunks += hunks_between_runs(old, new, moved)

    def _compare(self, old: LineBlock, new: LineBlock) -> None:
        diff = diff_lines(old.lines, new.lines)
        self._places |= {old.places[old_line]: new.places[new_line] for old_line, new_line in diff.kept}
        for hunk in diff.hunks:
            self._take_hunk(old.part(hunk.old_start, hunk.old_end), new.part(hunk.new_start, hunk.new_end))

    def _take_hunk(self, old: LineBlock, new: LineBlock) -> None:
        if old.lines and new.lines:
            self._hunks.append((old.places, new.places))
            reindented = dict(_reindented(old, new))
            self._places |= reindented
            self._old_left += _without(old, set(reindented))
            self._new_left += _without(new, set(reindented.values()))
        else:
            self._old_left.append(old)
            self._new_left.append(new)


def _whole(cells: Sequence[Cell], cell: int) -> LineBlock:
    """All lines of a code cell; of other cells none, since nothing is found in them."""
    lines = split_lines(cells[cell].source) if cells[cell].kind is CellKind.CODE else ()
    return LineBlock(tuple(CellPlace(cell, CellLine(line)) for line in range(len(lines))), tuple(lines))


def _joined(cells: Sequence[Cell], parts: Iterable[int]) -> LineBlock:
    blocks = [_whole(cells, part) for part in parts]
    return LineBlock(
        tuple(place for block in blocks for place in block.places),
        tuple(line for block in blocks for line in block.lines),
    )


def _parts(cells: Sequence[Cell], cell: int, alone: set[int], partner: LineBlock) -> list[int]:
    """The cell and its neighbours on both sides that have no partner and share lines with that of the cell."""
    known = {line for line in partner.lines if line.strip()}
    parts = [cell]
    for step in (-1, 1):
        place = cell + step
        while place in alone and (known.intersection(_whole(cells, place).lines) or _is_empty(cells[place])):
            parts.append(place)
            place += step
    return sorted(parts)


def _is_empty(cell: Cell) -> bool:
    """Whether there is no code in a cell."""
    return cell.kind is not CellKind.CODE or not cell.source.strip()


def _code_of(cells: Sequence[Cell], cell: int) -> list[CellPlace]:
    """The lines of a cell that are neither blank nor a comment."""
    block = _whole(cells, cell)
    lines = zip(block.places, block.lines, strict=True)
    return [place for place, line in lines if line.strip() and not line.lstrip().startswith("#")]


def _rest(blocks: list[LineBlock]) -> list[LineBlock]:
    return sorted((block for block in blocks if block.lines), key=lambda block: block.places[0])


def _reindented(old: LineBlock, new: LineBlock) -> Iterator[tuple[CellPlace, CellPlace]]:
    diff = diff_lines([line.strip() for line in old.lines], [line.strip() for line in new.lines])
    for old_line, new_line in diff.kept:
        if old.lines[old_line].strip():
            yield old.places[old_line], new.places[new_line]


def _without(block: LineBlock, taken: set[CellPlace]) -> Iterator[LineBlock]:
    """The block's stretches of lines that are not `taken`."""
    start = 0
    for end, place in enumerate([*block.places, None]):
        if place is None or place in taken:
            yield block.part(start, end)
            start = end + 1
