"""The status as text, for a person and for an agent's prompt: one line for each server."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from jupyter_lsp_agent.diagnostics.wording import counted
from jupyter_lsp_agent.servers.commands import CommandSource

_MAX_NAMED = 8


def render_status(status: Mapping[str, Any]) -> str:
    """The object of `GET status` as text, without a final line end."""
    return "\n".join(_lines(status))


def _lines(status: Mapping[str, Any]) -> Iterator[str]:
    if not status["enabled"]:
        yield "Switched off: no server is started (the setting `enabled`)."
    yield from _servers(status["servers"])
    for server in status["running"]:
        documents = counted(server["documents"], "document")
        yield f"Running: {server['id']} for {server['root']}, {documents}, {server['state']}"
    for server in status["broken"]:
        yield f"Failed: {server['id']} for {server['root']}: {server['reason']}"
    for install in status.get("installs", ()):
        problem = f": {install['detail']}" if install["detail"] else ""
        yield f"Install of {install['id']}, which a check missed: {install['state']}{problem}"


def _servers(servers: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    installed = [server for server in servers if server["installed"]]
    failed = [server for server in installed if server["detail"]]
    if not installed:
        yield "No language server is installed."
    elif len(failed) < len(installed):
        yield "Installed servers:"
    for server in (one for one in installed if one not in failed):
        version = f" {server['version']}" if server["version"] else ""
        off = "" if server["enabled"] else ", switched off"
        yield f"  {server['id']}{version}: {', '.join(server['languages'])} ({server['source']}{off})"
    if failed:
        yield "Installed, and not to be used as they are:"
    for server in failed:
        yield f"  {server['id']}: {', '.join(server['languages'])} ({server['source']}): {_problem(server)}"
    yield from _missing([server["id"] for server in servers if not server["installed"]])


def _problem(server: Mapping[str, Any]) -> str:
    """What a handshake showed, and what to do about it."""
    name, said = server["id"], server["detail"].rstrip(".")
    match server["source"]:
        case CommandSource.INSTALLED:
            mend = f"`jupyter lsp-agent uninstall {name}` and then `install {name}` renew it"
        case CommandSource.CONFIGURATION:
            mend = f"correct `command` of {name!r} in `server_settings`"
        case _:
            mend = f"install it anew, or switch it off in `server_settings` ({server['command'][0]} was started)"
    return f"{said}; {mend}"


def _missing(names: Sequence[str]) -> Iterator[str]:
    if len(names) > _MAX_NAMED:
        yield (
            f"Not installed: {len(names)} other servers; `jupyter lsp-agent install --list` lists those that it can "
            "install, `status --json` has all, with their languages"
        )
    elif names:
        yield "Not installed: " + ", ".join(names)
