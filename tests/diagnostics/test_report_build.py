import hashlib
import json

import pytest

from jupyter_lsp_agent.core.diagnostic import DiagnosticSeverity
from jupyter_lsp_agent.core.ids import CellId
from jupyter_lsp_agent.diagnostics.facts import Finding, ViewOptions
from jupyter_lsp_agent.diagnostics.report import DocumentKind, Status
from jupyter_lsp_agent.notebook.model import Cell, CellKind
from tests.support.reports import code_cells, diagnostic, facts, finding, report

NO_CAPS = ViewOptions(max_per_cell=0, max_total=0)
LINES = "\n".join("x" * 30)


def shown(told):
    return [(item.cell.cell_index, item.range.start.line) for item in told]


def test_counts_cover_what_the_view_does_not_show():
    cells = code_cells(*["a\nb"] * 4)
    findings = [
        finding(0, Status.INTRODUCED),
        finding(1, Status.OUTSTANDING),
        finding(2, Status.PREEXISTING),
        finding(2, Status.PREEXISTING, line=1),
        finding(3, Status.INTRODUCED, severity=DiagnosticSeverity.WARNING),
    ]
    view = ViewOptions(cells=frozenset({1}), statuses=frozenset({Status.OUTSTANDING}))
    told = report(cells, *findings, view=view, carried=2, baseline="session")
    assert told.to_dict()["counts"] == {
        "introduced": 1, "outstanding": 1, "preexisting": 2, "present": 0, "fixed": 0, "carried": 2, "omitted": 0,
    }  # fmt: skip
    assert shown(told) == [(1, 0)]


def test_caps_of_a_cell_and_of_the_whole():
    cells = code_cells(*[LINES] * 3)
    findings = [finding(index, line=line) for index in range(3) for line in range(12)]
    told = report(cells, *findings)
    assert [(len(cell.diagnostics), cell.omitted) for cell in told.cells] == [(10, 2), (10, 2), (0, 12)]
    assert told.counts.omitted == 16
    assert told.counts.present == 36


def test_cells_of_which_nothing_fits_are_listed_with_what_was_omitted():
    told = report(code_cells("a", "b"), finding(0), finding(1), view=ViewOptions(max_total=1))
    assert [(cell.cell_index, len(cell.diagnostics), cell.omitted) for cell in told.cells] == [(0, 1, 0), (1, 0, 1)]


def test_caps_of_zero_are_none():
    findings = [finding(0, line=line) for line in range(30)]
    told = report(code_cells(LINES), *findings, view=NO_CAPS)
    assert len(list(told)) == 30
    assert told.counts.omitted == 0


def test_edited_cells_come_first_then_what_is_new_then_places():
    cells = code_cells(*["a\nb"] * 4)
    findings = [
        finding(0, Status.OUTSTANDING),
        finding(1, Status.INTRODUCED),
        finding(2, Status.OUTSTANDING),
        finding(3, Status.OUTSTANDING),
    ]

    def kept(total):
        return shown(report(cells, *findings, view=ViewOptions(max_total=total, edited_cells=frozenset({3}))))

    assert kept(1) == [(3, 0)]
    assert kept(2) == [(1, 0), (3, 0)]
    assert kept(3) == [(0, 0), (1, 0), (3, 0)]


def test_an_edited_cell_is_listed_even_when_clean():
    told = report(code_cells("a", "b"), view=ViewOptions(edited_cells=frozenset({1})))
    assert [cell.cell_index for cell in told.cells] == [1]
    assert not told


def test_ignored_findings_are_in_nothing():
    cells = (*code_cells("a"), Cell(1, None, CellKind.CODE, "b", tags=("skip-lsp-check",)))
    told = report(cells, finding(0, code="F401"), finding(1), view=ViewOptions(ignore=frozenset({"F401"})))
    assert told.verdict == "clean"
    assert sum(told.to_dict()["counts"].values()) == 0
    assert told.cells == ()


def test_ignoring_does_not_change_fingerprints():
    cells = code_cells("a", "a")
    everything = report(cells, finding(0), finding(1), finding(1, code="other"))
    less = report(
        cells, finding(0), finding(1), finding(1, code="other"), view=ViewOptions(ignore=frozenset({"other"}))
    )
    assert [item.fingerprint for item in less] == [item.fingerprint for item in everything if item.code != "other"]


