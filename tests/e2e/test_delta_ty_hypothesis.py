"""The laws of deltas with a real ty over notebooks that hypothesis chooses, so that what breaks one is shrunk.

It draws a stretch of a public notebook (of one of our own where those are not), the places and the edits; the server is
restarted or killed now and then. What is drawn is the same in every run; nothing is remembered between runs.
"""

import asyncio
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from random import Random
from typing import TypeVar

import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from jupyter_lsp_agent.core.ids import CellId
from jupyter_lsp_agent.notebook.model import Cell, CellKind, Notebook
from jupyter_lsp_agent.service.service import NotebookDiagnosticsService
from tests.support.corpus import is_plain, python_notebooks, takes_an_error
from tests.support.full import FULL, sample
from tests.support.states import renumbered
from tests.support.ty_laws import (
    Session,
    broken_cell,
    broken_cell_speaks_of_itself_alone,
    injected_error_is_told_once,
    mended_twin_is_fixed,
    names_that_a_swap_breaks,
    news,
    quiet_edit_says_nothing,
    swap_introduces_what_it_breaks,
    ty_service,
)

pytestmark = [pytest.mark.real_server("ty"), pytest.mark.timeout(7200 if FULL else 300)]

N_EDITS = 5
N_QUIET = sample(400, 12)
N_INJECTED = sample(1_000, 15)
N_OTHERS = sample(200, 10)
MAX_CELLS = 12
RESTLESSNESS = 0.05
T = TypeVar("T")
Law = Callable[[Session, Random], Awaitable[str | None]]

OWN = (
    "import os\nhere = os.getcwd()\nprint(here)",
    "def load(path):\n    return open(path).read()\n\n\ntext = load('a')",
    "for line in text.splitlines():\n    print(line, undefined_already)",
    "total = len(text)\ntotal",
    "class Box:\n    size: int = total\n\n\nbox = Box()\nbox.weight",
    "print('é', '😀', box.size)\n\n# done",
    "values = [box.size, total]\nvalues.append(1)",
)
RANDOM = st.randoms(use_true_random=False)


def sources() -> list[Notebook]:
    """What stretches are taken from, the smallest first."""
    public = [notebook for _, notebook in python_notebooks()]
    kinds = [
        CellKind.CODE,
        CellKind.MARKDOWN,
        CellKind.CODE,
        CellKind.CODE,
        CellKind.CODE,
        CellKind.CODE,
        CellKind.CODE,
    ]
    own = [Cell(n, CellId(f"c{n}"), kind, source) for n, (kind, source) in enumerate(zip(kinds, OWN, strict=True))]
    return sorted(public or [Notebook(tuple(own))], key=lambda notebook: len(notebook.cells))


@st.composite
def notebooks(draw: Callable[[st.SearchStrategy[T]], T]) -> Notebook:
    """A stretch of a notebook with some plain Python in it."""
    cells = draw(st.sampled_from(sources())).cells
    start = draw(st.integers(0, max(0, len(cells) - 2)))
    chosen = renumbered(cells[start : start + draw(st.integers(2, MAX_CELLS))])
    assume(any(is_plain(cell) and cell.source.strip() for cell in chosen))
    return Notebook(chosen)


@contextmanager
def running_service(folder: Path) -> Iterator[Callable[[Callable[[NotebookDiagnosticsService], Awaitable[T]]], T]]:
    """A service on a loop of its own, and what runs something with it."""
    with asyncio.Runner() as runner:
        opened = ty_service(folder)
        service = runner.run(opened.__aenter__())

        async def use(work: Callable[[NotebookDiagnosticsService], Awaitable[T]]) -> T:
            return await work(service)

        try:
            yield lambda work: runner.run(use(work))
        finally:
            runner.run(opened.__aexit__(None, None, None))


def hold(folder: Path, n_examples: int, law: Law, *, restlessness: float = 0.0) -> None:
    """Have a law hold for whatever is drawn."""

    @settings(
        max_examples=n_examples,
        deadline=None,
        database=None,
        derandomize=True,
        print_blob=True,
        suppress_health_check=list(HealthCheck),
    )
    @given(notebooks(), RANDOM)
    def holds(notebook: Notebook, random: Random) -> None:
        async def look(service: NotebookDiagnosticsService) -> str | None:
            return await law(Session(service, folder, notebook, random, restlessness=restlessness), random)

        problem = run(look)
        assert problem is None, (problem, [(cell.kind.value, cell.source) for cell in notebook.cells])

    with running_service(folder) as run:
        holds()


def test_quiet_edits_introduce_and_fix_nothing(tmp_path: Path) -> None:
    async def law(session: Session, random: Random) -> str | None:
        assert news(await session.see(session.cells)) == []
        for _ in range(N_EDITS):
            if problem := await quiet_edit_says_nothing(session, random):
                return problem
        return None

    hold(tmp_path, N_QUIET, law, restlessness=RESTLESSNESS)


def test_an_injected_error_is_introduced_once_then_outstanding_then_fixed_once(tmp_path: Path) -> None:
    async def law(session: Session, random: Random) -> str | None:
        fitting = [cell for cell in session.cells if takes_an_error(Notebook(session.cells), cell)]
        assume(fitting)
        return await injected_error_is_told_once(session, random.choice(fitting), "undefined_injected", random)

    hold(tmp_path, N_INJECTED, law, restlessness=RESTLESSNESS)


def test_of_two_equal_cells_the_mended_or_deleted_one_is_fixed(tmp_path: Path) -> None:
    hold(tmp_path, N_OTHERS, mended_twin_is_fixed, restlessness=RESTLESSNESS)


def test_a_swap_that_breaks_definition_and_use_introduces_just_that_and_says_why(tmp_path: Path) -> None:
    async def law(session: Session, random: Random) -> str | None:
        cells = session.cells
        places = [place for place in range(len(cells) - 1) if names_that_a_swap_breaks(cells, place)]
        assume(places)
        return await swap_introduces_what_it_breaks(session, random.choice(places))

    hold(tmp_path, N_OTHERS, law)


def test_breaking_a_cell_speaks_of_that_cell_alone_and_mending_it_of_no_other(tmp_path: Path) -> None:
    async def law(session: Session, random: Random) -> str | None:
        broken = broken_cell(session.cells, random)
        assume(broken is not None)
        assert broken is not None
        return await broken_cell_speaks_of_itself_alone(session, broken)

    hold(tmp_path, N_OTHERS, law, restlessness=RESTLESSNESS)
