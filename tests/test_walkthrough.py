"""One notebook through all layers, from the bytes of a file to the report: read this first.

`docs/ARCHITECTURE.md` tells the same story, with the same notebook. The server is a scripted one in memory; everything
else is the real thing.
"""

import json
from datetime import UTC, datetime
from typing import Any

from jupyter_lsp_agent.core.behaviour import Freshness
from jupyter_lsp_agent.core.diagnostic import DiagnosticSeverity
from jupyter_lsp_agent.core.ids import ServerId
from jupyter_lsp_agent.core.positions import TextPosition
from jupyter_lsp_agent.diagnostics.build import build_report
from jupyter_lsp_agent.diagnostics.facts import Finding, ReportFacts, ViewOptions
from jupyter_lsp_agent.diagnostics.relocate import relocate
from jupyter_lsp_agent.diagnostics.report import ServerReport, Status
from jupyter_lsp_agent.notebook.build_options import BuildOptions
from jupyter_lsp_agent.notebook.line_map import CellLocation
from jupyter_lsp_agent.notebook.reader import read_notebook
from jupyter_lsp_agent.notebook.virtual_document import build_virtual_documents
from tests.support.fake_server import PULL, URI, on_stage

CELLS = [
    ("markdown", "# Prices"),
    ("code", "%matplotlib inline\nprices = [3, 4]"),
    ("code", "'😀', pricse"),
]
"""The third cell misspells what the second one binds. Its emoji is one code point and two UTF-16 code units."""


def notebook_bytes() -> bytes:
    cells: list[dict[str, Any]] = [
        {"cell_type": cell_type, "id": f"cell-{index}", "metadata": {}, "source": source.splitlines(keepends=True)}
        for index, (cell_type, source) in enumerate(CELLS)
    ]
    metadata = {"kernelspec": {"name": "python3", "language": "python", "display_name": "Python 3"}}
    return json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}).encode()


async def test_one_notebook_through_all_layers() -> None:
    # notebook/: bytes become a value, the value becomes a text that a server understands.
    notebook = read_notebook(notebook_bytes(), "prices.ipynb")
    assert [cell.cell_id for cell in notebook.cells] == ["cell-0", "cell-1", "cell-2"]
    document = build_virtual_documents(notebook, BuildOptions()).documents[0]
    assert document.text.splitlines()[-1] == "'😀', pricse"
    assert "%matplotlib" not in document.text

    # The map goes both ways: the name stands at column 5 of the third cell's only line.
    virtual = document.line_map.to_virtual(2, TextPosition(0, 5))
    assert virtual is not None
    line, column = virtual.line, virtual.column
    assert document.line_map.to_cell(virtual) == CellLocation(2, TextPosition(0, 5))

    # lsp/: the client opens the text, the server answers for exactly this version, in UTF-16 code units.
    async with on_stage(capabilities={"diagnosticProvider": PULL}) as stage:
        task = stage.diagnose(document.text)
        await stage.opened()
        await stage.server.answer_pull([undefined_name(line, column + 1)])
        answer = await task
    assert (answer.uri, answer.freshness) == (URI, Freshness.PULL)
    assert answer.diagnostics[0].range.start == virtual

    # diagnostics/: back into the cell, and into the report.
    relocated = relocate(document, answer.diagnostics)
    facts = ReportFacts(
        path="prices.ipynb",
        language=document.language_id,
        cells=notebook.cells,
        findings=tuple(Finding(Status.PRESENT, found) for found in relocated.cell_diagnostics),
        servers=(ServerReport(ServerId("fake"), document.language_id, freshness=answer.freshness),),
        checked_at=datetime(2026, 11, 30, 12, tzinfo=UTC),
    )
    report = build_report(facts, ViewOptions(severity=DiagnosticSeverity.ERROR))
    shown = report.to_dict()["cells"][0]["diagnostics"][0]
    assert (report.verdict, report.cells[0].cell_index) == ("errors", 2)
    assert (shown["line"], shown["column"]) == (1, 6), "1-based, code points"
    assert shown["range"]["start"] == {"line": 0, "character": 6}, "0-based, UTF-16"
    assert report.hint == "1 error in cell 2."


def undefined_name(line: int, character: int) -> dict[str, Any]:
    """What a server says of the misspelt name, at a place in UTF-16 code units."""
    return {
        "range": {"start": {"line": line, "character": character}, "end": {"line": line, "character": character + 6}},
        "severity": 1,
        "code": "unresolved-reference",
        "source": "fake",
        "message": "Name `pricse` used when not defined",
    }
