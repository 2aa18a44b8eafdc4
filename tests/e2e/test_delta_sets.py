"""Other judges in the middle of a session, with real servers: nothing is introduced that the edit did not cause."""

import subprocess
import sys
from pathlib import Path

import pytest

from jupyter_lsp_agent.diagnostics.facts import ViewOptions
from jupyter_lsp_agent.diagnostics.report import Report, Status
from jupyter_lsp_agent.service.requests import CheckRequest, Comparison, SessionKey
from jupyter_lsp_agent.service.service import NotebookDiagnosticsService
from tests.support.services import opened_service, write_notebook

IN_SESSION = Comparison(baseline="session", session=SessionKey("ada", "work"))
ALL = ViewOptions(statuses=frozenset(Status))
CELLS = ("import extra", "extra.nope", "x: int = 'a'")
BROKEN = "print(missing)"


async def check(service: NotebookDiagnosticsService, path: Path) -> Report:
    return await service.check(CheckRequest(path=path, comparison=IN_SESSION, view=ALL, wait_seconds=60.0))


def places(report: Report, status: str) -> list[tuple[int | None, int]]:
    found = [item for item in report if item.status == status]
    return [(item.cell.cell_index if item.cell else None, item.range.start.line) for item in found]


def site_packages(environment: Path) -> Path:
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(environment)], check=True)
    [packages] = environment.glob("lib/python*/site-packages")
    return packages


@pytest.mark.real_server("ty")
async def test_a_package_that_is_installed(tmp_path: Path) -> None:
    """It makes an import right and a use of it wrong; neither is the edit's doing."""
    packages = site_packages(tmp_path / ".venv")
    path = write_notebook(tmp_path / "n.ipynb", *CELLS)
    async with opened_service({"servers": {"python": ["ty"]}}, tmp_path) as service:
        first = await check(service, path)
        assert (0, 0) in places(first, "preexisting")
        (packages / "extra").mkdir()
        (packages / "extra" / "__init__.py").write_text("right = 1\n")
        write_notebook(path, *CELLS, BROKEN)
        second = await check(service, path)
        assert places(second, "introduced") == [(3, 0)]
        assert places(second, "preexisting") == [(1, 0), (2, 0)]
        write_notebook(path, *CELLS, "print(1)")
        third = await check(service, path)
    assert not places(third, "introduced")
    assert [item.cell.cell_index for item in third.fixed if item.cell] == [3]


_GATE = "import os, sys; os.path.exists('down') and sys.exit(3); os.execvp('ty', ['ty', 'server'])"


@pytest.mark.real_server("ty")
@pytest.mark.real_server("basedpyright")
async def test_a_fallback(tmp_path: Path) -> None:
    """What the one finds and the other does not is neither new nor gone."""
    path = write_notebook(tmp_path / "n.ipynb", *CELLS)
    settings = {
        "servers": {"python": [["ty", "basedpyright"]]},
        "server_settings": {"ty": {"command": [sys.executable, "-c", _GATE]}},
    }
    async with opened_service(settings, tmp_path) as service:
        await check(service, path)
        write_notebook(path, *CELLS, BROKEN)
        assert places(await check(service, path), "introduced") == [(3, 0)]
        (tmp_path / "down").touch()
        await service.restart("ty")
        write_notebook(path, *CELLS, BROKEN, "print(other)")
        report = await check(service, path)
    assert report.fallback_used
    assert places(report, "introduced") == [(4, 0)]
    assert places(report, "outstanding") == [(3, 0)]
    assert not report.fixed
