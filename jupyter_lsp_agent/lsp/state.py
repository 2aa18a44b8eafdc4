"""What is known of one running server, in one place: made with the client, filled by what the server says."""

import asyncio
from dataclasses import dataclass

from jupyter_lsp_agent.core.behaviour import ServerBehaviour
from jupyter_lsp_agent.core.clock import Clock
from jupyter_lsp_agent.lsp.capabilities import ServerCapabilities
from jupyter_lsp_agent.lsp.diagnostic_store import DiagnosticStore
from jupyter_lsp_agent.lsp.readiness import Readiness


@dataclass(frozen=True, slots=True)
class ServerState:
    """The behaviour that a server is known for, and what this one process said so far.

    `change_gate` is held while documents are opened, changed and closed, and by a pull that changes overtook too often.
    """

    behaviour: ServerBehaviour
    clock: Clock
    capabilities: ServerCapabilities
    store: DiagnosticStore
    readiness: Readiness
    change_gate: asyncio.Lock


def new_server_state(behaviour: ServerBehaviour, clock: Clock) -> ServerState:
    """The state of a server that has said nothing yet."""
    return ServerState(
        behaviour,
        clock,
        ServerCapabilities(behaviour),
        DiagnosticStore(behaviour, clock),
        Readiness(behaviour, clock),
        asyncio.Lock(),
    )