@pytest.mark.parametrize(
    ("line", "column", "end"),
    [("ab = dff", 5, 8), ("é = dff", 4, 7), ("'😀' + dff", 6, 9), ("𝒳𝒳", 1, 2), ("😀", 0, 1)],
)
def test_range_is_in_utf_16(line, column, end):
    told = report(code_cells(f"pass\n{line}"), finding(0, line=1, column=column, end_column=end)).to_dict()
    place = told["cells"][0]["diagnostics"][0]
    assert (place["line"], place["column"], place["end_line"], place["end_column"]) == (2, column + 1, 2, end + 1)
    units = [len(line[:at].encode("utf-16-le")) // 2 for at in (column, end)]
    assert place["range"] == {
        "start": {"line": 1, "character": units[0]},
        "end": {"line": 1, "character": units[1]},
    }
    assert place["source_line"] == line


@pytest.mark.parametrize("source", ["x = 1\r\ny = 2\n", "é 😀", "\ud800", "a\u2028b"])
def test_hashes_are_those_of_the_public_interface(source):
    cells = (*code_cells(source), Cell(1, None, CellKind.MARKDOWN, "# T"))
    told = report(cells, finding(0))
    pairs = [["code", source], ["markdown", "# T"]]
    text = json.dumps(pairs, ensure_ascii=True, separators=(",", ":"))
    assert told.content_hash == "sha256:" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
    source_hash = "sha256:" + hashlib.sha256(source.encode("utf-8", "surrogatepass")).hexdigest()
    assert told.cells[0].source_hash == source_hash


def test_a_text_file_has_diagnostics_in_place_of_cells():
    text = "import x\ny = z\n" + "a\n" * 20
    findings = [Finding(Status.PRESENT, diagnostic(line)) for line in range(15)]
    told = report((), *findings, path="m.py", kind=DocumentKind.TEXT, text=text)
    as_dict = told.to_dict()
    assert "cells" not in as_dict
    assert [item["line"] for item in as_dict["diagnostics"]] == list(range(1, 16))
    assert as_dict["diagnostics"][1]["source_line"] == "y = z"
    assert as_dict["hint"] == "15 errors."
    assert as_dict["content_hash"] == "sha256:" + hashlib.sha256(text.encode()).hexdigest()


def test_unreadable_content_has_no_hash():
    assert report((), text=None).content_hash is None


def test_a_range_past_the_end_of_the_cell_does_no_harm():
    told = report(code_cells("x"), finding(0, line=5, column=3, end_column=4))
    assert next(iter(told)).source_line == ""


def test_iteration_errors_and_truth():
    cells = code_cells("a\nb")
    warning = finding(0, line=1, severity=DiagnosticSeverity.WARNING)
    told = report(cells, finding(0), warning, view=ViewOptions(severity=DiagnosticSeverity.WARNING))
    assert [item.severity.name for item in told] == ["ERROR", "WARNING"]
    assert [item.severity.name for item in told.errors] == ["ERROR"]
    assert told
    assert not report(cells, finding(0, Status.PREEXISTING))
    assert not report(cells)


def test_stored_ids_are_kept_and_none_is_made_up():
    cells = (Cell(0, CellId("dup"), CellKind.CODE, "a", execution_count=7), Cell(1, None, CellKind.CODE, "b"))
    told = report(cells, finding(0), finding(1)).to_dict()
    assert [(cell["cell_id"], cell["execution_count"]) for cell in told["cells"]] == [("dup", 7), (None, None)]


def test_facts_do_not_depend_on_the_order_of_findings():
    cells = code_cells("a\nb", "c")
    findings = [finding(1), finding(0, line=1), finding(0)]
    assert report(cells, *findings) == report(cells, *reversed(findings))


def test_unmapped_findings_are_told_and_cleaned():
    told = report(code_cells("a"), unmapped=(diagnostic(message="odd\x07\nthing"),))
    assert told.to_dict()["unmapped"] == [
        {"severity": "error", "code": "some-code", "source": "ty", "message": "odd thing"}
    ]
    assert facts().unmapped == ()
