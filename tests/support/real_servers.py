"""Real servers for tests: where they lie, and the one place that decides what becomes of a test without its server.

A test names its servers in `@pytest.mark.real_server("ty", "basedpyright")`: `tests/conftest.py` then puts those that
`tests/e2e/install_servers.sh` installed at the end of `PATH`, and looks for them as the service of the test will. Tests
that choose their server as they run call `require_server`, those that start one by themselves `real_launch`.
"""

import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import NoReturn

import pytest

from jupyter_lsp_agent.core.errors import ServerNotFoundError
from jupyter_lsp_agent.core.launch import ServerLaunch
from jupyter_lsp_agent.servers.commands import CommandSearch, ResolvedCommand, read_command_search, resolve_command
from jupyter_lsp_agent.servers.interpreters import Interpreter
from jupyter_lsp_agent.servers.launch import build_launch
from jupyter_lsp_agent.servers.registry import ServerRegistry
from tests.support.full import FULL
from tests.support.server_runs import IN_EVERY_RUN

REGISTRY = ServerRegistry()
IS_CI = os.environ.get("CI", "") not in {"", "0", "false"}
_CACHE = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")

SERVERS = Path(
    os.environ.get("JUPYTER_LSP_AGENT_TEST_SERVERS") or _CACHE / "jupyter-lsp-agent" / "test-servers"
).resolve()
"""The folder that `tests/e2e/install_servers.sh` fills."""
INSTALLED = SERVERS / "data"
"""The Jupyter data folder that `.ci/run` has our own `install` fill."""
TYPE_CHECKERS = ("ty", "basedpyright", "pyright", "pyrefly")
"""Of Python, which the tests ask one after the other."""
BY_SCRIPT = frozenset(
    {
        *("arity", "basedpyright", "bash-language-server", "clangd", "deno", "gopls", "postgres-language-server"),
        *("pyrefly", "pyright", "ruff", "rust-analyzer", "ty", "typescript-language-server", "typescript-native"),
        *("vscode-css-language-server", "vscode-html-language-server", "vscode-json-language-server"),
        *("yaml-language-server", "zuban"),
    }
)
"""What `tests/e2e/install_servers.sh` installs, and so is there in every run of CI."""


def find_real(server_id: str, search: CommandSearch) -> ResolvedCommand:
    """This server's command: installed for the tests, or wherever it lies on this machine.

    Raises:
        ServerNotFoundError: it is nowhere.
    """
    folders = (INSTALLED, *search.data_folders)
    path = (*search.path, *_program_folders())
    return resolve_command(REGISTRY.get(server_id), replace(search, data_folders=folders, path=path))


def real_launch(
    server_id: str,
    root: Path,
    own_data: Path,
    interpreter: Interpreter | None = None,
    trusted_roots: tuple[Path, ...] = (),
) -> ServerLaunch:
    """What starts this server for `root`; where it is not on this machine, see `do_without`."""
    search = replace(read_command_search((root,), trusted_roots), own_data=own_data)
    spec = REGISTRY.get(server_id)
    try:
        command = find_real(server_id, search)
    except ServerNotFoundError as error:
        do_without(server_id, error)
    return build_launch(spec, command, root, search=search, interpreter=interpreter)


def with_servers_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the servers that `tests/e2e/install_servers.sh` installs found, as a user's own on `PATH`."""
    monkeypatch.setenv("PATH", servers_path())
    # Programs below the current folder are never chosen, and these servers may lie in the checkout.
    monkeypatch.chdir(Path(os.sep))


def servers_path(path: str | None = None) -> str:
    """`PATH`, or another in its place, with these servers first."""
    return os.pathsep.join([*_program_folders(), os.environ["PATH"] if path is None else path])


def add_servers_to_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """The same with these servers last, as `.ci/run` has it: nothing that is there already is another than before."""
    monkeypatch.setenv("PATH", os.pathsep.join([os.environ.get("PATH", os.defpath), *_program_folders()]))


def _program_folders() -> list[str]:
    names = ("ts7", "npm", "deno", "sql", "html")
    return [str(SERVERS / "python" / "bin"), *(str(SERVERS / name / "node_modules" / ".bin") for name in names)]


def require_server(*server_ids: str) -> None:
    """See to it that these servers are where a service of this test finds them, else `do_without`.

    Jupyter's data folders are left out: a test may have others than the user's.
    """
    here = read_command_search()
    search = replace(here, data_folders=(), path=(*here.path, *_program_folders()))
    for server_id in server_ids:
        try:
            resolve_command(REGISTRY.get(server_id), search)
        except ServerNotFoundError as error:
            do_without(server_id, error)


def do_without(server_id: str, reason: Exception | str) -> NoReturn:
    """Skip the test, whose server is not on this machine; in CI, where that was installed, fail."""
    if IS_CI and (FULL or server_id in IN_EVERY_RUN or server_id in BY_SCRIPT):
        pytest.fail(f"{server_id} must be here and is not: {reason}")
    pytest.skip(f"{server_id} is not here: {reason} (tests/e2e/install_servers.sh)")


def servers_of(marks: Iterable[pytest.Mark]) -> list[str]:
    """The servers that a test's marks name."""
    return [server_id for mark in marks for server_id in mark.args]
