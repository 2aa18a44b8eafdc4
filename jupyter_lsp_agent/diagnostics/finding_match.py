"""Which finding of an older verdict is which of a newer one.

A finding is what it says (chain, severity, source, code, and the message without the positions it quotes) and where it
is. Both must agree, place for place, in this order of chances, one to one, as a multiset:

1. the same range on the same line, wherever that line is now;
2. the same line, another range on it;
3. the end of the cell, which has no line of its own to follow;
4. inside a stretch that was replaced by another;
5. for what was carried, whose place is only near: the same cell;
6. for a cell that did not parse: what it is told of on a line that was there, since a parser stops at the first error
   and finds an old one behind it when that is mended.

Where several could be meant, an equal message goes first, then the likelier line, then the nearer column. While a cell
does not parse, servers know less of the types of others and word the same finding in another way, so there a finding
without a partner may also take one of the same code on the same line of an unchanged cell.
"""

from collections import defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from itertools import islice

from jupyter_lsp_agent.core.positions import TextRange, split_lines
from jupyter_lsp_agent.diagnostics.baseline import Finding, TrackedFinding
from jupyter_lsp_agent.diagnostics.fingerprint import normalise_message
from jupyter_lsp_agent.diagnostics.line_shift import LineShift
from jupyter_lsp_agent.notebook.model import Cell
from jupyter_lsp_agent.notebook.similarity import count_words, likeness

_MAX_WEIGHED = 400
"""Pairs that are weighed against each other; of more findings that all say the same, the first goes with the first."""


class ComparedStates:
    """Two states: their cells, and the map between their lines."""

    def __init__(self, old_cells: Sequence[Cell], new_cells: Sequence[Cell], shift: LineShift) -> None:
        self.old_lines, self.new_lines = _CellLines(old_cells), _CellLines(new_cells)
        self.shift = shift


