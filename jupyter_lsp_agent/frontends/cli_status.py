"""`status`: which servers there are, which run, which failed."""

import json
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from typing import Any, Protocol

from jupyter_lsp_agent.frontends.cli_console import Console
from jupyter_lsp_agent.service.settings import Settings
from jupyter_lsp_agent.service.status_text import render_status


class StatusService(Protocol):
    """What `status` needs of the service."""

    async def status(self) -> dict[str, Any]:
        """The object of `GET status`."""
        ...

    async def probe(self) -> dict[str, Any]:
        """The same after a handshake with every installed server."""
        ...


async def run_status(
    settings: Settings,
    open_service: Callable[[Settings], AbstractAsyncContextManager[StatusService]],
    console: Console,
    *,
    as_json: bool,
    probe: bool = False,
) -> int:
    """Write the status, and return the exit code, which is 0."""
    async with open_service(settings) as service:
        status = await (service.probe() if probe else service.status())
    text = json.dumps(status, ensure_ascii=False, indent=2) if as_json else render_status(status)
    console.result(text + "\n")
    return 0
