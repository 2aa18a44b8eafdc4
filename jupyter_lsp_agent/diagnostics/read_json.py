"""A report from its JSON: the inverse of `render_json`, for a front end that gets reports from another process.

What JSON does not carry (which severity was asked for, findings that count and are not shown) is filled in from what
it does. Numbers that start at one become places again; milliseconds become seconds.
"""

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from jupyter_lsp_agent.core.behaviour import Freshness
from jupyter_lsp_agent.core.diagnostic import DiagnosticSeverity, DiagnosticTag
from jupyter_lsp_agent.core.errors import InvalidReportError
from jupyter_lsp_agent.core.ids import CellId, LanguageId, ServerId
from jupyter_lsp_agent.core.positions import CellLine, TextPosition, TextRange, WirePosition, WireRange
from jupyter_lsp_agent.diagnostics.json_object import JsonObject
from jupyter_lsp_agent.diagnostics.render_json import SCHEMA_VERSION
from jupyter_lsp_agent.diagnostics.report import (
    CellReference,
    CellReport,
    ContentSource,
    Counts,
    DocumentKind,
    EnvironmentReport,
    NoVerdictReason,
    OtherFile,
    Report,
    ReportedDiagnostic,
    ReportedRelation,
    ServerReport,
    Status,
    Unchecked,
    UnmappedDiagnostic,
    Verdict,
)


def report_from_dict(value: Mapping[str, Any], *, severity: DiagnosticSeverity = DiagnosticSeverity.ERROR) -> Report:
    """The report that `report_to_dict` made `value` of.

    Args:
        value: parsed JSON; unknown keys are ignored.
        severity: the asked one, which JSON does not carry.

    Raises:
        InvalidReportError: it is no report of this version.
    """
    whole = JsonObject.of(dict(value) if isinstance(value, Mapping) else value)
    version = whole.whole("schema_version")
    if version != SCHEMA_VERSION:
        raise InvalidReportError(
            f"The report is of version {version}, and this package reads {SCHEMA_VERSION}: "
            "use the same version of jupyter-lsp-agent in the kernel and in the server."
        )
    kind = whole.word("kind", DocumentKind)
    cells, diagnostics = _findings(whole, kind)
    return Report(
        path=whole.text_or_none("path"),
        kind=kind,
        language=_language(whole),
        verdict=whole.word("verdict", Verdict),
        reason=whole.word("reason", NoVerdictReason) if whole.has("reason") else None,
        detail=whole.text_or_none("detail"),
        content_hash=whole.text_or_none("content_hash"),
        content_source=whole.word("content_source", ContentSource) if whole.has("content_source") else None,
        baseline=whole.text("baseline"),
        servers=tuple(_server(server) for server in whole.each("servers")),
        environment=_environment(whole),
        severity=severity,
        cells=cells,
        diagnostics=diagnostics,
        fixed=_fixed(whole),
        counts=_counts(whole.inner("counts")),
        counted=tuple(
            item
            for item in (*diagnostics, *(item for cell in cells for item in cell.diagnostics))
            if item.severity <= severity
        ),
        other_files={path: _other_file(whole.inner("other_files"), path) for path in whole.inner("other_files").value},
        unchecked=tuple(_unchecked(one) for one in whole.each("unchecked")),
        unmapped=tuple(_unmapped(one) for one in whole.each("unmapped")),
        hint=whole.text("hint"),
        checked_at=_moment(whole),
        elapsed_seconds=_seconds(whole, "elapsed_ms"),
    )


def _language(whole: JsonObject) -> LanguageId | None:
    language = whole.text_or_none("language")
    return None if language is None else LanguageId(language)


def _moment(whole: JsonObject) -> datetime:
    text = whole.text("checked_at")
    try:
        moment = datetime.fromisoformat(text)
    except ValueError:
        moment = None
    if moment is None or moment.tzinfo is None:
        raise InvalidReportError("This is no report of this version: `report.checked_at` must be a moment in UTC.")
    return moment


def _environment(whole: JsonObject) -> EnvironmentReport | None:
    if not whole.has("environment"):
        return None
    environment = whole.inner("environment")
    return EnvironmentReport(environment.text("python"), environment.text("origin"))


def _findings(
    document: JsonObject, kind: DocumentKind
) -> tuple[tuple[CellReport, ...], tuple[ReportedDiagnostic, ...]]:
    if kind is DocumentKind.TEXT:
        return (), tuple(_diagnostic(one, None) for one in document.each("diagnostics"))
    return tuple(_cell(cell) for cell in document.each("cells")), ()


