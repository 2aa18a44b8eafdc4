"""Which Python a document means. Environments are made by `venv`; what is read of them is compared with what their own
interpreters say."""

import json
import os
import re
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from jupyter_lsp_agent.core.errors import SettingsError
from jupyter_lsp_agent.servers.environments import prefix_of, read_environment, read_own_environment
from jupyter_lsp_agent.servers.interpreters import Interpreter, Surroundings, resolve_interpreter
from tests.support.environments import kernelspec, real_venv, site_packages
from tests.support.jupyter_server import PACKAGE_ROOT

VERSION = tuple(sys.version_info[:2])


class World:
    """A project with `.venv`, a kernel's environment, an activated one, and nothing else of this machine."""

    def __init__(self, folder: Path) -> None:
        self.project = folder / "project"
        (self.project / "nb").mkdir(parents=True)
        self.kernels = folder / "kernels"
        self.folder = folder
        self.environ: dict[str, str] = {"PATH": "/usr/bin:/bin"}
        self.trusted: tuple[Path, ...] = ()

    def resolve(self, kernel_name: str | None = None, **options: object) -> Interpreter:
        surroundings = Surroundings(self.environ, (self.kernels,), self.trusted)
        return resolve_interpreter(
            self.project / "nb", self.project, surroundings=surroundings, kernel_name=kernel_name, **options
        )


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def say(python: Path, code: str) -> str:
    return subprocess.run([python, "-c", code], check=True, capture_output=True, text=True).stdout.strip()


def test_what_is_read_is_what_the_interpreter_itself_says(tmp_path):
    prefix = real_venv(tmp_path / "venv")
    read = read_environment(prefix)
    assert str(read.prefix) == say(read.python, "import sys; print(sys.prefix)")
    assert read.version == VERSION
    said = json.loads(say(read.python, "import sys, json; print(json.dumps(sys.path))"))
    assert {str(folder) for folder in read.site_packages} == {path for path in said if path.endswith("-packages")}


def test_packages_of_the_system_are_seen_where_the_environment_sees_them(tmp_path):
    prefix = real_venv(tmp_path / "venv")
    config = prefix / "pyvenv.cfg"
    config.write_text(
        config.read_text().replace("include-system-site-packages = false", "include-system-site-packages = true")
    )
    read = read_environment(prefix)
    said = json.loads(say(read.python, "import sys, json; print(json.dumps(sys.path))"))
    assert {str(folder) for folder in read.site_packages} >= {path for path in said if path.endswith("-packages")}


def test_our_own_environment_is_what_site_says():
    own = read_own_environment()
    assert (own.prefix, own.python, own.version) == (Path(sys.prefix), Path(sys.executable), VERSION)
    assert {str(folder) for folder in own.site_packages} <= set(sys.path)
    assert any(Path(pytest.__file__).is_relative_to(folder) for folder in own.site_packages)


def test_a_conda_environment_is_read_from_its_records(tmp_path):
    for name in ("conda-meta/python-3.12.4-hab00c5b_0.json", "bin/python", "lib/python3.12/site-packages/x.py"):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    read = read_environment(tmp_path)
    assert (read.version, read.site_packages) == ((3, 12), (tmp_path / "lib/python3.12/site-packages",))


def test_two_environments_of_one_base_are_two(tmp_path):
    one, two = real_venv(tmp_path / "one"), real_venv(tmp_path / "two")
    assert (one / "bin/python").resolve() == (two / "bin/python").resolve()
    assert [prefix_of(one / "bin/python"), prefix_of(two / "bin/python3")] == [one, two]


def test_a_link_into_an_environment_means_that_environment(tmp_path):
    prefix = real_venv(tmp_path / "venv")
    (tmp_path / "tools").mkdir()
    (tmp_path / "tools/py").symlink_to(prefix / "bin/python")
    assert prefix_of(tmp_path / "tools/py") == prefix


@pytest.mark.parametrize("named", ["venv", "venv/bin/python"])
def test_a_named_one_comes_before_the_kernel(world, named):
    real_venv(world.folder / "venv")
    kernelspec(world.kernels, "k", str(real_venv(world.folder / "kernel") / "bin/python"))
    found = world.resolve("k", named=world.folder / named)
    assert (found.prefix, found.origin, found.may_run) == (world.folder / "venv", "--python", True)


def test_a_named_one_that_is_none_is_an_error(world):
    with pytest.raises(SettingsError, match=f"^{re.escape(str(world.folder))}: there is no Python interpreter"):
        world.resolve(named=world.folder)


def test_the_kernel_comes_before_the_projects_own_and_may_run(world):
    kernel = real_venv(world.folder / "kernel")
    kernelspec(world.kernels, "MyKernel", str(kernel / "bin/python"))
    real_venv(world.project / ".venv")
    found = world.resolve("mykernel")
    assert (found.prefix, found.origin, found.may_run) == (kernel, "kernelspec mykernel", True)
    assert found.site_packages == (site_packages(kernel),)


