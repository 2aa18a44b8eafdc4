"""The laws of deltas over the corpus with a real ty: quiet edits, injected errors, broken cells, twins, swaps.

The same edits as over the toy checker (`tests/diagnostics/test_delta_laws.py`), through the whole service, while the
server is restarted or killed now and then, between two checks or during one.
"""

from dataclasses import replace
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest

from jupyter_lsp_agent.core.diagnostic import DiagnosticSeverity
from tests.support.corpus import is_plain, needs_corpus, python_notebooks, takes_an_error
from tests.support.full import SEEDS, sample
from tests.support.quiet_edits import quiet_edit
from tests.support.services import opened_service
from tests.support.ty_laws import (
    Session,
    broken_cell,
    broken_cell_speaks_of_itself_alone,
    injected_error_is_told_once,
    mended_twin_is_fixed,
    names_that_a_swap_breaks,
    news,
    quiet_edit_says_nothing,
    replaced,
    swap_introduces_what_it_breaks,
    ty_service,
)

pytestmark = [pytest.mark.shared, pytest.mark.real_server("ty"), needs_corpus, pytest.mark.timeout(3000)]

SEED = SEEDS["deltas (ty)"]
N_QUIET_EDITS = sample(2_000, 100)
N_EDITS_A_NOTEBOOK = 10
N_INJECTED = sample(1_000, 30)
N_BROKEN = sample(200, 15)
RESTLESSNESS = 0.05


async def test_quiet_edits_introduce_and_fix_nothing(tmp_path: Path) -> None:
    random = Random(SEED)
    failures: list[str] = []
    async with ty_service(tmp_path) as service:
        for _ in range(N_QUIET_EDITS // N_EDITS_A_NOTEBOOK):
            name, notebook = random.choice(python_notebooks())
            session = Session(service, tmp_path, notebook, random, restlessness=RESTLESSNESS)
            assert news(await session.see(notebook.cells)) == []
            for _ in range(N_EDITS_A_NOTEBOOK):
                if problem := await quiet_edit_says_nothing(session, random):
                    failures.append(f"{name} {problem}")
                    break
    assert failures == []


async def test_an_injected_error_is_introduced_once_then_outstanding_then_fixed_once(tmp_path: Path) -> None:
    random = Random(SEED + 1)
    places = [(notebook, cell) for _, notebook in python_notebooks() for cell in notebook.cells]
    random.shuffle(places)
    fitting = ((notebook, cell) for notebook, cell in places if takes_an_error(notebook, cell))
    failures = []
    async with ty_service(tmp_path) as service:
        for number, (notebook, cell) in enumerate(islice(fitting, N_INJECTED)):
            session = Session(service, tmp_path, notebook, random, restlessness=RESTLESSNESS)
            problem = await injected_error_is_told_once(session, cell, f"undefined_name_{number}", random)
            if problem:
                failures.append(f"{number}: {problem}")
    assert failures == []


async def test_breaking_a_cell_speaks_of_that_cell_alone_and_mending_it_of_no_other(tmp_path: Path) -> None:
    random = Random(SEED + 2)
    failures: list[str] = []
    n_broken = 0
    async with ty_service(tmp_path) as service:
        while n_broken < N_BROKEN:
            name, notebook = random.choice(python_notebooks())
            broken = broken_cell(notebook.cells, random)
            if broken is None:
                continue
            n_broken += 1
            session = Session(service, tmp_path, notebook, random, restlessness=RESTLESSNESS)
            if problem := await broken_cell_speaks_of_itself_alone(session, broken):
                failures.append(f"{name} {problem}")
    assert failures == []


async def test_of_two_equal_cells_the_mended_or_deleted_one_is_fixed(tmp_path: Path) -> None:
    random = Random(SEED + 6)
    failures: list[str] = []
    async with ty_service(tmp_path) as service:
        for _ in range(N_BROKEN):
            name, notebook = random.choice(python_notebooks())
            if problem := await mended_twin_is_fixed(Session(service, tmp_path, notebook, random), random):
                failures.append(f"{name} {problem}")
    assert failures == []


async def test_a_swap_that_breaks_definition_and_use_introduces_just_that_and_says_why(tmp_path: Path) -> None:
    random = Random(SEED + 4)
    failures: list[str] = []
    n_broken = 0
    async with ty_service(tmp_path) as service:
        while n_broken < N_BROKEN:
            name, notebook = random.choice(python_notebooks())
            place = random.randrange(len(notebook.cells) - 1)
            if not names_that_a_swap_breaks(notebook.cells, place):
                continue
            n_broken += 1
            if problem := await swap_introduces_what_it_breaks(Session(service, tmp_path, notebook, random), place):
                failures.append(f"{name} {problem}")
    assert failures == []


async def test_other_servers_in_between_make_nothing_new(tmp_path: Path) -> None:
    random = Random(SEED + 5)
    failures: list[str] = []
    servers = [None, "pyrefly", "zuban", "basedpyright"]
    installed = {item["id"] for item in (await _status(tmp_path))["servers"] if item["installed"]}
    async with opened_service({}, tmp_path) as service:
        for _ in range(N_BROKEN):
            name, notebook = random.choice(python_notebooks(60))
            session = Session(service, tmp_path, notebook, random)
            await session.see(notebook.cells)
            for server in random.choices([one for one in servers if one is None or one in installed], k=4):
                edit, cells = quiet_edit(session.cells, random)
                # Errors alone: some servers warn of an expression that a merge of cells has left unused, and rightly.
                report = await session.see(cells, server=server, severity=DiagnosticSeverity.ERROR)
                if news(report):
                    failures.append(f"{name} {server} {edit}: {news(report)}")
                    break
    assert failures == []


async def _status(folder: Path) -> dict[str, Any]:
    async with opened_service({}, folder) as service:
        return await service.status()


async def test_a_raise_in_the_first_cell_fixes_nothing(tmp_path: Path) -> None:
    random = Random(SEED + 3)
    failures: list[str] = []
    async with ty_service(tmp_path) as service:
        for _ in range(N_BROKEN):
            name, notebook = random.choice(python_notebooks())
            session = Session(service, tmp_path, notebook, random)
            await session.see(notebook.cells)
            code = next(cell for cell in notebook.cells if is_plain(cell))
            raising = replace(code, source=code.source.rstrip("\n") + "\nraise SystemExit('stop')")
            report = await session.see(replaced(notebook.cells, raising))
            if news(report):
                failures.append(f"{name}: {news(report)}")
    assert failures == []
