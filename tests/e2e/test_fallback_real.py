"""Fallback between real servers: whichever place of the chain works, after each way in which those before it fail."""

import os
import signal
from pathlib import Path

import pytest

from jupyter_lsp_agent.diagnostics.report import Report
from jupyter_lsp_agent.service.requests import CheckRequest
from jupyter_lsp_agent.service.service import NotebookDiagnosticsService
from tests.support.services import command_of, opened_service, write_notebook

CHAIN = ("ty", "basedpyright", "pyrefly")

pytestmark = [*(pytest.mark.real_server(server_id) for server_id in CHAIN), pytest.mark.timeout(120)]


async def check(service: NotebookDiagnosticsService, path: Path) -> Report:
    return await service.check(CheckRequest(path=path, wait_seconds=60.0))


def speaking(report: Report) -> list[str]:
    return [server.id for server in report.servers if not server.reason]


def cells(report: Report) -> list[int]:
    return [cell.cell_index for cell in report.cells if cell.diagnostics]


@pytest.mark.parametrize("way", ["missing", "die_at_start", "hang", "die_at_open"])
@pytest.mark.parametrize("place", range(len(CHAIN)))
async def test_the_first_that_works_speaks(tmp_path: Path, place: int, way: str) -> None:
    path = write_notebook(tmp_path / "n.ipynb", "x = 1", "print(missing_name)")
    settings = {
        "servers": {"python": [list(CHAIN)]},
        "server_settings": {server_id: {"command": command_of(way)} for server_id in CHAIN[:place]},
        "startup_timeout_s": 5.0 if way == "hang" else 30.0,
    }
    async with opened_service(settings, tmp_path) as service:
        first = await check(service, path)
        write_notebook(path, "x = 1", "print(x)")
        second = await check(service, path)
    assert (first.verdict, speaking(first), cells(first)) == ("errors", [CHAIN[place]], [1])
    assert (second.verdict, speaking(second), cells(second)) == ("clean", [CHAIN[place]], [])
    for report in (first, second):
        assert report.fallback_used is (place > 0)
        assert [server.id for server in report.servers if server.reason] == list(CHAIN[:place])


@pytest.mark.parametrize("server_id", CHAIN)
async def test_one_that_was_killed_between_two_checks_comes_back(tmp_path: Path, server_id: str) -> None:
    path = write_notebook(tmp_path / "n.ipynb", "x = 1", "print(missing_name)")
    chain = [server_id, *(other for other in CHAIN if other != server_id)]
    async with opened_service({"servers": {"python": [chain]}}, tmp_path) as service:
        assert cells(await check(service, path)) == [1]
        [running] = (await service.status())["running"]
        os.kill(running["pid"], signal.SIGKILL)
        report = await check(service, path)
    assert (speaking(report), report.fallback_used, cells(report)) == ([server_id], False, [1])
