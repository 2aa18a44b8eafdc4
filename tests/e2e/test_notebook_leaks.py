"""What cells must not do to each other, asked of real servers through the command line."""

import functools
import json
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest

from tests.support.command_line import run_command
from tests.support.leak_cases import CASES, MODULES, LeakCase
from tests.support.notebooks import notebook_json
from tests.support.real_servers import TYPE_CHECKERS, require_server, servers_path
from tests.support.tricky_notebooks import TRICKY

ALL = (*CASES, *TRICKY)
pytestmark = pytest.mark.timeout(300)


@functools.cache
def found(server: str) -> dict[str, frozenset[tuple[int, int]]]:
    """Case → places of its errors. One run of the command line checks all cases."""
    with TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        for name, text in MODULES.items():
            (root / name).parent.mkdir(exist_ok=True)
            (root / name).write_text(text)
        for case in ALL:
            notebook = notebook_json(*case.cells, metadata=_metadata(case.python_version))
            (root / f"{case.name}.ipynb").write_text(json.dumps(notebook))
        limits = ("--max-per-cell", "0", "--max-total", "0")
        done = run_command(
            "check", "--format", "json", "--server", server, *limits, folder, cwd=root, environ={"PATH": servers_path()}
        )
    return {Path(report["path"]).stem: _errors(report) for report in done.reports}


def _metadata(python_version: str | None) -> dict[str, Any] | None:
    """The metadata of a kernel of that version, which is not on this machine; `None`: the usual one."""
    if python_version is None:
        return None
    return {
        "kernelspec": {"name": "python-elsewhere", "display_name": "Python", "language": "python"},
        "language_info": {"name": "python", "version": python_version},
    }


def _errors(report: dict[str, Any]) -> frozenset[tuple[int, int]]:
    assert report["verdict"] in {"errors", "clean"}, report
    return frozenset(
        (cell["cell_index"], diagnostic["line"])
        for cell in report["cells"]
        for diagnostic in cell["diagnostics"]
        if diagnostic["severity"] == "error"
    )


@pytest.mark.parametrize("case", ALL, ids=lambda case: case.name)
@pytest.mark.parametrize("server", TYPE_CHECKERS)
def test_cells_leave_each_other_alone(server: str, case: LeakCase, request: pytest.FixtureRequest) -> None:
    require_server(server)
    if server in case.open_for:
        request.applymarker(pytest.mark.xfail(reason="known and open", strict=True))
    places = found(server)[case.name]
    assert places - case.tolerated == case.errors
