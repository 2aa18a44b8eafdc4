"""What a kernel ran, beside what a notebook holds. The right values follow from what IPython keeps of its inputs."""

import json

import pytest
from IPython.core.interactiveshell import InteractiveShell

from jupyter_lsp_agent.core.errors import InvalidRequestError
from jupyter_lsp_agent.notebook.reader import read_notebook
from jupyter_lsp_agent.service.execution import Execution
from jupyter_lsp_agent.service.kernel_view import (
    KernelDocument,
    cell_index,
    history_document,
    is_own_magic,
    listed_document,
    open_document,
    resembles,
    with_cell,
    with_executed,
)
from jupyter_lsp_agent.service.ran_cells import RanCells, as_recorded
from jupyter_lsp_agent.service.unsaved_inputs import unsaved
from tests.support.kernels import notebook


def document(*sources: str, **options: object) -> KernelDocument:
    return open_document(notebook(*sources, **options).encode(), "n.ipynb")


def ran(*sources: str | tuple[str, str]) -> list[Execution]:
    """What ran, one a second; with an id where it is told."""
    cells = [one if isinstance(one, tuple) else (one, None) for one in sources]
    return [Execution(source, n, cell_id, ended_seconds=float(n)) for n, (source, cell_id) in enumerate(cells, 1)]


def sources(data: bytes) -> list[str]:
    return [cell.source for cell in read_notebook(data, "n.ipynb").cells]


def test_ipython_keeps_a_source_without_the_line_ends_at_its_end() -> None:
    shell = InteractiveShell()
    for source in ("a = 1\n\n", "\nb = 2", "c = 3  \n", "d = 4\r\n"):
        shell.run_cell(source, store_history=True)
        assert shell.history_manager.input_hist_raw[-1] == as_recorded(source)


def test_the_history_has_input_n_at_index_n() -> None:
    made = history_document(ran("a = 1", "b = a", "c"))
    assert [cell.source for cell in made.notebook.cells] == ["", "a = 1", "b = a", "c"]
    assert [cell.execution_count for cell in made.notebook.cells] == [None, 1, 2, 3]


def test_a_cell_that_ran_again_stands_where_it_ran_first_in_its_last_version() -> None:
    made = history_document(ran(("a = 1", "x"), ("b = a", "y"), ("a = 2", "x"), ("c", "z")))
    assert [cell.source for cell in made.notebook.cells] == ["", "a = 2", "b = a", "", "c"][:5]


def test_inputs_that_failed_are_there_and_not_judged() -> None:
    cells = history_document(ran("a = 1", "b"), failed={2}).notebook.cells
    assert [cell.tags for cell in cells] == [(), (), ("skip-lsp-check",)]


def test_no_input_is_an_empty_notebook() -> None:
    assert [cell.source for cell in history_document([]).notebook.cells] == [""]


@pytest.mark.parametrize(
    ("executed", "expected"),
    [
        (ran(("a = 1", "c0")), []),
        (ran(("a = 1\n", "c0")), []),
        (ran(("a = 2", "c0")), [1]),
        (ran(("a = 2", "c0"), ("a = 1", "c0")), []),  # the last version is the saved one
        (ran(("new", "n")), [1]),
        (ran(("%lsp_check", "n"), ("%%lsp_check\nx", "m")), []),
        (ran("a = 5", "b = 2"), [1]),
        (ran("b = 2", "a = 5"), [2]),
        (ran("total = first + second", "x", "total = first + third"), [2, 3]),  # without ids, the next version of it
    ],
)
def test_what_is_not_saved(executed: list[Execution], expected: list[int]) -> None:
    stored = document("a = 1\n", "b = 2")
    assert [cell.execution_count for cell in unsaved(stored, executed, 0.0)] == expected
    # What ran before the file was written may have been edited since.
    assert unsaved(stored, executed, 100.0) == ()


def test_a_cell_that_was_only_checked_is_no_input() -> None:
    executed = ran("a = 1", "%%lsp_check\nb", "%%lsp_check\nc")
    assert [cell.source for cell in history_document(executed).notebook.cells] == ["", "a = 1"]
    asking = history_document(executed, is_asking=True).notebook.cells
    assert [cell.source for cell in asking] == ["", "a = 1", "", "%%lsp_check\nc"]


