"""Inputs that may be of unsaved cells, of a kernel in which somebody listens since input 3 (`LOADED`). What is right
follows from when the file was written: what ran before that, and is not in it, is of a cell that is gone."""

import pytest

from jupyter_lsp_agent.service.execution import Execution, latest_ends
from jupyter_lsp_agent.service.kernel_view import KernelDocument, open_document, with_executed
from jupyter_lsp_agent.service.settings import Settings
from jupyter_lsp_agent.service.unsaved_inputs import names_of_unsaved, perhaps_unsaved, unsaved
from tests.support.kernels import notebook

LOADED = 30.0
SAVED = open_document(notebook("data = 1", "print(data)").encode(), "n.ipynb")


def ran(before: list[str], *since: tuple[str, str | None]) -> list[Execution]:
    """What ran: before anybody listened, the loading, and one cell after the other since."""
    unheard = [Execution(source, number) for number, source in enumerate(before, 1)]
    first = len(unheard) + 1
    loading = Execution("%load_ext jupyter_lsp_agent", first, "load", False, LOADED)
    heard = [
        Execution(source, first + n, cell_id, failed=False, ended_seconds=LOADED + n)
        for n, (source, cell_id) in enumerate(since, 1)
    ]
    return [*unheard, loading, *heard]


def given(executed: list[Execution], written: float, *live: str, document: KernelDocument = SAVED) -> set[str]:
    newer = unsaved(document, executed, written)
    content = open_document(with_executed(document, executed, newer), document.name)
    names = {*live, "data", "In", "_secret"}
    made = names_of_unsaved(document, content, executed, names=names, settings=Settings(), written_seconds=written)
    return set(made)


def test_what_nobody_heard_was_done_before_the_next() -> None:
    assert latest_ends(ran(["a", "b"], ("c", None))) == [30.0, 30.0, 30.0, 31.0]


@pytest.mark.parametrize(
    ("executed", "written", "expected"),
    [
        (ran(["gone = 4"]), 10.0, {"gone"}),
        (ran(["gone = 4"]), LOADED, set()),  # saved since: its cell was deleted
        (ran(["gone = 4", "data = 1"], ("print(gone)", "n1")), 10.0, {"gone"}),
        (ran(["import gone, other"]), 10.0, {"gone"}),  # the other does not live
        (ran(["data = 2"]), 10.0, set()),  # the notebook gives it
        (ran(["exec(text)"]), 10.0, {"gone"}),  # it may have made whatever lives
        (ran(["%run prepare.py"]), 10.0, {"gone"}),
        (ran(["data = 1"], ("exec(text)", "n1")), 10.0, set()),  # it is put into the content, and seen there
        (ran([], ("gone = 4", "n1")), 10.0, {"gone"}),
        (ran([], ("gone = 4", "n1"), ("else_ = 1", "n1")), 10.0, set()),  # its cell has another text now
        (ran([]), 10.0, set()),
    ],
)
def test_which_names_are_given(executed: list[Execution], written: float, expected: set[str]) -> None:
    document = open_document(notebook("data = 1", "print(gone)").encode(), "n.ipynb")
    assert given(executed, written, "gone", document=document) == expected


def test_a_name_that_a_cell_in_its_place_binds_keeps_its_type() -> None:
    executed = ran(["data = 1"], ("gone = 4", "n1"), ("print(gone)", "n2"))
    assert given(executed, 10.0, "gone") == set()


def test_what_is_like_a_later_input_may_be_another_cell() -> None:
    executed = ran([], ("first = load_table(a_path)", None), ("second = load_table(a_path)", None))
    assert [cell.execution_count for cell in unsaved(SAVED, executed, 10.0)] == [3]
    assert given(executed, 10.0, "first", "second") == {"first"}


@pytest.mark.parametrize(
    ("executed", "written", "expected"),
    [
        (ran(["gone = 4", "data = 1"]), 10.0, [1]),
        (ran(["gone = 4"]), LOADED, []),
        (ran(["gone = 4"], ("gone = 4", "n1")), 10.0, []),  # told of the later one
        (ran(["%lsp_check", "%%lsp_check\nx"]), 10.0, []),
        (ran(["total = first + second", "total = first + third"]), 10.0, [2]),
        ([*ran(["gone = 4"]), Execution("r = %lsp_check", 3)], 10.0, [1]),  # the last one runs now
    ],
)
def test_which_inputs_are_told(executed: list[Execution], written: float, expected: list[int]) -> None:
    assert [cell.execution_count for cell in perhaps_unsaved(SAVED, executed, written)] == expected


def test_no_saved_cell_gets_the_text_of_an_input_that_may_be_older() -> None:
    document = open_document(notebook("total = first + second + third").encode(), "n.ipynb")
    assert unsaved(document, ran(["total = first + second + fourth"]), 10.0) == ()
