"""Other judges in the middle of a session, with real servers: nothing is introduced that the edit did not cause."""

import subprocess
import sys
from pathlib import Path

import pytest

from jupyter_lsp_agent.diagnostics.facts import ViewOptions
from jupyter_lsp_agent.diagnostics.report import Report, Status
from jupyter_lsp_agent.servers.commands import read_command_search
from jupyter_lsp_agent.service.requests import CheckRequest, Comparison, SessionKey
from jupyter_lsp_agent.service.service import NotebookDiagnosticsService
from tests.support.environments import kernelspec, real_venv
from tests.support.real_servers import find_real, with_servers_on_path
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


def cells_of(report: Report, status: str) -> set[int | None]:
    """The cells with errors of a status."""
    return {cell for cell, _ in places(report, status)}


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


KERNEL_CELLS = ("import alpha", "import beta", "alpha.nope", "beta.nope", "x: int = 'a'")


@pytest.mark.parametrize(
    "server_id", [pytest.param(one, marks=pytest.mark.real_server(one)) for one in ("ty", "basedpyright", "pyrefly")]
)
async def test_another_kernel_with_another_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server_id: str
) -> None:
    """Of two packages, each kernel has one: imports go wrong and right, and uses too; none is the edit's doing."""
    with_servers_on_path(monkeypatch)
    for name, package in (("one", "alpha"), ("two", "beta")):
        python = real_venv(tmp_path / name, package) / "bin" / "python"
        kernelspec(tmp_path / "jupyter" / "kernels", name, str(python))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "jupyter"))
    work = tmp_path / "work"
    work.mkdir()

    def write(kernel: str, *sources: str) -> Path:
        metadata = {"name": kernel, "language": "python", "display_name": kernel}
        return write_notebook(work / "n.ipynb", *sources, kernelspec=metadata)

    async with opened_service({"servers": {"python": [server_id]}}, work) as service:
        first = await check(service, write("one", *KERNEL_CELLS))
        assert cells_of(first, "preexisting") == {1, 2, 4}
        broken = await check(service, write("one", *KERNEL_CELLS, BROKEN))
        assert cells_of(broken, "introduced") == {5}
        chosen = await check(service, write("two", *KERNEL_CELLS, BROKEN))
        edited_too = await check(service, write("one", "# moved", *KERNEL_CELLS, BROKEN, "print(missing_too)"))
        mended_too = await check(service, write("two", "# moved", *KERNEL_CELLS, "", "print(missing_too)"))
    assert [report.environment and report.environment.origin for report in (broken, chosen)] == [
        "kernelspec one",
        "kernelspec two",
    ]
    assert (cells_of(chosen, "introduced"), chosen.fixed) == (set(), ())
    assert (cells_of(chosen, "preexisting"), cells_of(chosen, "outstanding")) == ({0, 3, 4}, {5})
    assert (cells_of(edited_too, "introduced"), edited_too.fixed) == ({7}, ())
    assert (cells_of(edited_too, "preexisting"), cells_of(edited_too, "outstanding")) == ({2, 3, 5}, {6})
    assert (cells_of(mended_too, "introduced"), cells_of(mended_too, "outstanding")) == (set(), {7})
    assert [item.cell and item.cell.cell_index for item in mended_too.fixed] == [6]


_GATE = "import os, sys; os.path.exists('down') and sys.exit(3); os.execv(sys.argv[1], sys.argv[1:])"


@pytest.mark.real_server("ty")
@pytest.mark.real_server("basedpyright")
async def test_a_fallback(tmp_path: Path) -> None:
    """What the one finds and the other does not is neither new nor gone."""
    path = write_notebook(tmp_path / "n.ipynb", *CELLS)
    ty = find_real("ty", read_command_search()).argv
    settings = {
        "servers": {"python": [["ty", "basedpyright"]]},
        "server_settings": {"ty": {"command": [sys.executable, "-c", _GATE, *ty]}},
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
