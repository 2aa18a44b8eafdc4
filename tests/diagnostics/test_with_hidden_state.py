"""Findings about a kernel's state beside those of servers: shown always, counted by the same rules as these."""

import pytest

from jupyter_lsp_agent.core.diagnostic import DiagnosticSeverity
from jupyter_lsp_agent.core.ids import CellId
from jupyter_lsp_agent.core.positions import TextPosition, TextRange
from jupyter_lsp_agent.diagnostics.build import no_verdict_report
from jupyter_lsp_agent.diagnostics.facts import ViewOptions
from jupyter_lsp_agent.diagnostics.hidden_state import (
    HiddenState,
    HiddenStateKind,
    hidden_state_apart,
    with_hidden_state,
)
from jupyter_lsp_agent.diagnostics.read_json import report_from_dict
from jupyter_lsp_agent.diagnostics.render_html import render_html
from jupyter_lsp_agent.diagnostics.render_markdown import render_markdown
from jupyter_lsp_agent.diagnostics.report import Counts, NoVerdictReason, Report, Status, Verdict
from jupyter_lsp_agent.frontends.magic.result import LspCheck
from jupyter_lsp_agent.notebook.model import Notebook
from tests.support.reports import code_cells, facts, finding, report

CELLS = code_cells("a = 1", "print(x)\ny", "z")
NOTEBOOK = Notebook(CELLS)


def hidden(cell_index: int = 1, name: str = "x", line: int = 0, column: int = 6) -> HiddenState:
    place = TextRange(TextPosition(line, column), TextPosition(line, column + len(name)))
    cell_id = CellId(f"c{cell_index}")
    return HiddenState(cell_index, cell_id, place, name, HiddenStateKind.CELL_DELETED, f"`{name}` is gone in cell 9")


def test_at_errors_alone_it_is_shown_and_not_counted():
    told = with_hidden_state(report(CELLS), NOTEBOOK, [hidden(), hidden(1, "y", 1, 0)])
    assert (told.verdict, told.hint, told.counts) == (Verdict.CLEAN, "No errors.", Counts())
    assert told.to_text() == (
        "n.ipynb: no errors; 2 uses of what only this kernel knows (ty 0.0.108, 0 ms)\n"
        "cell 1 (c1) 1:7 warning: `x` is gone in cell 9 [hidden-state]\n"
        "    print(x)\n"
        "          ^\n"
        "cell 1 (c1) 2:1 warning: `y` is gone in cell 9 [hidden-state]\n"
        "    y\n"
        "    ^"
    )
    assert bool(told)
    assert told.errors == ()
    assert [item.status for item in told] == [Status.PRESENT] * 2
    assert "2 uses of what only this kernel knows" in render_html(told)
    assert "2 uses of what only this kernel knows" in render_markdown(told)
    value = told.to_dict()
    assert [cell["cell_index"] for cell in value["cells"]] == [1]
    assert report_from_dict(value).to_text() == told.to_text()


def test_at_warnings_it_counts():
    view = ViewOptions(severity=DiagnosticSeverity.WARNING)
    before = report(CELLS, view=view)
    assert before.verdict is Verdict.CLEAN
    told = with_hidden_state(before, NOTEBOOK, [hidden()])
    assert (told.verdict, told.counts) == (Verdict.ERRORS, Counts(present=1))
    assert told.hint == "1 finding in cell 1."
    assert told.to_text().startswith("n.ipynb: 1 finding (ty")
    assert list(told.counted) == list(told)


def test_the_hint_speaks_of_all_that_is_present():
    view = ViewOptions(severity=DiagnosticSeverity.WARNING, max_per_cell=1)
    before = report(CELLS, *[finding(0, column=n) for n in range(3)], view=view)
    for known in (before, report_from_dict(before.to_dict(), severity=DiagnosticSeverity.WARNING)):
        told = with_hidden_state(known, NOTEBOOK, [hidden(2, "z", 0, 0)], view)
        assert told.hint == "4 findings in cells 0, 2."
        assert told.counts == Counts(present=4, omitted=2)


def test_what_is_new_stays_the_first_thing_to_say():
    view = ViewOptions(severity=DiagnosticSeverity.WARNING)
    before = report(CELLS, finding(0, Status.INTRODUCED), view=view, baseline="session")
    told = with_hidden_state(before, NOTEBOOK, [hidden()])
    assert told.hint == before.hint == "1 new error in cell 0."
    assert told.counts == Counts(introduced=1, present=1)


