import json
from dataclasses import replace

from jupyter_lsp_agent.core.diagnostic import CellDiagnostic, DiagnosticTag, RelatedInformation
from jupyter_lsp_agent.core.ids import CellId, DocumentUri
from jupyter_lsp_agent.core.positions import CellLine, TextPosition, TextRange, WirePosition, WireRange
from jupyter_lsp_agent.diagnostics.facts import Finding
from jupyter_lsp_agent.diagnostics.render import RENDERERS, OutputFormat
from jupyter_lsp_agent.diagnostics.report import CellReference, EnvironmentReport, Status, Unchecked
from tests.support.reports import code_cells, diagnostic, finding, report

# The example of the public interface, its keys in order.
REPORT_KEYS = [
    "schema_version", "path", "kind", "language", "verdict", "reason", "detail", "content_hash", "content_source",
    "baseline", "servers", "fallback_used", "environment", "cells", "fixed", "counts", "other_files", "unchecked",
    "unmapped", "hint", "checked_at", "elapsed_ms",
]  # fmt: skip
SERVER_KEYS = ["id", "version", "language", "fallback", "reason", "freshness", "elapsed_ms"]
CELL_KEYS = ["cell_id", "cell_index", "execution_count", "source_hash", "diagnostics", "omitted"]
DIAGNOSTIC_KEYS = [
    "status", "severity", "line", "column", "end_line", "end_column", "range", "code", "code_description", "source",
    "message", "source_line", "tags", "related_information", "caused_by", "fingerprint",
]  # fmt: skip
COUNT_KEYS = ["introduced", "outstanding", "preexisting", "present", "fixed", "carried", "omitted"]


def test_keys_and_their_order():
    told = report(code_cells("x"), finding(0)).to_dict()
    assert list(told) == REPORT_KEYS
    assert list(told["servers"][0]) == SERVER_KEYS
    assert list(told["cells"][0]) == CELL_KEYS
    assert list(told["cells"][0]["diagnostics"][0]) == DIAGNOSTIC_KEYS
    assert list(told["counts"]) == COUNT_KEYS


def test_values_of_the_whole():
    told = report(
        code_cells("x"),
        environment=EnvironmentReport("/e/bin/python", "kernelspec python3"),
        elapsed_seconds=0.02312,
        unchecked=(Unchecked(CellReference(0, CellId("c0")), CellLine(0), CellLine(3), "why", partial=True),),
    ).to_dict()
    assert told["schema_version"] == 1
    assert told["environment"] == {"python": "/e/bin/python", "origin": "kernelspec python3"}
    assert told["checked_at"] == "2026-11-30T12:00:00Z"
    assert told["elapsed_ms"] == 23.1
    assert told["unchecked"] == [{"cell_id": "c0", "cell_index": 0, "lines": [1, 4], "reason": "why"}]
    assert told["servers"] == [
        {"id": "ty", "version": "0.0.108", "language": "python", "fallback": False, "reason": None,
         "freshness": "pull", "elapsed_ms": 12.4}
    ]  # fmt: skip


def test_details_of_a_finding():
    place = TextRange(TextPosition(0, 1), TextPosition(0, 2))
    wire = WireRange(WirePosition(0, 1), WirePosition(0, 2))
    rich = replace(
        diagnostic(),
        tags=(DiagnosticTag.UNNECESSARY, DiagnosticTag.DEPRECATED),
        related_information=(
            RelatedInformation(DocumentUri("file:///lib/a%20b.py"), wire, "declared\nhere"),
            RelatedInformation(DocumentUri("file:///n.ipynb"), wire, "and here", range=place, cell_index=1),
            RelatedInformation(DocumentUri("untitled:x"), wire, "nowhere"),
        ),
    )
    cause = CellReference(2, CellId("c2"))
    told = report(
        code_cells("xyz", "\U0001f600y"), Finding(Status.PRESENT, CellDiagnostic(0, rich), caused_by=cause)
    ).to_dict()
    item = told["cells"][0]["diagnostics"][0]
    wire_json = {"start": {"line": 0, "character": 1}, "end": {"line": 0, "character": 2}}
    assert item["tags"] == ["unnecessary", "deprecated"]
    assert item["caused_by"] == {"cell_id": "c2", "cell_index": 2}
    assert item["related_information"] == [
        {"path": "/lib/a b.py", "cell_id": None, "cell_index": None, "range": wire_json, "message": "declared here"},
        {"path": None, "cell_id": "c1", "cell_index": 1, "line": 1, "column": 2, "end_line": 1, "end_column": 3,
         "range": {"start": {"line": 0, "character": 2}, "end": {"line": 0, "character": 3}}, "message": "and here"},
        {"path": "untitled:x", "cell_id": None, "cell_index": None, "range": wire_json, "message": "nowhere"},
    ]  # fmt: skip


def test_what_was_fixed_names_its_old_place():
    gone = report(code_cells("x"), finding(0)).cells[0].diagnostics
    told = report(code_cells("y"), fixed=gone).to_dict()
    assert told["counts"]["fixed"] == 1
    assert (told["fixed"][0]["cell_id"], told["fixed"][0]["cell_index"], told["fixed"][0]["line"]) == ("c0", 0, 1)


def test_json_lines_are_lines():
    told = report(code_cells("x\u2028y"), finding(0, message="a\nb"))
    line = RENDERERS[OutputFormat.JSONL].render(told)
    assert "\n" not in line
    assert json.loads(line) == told.to_dict()


def test_a_list_of_reports_is_json():
    told = report(code_cells("x"), finding(0))
    renderer = RENDERERS[OutputFormat.JSON]
    text = renderer.opening + renderer.render(told) + renderer.separator + renderer.render(told) + renderer.closing
    assert json.loads(text) == [told.to_dict()] * 2
    assert json.loads(renderer.nothing) == []
