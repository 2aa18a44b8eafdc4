"""What an edit did: each finding's status, what is fixed, and the verdict that the next one is compared with.

`preexisting` is carried along: a finding of the baseline is one as long as it is found again and again, and once it is
fixed it has left the baseline. So only two verdicts are ever compared, the last and the current one.

What was not looked at is neither fixed nor new. A finding that is missing stays in the last verdict, carried, where
its cell does not parse, its lines were not checked, or its chain gave no answer; and, while any cell does not parse,
where its own cell has not changed, since servers then know less of what other cells define. A finding about the
syntax itself is looked at whenever its cell is, unless another fault stands before it. Where the content is the same,
servers knew as much of it the last time: what they found then and do not find now is fixed, by a change elsewhere.

Everything is a pure function: a caller that must change no state (a dry run, proposed content, a revision) drops
`DiagnosticDelta.last`.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from jupyter_lsp_agent.core.diagnostic import Diagnostic
from jupyter_lsp_agent.core.positions import CellLine, TextPosition, TextRange, split_lines
from jupyter_lsp_agent.diagnostics.baseline import (
    Finding,
    LastVerdict,
    StateVerdict,
    TrackedFinding,
    Waypoint,
    Why,
)
from jupyter_lsp_agent.diagnostics.causes import find_causes
from jupyter_lsp_agent.diagnostics.finding_match import ComparedStates, match_findings
from jupyter_lsp_agent.diagnostics.line_shift import LineShift, build_line_shift
from jupyter_lsp_agent.diagnostics.places import CellPlace
from jupyter_lsp_agent.diagnostics.report import CellReference, Status
from jupyter_lsp_agent.notebook.model import Cell, CellKind


@dataclass(frozen=True, slots=True)
class StatedFinding:
    """A finding of the current verdict, and how it stands to what was known before."""

    finding: Finding
    status: Status
    caused_by: CellReference | None = None


@dataclass(frozen=True, slots=True)
class DiagnosticDelta:
    """The outcome of a comparison.

    Attributes:
        findings: all of the current verdict, in its order, each once.
        fixed: what was in the last verdict and is gone, in the coordinates of `fixed_cells`.
        fixed_cells: the content that `fixed` speaks of.
        carried: what was not looked at, in coordinates of the current content.
        last: the last verdict from now on; `None` where there is no baseline to keep one for.
    """

    findings: tuple[StatedFinding, ...]
    fixed: tuple[Finding, ...] = ()
    fixed_cells: tuple[Cell, ...] = ()
    carried: tuple[TrackedFinding, ...] = ()
    last: LastVerdict | None = None


def delta_without_baseline(current: StateVerdict) -> DiagnosticDelta:
    """All is `present`: there is nothing to compare with, or it is not known."""
    return DiagnosticDelta(tuple(StatedFinding(finding, Status.PRESENT) for finding in _distinct(current)))


def first_verdict(current: StateVerdict) -> LastVerdict:
    """The last verdict of a session that meets a file in this state: all of it is its baseline."""
    tracked = (_tracked(finding, current, in_baseline=True) for finding in _distinct(current))
    return LastVerdict(current.cells, tuple(tracked), current.judges, current.unparsed)


def replay(verdicts: Sequence[StateVerdict]) -> LastVerdict:
    """The last verdict that there would be, had one set of servers judged these contents in this order.

    Args:
        verdicts: on the contents that `baseline.contents_to_judge` named; at least one.
    """
    last = first_verdict(verdicts[0])
    for verdict in verdicts[1:]:
        last = compute_delta(last, verdict).last or last
    return last


def compute_delta(last: LastVerdict, current: StateVerdict) -> DiagnosticDelta:
    """Compare a verdict with the last one, by cell and content.

    Args:
        last: of judges that agree with those of `current` (`baseline.Judges.agree_with`).
        current: the new verdict.
    """
    comparison = _Comparison(last, current)
    carried = comparison.carried()
    stated = comparison.stated()
    return DiagnosticDelta(
        findings=stated,
        fixed=comparison.fixed(),
        fixed_cells=last.cells,
        carried=carried,
        last=LastVerdict(
            cells=current.cells,
            findings=(*(comparison.tracked(item) for item in stated), *carried),
            judges=last.judges.rolled_to(current.judges),
            unparsed=current.unparsed,
            waypoints=comparison.waypoints(),
        ),
    )


class _Comparison:
    """Two verdicts side by side."""

    def __init__(self, last: LastVerdict, current: StateVerdict) -> None:
        self._last, self._current = last, current
        self._shift = build_line_shift(last.cells, current.cells)
        self._found = _distinct(current)
        self._silent = current.judges.silent_chains()
        self._is_same_content = last.cells == current.cells and last.unparsed == current.unparsed
        self._new_of_old = match_findings(
            last.findings,
            self._found,
            ComparedStates(last.cells, current.cells, self._shift),
            loosely=bool(last.unparsed or current.unparsed),
        )
        missing = [old for place, old in enumerate(last.findings) if place not in self._new_of_old]
        self._carried = [old for old in missing if self._is_unseen(old)]
        self._fixed = [old for old in missing if not self._is_unseen(old)]

    def fixed(self) -> tuple[Finding, ...]:
        return tuple(old.finding for old in self._fixed)

    def carried(self) -> tuple[TrackedFinding, ...]:
        return tuple(_carry(old, self._shift, self._current.cells) for old in self._carried)

    def stated(self) -> tuple[StatedFinding, ...]:
        old_of_new = {new: self._last.findings[old] for old, new in self._new_of_old.items()}
        new = [finding for place, finding in enumerate(self._found) if place not in old_of_new]
        causes = find_causes(new, self._last.cells, self._current.cells, self._shift)
        return tuple(
            StatedFinding(finding, Status.PREEXISTING if old_of_new[place].in_baseline else Status.OUTSTANDING)
            if place in old_of_new
            else StatedFinding(finding, Status.INTRODUCED, causes.get(finding))
            for place, finding in enumerate(self._found)
        )

    def waypoints(self) -> tuple[Waypoint, ...]:
        """Those of the last verdict that are still needed, and what became one now."""
        kept = {point.why: point for point in self._last.waypoints}
        if self._current.was_looked_at():
            kept.pop(Why.SEEN_WHOLE, None)
        elif Why.SEEN_WHOLE not in kept and not self._last.unparsed:
            kept[Why.SEEN_WHOLE] = Waypoint(Why.SEEN_WHOLE, self._last.cells)
        if any(old.in_baseline for old in self._fixed):
            kept.pop(Why.MENDED, None)
            kept[Why.MENDED] = Waypoint(Why.MENDED, self._current.cells)
        return tuple(kept.values())

    def tracked(self, stated: StatedFinding) -> TrackedFinding:
        return _tracked(stated.finding, self._current, in_baseline=stated.status is Status.PREEXISTING)

    def _is_unseen(self, old: TrackedFinding) -> bool:
        """Whether a finding that is missing was not looked at."""
        place = _near_place(old.finding, self._shift)
        if place is None or _holds_no_code(self._current.cells[place.cell_index]):
            return False
        if place.cell_index in self._current.unparsed:
            return not old.of_unparsed_cell or self._is_behind_a_fault(old.finding.start)
        if old.finding.chain in self._silent or any(lines.holds(place) for lines in self._current.unchecked):
            return True
        if self._is_same_content and not old.carried:
            return False
        return bool(self._current.unparsed) and self._shift.has_same_code(old.finding.cell_index)

    def _is_behind_a_fault(self, start: CellPlace) -> bool:
        """Whether a line is still there, behind the fault at which the parser of its cell stopped."""
        place = self._shift.new_place(start)
        return place is not None and any(
            found.cell_index == place.cell_index and found.start.line < place.line for found in self._found
        )


def _holds_no_code(cell: Cell) -> bool:
    """Whether there is nothing in a cell that a server could look at; of a damaged one that is not known."""
    return cell.kind is not CellKind.CODE and cell.defect is None


def _distinct(verdict: StateVerdict) -> tuple[Finding, ...]:
    """Each finding once: two answers of one server may hold the same one twice."""
    return tuple(dict.fromkeys(verdict.findings))


def _tracked(finding: Finding, verdict: StateVerdict, *, in_baseline: bool) -> TrackedFinding:
    return TrackedFinding(finding, in_baseline, of_unparsed_cell=finding.cell_index in verdict.unparsed)


def _near_place(finding: Finding, shift: LineShift) -> CellPlace | None:
    """Where a finding would be now: its line, else the same line number of its cell; `None` where both are gone."""
    place = shift.new_place(finding.start)
    if place is not None:
        return place
    cell = shift.new_cell(finding.cell_index)
    return None if cell is None else CellPlace(cell, finding.start.line)


def _carry(old: TrackedFinding, shift: LineShift, cells: Sequence[Cell]) -> TrackedFinding:
    place = _near_place(old.finding, shift) or old.finding.start
    last_line = len(split_lines(cells[place.cell_index].source)) - 1
    line = min(place.line, CellLine(last_line))
    diagnostic = old.finding.diagnostic
    moved = replace(diagnostic, range=_moved(diagnostic, line))
    return replace(old, finding=replace(old.finding, cell_index=place.cell_index, diagnostic=moved), carried=True)


def _moved(diagnostic: Diagnostic, line: int) -> TextRange:
    start, end = diagnostic.range.start, diagnostic.range.end
    return TextRange(TextPosition(line, start.column), TextPosition(line + end.line - start.line, end.column))
