"""Real servers as the catalogue knows them, for tests that ask them."""

import os
import shutil
from dataclasses import replace
from pathlib import Path

import pytest

from jupyter_lsp_agent.core.errors import ServerNotFoundError
from jupyter_lsp_agent.core.launch import ServerLaunch
from jupyter_lsp_agent.servers.commands import CommandSearch, ResolvedCommand, read_command_search, resolve_command
from jupyter_lsp_agent.servers.interpreters import Interpreter
from jupyter_lsp_agent.servers.launch import build_launch
from jupyter_lsp_agent.servers.registry import ServerRegistry

REGISTRY = ServerRegistry()
_CHECKOUT = Path(__file__).resolve().parents[2]


INSTALLED = Path(os.environ.get("JUPYTER_LSP_AGENT_TEST_SERVERS") or _CHECKOUT / ".ci-cache" / "servers") / "data"
"""The Jupyter data folder that `.ci/run` has our own `install` fill."""


def find_real(server_id: str, search: CommandSearch) -> ResolvedCommand:
    """This server's command: installed for the tests, or wherever it lies on this machine.

    Raises:
        ServerNotFoundError: it is nowhere.
    """
    folders = (INSTALLED, *search.data_folders)
    return resolve_command(REGISTRY.get(server_id), replace(search, data_folders=folders))


def real_launch(
    server_id: str,
    root: Path,
    own_data: Path,
    interpreter: Interpreter | None = None,
    trusted_roots: tuple[Path, ...] = (),
) -> ServerLaunch:
    """What starts this server for `root`; skips the test where it is not on this machine."""
    search = replace(read_command_search((root,), trusted_roots), own_data=own_data)
    spec = REGISTRY.get(server_id)
    try:
        command = find_real(server_id, search)
    except ServerNotFoundError as error:
        pytest.skip(str(error))
    return build_launch(spec, command, root, search=search, interpreter=interpreter)


def with_servers_on_path(monkeypatch: pytest.MonkeyPatch) -> None:
    """Have the servers that `tests/e2e/install_servers.sh` installs found, as a user's own on `PATH`."""
    monkeypatch.setenv("PATH", servers_path())
    # Programs below the current folder are never chosen, and by default these servers lie in the checkout.
    monkeypatch.chdir(Path(os.sep))


def servers_path(path: str | None = None) -> str:
    """`PATH`, or another in its place, with these servers first."""
    folder = Path(os.environ.get("JUPYTER_LSP_AGENT_TEST_SERVERS") or _CHECKOUT / ".ci-cache" / "servers").resolve()
    places = [
        folder / "python" / "bin",
        *(folder / name / "node_modules" / ".bin" for name in ("ts7", "npm", "deno", "sql", "html")),
    ]
    return os.pathsep.join([*map(str, places), os.environ["PATH"] if path is None else path])


def require_server(program: str) -> None:
    """Skip the test where a program is not there; in CI, which installs them all, fail."""
    if shutil.which(program, path=servers_path()) is None:
        message = f"{program} is not installed; tests/e2e/install_servers.sh installs it"
        if os.environ.get("CI"):
            pytest.fail(message)
        pytest.skip(message)
