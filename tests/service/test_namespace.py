"""Names that only the file system knows, held against what Python itself imports."""

import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from jupyter_lsp_agent.servers.environments import read_own_environment
from jupyter_lsp_agent.servers.interpreters import Interpreter
from jupyter_lsp_agent.service.namespace import missing_modules, run_names, startup_names
from jupyter_lsp_agent.service.places import Place, PlaceFinder
from jupyter_lsp_agent.service.settings import Settings


@pytest.fixture
def place(tmp_path: Path) -> Place:
    return PlaceFinder(Settings(), tmp_path).find(tmp_path / "n.ipynb")


@pytest.fixture
def nothing_installed(tmp_path: Path) -> Interpreter:
    own = read_own_environment()
    return Interpreter(own.python, own.prefix, (), own.version, "the test")


def imports(folder: Path, module: str) -> bool:
    done = subprocess.run([sys.executable, "-c", f"import {module}"], cwd=folder, capture_output=True, check=False)
    return done.returncode == 0


@pytest.mark.parametrize(
    ("files", "module", "is_missing"),
    [
        (["data_x/rows.csv"], "data_x.rows", True),
        (["pkg_x/a.py"], "pkg_x.a", False),
        (["pkg_x/a/b/c.py"], "pkg_x.a.b.c", False),
        (["pkg_x/__init__.py"], "pkg_x", False),
        (["data_x/.hidden/c.py"], "data_x.rows", True),
    ],
)
def test_a_folder_is_missing_where_no_module_of_it_can_be_imported(
    tmp_path: Path, place: Place, nothing_installed: Interpreter, files: list[str], module: str, is_missing: bool
) -> None:
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    top = module.partition(".")[0]
    assert imports(tmp_path, module) is not is_missing
    assert missing_modules([top], place, nothing_installed) == (frozenset({top}) if is_missing else frozenset())


def test_an_installed_module_of_that_name_is_there(
    tmp_path: Path, place: Place, nothing_installed: Interpreter
) -> None:
    (tmp_path / "data_x").mkdir()
    packages = tmp_path / "site-packages"
    (packages / "data_x").mkdir(parents=True)
    there = replace(nothing_installed, site_packages=(packages,))
    assert missing_modules(["data_x"], place, there) == frozenset()


def test_what_run_takes_in_is_read_and_not_run(tmp_path: Path, place: Place) -> None:
    (tmp_path / "f.py").write_text(f"import pathlib\npathlib.Path({str(tmp_path / 'mark')!r}).touch()\ndef g(): pass\n")
    assert run_names(["f.py", "f", "gone.py"], place) == {
        "f.py": frozenset({"pathlib", "g"}),
        "f": frozenset({"pathlib", "g"}),
        "gone.py": None,
    }
    assert not (tmp_path / "mark").exists()


def test_nothing_outside_the_workspace_is_read(tmp_path: Path) -> None:
    (tmp_path / "inside").mkdir()
    (tmp_path / "outside.py").write_text("secret = 1\n")
    (tmp_path / "inside" / "link.py").symlink_to(tmp_path / "outside.py")
    place = PlaceFinder(Settings(), tmp_path / "inside").find(tmp_path / "inside" / "n.ipynb")
    assert run_names(["../outside.py", "link.py"], place) == {"../outside.py": None, "link.py": None}


def test_names_of_start_up_files(tmp_path: Path) -> None:
    (tmp_path / "00.py").write_text("import os\nx = 1\n")
    (tmp_path / "10.ipy").write_text("%load_ext autoreload\ny = !ls\n")
    (tmp_path / "README").write_text("z = 1\n")
    assert startup_names(tmp_path) == {"os", "x", "y"}
