"""The object of `GET status`: which servers there are, which run, which failed."""

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from jupyter_lsp_agent.core.errors import ServerUnavailableError
from jupyter_lsp_agent.core.uris import path_from_uri
from jupyter_lsp_agent.pool.place import BrokenStatus, ClientStatus, PoolStatus
from jupyter_lsp_agent.servers.commands import CommandSearch, resolve_command
from jupyter_lsp_agent.servers.registry import ServerRegistry
from jupyter_lsp_agent.servers.spec import ServerSpec
from jupyter_lsp_agent.service.chain_calls import tidy_version
from jupyter_lsp_agent.service.settings import Settings

if TYPE_CHECKING:
    from jupyter_lsp_agent.service.background_installs import InstallAttempt


def build_status(
    settings: Settings,
    registry: ServerRegistry,
    search: CommandSearch,
    pool: PoolStatus,
    attempts: Iterable["InstallAttempt"] = (),
) -> dict[str, Any]:
    """The status as JSON has it.

    Args:
        settings: of this process.
        registry: the catalogue.
        search: where commands are looked for.
        pool: what runs and what failed.
        attempts: what was installed unasked.
    """
    versions = {one.key.server_id: version for one in pool.running if (version := tidy_version(one.version))}
    return {
        "enabled": settings.enabled,
        "wait_ms": settings.wait_ms,
        "servers": [{**_server(spec, registry, search), "version": versions.get(spec.server_id)} for spec in registry],
        "running": [running_status(one) for one in pool.running],
        "broken": [broken_status(one) for one in pool.broken],
        "installs": [{"id": one.server_id, "state": one.state.value, "detail": one.problem} for one in attempts],
    }


def running_status(client: ClientStatus) -> dict[str, Any]:
    """One running server."""
    return {
        "key": str(client.key),
        "id": client.key.server_id,
        "root": str(path_from_uri(client.key.root_uri)),
        "environment": client.key.environment,
        "state": client.state.value,
        "pid": client.pid,
        "documents": client.documents,
        "idle_ms": round(client.idle_seconds * 1000),
        "rss_bytes": client.rss_bytes,
        "restarts": client.restarts,
    }


def broken_status(broken: BrokenStatus) -> dict[str, Any]:
    """One failed server."""
    return {
        "key": str(broken.key),
        "id": broken.key.server_id,
        "root": str(path_from_uri(broken.key.root_uri)),
        "reason": broken.reason,
        "retry_in_s": broken.retry_in_seconds,
    }


def with_probe(status: dict[str, Any], results: Iterable[tuple[str, str | None, str | None]]) -> dict[str, Any]:
    """The status with what handshakes showed.

    Args:
        status: from `build_status`.
        results: server id, the version that it gave, and what went wrong.
    """
    by_id = {server_id: (version, problem) for server_id, version, problem in results}
    servers = []
    for server in status["servers"]:
        version, problem = by_id.get(server["id"], (None, None))
        servers.append({**server, "version": version or server["version"], "detail": problem or server["detail"]})
    return {**status, "servers": servers}


def _server(spec: ServerSpec, registry: ServerRegistry, search: CommandSearch) -> dict[str, Any]:
    override = registry.override(spec.server_id)
    command, detail = None, None
    try:
        command = resolve_command(spec, search, override=override)
    except ServerUnavailableError as error:
        detail = str(error)
    return {
        "id": spec.server_id,
        "title": spec.title,
        "languages": list(spec.languages),
        "extensions": list(spec.extensions),
        "enabled": override.enabled,
        "installed": command is not None,
        "command": list(command.argv) if command else None,
        "source": command.source.value if command else None,
        "detail": detail,
    }