def _cell(cell: JsonObject) -> CellReport:
    reference = _reference(cell)
    return CellReport(
        cell_id=reference.cell_id,
        cell_index=reference.cell_index,
        execution_count=cell.whole_or_none("execution_count"),
        source_hash=cell.text("source_hash"),
        diagnostics=tuple(_diagnostic(one, reference) for one in cell.each("diagnostics")),
        omitted=cell.whole("omitted"),
    )


def _reference(value: JsonObject) -> CellReference:
    cell_id = value.text_or_none("cell_id")
    return CellReference(value.whole("cell_index"), None if cell_id is None else CellId(cell_id))


def _diagnostic(value: JsonObject, cell: CellReference | None, status: Status | None = None) -> ReportedDiagnostic:
    return ReportedDiagnostic(
        status=status or value.word("status", Status),
        severity=value.word("severity", DiagnosticSeverity, by_name=True),
        range=_range(value),
        wire_range=_wire_range(value.inner("range")),
        message=value.text("message"),
        source=value.text("source"),
        code=value.text_or_none("code"),
        code_description=value.text_or_none("code_description"),
        source_line=value.text("source_line"),
        tags=value.words("tags", DiagnosticTag),
        related_information=tuple(_relation(one) for one in value.each("related_information")),
        caused_by=_reference(value.inner("caused_by")) if value.has("caused_by") else None,
        fingerprint=value.text("fingerprint"),
        cell=cell,
    )


def _fixed(document: JsonObject) -> tuple[ReportedDiagnostic, ...]:
    """Those have no status in JSON: they were in the last verdict."""
    return tuple(
        _diagnostic(one, _reference(one) if one.has("cell_index") else None, Status.OUTSTANDING)
        for one in document.each("fixed")
    )


def _relation(value: JsonObject) -> ReportedRelation:
    return ReportedRelation(
        path=value.text_or_none("path"),
        cell=_reference(value) if value.has("cell_index") else None,
        range=_range(value) if value.has("line") else None,
        wire_range=_wire_range(value.inner("range")),
        message=value.text("message"),
    )


def _other_file(files: JsonObject, path: str) -> OtherFile:
    other = files.inner(path)
    kind = DocumentKind.TEXT if "diagnostics" in other.value else DocumentKind.NOTEBOOK
    cells, diagnostics = _findings(other, kind)
    return OtherFile(kind, cells, diagnostics, _fixed(other))


def _server(value: JsonObject) -> ServerReport:
    return ServerReport(
        id=ServerId(value.text("id")),
        language=LanguageId(value.text("language")),
        version=value.text_or_none("version"),
        fallback=value.flag("fallback"),
        reason=value.text_or_none("reason"),
        freshness=value.word("freshness", Freshness) if value.has("freshness") else None,
        elapsed_seconds=_seconds(value, "elapsed_ms") if value.has("elapsed_ms") else None,
    )


def _counts(value: JsonObject) -> Counts | None:
    if all(number is None for number in value.value.values()):
        return None
    return Counts(
        introduced=value.whole("introduced"),
        outstanding=value.whole("outstanding"),
        preexisting=value.whole("preexisting"),
        present=value.whole("present"),
        fixed=value.whole("fixed"),
        carried=value.whole("carried"),
        omitted=value.whole("omitted"),
    )


def _unchecked(value: JsonObject) -> Unchecked:
    first, last = value.wholes("lines", 2)
    return Unchecked(_reference(value), CellLine(first - 1), CellLine(last - 1), value.text("reason"))


def _unmapped(value: JsonObject) -> UnmappedDiagnostic:
    return UnmappedDiagnostic(
        severity=value.word("severity", DiagnosticSeverity, by_name=True),
        source=value.text("source"),
        code=value.text_or_none("code"),
        message=value.text("message"),
    )


def _range(value: JsonObject) -> TextRange:
    start = TextPosition(value.whole("line") - 1, value.whole("column") - 1)
    return TextRange(start, TextPosition(value.whole("end_line") - 1, value.whole("end_column") - 1))


def _wire_range(value: JsonObject) -> WireRange:
    return WireRange(_wire_position(value.inner("start")), _wire_position(value.inner("end")))


def _wire_position(value: JsonObject) -> WirePosition:
    return WirePosition(value.whole("line"), value.whole("character"))


def _seconds(value: JsonObject, key: str) -> float:
    return value.number(key) / 1000
