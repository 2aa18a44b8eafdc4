"""Hidden state told from the texts of the whole corpus: silent where notebooks are run as they stand, and not where a
cell is gone. No kernel runs here: what would have been run is what stands there."""

import builtins
import functools
import symtable
import warnings

import pytest

from jupyter_lsp_agent.notebook.build_options import BuildOptions
from jupyter_lsp_agent.notebook.hidden_state import ExecutedCell, HiddenStateKind, find_hidden_state
from jupyter_lsp_agent.notebook.kernel_story import KernelStory
from jupyter_lsp_agent.notebook.model import Cell, CellKind, Notebook
from tests.support.corpus import is_plain, needs_corpus, python_notebooks
from tests.support.full import sample

pytestmark = [needs_corpus, pytest.mark.shared]

CUT_SHORT = {("huggingface__notebooks/course/videos/qa_pipeline_pt.ipynb", "scores")}
"""Names that a notebook uses, then binds, and nothing gives: it cannot be run."""


EVERYWHERE = {*dir(builtins), "display"}


@functools.cache
def notebooks() -> tuple[tuple[str, Notebook], ...]:
    return python_notebooks()[:: sample(1, 4)]


def code_of(notebook: Notebook) -> list[Cell]:
    return [cell for cell in notebook.cells if cell.kind is CellKind.CODE]


def ran(cells: list[Cell], *, with_ids: bool = True) -> list[ExecutedCell]:
    """Each of the cells, run in this order without a failure."""
    return [
        ExecutedCell(cell.source, count, cell.cell_id if with_ids else None, failed=False)
        for count, cell in enumerate(cells, 1)
    ]


def bound_in(notebook: Notebook) -> frozenset[str]:
    return frozenset(name for cell in KernelStory(notebook, (), BuildOptions()).cells for name in cell.flow.bindings)


@pytest.mark.parametrize("with_ids", [True, False])
@pytest.mark.parametrize("rounds", [1, 2])
def test_a_notebook_that_was_run_as_it_stands_has_nothing_to_tell(rounds, with_ids):
    told = {
        (name, one.name)
        for name, notebook in notebooks()
        for one in find_hidden_state(notebook, ran(code_of(notebook), with_ids=with_ids) * rounds, bound_in(notebook))
    }
    assert told <= CUT_SHORT


def test_a_cell_that_is_run_again_at_once_has_nothing_to_tell():
    told = set()
    for name, notebook in notebooks():
        twice = [cell for cell in code_of(notebook) for _ in range(2)]
        told |= {(name, one.name) for one in find_hidden_state(notebook, ran(twice), bound_in(notebook))}
    assert told <= CUT_SHORT


def without(notebook: Notebook, index: int) -> Notebook:
    kept = [cell for cell in notebook.cells if cell.index != index]
    return Notebook(
        tuple(
            Cell(number, cell.cell_id, cell.kind, cell.source, cell.language, cell.tags)
            for number, cell in enumerate(kept)
        ),
        notebook.kernel,
    )


def reads(source: str, name: str) -> bool:
    """Whether a cell reads a name that is the module's and not its own: CPython's own symbol table says so."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        waiting = [symtable.symtable(source, "<cell>", "exec")]
    while waiting:
        table = waiting.pop()
        waiting.extend(table.get_children())
        symbol = table.lookup(name) if name in table.get_identifiers() else None
        if symbol is not None and symbol.is_referenced() and (table.get_type() == "module" or symbol.is_global()):
            return True
    return False


def test_a_deleted_cell_is_found_at_every_cell_that_surely_needs_it():
    """For each notebook the first cell that alone binds a name that another surely reads, where nothing is hidden."""
    n_deleted = 0
    for path, notebook in notebooks():
        story = KernelStory(notebook, (), BuildOptions())
        if story.hides_names():
            continue
        chosen = next(
            (
                (cell, use.name)
                for cell in story.cells
                for name in cell.flow.bindings
                if sum(name in other.flow.bindings for other in story.cells) == 1
                for other in story.cells[cell.number + 1 :]
                for use in other.flow.uses
                if use.name == name and use.is_certain and name not in EVERYWHERE
            ),
            None,
        )
        if chosen is None:
            continue
        gone, name = chosen
        n_deleted += 1
        left = without(notebook, gone.index)
        found = find_hidden_state(left, ran(code_of(notebook)), bound_in(notebook))
        told = {one.cell_index for one in found if one.name == name}
        needing = {cell.index for cell in code_of(left) if is_plain(cell) and reads(cell.source, name)}
        assert needing <= told, (path, name)
        assert all(reads(left.cells[index].source, name) for index in told if is_plain(left.cells[index]))
        assert {one.kind for one in found if one.name == name} == {HiddenStateKind.CELL_DELETED}
    assert n_deleted > sample(150, 30)