@pytest.mark.parametrize("program", [sys.executable, "python", "python3"])
def test_a_kernel_of_our_own_python_yields_to_the_projects_own(world, program):
    kernelspec(world.kernels, "python3", program)
    assert world.resolve("python3").prefix == Path(sys.prefix)
    assert world.resolve("python3").origin == "kernelspec python3"
    real_venv(world.project / ".venv")
    found = world.resolve("python3")
    assert (found.prefix, found.origin, found.elsewhere) == (world.project / ".venv", ".venv", None)


def test_a_kernel_of_another_environment_with_the_same_base_does_not_yield(world):
    kernel = real_venv(world.folder / "kernel")
    kernelspec(world.kernels, "python3", str(kernel / "bin/python"))
    real_venv(world.project / ".venv")
    assert world.resolve("python3").prefix == kernel


@pytest.mark.parametrize("name", [None, "", "python", "python3", "Python3"])
def test_a_name_that_says_nothing_goes_on_along_the_list(world, name):
    found = world.resolve(name)
    assert (found.prefix, found.origin, found.elsewhere) == (Path(sys.prefix), "own", None)


@pytest.mark.parametrize("spec", [None, "/no/such/python", "no-such-python"])
def test_a_kernel_that_is_not_here_is_elsewhere(world, spec):
    if spec:
        kernelspec(world.kernels, "spark", spec)
    real_venv(world.project / ".venv")
    found = world.resolve("spark")
    assert found.prefix == world.project / ".venv"
    assert "`spark`" in found.elsewhere
    assert "on this machine" in found.elsewhere


def test_python3_with_a_kernelspec_whose_program_is_gone_is_elsewhere(world):
    kernelspec(world.kernels, "python3", "/no/such/python")
    assert "/no/such/python" in world.resolve("python3").elsewhere


@pytest.mark.parametrize(
    "argv",
    [
        ("/usr/bin/env", "{kernel}/bin/python"),
        ("/opt/conda/bin/conda", "run", "-p", "{kernel}", "python"),
        ("{folder}/bin/conda", "run", "--name", "kernel", "python"),
        ("{kernel}/bin/xpython",),
    ],
)
def test_a_wrapper_before_the_interpreter_is_passed_over(world, argv):
    kernel = real_venv(world.folder / "envs/kernel")
    (kernel / "bin/xpython").touch()
    parts = {"{kernel}": str(kernel), "{folder}": str(world.folder)}
    for name, value in parts.items():
        argv = tuple(argument.replace(name, value) for argument in argv)
    kernelspec(world.kernels, "k", *argv)
    assert world.resolve("k").prefix == kernel


@pytest.mark.parametrize("text", ["", "{", "[]", '{"argv": "python"}'])
def test_a_kernelspec_that_cannot_be_read_is_none(world, text):
    (world.kernels / "k").mkdir(parents=True)
    (world.kernels / "k/kernel.json").write_text(text)
    assert "not installed" in world.resolve("k").elsewhere


@pytest.mark.parametrize(("trusted", "may_run"), [(".", True), ("project/nb", False), ("", False)])
def test_the_projects_own_may_run_only_where_it_is_trusted(world, trusted, may_run):
    real_venv(world.project / ".venv")
    world.trusted = (world.folder / trusted,) if trusted else ()
    assert world.resolve().may_run is may_run


def test_the_nearest_environment_up_to_the_boundary_counts(world):
    real_venv(world.folder / ".venv")
    assert world.resolve().origin == "own"
    real_venv(world.project / "venv")
    assert world.resolve().prefix == world.project / "venv"
    real_venv(world.project / "nb/.venv")
    assert world.resolve().prefix == world.project / "nb/.venv"


@pytest.mark.parametrize("variable", ["VIRTUAL_ENV", "CONDA_PREFIX"])
def test_an_activated_environment_comes_before_ours(world, variable):
    active = real_venv(world.folder / "active")
    world.environ[variable] = str(active)
    found = world.resolve()
    assert (found.prefix, found.origin, found.may_run) == (active, variable, True)
    real_venv(world.project / ".venv")
    assert world.resolve().origin == ".venv"


def test_in_a_hook_it_is_what_was_active_before_the_hooks_own(world, tmp_path):
    """As pre-commit starts a hook: its own environment in `VIRTUAL_ENV` and first on `PATH`."""
    active, hooks = real_venv(world.folder / "active"), read_own_environment()
    path = os.pathsep.join(["", "relative", str(hooks.python.parent), f"{active}/bin", "/usr/bin"])
    world.environ |= {"VIRTUAL_ENV": str(hooks.prefix), "PATH": path}
    assert world.resolve().prefix == hooks.prefix
    world.environ["PRE_COMMIT"] = "1"
    found = world.resolve()
    assert (found.prefix, found.origin, found.site_packages) == (active, "PATH", (site_packages(active),))
    real_venv(world.project / ".venv")
    assert world.resolve().origin == ".venv"


