"""A long life: notebooks without end through the whole service and a real ty, within small bounds; nothing grows.

300 notebooks (public ones where they are, else made up) in 6 roots, so with 2 servers each root's is stopped and
started again and again, and with 16 open documents most checks find theirs closed. They are checked in sessions, one a
root; each check has a new error, which its report must tell as the only new one.
"""

import asyncio
import gc
import threading
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import psutil
import pytest

from jupyter_lsp_agent.diagnostics.report import ContentSource
from jupyter_lsp_agent.notebook.model import Cell, CellKind
from jupyter_lsp_agent.service.requests import CheckRequest, Comparison, SessionKey
from jupyter_lsp_agent.service.service import NotebookDiagnosticsService
from tests.support.corpus import python_notebooks, takes_an_error
from tests.support.full import FULL, sample
from tests.support.notebook_files import encode_notebook
from tests.support.quiet_edits import Cells
from tests.support.services import opened_service
from tests.support.states import renumbered

N_NOTEBOOKS = sample(300, 120)
N_ROOTS = 6
N_IN_A_ROW = 25
"""Checks in one root before those in the next."""
N_CHECKS = sample(10_000, 300)
N_LOOKS = sample(10, 4)
MAX_SERVERS, MAX_DOCUMENTS = 2, 16
_MAX_CELLS = 30

pytestmark = [pytest.mark.real_server("ty"), pytest.mark.timeout(3600 if FULL else 240)]


@dataclass(frozen=True)
class Use:
    """What the process takes, and what its servers do."""

    rss_mib: float
    descriptors: int
    tasks: int
    threads: int
    servers: int
    documents: int

    def __str__(self) -> str:
        return (
            f"{self.rss_mib:.1f} MiB, {self.descriptors} descriptors, {self.tasks} tasks, {self.threads} threads, "
            f"{self.servers} servers, {self.documents} open documents"
        )


def notebooks() -> list[Cells]:
    """So many; all differ."""
    public = [
        found.cells
        for _, found in python_notebooks(_MAX_CELLS)
        if any(takes_an_error(found, cell) for cell in found.cells)
    ]
    made = (renumbered(_made_up(number)) for number in range(N_NOTEBOOKS))
    return [*public, *made][:N_NOTEBOOKS]


def _made_up(number: int) -> Iterator[Cell]:
    for cell in range(5 + number % 20):
        source = f"import os\nvalue_{cell} = {number}\nprint(value_{cell}, os.sep)"
        yield Cell(0, None, CellKind.CODE, source)


class Life:
    """A service with a session on all of the notebooks."""

    def __init__(self, service: NotebookDiagnosticsService, folder: Path) -> None:
        self._service = service
        self._cells = notebooks()
        self._roots = [folder / f"root_{number}" for number in range(N_ROOTS)]
        for root in self._roots:
            root.mkdir()
            (root / "ty.toml").touch()
        self.most_servers = self.most_documents = 0

    async def check(self, number: int) -> None:
        """One check; what it says must be of its own content."""
        root = number // N_IN_A_ROW % N_ROOTS
        per_root = N_NOTEBOOKS // N_ROOTS
        place = (number // (N_IN_A_ROW * N_ROOTS) * N_IN_A_ROW + number % N_IN_A_ROW) % per_root
        cells, name = self._cells[root * per_root + place], f"undefined_{number}"
        added = Cell(len(cells), None, CellKind.CODE, f"print({name})")
        report = await self._service.check(
            CheckRequest(
                path=self._roots[root] / f"{place}.ipynb",
                content_bytes=encode_notebook((*cells, added)),
                content_source=ContentSource.CONTENTS,
                timeout_seconds=60.0,
                comparison=Comparison(
                    baseline="session", session=SessionKey("ada", f"root {root}"), before_bytes=encode_notebook(cells)
                ),
            )
        )
        assert report.counts is not None, report.detail
        assert [name in item.message for item in report if item.status == "introduced"] == [True], report.to_text()
        self.most_servers = max(self.most_servers, len(server_processes()))

    async def use(self) -> Use:
        """What is taken now; the open documents are those of the server that has the most."""
        running: list[dict[str, Any]] = (await self._service.status())["running"]
        documents = max((one["documents"] for one in running), default=0)
        self.most_documents = max(self.most_documents, documents)
        gc.collect()
        process = psutil.Process()
        return Use(
            process.memory_info().rss / 2**20,
            process.num_fds(),
            len(asyncio.all_tasks()),
            threading.active_count(),
            len(running),
            documents,
        )


def server_processes() -> list[psutil.Process]:
    """Language servers below this process, whether or not anybody knows them."""
    found = []
    for process in psutil.Process().children(recursive=True):
        try:
            if process.name() == "ty":
                found.append(process)
        except psutil.NoSuchProcess:
            continue
    return found


async def test_thousands_of_checks_over_hundreds_of_notebooks_stay_within_their_bounds(tmp_path: Path) -> None:
    settings = {"servers": {"python": ["ty"]}, "max_servers": MAX_SERVERS, "max_open_documents": MAX_DOCUMENTS}
    uses = []
    async with opened_service(settings, tmp_path) as service:
        life = Life(service, tmp_path)
        for look in range(N_LOOKS):
            for number in range(look * N_CHECKS // N_LOOKS, (look + 1) * N_CHECKS // N_LOOKS):
                await life.check(number)
            uses.append(await life.use())
            print(f"{(look + 1) * N_CHECKS // N_LOOKS} checks: {uses[-1]}")
        assert len(service.sessions("ada")) == N_NOTEBOOKS
    assert 0 < life.most_servers <= MAX_SERVERS
    assert life.most_documents == MAX_DOCUMENTS
    assert server_processes() == []
    # Until every notebook was checked a few times, caches still fill.
    first, last = uses[len(uses) // 2 - 1], uses[-1]
    assert last.descriptors <= first.descriptors + 8
    assert last.tasks <= first.tasks + 4
    assert last.threads <= first.threads + 1
    assert last.rss_mib <= first.rss_mib * 1.1 + 8
