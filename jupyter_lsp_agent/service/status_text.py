"""The status as text, for a person and for an agent's prompt: one line for each server."""

from collections.abc import Iterator, Mapping
from typing import Any

from jupyter_lsp_agent.diagnostics.wording import counted


def render_status(status: Mapping[str, Any]) -> str:
    """The object of `GET status` as text, without a final line end."""
    return "\n".join(_lines(status))


def _lines(status: Mapping[str, Any]) -> Iterator[str]:
    if not status["enabled"]:
        yield "Switched off: no server is started (the setting `enabled`)."
    installed = [server for server in status["servers"] if server["installed"]]
    missing = [server for server in status["servers"] if not server["installed"]]
    yield "Installed servers:" if installed else "No language server is installed."
    for server in installed:
        version = f" {server['version']}" if server["version"] else ""
        off = "" if server["enabled"] else ", switched off"
        problem = f": {server['detail']}" if server["detail"] else ""
        yield f"  {server['id']}{version}: {', '.join(server['languages'])} ({server['source']}{off}){problem}"
    if missing:
        yield "Not installed: " + ", ".join(server["id"] for server in missing)
    for server in status["running"]:
        documents = counted(server["documents"], "document")
        yield f"Running: {server['id']} for {server['root']}, {documents}, {server['state']}"
    for server in status["broken"]:
        yield f"Failed: {server['id']} for {server['root']}: {server['reason']}"
    for install in status.get("installs", ()):
        problem = f": {install['detail']}" if install["detail"] else ""
        yield f"Install of {install['id']}, which a check missed: {install['state']}{problem}"
