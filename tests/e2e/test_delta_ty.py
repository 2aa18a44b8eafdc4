"""The laws of deltas over the corpus with a real ty: quiet edits, injected errors, broken cells, swaps.

The same edits as over the toy checker (`tests/diagnostics/test_delta_laws.py`), through the whole service.
"""

from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace
from itertools import islice
from pathlib import Path
from random import Random
from typing import Any

import pytest

from jupyter_lsp_agent.core.diagnostic import DiagnosticSeverity
from jupyter_lsp_agent.core.ids import CellId, ServerId
from jupyter_lsp_agent.diagnostics.facts import ViewOptions
from jupyter_lsp_agent.diagnostics.report import CellReference, ContentSource, Report, Status
from jupyter_lsp_agent.notebook.model import Cell, CellKind, Notebook
from jupyter_lsp_agent.service.requests import CheckRequest, Comparison, SessionKey
from jupyter_lsp_agent.service.service import NotebookDiagnosticsService
from tests.support.corpus import is_plain, needs_corpus, parses, python_notebooks, takes_an_error
from tests.support.full import SEEDS, sample
from tests.support.notebook_files import encode_notebook
from tests.support.quiet_edits import Cells, quiet_edit
from tests.support.services import opened_service
from tests.support.states import renumbered
from tests.support.toy_checker import CHAIN, judge

pytestmark = [pytest.mark.shared, pytest.mark.real_server("ty"), needs_corpus, pytest.mark.timeout(3000)]

SEED = SEEDS["deltas (ty)"]
N_QUIET_EDITS = sample(2_000, 100)
N_EDITS_A_NOTEBOOK = 10
N_INJECTED = sample(1_000, 30)
N_BROKEN = sample(200, 15)
ALL = frozenset(Status)
TWIN = "undefined_twin"


class Session:
    """A session on one notebook, checked as the contents manager would hand it over, at every severity."""

    def __init__(self, service: NotebookDiagnosticsService, folder: Path, notebook: Notebook, name: str) -> None:
        self._service, self._notebook = service, notebook
        self._path = folder / (name.replace("/", "__"))
        self._comparison = Comparison(baseline="session", session=SessionKey("test", name))
        self._random = Random(SEED)
        self.cells: Cells = notebook.cells

    async def see(
        self, cells: Cells, *, server: str | None = None, severity: DiagnosticSeverity = DiagnosticSeverity.WARNING
    ) -> Report:
        self.cells = cells
        request = CheckRequest(
            path=self._path,
            content_bytes=notebook_bytes(cells, self._notebook, self._random),
            server=None if server is None else ServerId(server),
            content_source=ContentSource.CONTENTS,
            severity=severity,
            view=ViewOptions(statuses=ALL, max_per_cell=0, max_total=0),
            timeout_seconds=60.0,
            comparison=self._comparison,
        )
        report = await self._service.check(request)
        assert report.counts is not None, report.detail
        assert report.baseline == "session"
        return report


def notebook_bytes(cells: Cells, notebook: Notebook, random: Random) -> bytes:
    """The file, each time in another format."""
    minor = notebook.nbformat_minor if notebook.nbformat == 4 else 5
    return encode_notebook(cells, random=random, nbformat_minor=minor)


def news(report: Report) -> list[str]:
    """What is new or gone, in words that a failure can be understood by."""
    found = [item for item in report if item.status in {Status.INTRODUCED, Status.PRESENT}]
    return [f"+ {_place(item)} {item.message}" for item in found] + [f"- {_place(i)} {i.message}" for i in report.fixed]


def _place(item: Any) -> str:
    return f"{item.cell.cell_index}:{item.range.start.line}:{item.range.start.column}"


@asynccontextmanager
async def ty_service(folder: Path) -> AsyncIterator[NotebookDiagnosticsService]:
    async with opened_service({"servers": {"python": ["ty"]}}, folder) as service:
        yield service