def test_in_a_hook_a_folder_of_the_project_on_the_path_is_only_read(world):
    inside = real_venv(world.project / "tools")
    world.environ |= {"PRE_COMMIT": "1", "PATH": f"{inside}/bin"}
    found = world.resolve()
    assert (found.prefix, found.may_run) == (inside, False)


@pytest.mark.parametrize("value", ["", "relative", "/no/such/folder", "/usr"])
def test_an_activated_environment_that_is_none_is_passed_over(world, value):
    world.environ["VIRTUAL_ENV"] = value
    assert world.resolve().origin == "own"


def test_editable_installs_are_searched_and_their_code_is_not_run(world):
    prefix = real_venv(world.project / ".venv")
    (world.folder / "lib").mkdir()
    (site_packages(prefix) / "edit.pth").write_text(f"import sys; sys.exit(1)\n# note\n{world.folder}/lib\n/no/such\n")
    assert world.resolve().search_paths == (site_packages(prefix), world.folder / "lib")


@pytest.mark.parametrize(
    ("is_notebook", "package", "extra"), [(True, True, True), (True, False, False), (False, True, False)]
)
def test_a_notebook_in_a_package_finds_its_neighbours(world, is_notebook, package, extra):
    if package:
        (world.project / "nb/__init__.py").touch()
    found = world.resolve(is_notebook=is_notebook)
    assert found.extra_paths == ((world.project / "nb",) if extra else ())


def test_absolute_entries_of_pythonpath_are_told(world):
    world.environ["PYTHONPATH"] = f".::relative:{world.folder}:/no/such"
    assert world.resolve().extra_paths == (world.folder,)


def test_everything_that_a_server_is_told_is_in_the_key(world):
    prefix = real_venv(world.project / ".venv")
    found = world.resolve()
    others = [
        replace(found, python=prefix / "bin/other"),
        replace(found, version=(3, 99)),
        replace(found, may_run=True),
        replace(found, extra_paths=(prefix,)),
    ]
    assert len({found.key, *(other.key for other in others)}) == 5


def test_one_program_under_two_names_is_one_environment(tmp_path: Path) -> None:
    """A kernelspec names `bin/python`, an activated environment its folder, and we run as `bin/python3`.

    What is open in a server is shared all the same.
    """
    ours = real_venv(tmp_path / "ours")
    kernelspec(tmp_path / "kernels", "ours", str(ours / "bin" / "python"))
    code = (
        "from pathlib import Path\n"
        "from jupyter_lsp_agent.servers.interpreters import Surroundings, resolve_interpreter\n"
        f"folder, kernels = Path({str(tmp_path / 'project')!r}), (Path({str(tmp_path / 'kernels')!r}),)\n"
        f"active = {{'VIRTUAL_ENV': {str(ours)!r}}}\n"
        "keys = {resolve_interpreter(folder, folder, surroundings=Surroundings(around, kernels), kernel_name=name).key"
        " for name in (None, 'ours') for around in ({}, active)}\n"
        "print(len(keys))"
    )
    path = [str(PACKAGE_ROOT), *(entry for entry in sys.path if "site-packages" in entry)]
    program = [ours / "bin" / "python3", "-c", "import sys; sys.path += " + repr(path) + "\n" + code]
    done = subprocess.run(program, check=True, capture_output=True, text=True, env={}, cwd=tmp_path)
    assert done.stdout.strip() == "1"


def test_a_file_that_cannot_be_run_is_no_interpreter(tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("hello")
    with pytest.raises(SettingsError, match="no Python interpreter"):
        resolve_interpreter(tmp_path, tmp_path, surroundings=Surroundings({}, ()), named=tmp_path / "notes.txt")


def bare_kernel(world: World, program: str) -> None:
    folder = world.kernels / "odd"
    folder.mkdir(parents=True)
    (folder / "kernel.json").write_text(json.dumps({"argv": [program, "-m", "k"], "language": "python"}))


def plant_program(path: Path) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)


def test_a_kernels_bare_program_is_not_taken_from_the_current_folder(world, monkeypatch):
    plant_program(world.project / "xpython")
    bare_kernel(world, "xpython")
    monkeypatch.chdir(world.project)
    for entries in (".", "", f".:{world.folder}/no-such"):
        world.environ["PATH"] = entries
        assert "is not on this machine" in (world.resolve("odd").elsewhere or "")


def test_one_that_path_finds_in_the_workspace_is_only_read(world):
    plant_program(world.project / "bin" / "xpython")
    bare_kernel(world, "xpython")
    world.environ["PATH"] = str(world.project / "bin")
    assert not world.resolve("odd").may_run
    world.trusted = (world.project,)
    assert world.resolve("odd").may_run
