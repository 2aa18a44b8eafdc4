"""Real servers as the catalogue knows them, for tests that ask them."""

from dataclasses import replace
from pathlib import Path

import pytest

from jupyter_lsp_agent.core.errors import ServerNotFoundError
from jupyter_lsp_agent.core.launch import ServerLaunch
from jupyter_lsp_agent.servers.commands import read_command_search, resolve_command
from jupyter_lsp_agent.servers.interpreters import Interpreter
from jupyter_lsp_agent.servers.launch import build_launch
from jupyter_lsp_agent.servers.registry import ServerRegistry

REGISTRY = ServerRegistry()


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
        command = resolve_command(spec, search)
    except ServerNotFoundError as error:
        pytest.skip(str(error))
    return build_launch(spec, command, root, search=search, interpreter=interpreter)
