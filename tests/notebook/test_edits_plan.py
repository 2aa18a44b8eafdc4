"""What a batch of edits means, whoever writes it down."""

import pytest

from jupyter_lsp_agent.core.errors import InvalidEditError, UnknownCellError
from jupyter_lsp_agent.notebook.cell_refs import CellNames
from jupyter_lsp_agent.notebook.edits import (
    Append,
    Delete,
    EditedPlace,
    Insert,
    Move,
    Replace,
    ReplaceText,
    SetType,
    plan_edits,
)
from jupyter_lsp_agent.notebook.model import Cell, CellKind
from jupyter_lsp_agent.notebook.reader import notebook_from_json


def _notebook(sources, *, ids=None, minor=5, nbformat=4):
    cells = [{"cell_type": "code", "source": source, "metadata": {}, "outputs": []} for source in sources]
    for cell, cell_id in zip(cells, ids or (), strict=False):
        if cell_id is not None:
            cell["id"] = cell_id
    return notebook_from_json(
        {"nbformat": nbformat, "nbformat_minor": minor, "metadata": {}, "cells": cells}, "n.ipynb"
    )


def _plan(edits, sources="abcd", **options):
    ids = options.pop("ids", list(sources))
    return plan_edits(_notebook(sources, ids=ids, **options), edits, new_id=iter(["n1", "n2", "n3"]).__next__)


_TABLE = [
    ([Replace(1, "B")], "aBcd"),
    ([Replace("b", "B"), Replace("b", "C")], "aCcd"),
    ([ReplaceText("b", "b", "xby"), ReplaceText(1, "x", "z")], ["a", "zby", "c", "d"]),
    ([Insert(None, "code", "N")], "Nabcd"),
    ([Insert(1, "code", "N")], "abNcd"),
    ([Insert("d", "markdown", "N")], "abcdN"),
    ([Append("raw", "N")], "abcdN"),
    ([Append("raw", "N"), Append("raw", "M")], "abcdNM"),
    # One position, several edits: they stand in the order of the batch.
    ([Insert(1, "code", "N"), Insert(1, "code", "M"), Insert(1, "code", "O")], "abNMOcd"),
    ([Insert(None, "code", "N"), Insert(None, "code", "M")], "NMabcd"),
    ([Insert(1, "code", "N"), Move(0, 1)], "bNacd"),
    # Indexes mean the notebook as it was.
    ([Delete(0), Replace(1, "B")], "Bcd"),
    ([Delete(0), Delete(1), Delete(2), Delete(3)], ""),
    ([Insert(None, "code", "N"), Replace(0, "A")], "NAbcd"),
    ([Move(0, 3), Replace(0, "A"), Insert(0, "code", "N")], "bcdAN"),
    ([Move("d", None)], "dabc"),
    ([Move(0, 1)], "bacd"),
    ([Move(1, 0)], "abcd"),
    ([Move(0, 2), Move(1, 0)], "cabd"),
    ([Insert(2, "code", "N"), Move(2, None)], "cabNd"),
    ([Move(0, 3), Move(0, 1)], "bacd"),
]


@pytest.mark.parametrize(("edits", "expected"), _TABLE)
def test_the_cells_after_a_batch(edits, expected):
    assert [cell.source for cell in _plan(edits).cells] == list(expected)


def test_places_are_final_and_in_the_order_of_the_batch():
    plan = _plan([Delete(0), Insert(1, "code", "N"), Replace("d", "D"), Append("code", "M"), Move(2, None)])
    assert [cell.source for cell in plan.cells] == ["c", "b", "N", "D", "M"]
    assert plan.places == (
        EditedPlace("a", None),
        EditedPlace("n1", 2),
        EditedPlace("d", 3),
        EditedPlace("n2", 4),
        EditedPlace("c", 0),
    )
    assert plan.touched == {0, 2, 3, 4}


@pytest.mark.parametrize(("minor", "made"), [(5, "n1"), (6, "n1"), (4, None), (0, None)])
def test_new_cells_get_ids_where_the_format_has_them(minor, made):
    assert _plan([Append("code", "x")], minor=minor).cells[-1].cell_id == made