async def test_quiet_edits_introduce_and_fix_nothing(tmp_path: Path) -> None:
    random = Random(SEED)
    done: Counter[str] = Counter()
    failures: list[str] = []
    async with ty_service(tmp_path) as service:
        while done.total() < N_QUIET_EDITS:
            name, notebook = random.choice(python_notebooks())
            session = Session(service, tmp_path, notebook, f"{done.total()}_{name}")
            assert news(await session.see(notebook.cells)) == []
            if random.random() < 0.1:
                await service.restart("ty")
            for _ in range(N_EDITS_A_NOTEBOOK):
                before = session.cells
                edit, cells = quiet_edit(before, random)
                found = news(await session.see(cells))
                done[edit] += 1
                if found:
                    failures.append(f"{name} {edit}: {found} {_differing(before, cells)}")
                    break
    assert failures == []


def _differing(before: Cells, after: Cells) -> list[tuple[str, str]]:
    old, new = ([cell.source for cell in cells] for cells in (before, after))
    return [("-", source) for source in old if source not in new] + [("+", s) for s in new if s not in old]


async def test_an_injected_error_is_introduced_once_then_outstanding_then_fixed_once(tmp_path: Path) -> None:
    random = Random(SEED + 1)
    places = [(notebook, cell) for _, notebook in python_notebooks() for cell in notebook.cells]
    random.shuffle(places)
    fitting = ((notebook, cell) for notebook, cell in places if takes_an_error(notebook, cell))
    failures = []
    async with ty_service(tmp_path) as service:
        for number, (notebook, cell) in enumerate(islice(fitting, N_INJECTED)):
            session = Session(service, tmp_path, notebook, f"{number}.ipynb")
            problem = await _inject_and_mend(session, cell, f"undefined_name_{number}", random)
            if problem:
                failures.append(f"{number}: {problem}")
    assert failures == []


async def _inject_and_mend(session: Session, cell: Cell, name: str, random: Random) -> str | None:
    await session.see(session.cells)
    lines = cell.source.rstrip("\n").split("\n")
    found = news(await session.see(_replaced(session.cells, replace(cell, source="\n".join([*lines, name])))))
    if len(found) != 1 or not found[0].startswith(f"+ {cell.index}:{len(lines)}:0 ") or name not in found[0]:
        return f"injected {found} in {cell.index}:{len(lines)}"
    for _ in range(2):
        edit, cells = quiet_edit(session.cells, random)
        report = await session.see(cells)
        outstanding = [item for item in report if item.status is Status.OUTSTANDING]
        if news(report) or [name in item.message for item in outstanding] != [True]:
            return f"{edit}: {news(report)}, {len(outstanding)} outstanding"
    [item] = outstanding
    assert item.cell is not None
    holder = session.cells[item.cell.cell_index]
    kept = [line for line in holder.source.replace("\r\n", "\n").split("\n") if line != name]
    found = news(await session.see(_replaced(session.cells, replace(holder, source="\n".join(kept)))))
    return None if [name in what and what.startswith("- ") for what in found] == [True] else f"mended {found}"


async def test_breaking_a_cell_speaks_of_that_cell_alone_and_mending_it_of_no_other(tmp_path: Path) -> None:
    random = Random(SEED + 2)
    failures: list[str] = []
    n_broken = 0
    async with ty_service(tmp_path) as service:
        while n_broken < N_BROKEN:
            name, notebook = random.choice(python_notebooks())
            cell = random.choice(notebook.cells)
            lines = cell.source.split("\n")
            lines.insert(random.randint(0, len(lines)), random.choice(["broken = (", "def broken(:", "'''", "x = = 1"]))
            broken = replace(cell, source="\n".join(lines))
            if not is_plain(cell) or not cell.source.strip() or parses(broken.source):
                continue
            n_broken += 1
            session = Session(service, tmp_path, notebook, f"{n_broken}.ipynb")
            await session.see(notebook.cells)
            report = await session.see(_replaced(notebook.cells, broken))
            cells = {item.cell.cell_index for item in report if item.cell and item.status is Status.INTRODUCED}
            if cells != {cell.index} or report.fixed:
                failures.append(f"{name} broken {cell.index}: {news(report)}")
            report = await session.see(notebook.cells)
            gone = {item.cell.cell_index for item in report.fixed if item.cell}
            if any(item.status is Status.INTRODUCED for item in report) or gone != {cell.index}:
                failures.append(f"{name} mended {cell.index}: {news(report)}")
    assert failures == []