def test_what_ran_before_anybody_listened_is_not_called_unsaved() -> None:
    assert unsaved(document("a = 1"), [Execution("a = 2", 1, "c0")], 0.0) == ()


def test_newest_versions_come_into_place_and_new_cells_after_what_ran_before() -> None:
    stored = document("a = 1", "b = 2", "c = 3")
    executed = ran(("a = 10", "c0"), ("new = 1", "n"), ("newer = 1", "m"), ("c = 3", "c2"))
    data = with_executed(stored, executed, unsaved(stored, executed, 0.0))
    assert sources(data) == ["a = 10", "new = 1", "newer = 1", "b = 2", "c = 3"]
    assert [cell.cell_id for cell in read_notebook(data, "n").cells] == ["c0", "n", "m", "c1", "c2"]


@pytest.mark.parametrize(
    ("executed", "expected"),
    [
        # The cell above was run once more before a new one that stands below.
        (ran(("a = 1", "c0"), ("b = 2", "c1"), ("a = 1", "c0"), ("print(b)", "n")), ["a = 1", "b = 2", "print(b)"]),
        (ran(("a = 1", "c0"), ("print(a)", "n")), ["a = 1", "print(a)", "b = 2"]),
        (ran(("a = 1", "c0"), ("def f(): return b", "n")), ["a = 1", "def f(): return b", "b = 2"]),
        (
            ran(("new = 1", "n"), ("a = 1", "c0"), ("print(new)", "m")),
            ["a = 1", "b = 2", "new = 1", "print(new)"],
        ),
        ([Execution("a = 1", 1, "c0", False, 1.0), Execution("b", 2, "n", True, 2.0)], ["a = 1", "b", "b = 2"]),
    ],
)
def test_a_new_cell_that_ran_well_is_not_above_what_it_read(executed: list[Execution], expected: list[str]) -> None:
    stored = document("a = 1", "b = 2")
    assert sources(with_executed(stored, executed, unsaved(stored, executed, 0.0))) == expected


def test_nothing_else_of_the_notebook_changes() -> None:
    text = json.loads(notebook("a = 1", "b = 2"))
    text["cells"][0]["metadata"] = {"tags": ["skip-lsp-check"], "odd": [1]}
    text["metadata"]["odd"] = 2
    made, index = with_cell(open_document(json.dumps(text).encode(), "n"), "c0", "a = 1", "a = 2")
    text["cells"][0]["source"] = "a = 2"
    assert (json.loads(made), index) == (text, 0)


@pytest.mark.parametrize(
    ("cell_id", "source", "index"),
    [
        ("c1", "anything", 1),
        (None, "b = 2", 1),
        (None, "twice", None),  # which of the two cannot be told
        ("unknown", "b = 2", 1),
        ("unknown", "b = 22", None),  # with ids, a text that is alike is no evidence
        (None, "total = first + second + fourth", 4),
        (None, "nothing like it", None),
    ],
)
def test_which_cell_ran(cell_id: str | None, source: str, index: int | None) -> None:
    cells = document("a = 1", "b = 2", "twice", "twice", "total = first + second + third").notebook
    assert RanCells(cells).find_version(cell_id, source) == index


EDITOR = "vscode-notebook-cell:/home/ann/n.ipynb#W{}sZmlsZQ%3D%3D".format


@pytest.mark.parametrize(
    ("executed", "cell", "source", "index"),
    [
        ([], 0, "b = 2", 1),
        ([], 0, "b = 22", None),
        ([], 0, "total = first + second + fourth", 4),  # its names are no ids, so a text that is alike is evidence
        ([("b = 2", EDITOR(7))], 7, "nothing like it", 1),
        ([("b = 2", EDITOR(7)), ("later", EDITOR(7))], 7, "nothing like it", 1),
        ([("b = 2", EDITOR(7)), ("b = 2", EDITOR(8))], 8, "nothing like it", None),  # a copy of the cell
        ([("total = first + second + third", EDITOR(7))], 8, "total = first + second + fourth", None),
        ([("twice", EDITOR(7))], 7, "nothing like it", None),
        ([("b = 2", EDITOR(7)), ("a = 1", EDITOR(7))], 7, "nothing like it", 0),  # saved in between
        ([("b = 2", "unknown")], 8, "nothing like it", None),
    ],
)
def test_an_editor_s_own_name_means_the_cell_that_it_ran(
    executed: list[tuple[str, str]], cell: int, source: str, index: int | None
) -> None:
    cells = document("a = 1", "b = 2", "twice", "twice", "total = first + second + third").notebook
    assert RanCells(cells, ran(*executed)).find_version(EDITOR(cell), source) == index


