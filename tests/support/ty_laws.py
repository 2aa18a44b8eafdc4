"""The laws of deltas with a real server: each takes a session on a notebook, and says what is wrong or `None`.

Who draws the notebooks and the places decides how they are looked for: `tests/e2e/test_delta_ty.py` at random over the
public ones, `tests/e2e/test_delta_ty_hypothesis.py` so that what breaks a law is shrunk.
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from dataclasses import replace
from itertools import count
from pathlib import Path
from random import Random

from jupyter_lsp_agent.core.diagnostic import DiagnosticSeverity
from jupyter_lsp_agent.core.ids import CellId, ServerId
from jupyter_lsp_agent.diagnostics.facts import ViewOptions
from jupyter_lsp_agent.diagnostics.report import (
    CellReference,
    ContentSource,
    Report,
    ReportedDiagnostic,
    Status,
)
from jupyter_lsp_agent.notebook.model import Cell, CellKind, Notebook
from jupyter_lsp_agent.service.requests import CheckRequest, Comparison, SessionKey
from jupyter_lsp_agent.service.service import NotebookDiagnosticsService
from tests.support.corpus import is_plain, parses
from tests.support.notebook_files import encode_notebook
from tests.support.quiet_edits import Cells, quiet_edit
from tests.support.services import opened_service
from tests.support.states import renumbered
from tests.support.toy_checker import CHAIN, judge

ALL = frozenset(Status)
TWIN = "undefined_twin"
BREAKING_LINES = ("broken = (", "def broken(:", "'''", "x = = 1")
_NUMBERS = count()


class Session:
    """A session on one notebook, checked as the contents manager would hand it over.

    Args:
        service: that checks.
        folder: where the notebook pretends to lie.
        notebook: as it is at first.
        random: of the file's format, and of what happens to the server.
        restlessness: how often something does, before or during a check.
    """

    def __init__(
        self,
        service: NotebookDiagnosticsService,
        folder: Path,
        notebook: Notebook,
        random: Random,
        *,
        restlessness: float = 0.0,
    ) -> None:
        name = f"{next(_NUMBERS)}.ipynb"
        self._service, self._random, self._path = service, random, folder / name
        self._minor = notebook.nbformat_minor if notebook.nbformat == 4 else 5
        self._comparison = Comparison(baseline="session", session=SessionKey("test", name))
        self._restlessness = restlessness
        self.cells: Cells = notebook.cells

    async def see(
        self, cells: Cells, *, server: str | None = None, severity: DiagnosticSeverity = DiagnosticSeverity.WARNING
    ) -> Report:
        """The report on a new state."""
        self.cells = cells
        request = CheckRequest(
            path=self._path,
            content_bytes=encode_notebook(cells, random=self._random, nbformat_minor=self._minor),
            server=None if server is None else ServerId(server),
            content_source=ContentSource.CONTENTS,
            severity=severity,
            view=ViewOptions(statuses=ALL, max_per_cell=0, max_total=0),
            timeout_seconds=60.0,
            comparison=self._comparison,
        )
        report = await self._check(request)
        assert report.counts is not None, report.detail
        assert report.baseline == "session"
        return report

    async def _check(self, request: CheckRequest) -> Report:
        if self._random.random() >= self._restlessness:
            return await self._service.check(request)
        way = self._random.choice(["restart", "killed before", "killed during"])
        if way == "restart":
            await self._service.restart("ty")
        elif way == "killed before":
            await kill_servers(self._service)
        else:
            report, _ = await asyncio.gather(self._service.check(request), kill_servers(self._service))
            return report
        return await self._service.check(request)


async def kill_servers(service: NotebookDiagnosticsService) -> None:
    """What runs dies without a word."""
    for running in (await service.status())["running"]:
        if running["pid"]:
            with suppress(ProcessLookupError):
                os.kill(running["pid"], signal.SIGKILL)


@asynccontextmanager
async def ty_service(folder: Path) -> AsyncIterator[NotebookDiagnosticsService]:
    """A service that asks ty alone."""
    async with opened_service({"servers": {"python": ["ty"]}}, folder) as service:
        yield service


def news(report: Report) -> list[str]:
    """What is new or gone, in words that a failure can be understood by."""
    found = [item for item in report if item.status in {Status.INTRODUCED, Status.PRESENT}]
    return [f"+ {_place(item)} {item.message}" for item in found] + [f"- {_place(i)} {i.message}" for i in report.fixed]


def _place(item: ReportedDiagnostic) -> str:
    return f"{item.cell and item.cell.cell_index}:{item.range.start.line}:{item.range.start.column}"


# ── the laws ────────────────────────────────────────────────────────────────────────────────────────────────────────


async def quiet_edit_says_nothing(session: Session, random: Random) -> str | None:
    """One quiet edit of a notebook that was seen."""
    before = session.cells
    edit, cells = quiet_edit(before, random)
    found = news(await session.see(cells))
    return f"{edit}: {found} {_differing(before, cells)}" if found else None


async def injected_error_is_told_once(session: Session, cell: Cell, name: str, random: Random) -> str | None:
    """It is introduced in its place, outstanding after quiet edits, and fixed once."""
    await session.see(session.cells)
    lines = cell.source.rstrip("\n").split("\n")
    found = news(await session.see(replaced(session.cells, replace(cell, source="\n".join([*lines, name])))))
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
    found = news(await session.see(replaced(session.cells, replace(holder, source="\n".join(kept)))))
    return None if [name in what and what.startswith("- ") for what in found] == [True] else f"mended {found}"


def broken_cell(cells: Cells, random: Random) -> Cell | None:
    """A cell with a line in it that breaks it; `None` where this one did not take it."""
    cell = random.choice(cells)
    lines = cell.source.split("\n")
    lines.insert(random.randint(0, len(lines)), random.choice(BREAKING_LINES))
    broken = replace(cell, source="\n".join(lines))
    return None if not is_plain(cell) or not cell.source.strip() or parses(broken.source) else broken


async def broken_cell_speaks_of_itself_alone(session: Session, broken: Cell) -> str | None:
    """Breaking it introduces findings in it and fixes nothing; mending it introduces nothing, and fixes these."""
    whole = session.cells
    await session.see(whole)
    report = await session.see(replaced(whole, broken))
    cells = {item.cell.cell_index for item in report if item.cell and item.status is Status.INTRODUCED}
    if cells != {broken.index} or report.fixed:
        return f"broken {broken.index}: {news(report)}"
    report = await session.see(whole)
    gone = {item.cell.cell_index for item in report.fixed if item.cell}
    if any(item.status is Status.INTRODUCED for item in report) or gone != {broken.index}:
        return f"mended {broken.index}: {news(report)}"
    return None


async def mended_twin_is_fixed(session: Session, random: Random) -> str | None:
    """Of two equal cells with the same error the mended or deleted one is fixed, and the other is old."""
    whole = session.cells
    first, second = sorted(random.sample(range(len(whole) + 1), 2))
    ids = ["twin1", "twin2"] if any(cell.cell_id for cell in whole) else [None, None]
    one, two = (Cell(0, None if i is None else CellId(i), CellKind.CODE, f"[\n    {TWIN},\n]") for i in ids)
    cells = renumbered([*whole[:first], one, *whole[first:second], two, *whole[second:]])
    gone = random.choice([first, second + 1])
    await session.see(cells)
    mended = replaced(cells, replace(cells[gone], source="[\n    1,\n]"))
    report = await session.see(random.choice([renumbered(cell for cell in cells if cell.index != gone), mended]))
    left = [item.status for item in report if TWIN in item.message]
    found = [(item.cell and item.cell.cell_index, TWIN in item.message) for item in report.fixed]
    assert report.counts is not None
    if left != [Status.PREEXISTING] or found != [(gone, True)] or report.counts.introduced:
        return f"{gone}: {left} {news(report)}"
    return None


def names_that_a_swap_breaks(cells: Cells, place: int) -> set[tuple[int, str]]:
    """Line and name of what is undefined in a cell once it stands before its neighbour above, and was not before."""
    if not (is_plain(cells[place]) and is_plain(cells[place + 1])):
        return set()
    return _undefined(_swapped(cells, place), place) - _undefined(cells, place + 1)


async def swap_introduces_what_it_breaks(session: Session, place: int) -> str | None:
    """Just the undefined names, and each says that the cell which went below is the cause."""
    cells = session.cells
    broken = names_that_a_swap_breaks(cells, place)
    await session.see(cells)
    report = await session.see(_swapped(cells, place))
    found = [item for item in report if item.status is Status.INTRODUCED and item.code == "unresolved-reference"]
    names = {(item.range.start.line, item.message.split("`")[1]) for item in found}
    causes = {item.caused_by for item in found}
    if names != broken or causes != {CellReference(place + 1, cells[place].cell_id)}:
        return f"{place}: {names ^ broken} {causes}"
    return None


def replaced(cells: Cells, changed: Cell) -> Cells:
    """The cells with one of them changed."""
    return (*cells[: changed.index], changed, *cells[changed.index + 1 :])


def _swapped(cells: Cells, place: int) -> Cells:
    return renumbered([*cells[:place], cells[place + 1], cells[place], *cells[place + 2 :]])


def _undefined(cells: Cells, index: int) -> set[tuple[int, str]]:
    """Line and name of what the toy checker finds undefined in one cell."""
    found = [item for item in judge(cells).findings if item.cell_index == index]
    return {(item.start.line, item.diagnostic.message.split("`")[1]) for item in found if item.chain == CHAIN}


def _differing(before: Cells, after: Cells) -> list[tuple[str, str]]:
    old, new = ([cell.source for cell in cells] for cells in (before, after))
    return [("-", source) for source in old if source not in new] + [("+", s) for s in new if s not in old]
