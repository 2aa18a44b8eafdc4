"""One place of the pool: a client from the wish for it until nothing is left of it."""

import asyncio
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Generic, TypeVar

from jupyter_lsp_agent.core.errors import ServerUnavailableError
from jupyter_lsp_agent.core.ids import ServerId
from jupyter_lsp_agent.core.launch import ServerLaunch
from jupyter_lsp_agent.pool.eviction import Occupant
from jupyter_lsp_agent.pool.keys import ClientKey, PooledClient

ClientT = TypeVar("ClientT", bound=PooledClient)


class PlaceState(StrEnum):
    """Where a client is in its life, as `status` says it."""

    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"


@dataclass(slots=True, eq=False)
class Place(Generic[ClientT]):
    """A client that is wanted.

    Attributes:
        key: whose place it is.
        launch: what starts it.
        last_used_seconds: on the pool's clock.
        ready: the client once it has started, or why it did not.
        users: leases, and callers that wait for the start.
        stop_reason: set once it is to stop; for the log.
        retire_reason: why it is to stop as soon as nobody uses it; empty while it is not.
        memory_checked_seconds: when its memory was last looked at.
    """

    key: ClientKey
    launch: ServerLaunch
    last_used_seconds: float
    ready: asyncio.Future[ClientT] = field(default_factory=lambda: asyncio.get_running_loop().create_future())
    started_seconds: float | None = None
    users: int = 0
    stop_requested: asyncio.Event = field(default_factory=asyncio.Event)
    stop_reason: str = ""
    retire_reason: str = ""
    memory_checked_seconds: float | None = None

    def __post_init__(self) -> None:
        # Where all who waited were cancelled, nobody asks for the exception; that is no mistake.
        self.ready.add_done_callback(lambda future: future.cancelled() or future.exception())

    @property
    def client(self) -> ClientT | None:
        """The client, once it runs."""
        if self.ready.done() and not self.ready.cancelled() and self.ready.exception() is None:
            return self.ready.result()
        return None

    @property
    def state(self) -> PlaceState:
        """Where it is in its life."""
        if self.stop_requested.is_set():
            return PlaceState.STOPPING
        return PlaceState.RUNNING if self.ready.done() else PlaceState.STARTING

    @property
    def occupant(self) -> Occupant:
        """What the choice of evictions needs to know of it."""
        return Occupant(self.key, self.users == 0 and self.ready.done(), self.last_used_seconds)

    def settle(self, error: ServerUnavailableError) -> None:
        """Tell those who wait for the client why there is none; nothing where they have been told."""
        if not self.ready.done():
            self.ready.set_exception(error)

    def retire(self, reason: str) -> None:
        """Have it stopped with its last lease."""
        self.retire_reason = self.retire_reason or reason

    def stop(self, reason: str) -> None:
        """Have it stopped; the first reason stays."""
        if not self.stop_requested.is_set():
            self.stop_reason = reason
            self.stop_requested.set()


@dataclass(frozen=True, slots=True)
class ClientStatus:
    """A running client, as `status` shows it. Times are durations up to now; `version` is as its server gave it."""

    key: ClientKey
    state: PlaceState
    pid: int | None
    documents: int
    idle_seconds: float
    rss_bytes: int
    restarts: int
    version: str | None = None


@dataclass(frozen=True, slots=True)
class BrokenStatus:
    """A failed server, as `status` shows it; `retry_in_seconds` is `None` where only a restart clears it."""

    key: ClientKey
    reason: str
    retry_in_seconds: float | None


@dataclass(frozen=True, slots=True)
class PoolStatus:
    """What runs and what is broken."""

    running: tuple[ClientStatus, ...] = ()
    broken: tuple[BrokenStatus, ...] = ()

    def of(self, server_id: ServerId) -> "PoolStatus":
        """The part of one server."""
        return PoolStatus(
            tuple(one for one in self.running if one.key.server_id == server_id),
            tuple(one for one in self.broken if one.key.server_id == server_id),
        )
