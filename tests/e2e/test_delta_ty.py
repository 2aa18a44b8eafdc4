"""The laws of deltas over the corpus with a real ty: quiet edits, injected errors, broken cells, swaps.

The same edits as over the toy checker (`tests/diagnostics/test_delta_laws.py`), through the whole service.
"""

import json
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
from jupyter_lsp_agent.diagnostics.facts import ViewOptions
from jupyter_lsp_agent.diagnostics.report import ContentSource, Report, Status
from jupyter_lsp_agent.notebook.model import Cell, Notebook
from jupyter_lsp_agent.service.requests import CheckRequest, Comparison, SessionKey
from jupyter_lsp_agent.service.service import NotebookDiagnosticsService
from tests.support.corpus import is_plain, needs_corpus, parses, python_notebooks, takes_an_error
from tests.support.full import sample
from tests.support.quiet_edits import Cells, quiet_edit
from tests.support.services import opened_service

pytestmark = [pytest.mark.shared, pytest.mark.real_server("ty"), needs_corpus, pytest.mark.timeout(3000)]

SEED = 20261201
N_QUIET_EDITS = sample(2_000, 100)
N_EDITS_A_NOTEBOOK = 10
N_INJECTED = sample(1_000, 30)
N_BROKEN = sample(200, 15)
ALL = frozenset(Status)


class Session:
    """A session on one notebook, checked as the contents manager would hand it over, at every severity."""

    def __init__(self, service: NotebookDiagnosticsService, folder: Path, notebook: Notebook, name: str) -> None:
        self._service, self._notebook = service, notebook
        self._path = folder / (name.replace("/", "__"))
        self._comparison = Comparison(baseline="session", session=SessionKey("test", name))
        self.cells: Cells = notebook.cells

    async def see(self, cells: Cells) -> Report:
        self.cells = cells
        request = CheckRequest(
            path=self._path,
            content_bytes=notebook_bytes(cells, self._notebook),
            content_source=ContentSource.CONTENTS,
            severity=DiagnosticSeverity.WARNING,
            view=ViewOptions(statuses=ALL, max_per_cell=0, max_total=0),
            timeout_seconds=60.0,
            comparison=self._comparison,
        )
        report = await self._service.check(request)
        assert report.counts is not None, report.detail
        assert report.baseline == "session"
        return report


def notebook_bytes(cells: Cells, notebook: Notebook) -> bytes:
    """The file; the kernel is always a plain Python 3, since those of the corpus are not here."""
    content: dict[str, Any] = {
        "cells": [_cell(cell) for cell in cells],
        "metadata": {"kernelspec": {"name": "python3", "language": "python", "display_name": "Python 3"}},
        "nbformat": 4,
        "nbformat_minor": notebook.nbformat_minor if notebook.nbformat == 4 else 5,
    }
    return json.dumps(content).encode()


def _cell(cell: Cell) -> dict[str, Any]:
    code = {"outputs": [], "execution_count": cell.execution_count} if cell.kind.value == "code" else {}
    named = {} if cell.cell_id is None else {"id": cell.cell_id}
    return {"cell_type": cell.kind.value, "metadata": {}, "source": cell.source, **code, **named}


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
