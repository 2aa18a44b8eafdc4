"""One true sentence on a report, for an agent that reads nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass

from jupyter_lsp_agent.core.diagnostic import DiagnosticSeverity
from jupyter_lsp_agent.diagnostics.report import Counts, Status
from jupyter_lsp_agent.diagnostics.wording import cell_list, counted, counted_findings


@dataclass(frozen=True, slots=True)
class CountedFinding:
    """A finding as the hint needs it; `cell_index` is `None` in a text file."""

    status: Status
    severity: DiagnosticSeverity
    cell_index: int | None


def build_hint(
    findings: Sequence[CountedFinding], counts: Counts, *, errors_elsewhere: int, severity: DiagnosticSeverity
) -> str:
    """The sentence on what was found.

    Args:
        findings: every one that is counted.
        counts: their counts.
        errors_elsewhere: how many there are in other files.
        severity: the asked one; with less than errors asked for, the sentence speaks of findings.
    """
    by_status = {status: [finding for finding in findings if finding.status is status] for status in Status}
    if group := by_status[Status.INTRODUCED]:
        return f"{counted_findings(group, 'new ')}{_in_cells(group)}."
    if group := by_status[Status.PRESENT]:
        return f"{counted_findings(group)}{_in_cells(group)}."
    if group := by_status[Status.OUTSTANDING]:
        return f"{counted_findings(group)} still there{_cells_in_brackets(group)}."
    if errors_elsewhere:
        return f"{counted(errors_elsewhere, 'new error')} in other files."
    if counts.fixed:
        return f"{counts.fixed} fixed, none new."
    if group := by_status[Status.PREEXISTING]:
        verb = "remains" if len(group) == 1 else "remain"
        return f"Nothing new. {counted_findings(group, 'older ')} {verb}{_cells_in_brackets(group)}."
    return "No errors." if severity is DiagnosticSeverity.ERROR else "No findings."


def _in_cells(findings: Sequence[CountedFinding]) -> str:
    indexes = _indexes(findings)
    return f" in {cell_list(indexes)}" if indexes else ""


def _cells_in_brackets(findings: Sequence[CountedFinding]) -> str:
    indexes = _indexes(findings)
    return f" ({cell_list(indexes)})" if indexes else ""


def _indexes(findings: Sequence[CountedFinding]) -> list[int]:
    return sorted({finding.cell_index for finding in findings if finding.cell_index is not None})
