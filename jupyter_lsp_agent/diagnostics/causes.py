"""Which cell's change made a finding in another cell.

A definition that is deleted, renamed, retyped or moved behind its use shows as findings where it is used, on lines that
nobody touched. What such a finding is about is in its range and in the quoted words of its message; the cause is the
cell whose change took, moved or changed the definition of one of these names. Where that is not seen directly, the
definitions are followed through cells that did not change; and where a single cell changed at all, it was that one.
"""

import re
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from jupyter_lsp_agent.core.positions import split_lines
from jupyter_lsp_agent.diagnostics.baseline import Finding
from jupyter_lsp_agent.diagnostics.cell_names import NO_NAMES, CellNames, read_names, words_of
from jupyter_lsp_agent.diagnostics.line_shift import LineShift
from jupyter_lsp_agent.diagnostics.report import CellReference
from jupyter_lsp_agent.notebook.model import Cell, CellKind

_QUOTED = re.compile(r"[`'\"‘“]([^`'\"’”\n]+)[`'\"’”]")
T = TypeVar("T")
_MAX_STEPS = 6
"""How many unchanged cells a definition is followed through."""


@dataclass(frozen=True, slots=True)
class _Change:
    """A cell that changed, came, went, or stands elsewhere; `None` where a state does not have it."""

    old: int | None
    new: int | None
    before: CellNames
    now: CellNames
    reference: CellReference

    @property
    def lost(self) -> frozenset[str]:
        return self.before.bound - self.now.bound


def find_causes(
    introduced: Iterable[Finding], old_cells: Sequence[Cell], new_cells: Sequence[Cell], shift: LineShift
) -> dict[Finding, CellReference]:
    """The cell that caused each finding, where it is another one than the finding's own.

    A cell that is gone is named by its old place.

    Args:
        introduced: findings of the new state that are new.
        old_cells: the old state.
        new_cells: the new state.
        shift: the map between them.
    """
    on_old_lines = [finding for finding in introduced if shift.is_old_line(finding.start)]
    if not on_old_lines:
        return {}
    search = _Search(old_cells, new_cells, shift)
    causes = ((finding, search.cause_of(finding)) for finding in on_old_lines)
    return {finding: cause for finding, cause in causes if cause is not None}


