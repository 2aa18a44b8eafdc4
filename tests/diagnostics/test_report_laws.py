"""What holds of every report, whatever servers and notebooks say."""

import json
from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from jupyter_lsp_agent.core.diagnostic import CellDiagnostic, Diagnostic, DiagnosticSeverity
from jupyter_lsp_agent.core.ids import CellId
from jupyter_lsp_agent.core.positions import TextPosition, TextRange
from jupyter_lsp_agent.diagnostics.facts import Finding, ViewOptions
from jupyter_lsp_agent.diagnostics.render import RENDERERS
from jupyter_lsp_agent.diagnostics.report import Status, Verdict
from jupyter_lsp_agent.notebook.model import Cell, CellKind
from tests.support.reports import report

TEXT = st.text(st.characters() | st.sampled_from("\t\n\r\x1b\u202e日\U0001f600\U000e0041\ud800%:,"), max_size=30)
SOURCES = st.lists(TEXT, min_size=1, max_size=4)
POSITIONS = st.builds(TextPosition, st.integers(0, 4), st.integers(0, 40))
RANGES = st.tuples(POSITIONS, POSITIONS).map(lambda ends: TextRange(min(ends), max(ends)))


@st.composite
def checks(draw):
    """Cells, findings in them, and a view."""
    sources = draw(SOURCES)
    ids = st.none() | st.sampled_from(["a", "b"]).map(CellId) | TEXT.map(CellId)
    cells = tuple(Cell(index, draw(ids), CellKind.CODE, source) for index, source in enumerate(sources))
    indexes = st.integers(0, len(cells) - 1)
    diagnostics = st.builds(
        Diagnostic, RANGES, st.sampled_from(DiagnosticSeverity), TEXT, source=TEXT, code=st.none() | TEXT
    )
    findings = draw(
        st.lists(
            st.builds(Finding, st.sampled_from(Status), st.builds(CellDiagnostic, indexes, diagnostics)), max_size=12
        )
    )
    view = draw(
        st.builds(
            ViewOptions,
            severity=st.sampled_from(DiagnosticSeverity),
            statuses=st.frozensets(st.sampled_from(Status)),
            cells=st.none() | st.frozensets(indexes),
            edited_cells=st.frozensets(indexes),
            max_per_cell=st.integers(0, 3),
            max_total=st.integers(0, 5),
        )
    )
    return cells, findings, view


@given(checks())
def test_counts_and_caps(check):
    cells, findings, view = check
    told = report(cells, *findings, view=view)
    counted = [item for item in findings if item.diagnostic.diagnostic.severity <= view.severity]
    by_status = Counter(item.status for item in counted)
    wanted = [
        item
        for item in counted
        if item.status in view.statuses and (view.cells is None or item.diagnostic.cell_index in view.cells)
    ]
    assert all(getattr(told.counts, status.value) == by_status[status] for status in Status)
    assert len(list(told)) + told.counts.omitted == len(wanted)
    assert sum(cell.omitted for cell in told.cells) == told.counts.omitted
    assert len(list(told)) <= (view.max_total or len(wanted))
    assert all(len(cell.diagnostics) <= (view.max_per_cell or len(wanted)) for cell in told.cells)
    assert {cell.cell_index for cell in told.cells} >= view.edited_cells
    assert [cell.cell_index for cell in told.cells] == sorted({cell.cell_index for cell in told.cells})


@given(checks())
def test_the_verdict_does_not_depend_on_what_is_shown(check):
    cells, findings, view = check
    told = report(cells, *findings, view=view)
    whole = report(cells, *findings, view=ViewOptions(severity=view.severity, max_per_cell=0, max_total=0))
    assert (told.verdict, told.hint) == (whole.verdict, whole.hint)
    blamed = {Status.INTRODUCED, Status.OUTSTANDING, Status.PRESENT}
    has_error = any(item.status in blamed and item.diagnostic.diagnostic.severity <= view.severity for item in findings)
    assert (told.verdict is Verdict.ERRORS) is has_error


@given(checks())
def test_fingerprints_are_unique_and_do_not_depend_on_the_view(check):
    cells, findings, view = check
    everything = ViewOptions(severity=DiagnosticSeverity.HINT, statuses=frozenset(Status), max_per_cell=0, max_total=0)
    whole = [item.fingerprint for item in report(cells, *findings, view=everything)]
    assert len(set(whole)) == len(findings)
    assert {item.fingerprint for item in report(cells, *findings, view=view)} <= set(whole)


@given(checks())
def test_every_format_can_be_written_and_read(check):
    cells, findings, view = check
    told = report(cells, *findings, view=view)
    for renderer in RENDERERS.values():
        renderer.render(told).encode("utf-8", "backslashreplace")
    line = json.dumps(told.to_dict(), ensure_ascii=False).encode("utf-8", "backslashreplace")
    assert json.loads(line) == told.to_dict()


@given(checks())
def test_text_is_one_line_a_thing(check):
    cells, findings, view = check
    told = report(cells, *findings, view=view)
    lines = told.to_text().split("\n")
    excerpts = sum(2 for item in told if item.source_line.strip())
    assert len(lines) == 1 + len(list(told)) + excerpts + bool(told.counts.omitted)
    assert all(len(line) <= 600 for line in lines)
    assert not any(ord(character) < 32 for line in lines for character in line)
