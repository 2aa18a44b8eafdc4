"""The report as JSON, key for key as the public interface has it.

Here and in the other `render` modules 0-based places become the 1-based numbers of a reader.
"""

import json
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from jupyter_lsp_agent.core.positions import TextRange, WireRange

if TYPE_CHECKING:  # the report renders itself through this module
    from collections.abc import Iterable

    from jupyter_lsp_agent.diagnostics.report import (
        CellReference,
        CellReport,
        Counts,
        OtherFile,
        Report,
        ReportedDiagnostic,
        ReportedRelation,
        ServerReport,
        Unchecked,
        UnmappedDiagnostic,
    )

SCHEMA_VERSION = 1
"""The version of the report's shape."""

_COUNTS = ("introduced", "outstanding", "preexisting", "present", "fixed", "carried", "omitted")


def render_json(report: "Report") -> str:
    """The report as one line of JSON."""
    return json.dumps(report.to_dict(), ensure_ascii=False, separators=(",", ":"))


def report_to_dict(report: "Report") -> dict[str, Any]:
    """The report as plain values, keys in the order of the public interface."""
    return {
        "schema_version": SCHEMA_VERSION,
        "path": report.path,
        "kind": report.kind.value,
        "language": report.language,
        "verdict": report.verdict.value,
        "reason": report.reason and report.reason.value,
        "detail": report.detail,
        "content_hash": report.content_hash,
        "content_source": report.content_source and report.content_source.value,
        "baseline": report.baseline,
        "servers": [server_to_dict(server) for server in report.servers],
        "fallback_used": report.fallback_used,
        "environment": report.environment
        and {"python": report.environment.python, "origin": report.environment.origin},
        **_findings(report),
        "fixed": [_fixed(diagnostic) for diagnostic in report.fixed],
        "counts": counts_to_dict(report.counts),
        "other_files": {path: _other_file(other) for path, other in report.other_files.items()},
        "unchecked": [unchecked_to_dict(unchecked) for unchecked in report.unchecked],
        "unmapped": [_unmapped(diagnostic) for diagnostic in report.unmapped],
        "hint": report.hint,
        "checked_at": timestamp(report.checked_at),
        "elapsed_ms": milliseconds(report.elapsed_seconds),
    }


def _findings(document: "Report | OtherFile") -> dict[str, Any]:
    if document.kind.value == "text":
        return {"diagnostics": [_diagnostic(diagnostic) for diagnostic in document.diagnostics]}
    return {"cells": cells_to_list(document.cells)}


def cells_to_list(cells: "Iterable[CellReport]") -> list[dict[str, Any]]:
    """Cells of a report as plain values."""
    return [_cell(cell) for cell in cells]


def _cell(cell: "CellReport") -> dict[str, Any]:
    return {
        "cell_id": cell.cell_id,
        "cell_index": cell.cell_index,
        "execution_count": cell.execution_count,
        "source_hash": cell.source_hash,
        "diagnostics": [_diagnostic(diagnostic) for diagnostic in cell.diagnostics],
        "omitted": cell.omitted,
    }


def _diagnostic(diagnostic: "ReportedDiagnostic") -> dict[str, Any]:
    return {
        "status": diagnostic.status.value,
        "severity": diagnostic.severity.name.lower(),
        **numbers_to_dict(diagnostic.range),
        "range": range_to_dict(diagnostic.wire_range),
        "code": diagnostic.code,
        "code_description": diagnostic.code_description,
        "source": diagnostic.source,
        "message": diagnostic.message,
        "source_line": diagnostic.source_line,
        "tags": [tag.name.lower() for tag in diagnostic.tags],
        "related_information": [_relation(relation) for relation in diagnostic.related_information],
        "caused_by": None if diagnostic.caused_by is None else _reference(diagnostic.caused_by),
        "fingerprint": diagnostic.fingerprint,
    }


def _fixed(diagnostic: "ReportedDiagnostic") -> dict[str, Any]:
    place = {} if diagnostic.cell is None else _reference(diagnostic.cell)
    return {**place, **{key: value for key, value in _diagnostic(diagnostic).items() if key != "status"}}


def _other_file(other: "OtherFile") -> dict[str, Any]:
    return {**_findings(other), "fixed": [_fixed(diagnostic) for diagnostic in other.fixed]}


def _relation(relation: "ReportedRelation") -> dict[str, Any]:
    cell = {"cell_id": None, "cell_index": None} if relation.cell is None else _reference(relation.cell)
    numbers = {} if relation.range is None else numbers_to_dict(relation.range)
    return {
        "path": relation.path,
        **cell,
        **numbers,
        "range": range_to_dict(relation.wire_range),
        "message": relation.message,
    }


def server_to_dict(server: "ServerReport") -> dict[str, Any]:
    """A server that was asked."""
    return {
        "id": server.id,
        "version": server.version,
        "language": server.language,
        "fallback": server.fallback,
        "reason": server.reason,
        "freshness": server.freshness and server.freshness.value,
        "elapsed_ms": None if server.elapsed_seconds is None else milliseconds(server.elapsed_seconds),
    }


def timestamp(moment: datetime) -> str:
    """A moment in UTC, to the second."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def counts_to_dict(counts: "Counts | None") -> dict[str, int | None]:
    """Counts as plain values; each is `None` where nothing was counted."""
    return {name: None if counts is None else getattr(counts, name) for name in _COUNTS}


def unchecked_to_dict(unchecked: "Unchecked") -> dict[str, Any]:
    """Lines that no server looked at."""
    return {
        **_reference(unchecked.cell),
        "lines": [unchecked.first_line + 1, unchecked.last_line + 1],
        "reason": unchecked.reason,
    }


def _unmapped(diagnostic: "UnmappedDiagnostic") -> dict[str, Any]:
    return {
        "severity": diagnostic.severity.name.lower(),
        "code": diagnostic.code,
        "source": diagnostic.source,
        "message": diagnostic.message,
    }


def _reference(cell: "CellReference") -> dict[str, Any]:
    return {"cell_id": cell.cell_id, "cell_index": cell.cell_index}


def numbers_to_dict(text_range: TextRange) -> dict[str, int]:
    """A place as people and editors count, columns in code points."""
    return {
        "line": text_range.start.line + 1,
        "column": text_range.start.column + 1,
        "end_line": text_range.end.line + 1,
        "end_column": text_range.end.column + 1,
    }


def range_to_dict(wire_range: WireRange) -> dict[str, dict[str, int]]:
    """A place as LSP writes it."""
    start, end = wire_range.start, wire_range.end
    return {
        "start": {"line": start.line, "character": start.character},
        "end": {"line": end.line, "character": end.character},
    }


def milliseconds(seconds: float) -> float:
    """A duration in milliseconds, to a tenth."""
    return round(seconds * 1000, 1)