class _Search:
    """The changes between two states, filed by the names that they are about."""

    def __init__(self, old_cells: Sequence[Cell], new_cells: Sequence[Cell], shift: LineShift) -> None:
        self._old_cells, self._new_cells, self._matching = old_cells, new_cells, shift.matching
        self._names: dict[str, CellNames] = {}
        changes = self._find_changes()
        self._edited = [change for change in changes if not self._is_same(change)]
        self._losing = _filed((name, change) for change in changes for name in change.lost)
        self._binding = _filed((name, change) for change in changes for name in change.now.bound)
        self._defining: dict[str, list[CellNames]] | None = None
        self._known: dict[tuple[int, frozenset[str]], CellReference | None] = {}

    def cause_of(self, finding: Finding) -> CellReference | None:
        """The cell whose change made a finding on a line that did not change."""
        names = frozenset(_names_of(finding, self._new_cells[finding.cell_index]))
        key = finding.cell_index, names
        if key not in self._known:
            self._known[key] = self._find(finding.cell_index, names)
        return self._known[key]

    def _find(self, cell: int, names: frozenset[str]) -> CellReference | None:
        asked: frozenset[str] = frozenset()
        for _ in range(_MAX_STEPS):
            if not names - asked:
                break
            change = self._change_of(cell, names - asked)
            if change is not None:
                return None if change.new == cell else change.reference
            asked, names = asked | names, names | self._used_to_define(names - asked)
        only = self._edited[0] if len(self._edited) == 1 else None
        return only.reference if only and only.new != cell else None

    def _change_of(self, cell: int, names: frozenset[str]) -> _Change | None:
        """The change that took, moved or changed the definition of one of these names."""
        losing = [change for name in names for change in self._losing.get(name, ())]
        binding = [change for name in names for change in self._binding.get(name, ())]
        moved = [change for change in binding if self._changed_sides(change, cell)]
        edited = [change for change in binding if not self._is_same(change)]
        found = losing or moved or edited
        return max(found, key=lambda change: self._nearness(change, cell)) if found else None

    def _nearness(self, change: _Change, cell: int) -> tuple[bool, int]:
        """The finding's own cell first, then the nearest one above it, then those below."""
        place = change.new if change.new is not None else change.old or 0
        return change.new == cell, place if place < cell else -place

    def _changed_sides(self, change: _Change, cell: int) -> bool:
        """Whether the cell was above the finding's and is below, or the other way round."""
        old_cell = self._matching.old_of_new[cell]
        if None in (old_cell, change.old, change.new) or change.new == cell:
            return False
        return (change.old < old_cell) != (change.new < cell)  # type: ignore[operator]

    def _is_same(self, change: _Change) -> bool:
        """Whether the cell did not change: it only stands elsewhere."""
        return change.old is not None and change.new is not None and not self._is_altered(change.old, change.new)

    def _is_altered(self, old: int, new: int) -> bool:
        return old in self._matching.changed or self._old_cells[old].kind is not self._new_cells[new].kind

    def _used_to_define(self, names: frozenset[str]) -> frozenset[str]:
        """The names that cells use which define one of these."""
        if self._defining is None:
            every = [self._names_in(cell) for cell in self._new_cells]
            self._defining = _filed((name, found) for found in every for name in found.bound)
        return frozenset().union(*(found.used for name in names for found in self._defining.get(name, ())))

    def _names_in(self, cell: Cell | None) -> CellNames:
        if cell is None or cell.kind is not CellKind.CODE:
            return NO_NAMES
        if cell.source not in self._names:
            self._names[cell.source] = read_names(cell.source)
        return self._names[cell.source]

    def _find_changes(self) -> list[_Change]:
        pairs = list(self._matching.pairs())
        moved = _out_of_order(pairs)
        both = [pair for pair in pairs if self._is_altered(*pair) or pair in moved]
        gone = [(old, None) for old, new in enumerate(self._matching.new_of_old) if new is None]
        come = [(None, new) for new, old in enumerate(self._matching.old_of_new) if old is None]
        changes = [self._change(old, new) for old, new in (*both, *gone, *come)]
        return [change for change in changes if change.before != NO_NAMES or change.now != NO_NAMES]

    def _change(self, old: int | None, new: int | None) -> _Change:
        before = None if old is None else self._old_cells[old]
        now = None if new is None else self._new_cells[new]
        return _Change(old, new, self._names_in(before), self._names_in(now), _reference(old, before, new, now))


def _filed(named: Iterable[tuple[str, T]]) -> dict[str, list[T]]:
    filed: defaultdict[str, list[T]] = defaultdict(list)
    for name, item in named:
        filed[name].append(item)
    return filed


def _reference(old: int | None, before: Cell | None, new: int | None, now: Cell | None) -> CellReference:
    cell = now or before
    return CellReference(new if new is not None else old or 0, cell.cell_id if cell else None)


def _out_of_order(pairs: Sequence[tuple[int, int]]) -> set[tuple[int, int]]:
    """The pairs that some other pair has changed sides with."""
    highest, smaller_behind = -1, len(pairs) + max((new for _, new in pairs), default=0) + 1
    found = set()
    for pair in pairs:
        if pair[1] < highest:
            found.add(pair)
        highest = max(highest, pair[1])
    for pair in reversed(pairs):
        if pair[1] > smaller_behind:
            found.add(pair)
        smaller_behind = min(smaller_behind, pair[1])
    return found


def _names_of(finding: Finding, cell: Cell) -> Iterable[str]:
    text_range = finding.diagnostic.range
    line = split_lines(cell.source)[text_range.start.line]
    end = text_range.end.column if text_range.end.line == text_range.start.line else len(line)
    yield from words_of(line[text_range.start.column : end])
    for quoted in _QUOTED.findall(finding.diagnostic.message):
        yield from words_of(quoted)