def test_made_ids_for_a_file_without_any_are_names_too() -> None:
    stored = document("a = 1", "b = 2", ids=False, minor=4)
    executed = ran(("b = 2", "made-7"), ("nothing like it", "made-7"), ("new = 1", "made-8"))
    data = with_executed(stored, executed, unsaved(stored, executed, 0.0))
    cells = read_notebook(data, "n").cells
    expected = [(None, "a = 1"), (None, "nothing like it"), (None, "new = 1")]
    assert [(cell.cell_id, cell.source) for cell in cells] == expected


def test_an_editor_s_own_name_is_no_id() -> None:
    stored = document("a = 1")
    executed = ran(("a = 1", EDITOR(0)), ("new = 1", EDITOR(1)))
    data = with_executed(stored, executed, unsaved(stored, executed, 0.0))
    cells = read_notebook(data, "n").cells
    assert [(cell.cell_id, cell.source) for cell in cells] == [("c0", "a = 1"), (None, "new = 1")]


def test_an_old_notebook_is_told_to_be_saved_anew() -> None:
    old = {"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": []}]}
    with pytest.raises(InvalidRequestError, match="save it as nbformat 4"):
        with_cell(open_document(json.dumps(old).encode(), "n.ipynb"), None, "x", "x")


@pytest.mark.parametrize(
    ("stored", "executed", "expected"),
    [
        (document("a = 1"), ran("a = 1"), True),
        (document("a = 1"), ran("b = 1"), False),
        (document("a = 1"), ran(("b = 1", "c0")), True),
        (document("a = 1"), ran("%load_ext jupyter_lsp_agent", "%lsp_check"), True),  # nothing speaks against it
        (document("", "  \n"), ran("b = 1"), True),  # a new one
    ],
)
def test_whose_notebook_it_may_be(stored: KernelDocument, executed: list[Execution], expected: bool) -> None:
    assert resembles(stored, executed) is expected


def test_a_listed_notebook_keeps_what_the_file_says_of_its_cells() -> None:
    stored = json.loads(notebook("a = 1", "b = 2"))
    stored["cells"][1]["metadata"] = {"tags": ["skip-lsp-check"]}
    listing = [
        {"cell_id": "new", "cell_type": "code", "source": "n", "cell_index": 0},
        {"cell_id": "c1", "cell_type": "code", "source": "b = 3", "cell_index": 1},
        {"cell_id": None, "cell_type": "markdown", "source": "# x", "cell_index": 2},
    ]
    made = listed_document(listing, json.dumps(stored).encode(), "n.ipynb", "python3").notebook
    assert [(cell.cell_id, cell.source, cell.tags, cell.cell_type) for cell in made.cells] == [
        ("new", "n", (), "code"),
        ("c1", "b = 3", ("skip-lsp-check",), "code"),
        (None, "# x", (), "markdown"),
    ]
    assert made.kernel.kernel_name == "python3"


def test_a_cell_is_named_by_id_or_number() -> None:
    stored = document("a", "b")
    assert [cell_index(stored, ref) for ref in ("1", "c0")] == [1, 0]
    for wrong in ("2", "nobody", "-1", ""):
        with pytest.raises(InvalidRequestError, match="--cell"):
            cell_index(stored, wrong)


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("%lsp_check", True),
        ("\n%load_ext jupyter_lsp_agent\n%lsp_check --auto on\n", True),
        ("%%lsp_check\nx = 1", True),
        ("%lsp_check\nx = 1", False),
        ("x = 1", False),
    ],
)
def test_cells_that_only_ask(source: str, expected: bool) -> None:
    assert is_own_magic(source) is expected
