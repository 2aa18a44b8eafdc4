"""What a kernel knows and a file does not, in a report beside what servers found.

These findings are shown whatever severity was asked for. Counts, verdict and hint stay what they are by their
definitions: only at a severity that takes warnings in do they count, and then they are a verdict by themselves. A
report without a verdict has no cells, so that nobody takes it for one of a server; what a kernel knows is true without
one, and is given beside it (`hidden_state_apart`).

Front ends find all that they need of `notebook.hidden_state` here.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import replace

from jupyter_lsp_agent.core.diagnostic import DiagnosticSeverity
from jupyter_lsp_agent.diagnostics.build import report_counted
from jupyter_lsp_agent.diagnostics.facts import Finding, ReportFacts, ViewOptions
from jupyter_lsp_agent.diagnostics.hashes import text_hash
from jupyter_lsp_agent.diagnostics.hints import CountedFinding, build_hint
from jupyter_lsp_agent.diagnostics.report import CellReport, Counts, Report, ReportedDiagnostic, Status, Verdict
from jupyter_lsp_agent.notebook.hidden_state import (
    HIDDEN_STATE,
    ExecutedCell,
    HiddenState,
    HiddenStateKind,
    find_hidden_state,
    user_names,
)
from jupyter_lsp_agent.notebook.model import Cell, Notebook

__all__ = [
    "HIDDEN_STATE",
    "ExecutedCell",
    "HiddenState",
    "HiddenStateKind",
    "find_hidden_state",
    "hidden_state_apart",
    "user_names",
    "with_hidden_state",
]


def with_hidden_state(
    report: Report, notebook: Notebook, findings: Sequence[HiddenState], view: ViewOptions | None = None
) -> Report:
    """`report` with `findings`, all of them `present`, put into its cells behind what is there; a report that stays
    without a verdict stays as it is.

    Args:
        report: on `notebook`.
        notebook: the cells that `findings` speak of.
        findings: of `find_hidden_state`.
        view: as of the report's check: `severity`, `cells`, `ignore`, `ignore_cell_tags` and the caps are used.
    """
    view = view or ViewOptions(severity=report.severity)
    told = _told(report, notebook, findings, view)
    if not told or _stays_without_verdict(report, view):
        return report
    shown, omitted = _within_caps(report, told, view)
    cells = _merge_cells(report, notebook.cells, shown, omitted)
    report = replace(report, cells=cells)
    if view.severity >= DiagnosticSeverity.WARNING:
        report = _with_counted(report, told)
    counts = report.counts or Counts()
    return replace(report, counts=replace(counts, omitted=counts.omitted + omitted.total()))


def hidden_state_apart(
    report: Report, notebook: Notebook, findings: Sequence[HiddenState], view: ViewOptions | None = None
) -> tuple[CellReport, ...]:
    """The cells of `findings` that `with_hidden_state` leaves out of a report without a verdict; else none.

    Args:
        report: on `notebook`.
        notebook: the cells that `findings` speak of.
        findings: of `find_hidden_state`.
        view: as of the report's check.
    """
    view = view or ViewOptions(severity=report.severity)
    if not _stays_without_verdict(report, view):
        return ()
    return _merge_cells(report, notebook.cells, *_within_caps(report, _told(report, notebook, findings, view), view))


def _stays_without_verdict(report: Report, view: ViewOptions) -> bool:
    return report.counts is None and view.severity < DiagnosticSeverity.WARNING


def _told(
    report: Report, notebook: Notebook, findings: Sequence[HiddenState], view: ViewOptions
) -> list[ReportedDiagnostic]:
    """The findings as they are shown: all but those that were not asked for."""
    own = tuple(Finding(Status.PRESENT, finding.diagnostic) for finding in findings)
    facts = ReportFacts(path=report.path, cells=notebook.cells, findings=own, checked_at=report.checked_at)
    seen = replace(view, severity=max(view.severity, DiagnosticSeverity.WARNING))
    told = report_counted(facts, seen, own)
    return [item for item in told if view.cells is None or _index(item) in view.cells]


def _within_caps(
    report: Report, told: Sequence[ReportedDiagnostic], view: ViewOptions
) -> tuple[list[ReportedDiagnostic], Counter[int]]:
    """Those for which there is room behind what the report shows, and how many of each cell are cut."""
    taken = Counter(_index(item) for item in report)
    shown: list[ReportedDiagnostic] = []
    omitted: Counter[int] = Counter()
    for item in told:
        index = _index(item)
        is_full = view.max_total and taken.total() >= view.max_total
        if is_full or (view.max_per_cell and taken[index] >= view.max_per_cell):
            omitted[index] += 1
        else:
            taken[index] += 1
            shown.append(item)
    return shown, omitted


def _merge_cells(
    report: Report, cells: Sequence[Cell], shown: Sequence[ReportedDiagnostic], omitted: Counter[int]
) -> tuple[CellReport, ...]:
    by_index = {cell.cell_index: cell for cell in report.cells}
    for index in sorted({*map(_index, shown), *omitted}):
        cell = by_index.get(index) or _empty_cell(cells[index])
        by_index[index] = replace(
            cell,
            diagnostics=(*cell.diagnostics, *(item for item in shown if _index(item) == index)),
            omitted=cell.omitted + omitted[index],
        )
    return tuple(by_index[index] for index in sorted(by_index))


def _empty_cell(cell: Cell) -> CellReport:
    return CellReport(cell.cell_id, cell.index, cell.execution_count, text_hash(cell.source))


def _with_counted(report: Report, told: Sequence[ReportedDiagnostic]) -> Report:
    """The report where warnings count: a finding that is present makes the verdict `errors`, whatever else failed."""
    before = report.counts or Counts()
    counts = replace(before, present=before.present + len(told))
    counted = (*report.counted, *told)
    return replace(
        report,
        verdict=Verdict.ERRORS,
        reason=None,
        detail=None,
        counts=counts,
        counted=counted,
        hint=report.hint if before.introduced else _hint(report, counts, counted),
    )


def _hint(report: Report, counts: Counts, counted: Sequence[ReportedDiagnostic]) -> str:
    """The sentence on all that counts, of which a report from JSON knows only a part."""
    findings = [CountedFinding(item.status, item.severity, _index(item)) for item in counted]
    known = sum(finding.status is Status.PRESENT for finding in findings)
    cut = [cell.cell_index for cell in report.cells if cell.omitted]
    findings += [
        CountedFinding(Status.PRESENT, DiagnosticSeverity.WARNING, cut[number % len(cut)] if cut else None)
        for number in range(counts.present - known)
    ]
    return build_hint(findings, counts, errors_elsewhere=0, severity=report.severity)


def _index(item: ReportedDiagnostic) -> int:
    return -1 if item.cell is None else item.cell.cell_index