async def test_of_two_equal_cells_the_mended_or_deleted_one_is_fixed(tmp_path: Path) -> None:
    random = Random(SEED + 6)
    failures: list[str] = []
    async with ty_service(tmp_path) as service:
        for number in range(N_BROKEN):
            name, notebook = random.choice(python_notebooks())
            first, second = sorted(random.sample(range(len(notebook.cells) + 1), 2))
            ids = ["twin1", "twin2"] if any(cell.cell_id for cell in notebook.cells) else [None, None]
            one, two = (Cell(0, None if i is None else CellId(i), CellKind.CODE, f"[\n    {TWIN},\n]") for i in ids)
            made = [*notebook.cells[:first], one, *notebook.cells[first:second], two, *notebook.cells[second:]]
            cells, gone = renumbered(made), random.choice([first, second + 1])
            session = Session(service, tmp_path, notebook, f"{number}.ipynb")
            await session.see(cells)
            mended = replace(cells[gone], source="[\n    1,\n]")
            without = renumbered(cell for cell in cells if cell.index != gone)
            report = await session.see(random.choice([without, _replaced(cells, mended)]))
            left = [item.status for item in report if TWIN in item.message]
            found = [(item.cell and item.cell.cell_index, TWIN in item.message) for item in report.fixed]
            if (
                left != [Status.PREEXISTING]
                or found != [(gone, True)]
                or report.counts is None
                or report.counts.introduced
            ):
                failures.append(f"{name} {gone}: {left} {news(report)}")
    assert failures == []


async def test_a_swap_that_breaks_definition_and_use_introduces_just_that_and_says_why(tmp_path: Path) -> None:
    random = Random(SEED + 4)
    failures: list[str] = []
    n_broken = 0
    async with ty_service(tmp_path) as service:
        while n_broken < N_BROKEN:
            name, notebook = random.choice(python_notebooks())
            place = random.randrange(len(notebook.cells) - 1)
            cells = notebook.cells
            swapped = renumbered([*cells[:place], cells[place + 1], cells[place], *cells[place + 2 :]])
            broken = _undefined(swapped, place) - _undefined(cells, place + 1)
            if not (broken and is_plain(cells[place]) and is_plain(cells[place + 1])):
                continue
            n_broken += 1
            session = Session(service, tmp_path, notebook, f"{n_broken}.ipynb")
            await session.see(cells)
            report = await session.see(swapped)
            found = [
                item for item in report if item.status is Status.INTRODUCED and item.code == "unresolved-reference"
            ]
            names = {(item.range.start.line, item.message.split("`")[1]) for item in found}
            causes = {item.caused_by for item in found}
            if names != broken or causes != {CellReference(place + 1, cells[place].cell_id)}:
                failures.append(f"{name} {place}: {names ^ broken} {causes}")
    assert failures == []


def _undefined(cells: Cells, index: int) -> set[tuple[int, str]]:
    """Line and name of what the toy checker finds undefined in one cell."""
    found = [item for item in judge(cells).findings if item.cell_index == index]
    return {(item.start.line, item.diagnostic.message.split("`")[1]) for item in found if item.chain == CHAIN}


async def test_other_servers_in_between_make_nothing_new(tmp_path: Path) -> None:
    random = Random(SEED + 5)
    failures: list[str] = []
    servers = [None, "pyrefly", "zuban", "basedpyright"]
    installed = {item["id"] for item in (await _status(tmp_path))["servers"] if item["installed"]}
    async with opened_service({}, tmp_path) as service:
        for number in range(N_BROKEN):
            name, notebook = random.choice(python_notebooks(60))
            session = Session(service, tmp_path, notebook, f"{number}.ipynb")
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
        for number in range(N_BROKEN):
            name, notebook = random.choice(python_notebooks())
            session = Session(service, tmp_path, notebook, f"{number}.ipynb")
            await session.see(notebook.cells)
            code = next(cell for cell in notebook.cells if is_plain(cell))
            raising = replace(code, source=code.source.rstrip("\n") + "\nraise SystemExit('stop')")
            report = await session.see(_replaced(notebook.cells, raising))
            if news(report):
                failures.append(f"{name}: {news(report)}")
    assert failures == []


def _replaced(cells: Cells, changed: Cell) -> Cells:
    return (*cells[: changed.index], changed, *cells[changed.index + 1 :])
