"""One true sentence on a report, for an agent that reads nothing else."""

from collections.abc import Sequence
from dataclasses import dataclass

from jupyter_lsp_agent.core.diagnostic import DiagnosticSeverity
from jupyter_lsp_agent.diagnostics.report import Counts, Status
from jupyter_lsp_agent.diagnostics.wording import cell_list, counted


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
        return f"{number_of(group, 'new ')}{_in_cells(group)}."
    if group := by_status[Status.PRESENT]:
        return f"{number_of(group)}{_in_cells(group)}."
    if group := by_status[Status.OUTSTANDING]:
        return f"{number_of(group)} still there{_cells_in_brackets(group)}."
    if errors_elsewhere:
        return f"{counted(errors_elsewhere, 'new error')} in other files."
    if counts.fixed:
        return f"{counts.fixed} fixed, none new."
    if group := by_status[Status.PREEXISTING]:
        verb = "remains" if len(group) == 1 else "remain"
        return f"Nothing new. {number_of(group, 'older ')} {verb}{_cells_in_brackets(group)}."
    return "No errors." if severity is DiagnosticSeverity.ERROR else "No findings."


def number_of(findings: Sequence[CountedFinding], adjective: str = "") -> str:
    """`1 new error`, `3 errors`; `findings` where some are no errors."""
    noun = "error" if all(item.severity is DiagnosticSeverity.ERROR for item in findings) else "finding"
    return counted(len(findings), adjective + noun)


def _in_cells(findings: Sequence[CountedFinding]) -> str:
    indexes = _indexes(findings)
    return f" in {cell_list(indexes)}" if indexes else ""


def _cells_in_brackets(findings: Sequence[CountedFinding]) -> str:
    indexes = _indexes(findings)
    return f" ({cell_list(indexes)})" if indexes else ""


def _indexes(findings: Sequence[CountedFinding]) -> list[int]:
    return sorted({finding.cell_index for finding in findings if finding.cell_index is not None})
