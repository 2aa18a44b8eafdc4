"""A handshake with every installed server: what `installed` promises is tried, and versions are known.

Each is started in an empty folder of its own, so that none of them begins to read a project, and stopped at once.
"""

import asyncio
import tempfile
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, replace
from pathlib import Path

from jupyter_lsp_agent.core.errors import JupyterLspAgentError, ServerUnavailableError
from jupyter_lsp_agent.core.launch import ServerLaunch
from jupyter_lsp_agent.lsp.client import LanguageClient
from jupyter_lsp_agent.servers.commands import CommandSearch, ResolvedCommand, resolve_command
from jupyter_lsp_agent.servers.launch import build_launch
from jupyter_lsp_agent.servers.registry import ServerRegistry
from jupyter_lsp_agent.servers.spec import ServerSpec

_AT_A_TIME = 2

StartClient = Callable[[ServerLaunch], Awaitable[LanguageClient]]
"""Starts a server and completes the handshake."""


@dataclass(frozen=True, slots=True)
class ProbeResult:
    """What became of one handshake. `version`: as the server gave it; `problem`: why there was none."""

    server_id: str
    version: str | None = None
    problem: str | None = None


async def probe_servers(
    registry: ServerRegistry, search: CommandSearch, start_client: StartClient
) -> tuple[ProbeResult, ...]:
    """A handshake with each server that is installed and not switched off, in the order of the catalogue."""
    free = asyncio.Semaphore(_AT_A_TIME)

    async def probe(spec: ServerSpec, command: ResolvedCommand) -> ProbeResult:
        async with free:
            return await _probe(spec, command, registry, search, start_client)

    installed = await asyncio.to_thread(lambda: list(_installed(registry, search)))
    return tuple(await asyncio.gather(*(probe(spec, command) for spec, command in installed)))


def _installed(registry: ServerRegistry, search: CommandSearch) -> Iterable[tuple[ServerSpec, ResolvedCommand]]:
    for spec in registry:
        override = registry.override(spec.server_id)
        if not override.enabled:
            continue
        try:
            yield spec, resolve_command(spec, search, override=override)
        except ServerUnavailableError:
            continue  # the status says so already


async def _probe(
    spec: ServerSpec, command: ResolvedCommand, registry: ServerRegistry, search: CommandSearch, start: StartClient
) -> ProbeResult:
    override = registry.override(spec.server_id)
    with tempfile.TemporaryDirectory(prefix="jupyter-lsp-agent-", ignore_cleanup_errors=True) as folder:
        # An empty folder of our own holds nothing that could be run.
        trusting = replace(search, trusted_roots=(*search.trusted_roots, Path(folder)))
        try:
            client = await start(build_launch(spec, command, Path(folder), search=trusting, override=override))
        except JupyterLspAgentError as error:
            return ProbeResult(spec.server_id, problem=str(error))
        try:
            return ProbeResult(spec.server_id, version=client.server_version)
        finally:
            await client.aclose()