def test_the_caps_cut_hidden_state_first():
    errors = [finding(1, message=f"e{n}") for n in range(3)]
    view = ViewOptions(max_per_cell=4, max_total=5)
    found = [hidden(), hidden(1, "y", 1, 0), hidden(2, "z", 0, 0), hidden(0, "a", 0, 0)]
    told = with_hidden_state(report(CELLS, *errors, view=view), NOTEBOOK, found, view)
    shown = [(cell.cell_index, [item.code for item in cell.diagnostics], cell.omitted) for cell in told.cells]
    assert shown == [(0, [], 1), (1, ["some-code"] * 3 + ["hidden-state"], 1), (2, ["hidden-state"], 0)]
    assert told.counts == Counts(present=3, omitted=2)
    assert told.to_text().endswith("… 2 more in cells 0, 1")


def test_without_a_verdict_it_is_beside_the_report():
    """A report without a verdict has no cells, and what the kernel knows is shown all the same."""
    before = no_verdict_report(facts(CELLS), NoVerdictReason.NOT_INSTALLED, "install ty")
    assert with_hidden_state(before, NOTEBOOK, [hidden()]) is before
    assert (before.verdict, before.cells, before.counts) == (Verdict.NO_VERDICT, (), None)
    apart = hidden_state_apart(before, NOTEBOOK, [hidden()])
    assert [(cell.cell_index, [item.code for item in cell.diagnostics]) for cell in apart] == [(1, ["hidden-state"])]
    told = LspCheck(before, "Content: it.", hidden_state=apart)
    head = "n.ipynb: no verdict (not_installed): install ty; 1 use of what only this kernel knows"
    first, second, *_ = told.to_text().split("\n")
    assert first == head
    assert second == "cell 1 (c1) 1:7 warning: `x` is gone in cell 9 [hidden-state]"
    for text in (told.to_html(), told.to_markdown()):
        assert "1 use of what only this kernel knows" in text
        assert "is gone in cell 9" in text
    assert (bool(told), [item.code for item in told], told.cells, told.errors) == (True, ["hidden-state"], (), ())
    value = told.to_dict()
    assert (value["verdict"], value["cells"], value["fixed"]) == ("no_verdict", [], [])
    assert set(value["counts"].values()) == {None}
    assert [cell["cell_index"] for cell in value["hidden_state"]] == [1]
    assert value["hidden_state"][0]["diagnostics"][0]["source"] == "jupyter-lsp-agent"


def test_with_a_verdict_nothing_is_beside_it():
    assert hidden_state_apart(report(CELLS), NOTEBOOK, [hidden()]) == ()
    before = no_verdict_report(facts(CELLS), NoVerdictReason.TIMEOUT, "wait")
    assert hidden_state_apart(before, NOTEBOOK, [hidden()], ViewOptions(severity=DiagnosticSeverity.WARNING)) == ()
    assert hidden_state_apart(before, NOTEBOOK, []) == ()
    assert not LspCheck(before, "Content: it.")


def test_without_a_verdict_and_where_warnings_count_it_is_a_finding():
    before = no_verdict_report(facts(CELLS), NoVerdictReason.TIMEOUT, "wait")
    view = ViewOptions(severity=DiagnosticSeverity.WARNING)
    told = with_hidden_state(before, NOTEBOOK, [hidden()], view)
    assert (told.verdict, told.reason, told.detail, told.counts) == (Verdict.ERRORS, None, None, Counts(present=1))


@pytest.mark.parametrize(
    "view",
    [
        ViewOptions(ignore=frozenset({"hidden-state"})),
        ViewOptions(cells=frozenset({0})),
        ViewOptions(cells=frozenset()),
    ],
)
def test_what_was_not_asked_for_is_left_out(view):
    before = report(CELLS, view=view)
    assert with_hidden_state(before, NOTEBOOK, [hidden()], view) == before


def test_nothing_to_tell_changes_nothing():
    before = report(CELLS, finding(0))
    assert with_hidden_state(before, NOTEBOOK, []) is before


def test_a_fingerprint_outlives_the_places():
    one = with_hidden_state(report(CELLS), NOTEBOOK, [hidden()])
    moved = code_cells("new", "a = 1", "print(x)\ny", "z")
    other = with_hidden_state(report(moved), Notebook(moved), [hidden(2)])
    assert [item.fingerprint for item in one] == [item.fingerprint for item in other]
    two = with_hidden_state(report(CELLS), NOTEBOOK, [hidden(), hidden(1, "y", 1, 0)])
    assert len({item.fingerprint for item in two}) == 2


def test_an_error_of_another_server_keeps_its_place():
    told: Report = with_hidden_state(report(CELLS, finding(1, column=2), finding(2)), NOTEBOOK, [hidden()])
    assert [(item.cell.cell_index, item.code) for item in told] == [
        (1, "some-code"), (1, "hidden-state"), (2, "some-code"),
    ]  # fmt: skip
    assert told.to_text().startswith("n.ipynb: 2 errors; 1 use of what only this kernel knows (ty")
