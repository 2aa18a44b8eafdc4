"""Which Python's syntax a notebook is held to, where nothing but its own word tells: asked of real servers."""

import json
import sys
from pathlib import Path

import pytest

from tests.support.command_line import run_command
from tests.support.notebooks import notebook_json
from tests.support.real_servers import TYPE_CHECKERS, require_server, servers_path

CELLS = ('f"{"a"}"', "type X = int", "def f[T](a: T) -> T: return a\nf(1) + 'a'", "undefined_name")
KERNEL = "python"
"""Says no more than "some Python", and no package installs a kernel of that name, as ipykernel does with `python3`."""

pytestmark = pytest.mark.timeout(300)


def errors(folder: Path, server: str, version: str) -> list[tuple[int, int]]:
    """The places (cell, line) of the errors in a notebook that last ran on this version, on a kernel that is not
    installed under its name."""
    metadata = {
        "kernelspec": {"name": KERNEL, "display_name": "Python 3", "language": "python"},
        "language_info": {"name": "python", "version": version},
    }
    (folder / "n.ipynb").write_text(json.dumps(notebook_json(*CELLS, metadata=metadata)))
    environ = {"PATH": servers_path(), "VIRTUAL_ENV": "", "CONDA_PREFIX": ""}
    done = run_command("check", "--format", "json", "--server", server, "n.ipynb", cwd=folder, environ=environ)
    (report,) = done.reports
    assert not report["environment"]["origin"].startswith("kernelspec")
    found = [(cell["cell_index"], entry) for cell in report["cells"] for entry in cell["diagnostics"]]
    return sorted({(index, entry["line"]) for index, entry in found if entry["severity"] == "error"})


@pytest.mark.parametrize("server", TYPE_CHECKERS)
@pytest.mark.parametrize("version", ["3.13.1", "3.99.0"])
def test_a_newer_python_than_ours_rules_where_the_notebook_says_so(server: str, version: str, tmp_path: Path) -> None:
    require_server(server)
    assert errors(tmp_path, server, version) == [(2, 2), (3, 1)]


def test_the_environment_of_the_project_is_the_better_witness(tmp_path: Path) -> None:
    environment = tmp_path / ".venv"
    (environment / "lib" / "python3.11" / "site-packages").mkdir(parents=True)
    (environment / "bin").mkdir()
    (environment / "bin" / "python").symlink_to(sys.executable)
    (environment / "pyvenv.cfg").write_text(f"home = {Path(sys.executable).parent}\nversion = 3.11.9\n")
    assert {(0, 1), (1, 1), (2, 1), (3, 1)} <= set(errors(tmp_path, "ty", "3.13.1"))