class _CellLines:
    """The lines of cells, split when first asked for."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        self._cells = cells
        self._lines: dict[int, list[str]] = {}

    def of(self, cell_index: int) -> list[str]:
        if cell_index not in self._lines:
            self._lines[cell_index] = split_lines(self._cells[cell_index].source)
        return self._lines[cell_index]

    def at(self, finding: Finding) -> str:
        """The line that a finding starts on."""
        lines = self.of(finding.cell_index)
        return lines[min(finding.start.line, len(lines) - 1)]

    def end_at(self, finding: Finding) -> bool:
        """Whether nothing but space follows the place where a finding starts."""
        start, lines = finding.diagnostic.range.start, self.of(finding.cell_index)
        following = islice(lines, start.line + 1, None)
        return not self.at(finding)[start.column :].strip() and not any(line.strip() for line in following)


def match_findings(
    old: Sequence[TrackedFinding], new: Sequence[Finding], states: ComparedStates, *, loosely: bool = False
) -> dict[int, int]:
    """For each old finding that is still there, its place in `new`.

    Args:
        old: what the last verdict holds.
        new: what was found now.
        states: where these were found.
        loosely: some cell does not parse, now or before, so messages in unchanged cells may have changed their words.
    """
    matching = _Matching(old, new, states)
    keys = _Keys(states)
    matching.take_chance(keys.new_range_of, keys.range_of)
    matching.take_chance(keys.new_line_of, keys.line_of)
    matching.take_chance(keys.end_of_new_cell_of, keys.end_of_cell_of)
    matching.take_chance(keys.replaced_stretch_of, keys.replacement_of)
    matching.take_chance(keys.new_cell_of_carried, keys.cell_of)
    matching.take_chance(keys.new_cell_of_syntax_error, keys.cell_of_old_line)
    if loosely:
        matching.take_chance(keys.code_on_unchanged_line_of, keys.code_on_line_of)
    return matching.partner


class _Keys:
    """What must be equal at each chance: for an old finding in new coordinates, for a new one; `None`: no chance."""

    def __init__(self, states: ComparedStates) -> None:
        self._states, self._shift = states, states.shift

    def new_range_of(self, old: TrackedFinding) -> Hashable:
        place = self._shift.new_place(old.finding.start)
        return place and (place, _extent(old.finding), _says(old.finding))

    def range_of(self, new: Finding) -> Hashable:
        return new.start, _extent(new), _says(new)

    def new_line_of(self, old: TrackedFinding) -> Hashable:
        place = self._shift.new_place(old.finding.start)
        return place and (place, _says(old.finding))

    def line_of(self, new: Finding) -> Hashable:
        return new.start, _says(new)

    def end_of_new_cell_of(self, old: TrackedFinding) -> Hashable:
        at_end = self._states.old_lines.end_at(old.finding)
        return (self._shift.new_cell(old.finding.cell_index), _says(old.finding)) if at_end else None

    def end_of_cell_of(self, new: Finding) -> Hashable:
        return (new.cell_index, _says(new)) if self._states.new_lines.end_at(new) else None

    def replaced_stretch_of(self, old: TrackedFinding) -> Hashable:
        hunk = self._shift.old_hunks.get(old.finding.start)
        return None if hunk is None else (hunk, _says(old.finding))

    def replacement_of(self, new: Finding) -> Hashable:
        hunk = self._shift.new_hunks.get(new.start)
        return None if hunk is None else (hunk, _says(new))

    def new_cell_of_carried(self, old: TrackedFinding) -> Hashable:
        return (self._shift.new_cell(old.finding.cell_index), _says(old.finding)) if old.carried else None

    def cell_of(self, new: Finding) -> Hashable:
        return new.cell_index, _says(new)

    def new_cell_of_syntax_error(self, old: TrackedFinding) -> Hashable:
        return (self._shift.new_cell(old.finding.cell_index), _kind(old.finding)) if old.of_unparsed_cell else None

    def cell_of_old_line(self, new: Finding) -> Hashable:
        return (new.cell_index, _kind(new)) if self._shift.is_old_line(new.start) else None

    def code_on_unchanged_line_of(self, old: TrackedFinding) -> Hashable:
        place = self._shift.new_place(old.finding.start)
        return (place, _kind(old.finding)) if place and self._shift.has_same_code(old.finding.cell_index) else None

    def code_on_line_of(self, new: Finding) -> Hashable:
        return new.start, _kind(new)


_OldKey = Callable[[TrackedFinding], Hashable]
_NewKey = Callable[[Finding], Hashable]


class _Matching:
    """The pairs so far, and what has no partner yet."""

    def __init__(self, old: Sequence[TrackedFinding], new: Sequence[Finding], states: ComparedStates) -> None:
        self._old, self._new, self._states = old, new, states
        self._old_left: Sequence[int] = range(len(old))
        self._new_left: Sequence[int] = range(len(new))
        self.partner: dict[int, int] = {}

    def take_chance(self, old_key: _OldKey, new_key: _NewKey) -> None:
        """Pair what has equal keys."""
        if not self._old_left or not self._new_left:
            return
        old_groups = _grouped((old_key(self._old[place]), place) for place in self._old_left)
        new_groups = _grouped((new_key(self._new[place]), place) for place in self._new_left)
        for key, places in old_groups.items():
            if key in new_groups:
                self.partner |= self._pair(places, new_groups[key])
        taken = set(self.partner.values())
        self._old_left = [place for place in self._old_left if place not in self.partner]
        self._new_left = [place for place in self._new_left if place not in taken]

    def _pair(self, old: list[int], new: list[int]) -> dict[int, int]:
        if len(old) == len(new) == 1 or len(old) * len(new) > _MAX_WEIGHED:
            old_in_order = sorted(old, key=lambda place: _order(self._old[place].finding))
            return dict(zip(old_in_order, sorted(new, key=lambda place: _order(self._new[place])), strict=False))
        pairs: dict[int, int] = {}
        taken: set[int] = set()
        for _, old_place, new_place in sorted((self._distance(a, b), a, b) for a in old for b in new):
            if old_place not in pairs and new_place not in taken:
                pairs[old_place] = new_place
                taken.add(new_place)
        return pairs

    def _distance(self, old: int, new: int) -> tuple[float, ...]:
        before, now = self._old[old].finding, self._new[new]
        old_line, new_line = self._states.old_lines.at(before), self._states.new_lines.at(now)
        return (
            before.diagnostic.message != now.diagnostic.message,
            self._states.shift.new_place(before.start) != now.start,
            -likeness(count_words(old_line), count_words(new_line)),
            abs(before.diagnostic.range.start.column - now.diagnostic.range.start.column),
        )


def _grouped(keyed: Iterable[tuple[Hashable, int]]) -> dict[Hashable, list[int]]:
    groups: defaultdict[Hashable, list[int]] = defaultdict(list)
    for key, place in keyed:
        if key is not None:
            groups[key].append(place)
    return groups


def _order(finding: Finding) -> tuple[int, TextRange, str]:
    return finding.cell_index, finding.diagnostic.range, finding.diagnostic.message


def _says(finding: Finding) -> Hashable:
    return *_kind(finding), normalise_message(finding.diagnostic.message)


def _kind(finding: Finding) -> tuple[Hashable, ...]:
    diagnostic = finding.diagnostic
    return finding.chain, diagnostic.severity, diagnostic.source, diagnostic.code


def _extent(finding: Finding) -> Hashable:
    start, end = finding.diagnostic.range.start, finding.diagnostic.range.end
    return start.column, end.line - start.line, end.column
