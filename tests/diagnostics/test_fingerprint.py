from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_lsp_agent.core.diagnostic import DiagnosticSeverity
from jupyter_lsp_agent.core.ids import CellId
from jupyter_lsp_agent.diagnostics.facts import ViewOptions
from jupyter_lsp_agent.diagnostics.fingerprint import normalise_message
from jupyter_lsp_agent.notebook.model import Cell, CellKind
from tests.support.reports import finding, report

ALL = ViewOptions(max_per_cell=0, max_total=0)


def cells_of(contents):
    """Cells in this order, from pairs of id and source."""
    return tuple(Cell(index, cell_id, CellKind.CODE, source) for index, (cell_id, source) in enumerate(contents))


def by_cell(contents, line=0):
    """The fingerprint of one finding on the given line of each cell, by the cell's content."""
    told = report(cells_of(contents), *(finding(index, line=line) for index in range(len(contents))), view=ALL)
    return {contents[item.cell.cell_index]: item.fingerprint for item in told}


def one(source="x = dff\n", line=0, **words):
    return next(iter(report(cells_of([(None, source)]), finding(0, line=line, **words)))).fingerprint


@given(
    st.lists(st.tuples(st.sampled_from(["a", "b", "c", "d"]).map(CellId), st.just("x = dff")), unique=True, min_size=2),
    st.randoms(use_true_random=False),
)
def test_equal_findings_keep_their_fingerprints_when_cells_with_ids_move(contents, random):
    moved = list(contents)
    random.shuffle(moved)
    assert by_cell(contents) == by_cell(moved)


@given(st.lists(st.sampled_from(["x\na", "x\nb", "x\nc", "x\nd"]), unique=True, min_size=2).flatmap(
    lambda sources: st.tuples(st.just(sources), st.permutations(sources))
))  # fmt: skip
def test_equal_findings_keep_their_fingerprints_when_cells_without_ids_move(orders):
    before, after = ([(None, source) for source in sources] for sources in orders)
    assert by_cell(before) == by_cell(after)


def test_duplicate_ids_are_no_identity():
    before = [(CellId("a"), "x\n1"), (CellId("a"), "x\n2")]
    assert by_cell(before) == by_cell(before[::-1])


def test_the_set_of_fingerprints_survives_a_new_format_that_gives_ids():
    without = by_cell([(None, "x\n1"), (None, "x\n2")])
    with_ids = by_cell([(CellId("z"), "x\n1"), (CellId("a"), "x\n2")])
    assert set(without.values()) == set(with_ids.values())


def test_no_two_findings_of_a_report_share_one():
    told = report(cells_of([(None, "x")] * 3), *(finding(index % 3) for index in range(9)), view=ALL)
    assert len({item.fingerprint for item in told}) == 9


def test_it_survives_lines_that_shift_and_indentation():
    assert one("x = dff") == one("# new\n\nx = dff", line=2) == one("if 1:\n    x = dff", line=1)


def test_it_survives_a_new_column():
    assert one(column=4, end_column=7) == one(column=0, end_column=1)


@pytest.mark.parametrize(
    "change",
    [
        {"message": "another"},
        {"code": "another"},
        {"code": None},
        {"source": "another"},
        {"severity": DiagnosticSeverity.WARNING},
    ],
)
def test_it_tells_findings_apart(change):
    told = report(cells_of([(None, "x")]), finding(0, **change), view=replace(ALL, severity=DiagnosticSeverity.HINT))
    assert next(iter(told)).fingerprint != one("x")


def test_it_tells_lines_apart():
    assert one("x = dff") != one("y = dff")


@pytest.mark.parametrize(
    ("message", "same_as"),
    [
        ("defined on line 12", "defined on line 7"),
        ("see lines 3 and column 4", "see lines 1 and column 9"),
        ("first used in cell 3", "first used in cell 11"),
        ("previous in In [12]", "previous in In [3]"),
        ("declared at model.py:10:4", "declared at model.py:12"),
        ("a  b\n c", "a b c"),
        # As ty and pyrefly say it in two environments.
        (
            "Cannot resolve imported module `x`\n\ninfo: Searched in:\ninfo:   1. /home/a/proj (first-party code)",
            "Cannot resolve imported module `x`\n\ninfo: Searched in:\ninfo:   1. /b (first-party)\ninfo:   2. /c/d",
        ),
        ('Cannot find module `x`\n  Looked in these locations:\n  ["/a/b"]', "Cannot find module `x`"),
        ("Stub file of /home/a/venv/lib/x.py is missing", "Stub file of C:\\b\\lib\\x.py is missing"),
    ],
)
def test_positions_in_messages_do_not_count(message, same_as):
    assert normalise_message(message) == normalise_message(same_as)
    assert one(message=message) == one(message=same_as)


@pytest.mark.parametrize(
    ("message", "other"),
    [
        ("expected 2 arguments, got 3", "expected 2 arguments, got 4"),
        ("index 3 is out of bounds", "index 4 is out of bounds"),
        ("no attribute `x1`", "no attribute `x2`"),
        ("Literal[1:2]", "Literal[1:3]"),
        ("the pipeline 3 is gone", "the pipeline 4 is gone"),
        ("no such file: data/a.csv", "no such file: data/b.csv"),
        ("Operator `/` is not supported", "Operator `//` is not supported"),
    ],
)
def test_other_numbers_in_messages_do(message, other):
    assert normalise_message(message) != normalise_message(other)