def test_a_made_id_is_a_new_one():
    notebook = _notebook("ab", ids=["n1", "n2"])
    plan = plan_edits(
        notebook, [Append("code", "x"), Append("code", "y")], new_id=iter(["n1", "n3", "n3", "n4"]).__next__
    )
    assert [cell.cell_id for cell in plan.cells] == ["n1", "n2", "n3", "n4"]


def test_ids_are_made_for_new_cells_only():
    plan = _plan([Replace(0, "x"), SetType(1, "markdown")], ids=[])
    assert {cell.cell_id for cell in plan.cells} == {None}


def test_an_edit_that_changes_nothing_leaves_the_cell_unchanged():
    plan = _plan([Replace(0, "a"), SetType(1, "code"), Move(1, 0)])
    assert not any(cell.changed for cell in plan.cells)
    assert [cell.origin for cell in plan.cells] == list(range(len(plan.cells)))
    assert plan.kept == set(range(len(plan.cells)))
    assert plan.touched == {0, 1}


_REFUSED = [
    ([Replace(4, "x")], UnknownCellError, "no cell 4"),
    ([Replace(-1, "x")], UnknownCellError, "no cell -1"),
    ([Replace("zz", "x")], UnknownCellError, "'zz'"),
    ([Insert("zz", "code", "x")], UnknownCellError, "'zz'"),
    ([Move(0, 9)], UnknownCellError, "no cell 9"),
    ([Delete(0), Replace(0, "x")], InvalidEditError, "deleted"),
    ([Delete(0), Delete("a")], InvalidEditError, "deleted"),
    ([Delete(0), Insert(0, "code", "x")], InvalidEditError, "deleted"),
    ([Move(1, 1)], InvalidEditError, "after itself"),
    ([SetType(0, "heading")], InvalidEditError, "'heading'"),
    ([Append("unknown", "x")], InvalidEditError, "'unknown'"),
    ([ReplaceText(0, "", "x")], InvalidEditError, "empty"),
    ([ReplaceText(0, "q", "x")], InvalidEditError, "does not occur"),
    ([Replace(0, "aaa"), ReplaceText(0, "aa", "x")], InvalidEditError, "more than once"),
    ([ReplaceText(None, "a", "x")], InvalidEditError, '"cell" is missing'),
]


@pytest.mark.parametrize(("edits", "error", "word"), _REFUSED)
def test_a_batch_with_one_bad_edit_is_refused_whole(edits, error, word):
    with pytest.raises(error, match=word):
        _plan([Replace(3, "fine"), *edits])


def test_a_duplicate_id_is_refused_and_its_index_is_not():
    with pytest.raises(InvalidEditError, match="2 cells have the id 'x'"):
        _plan([Replace("x", "y")], ids=["x", "x", "c", "d"])
    assert _plan([Replace(1, "y")], ids=["x", "x", "c", "d"]).cells[1].source == "y"


@pytest.mark.parametrize(
    ("ids", "told"),
    [
        (["a", "b", "a", None], "there are 'a', 'b'; or use an index, from 0"),
        ([f"c{number}" for number in range(25)], "'c18', 'c19' and 5 more; or use an index, from 0"),
        ([None], "the notebook's cells have none; use an index, from 0"),
    ],
)
def test_who_names_an_unknown_cell_is_told_of_those_there_are(ids, told):
    cells = [Cell(index, cell_id, CellKind.CODE, "") for index, cell_id in enumerate(ids)]
    with pytest.raises(UnknownCellError) as unknown:
        CellNames(cells).find("zz", '"cell"')
    assert str(unknown.value).endswith(told)
    with pytest.raises(UnknownCellError, match=r"the notebook has (25 cells|4 cells|1 cell)$"):
        CellNames(cells).find(77, '"cell"')


def test_an_id_made_in_the_batch_names_no_cell():
    with pytest.raises(UnknownCellError):
        _plan([Append("code", "x"), Replace("n1", "y")])


def test_old_formats_are_not_edited():
    old = notebook_from_json(
        {"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": []}]}, "o.ipynb"
    )
    with pytest.raises(InvalidEditError, match="save it as nbformat 4"):
        plan_edits(old, [Append("code", "x")])
