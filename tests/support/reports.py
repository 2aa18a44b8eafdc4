"""Facts of a check, made with few words."""

from datetime import UTC, datetime

from jupyter_lsp_agent.core.behaviour import Freshness
from jupyter_lsp_agent.core.diagnostic import CellDiagnostic, Diagnostic, DiagnosticSeverity
from jupyter_lsp_agent.core.ids import CellId, LanguageId, ServerId
from jupyter_lsp_agent.core.positions import TextPosition, TextRange
from jupyter_lsp_agent.diagnostics.build import build_report
from jupyter_lsp_agent.diagnostics.facts import Finding, ReportFacts, ViewOptions
from jupyter_lsp_agent.diagnostics.report import Report, ServerReport, Status
from jupyter_lsp_agent.notebook.model import Cell, CellKind

PYTHON = LanguageId("python")
CHECKED_AT = datetime(2026, 11, 30, 12, tzinfo=UTC)
TY = ServerReport(ServerId("ty"), PYTHON, version="0.0.108", freshness=Freshness.PULL, elapsed_seconds=0.0124)


def code_cells(*sources: str) -> tuple[Cell, ...]:
    """Code cells with these sources, and ids `c0`, `c1`, …."""
    return tuple(
        Cell(index=index, cell_id=CellId(f"c{index}"), kind=CellKind.CODE, source=source)
        for index, source in enumerate(sources)
    )


def diagnostic(
    line: int = 0,
    column: int = 0,
    end_column: int = 1,
    *,
    message: str = "it is wrong",
    code: str | None = "some-code",
    severity: DiagnosticSeverity = DiagnosticSeverity.ERROR,
    source: str = "ty",
) -> Diagnostic:
    """A diagnostic on one line; positions 0-based, in code points."""
    place = TextRange(TextPosition(line, column), TextPosition(line, end_column))
    return Diagnostic(place, severity, message, source=source, code=code)


def finding(cell_index: int, status: Status = Status.PRESENT, **words) -> Finding:
    """A finding in a cell; `words` as for `diagnostic`."""
    return Finding(status, CellDiagnostic(cell_index, diagnostic(**words)))


def facts(cells: tuple[Cell, ...] = (), *findings: Finding, **more) -> ReportFacts:
    """The facts of a check by ty."""
    values = {"path": "n.ipynb", "language": PYTHON, "servers": (TY,), "checked_at": CHECKED_AT, **more}
    return ReportFacts(cells=cells, findings=findings, **values)


def report(cells: tuple[Cell, ...] = (), *findings: Finding, view: ViewOptions | None = None, **more) -> Report:
    """The report on such facts."""
    return build_report(facts(cells, *findings, **more), view or ViewOptions())
