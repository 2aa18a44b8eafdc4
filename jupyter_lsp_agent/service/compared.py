"""The outcome of a comparison, and what a report says of it."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

from jupyter_lsp_agent.core.diagnostic import CellDiagnostic
from jupyter_lsp_agent.diagnostics.baseline import FileBaseline, LastVerdict, StateVerdict
from jupyter_lsp_agent.diagnostics.baseline import Finding as JudgedFinding
from jupyter_lsp_agent.diagnostics.baseline_file import BaselineEntry
from jupyter_lsp_agent.diagnostics.build import report_counted
from jupyter_lsp_agent.diagnostics.cleaning import clean_message
from jupyter_lsp_agent.diagnostics.delta import DiagnosticDelta
from jupyter_lsp_agent.diagnostics.facts import Finding, ReportFacts, ViewOptions
from jupyter_lsp_agent.diagnostics.report import DocumentKind, Status
from jupyter_lsp_agent.notebook.model import Cell
from jupyter_lsp_agent.service.requests import CheckRequest

NONE, SESSION, FILE, UNKNOWN, REVISION = "none", "session", "file", "unknown", "git:"
"""What `baseline` says in a report; a revision's name follows the last."""


@dataclass(frozen=True, slots=True)
class Compared:
    """The outcome of a comparison.

    Attributes:
        label: what the report says it was compared with.
        delta: each finding's status, and what is gone.
        before: the last verdict that it was compared with.
        keep_over: where the session's baseline is to be replaced: the one that was compared with.
        gone_entries: entries of a baseline file that no longer occur.
    """

    label: str
    delta: DiagnosticDelta
    before: LastVerdict | None = None
    keep_over: FileBaseline | None = None
    gone_entries: tuple[BaselineEntry, ...] = ()


def rolls(request: CheckRequest, compared: Compared) -> bool:
    """Whether a check becomes the last verdict of its session."""
    return compared.label == SESSION and request.comparison.keeps


def is_news(compared: Compared, current: StateVerdict) -> bool:
    """Whether a check is the first after an edit."""
    return compared.before is not None and seen_of(compared.before.cells) != seen_of(current.cells)


def facts_of(compared: Compared, facts: ReportFacts, view: ViewOptions) -> dict[str, Any]:
    """What a comparison adds to the facts of a check."""
    delta = compared.delta
    return {
        "baseline": compared.label,
        "findings": tuple(
            Finding(stated.status, _placed(stated.finding, facts.kind), stated.caused_by) for stated in delta.findings
        ),
        "fixed": tuple(_reported(facts, view, delta.fixed_cells, _tracked(compared.before), delta.fixed)),
        "carried": len(_carried(compared, facts, view)),
        "gone_entries": tuple(clean_message(f"{entry.message} [{entry.code}]") for entry in compared.gone_entries),
    }


def _carried(compared: Compared, facts: ReportFacts, view: ViewOptions) -> Sequence[object]:
    carried = tuple(tracked.finding for tracked in compared.delta.carried)
    last = compared.delta.last
    return _reported(facts, view, last.cells if last else (), carried, carried)


def _reported(
    facts: ReportFacts,
    view: ViewOptions,
    cells: tuple[Cell, ...],
    every: Iterable[JudgedFinding],
    chosen: Iterable[JudgedFinding],
) -> Sequence[Any]:
    """Those of a state's findings that were chosen and count, as they are shown."""

    def stated(findings: Iterable[JudgedFinding]) -> tuple[Finding, ...]:
        return tuple(Finding(Status.PREEXISTING, _placed(finding, facts.kind)) for finding in findings)

    is_text = facts.kind is DocumentKind.TEXT
    text = cells[0].source if is_text and cells else ""
    state = replace(facts, cells=() if is_text else cells, text=text, findings=stated(every))
    return report_counted(state, view, stated(chosen))


def _tracked(last: LastVerdict | None) -> Iterable[JudgedFinding]:
    return () if last is None else (tracked.finding for tracked in last.findings)


def _placed(finding: JudgedFinding, kind: DocumentKind) -> Any:
    if kind is DocumentKind.TEXT:
        return finding.diagnostic
    return CellDiagnostic(finding.cell_index, finding.diagnostic)


def seen_of(cells: Sequence[Cell]) -> list[tuple[object, ...]]:
    """What a server sees of cells."""
    return [(cell.kind, cell.source, cell.language, cell.tags) for cell in cells]
