"""Clients for the pool that start, live and die as a test says."""

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

from jupyter_lsp_agent.core.clock import pause
from jupyter_lsp_agent.core.errors import (
    ClosedError,
    InitializeFailedError,
    ServerExitedError,
    ServerUnavailableError,
)
from jupyter_lsp_agent.core.ids import DocumentUri, ServerId
from jupyter_lsp_agent.core.launch import LaunchCommand, ServerLaunch, TextDocument
from jupyter_lsp_agent.pool.keys import ClientKey, PoolLimits
from jupyter_lsp_agent.pool.pool import ClientPool
from tests.support.clock import ManualClock


@dataclass(eq=False)
class FakeClient:
    """A client without a process. `die` kills it; `aclose` may be held by `may_close`."""

    launch: ServerLaunch
    pid: int | None = None
    server_version: str | None = None
    open_documents: tuple[DocumentUri, ...] = ()
    dead: asyncio.Event = field(default_factory=asyncio.Event)
    may_close: asyncio.Event | None = None
    is_closed: bool = False
    asked: int = 0
    idle_documents: tuple[TextDocument, ...] = ()
    reopened: list[TextDocument] = field(default_factory=list)

    async def reopen(self, documents: Iterable[TextDocument]) -> None:
        self.reopened += documents

    def die(self) -> None:
        self.dead.set()

    async def wait_closed(self) -> ServerExitedError:
        await self.dead.wait()
        return ServerExitedError("exit code 1", exit_code=1)

    async def aclose(self) -> None:
        if self.may_close is not None:
            await self.may_close.wait()
        self.is_closed = True

    async def ask(self) -> str:
        """As a request does: fails when the server is dead, and when the client was closed."""
        self.asked += 1
        if self.dead.is_set():
            raise ServerExitedError("exit code 1", exit_code=1)
        if self.is_closed:
            raise ClosedError("the client was closed")
        return str(self.launch.server_id)


@dataclass
class FakeStarter:
    """`start` of a pool. What it counts is what really lived: a client counts until its `aclose` has returned."""

    clock: ManualClock
    errors: dict[str, ServerUnavailableError] = field(default_factory=dict)
    hangs: set[str] = field(default_factory=set)
    deaf: set[str] = field(default_factory=set)
    """Those that never answer the handshake, which ends with its time."""
    dies_at_first_question: set[str] = field(default_factory=set)
    clients: list[FakeClient] = field(default_factory=list)
    gate: asyncio.Event | None = None
    close_gate: asyncio.Event | None = None
    starts: int = 0
    timeouts: list[tuple[str, float]] = field(default_factory=list)
    cancelled: int = 0
    most_alive: int = 0

    @property
    def alive(self) -> list[FakeClient]:
        return [client for client in self.clients if not client.is_closed]

    async def __call__(self, launch: ServerLaunch) -> FakeClient:
        self.starts += 1
        self.timeouts.append((launch.server_id, launch.initialize_timeout_seconds))
        try:
            if self.gate is not None:
                await self.gate.wait()
            if launch.server_id in self.hangs:
                await asyncio.Event().wait()
            if launch.server_id in self.deaf:
                await pause(self.clock, launch.initialize_timeout_seconds)
                raise InitializeFailedError(f"{launch.server_id} did not answer")
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        if error := self.errors.get(launch.server_id):
            raise error
        client = FakeClient(launch, may_close=self.close_gate)
        if launch.server_id in self.dies_at_first_question:
            client.die()
        self.clients.append(client)
        self.most_alive = max(self.most_alive, len(self.alive))
        return client


def make_launch(server_id: str = "one", root: str = "/w") -> ServerLaunch:
    return ServerLaunch(ServerId(server_id), LaunchCommand((server_id,), Path(root), {}), DocumentUri(f"file://{root}"))


def make_key(server_id: str = "one", root: str = "/w", environment: str = "") -> ClientKey:
    return ClientKey(ServerId(server_id), DocumentUri(f"file://{root}"), environment)


class Bench:
    """A pool, its clock and its starter."""

    def __init__(self, **limits: float) -> None:
        self.clock = ManualClock()
        self.starter = FakeStarter(self.clock)
        self.rss_bytes = 0
        self.pool: ClientPool[FakeClient] = ClientPool(
            PoolLimits(**limits),  # type: ignore[arg-type]
            self.clock,
            self.starter,
            measure_rss_bytes=lambda _pid: self.rss_bytes,
        )

    def lease(
        self, server_id: str = "one", root: str = "/w", environment: str = "", patience_seconds: float = 0.0
    ) -> AbstractAsyncContextManager[FakeClient]:
        return self.pool.lease(
            make_key(server_id, root, environment), make_launch(server_id, root), patience_seconds=patience_seconds
        )

    async def use(self, server_id: str = "one", root: str = "/w", environment: str = "") -> FakeClient:
        async with self.lease(server_id, root, environment) as client:
            return client


@asynccontextmanager
async def bench(**limits: float) -> AsyncIterator[Bench]:
    made = Bench(**limits)
    try:
        yield made
    finally:
        await made.pool.aclose()
        assert made.starter.alive == []


async def until(condition: Callable[[], bool]) -> None:
    """Give way to the loop until `condition` holds; the test's own time limit bounds it."""
    while not condition():
        await next_turn()


async def next_turn() -> None:
    """Give way to the loop once."""
    loop = asyncio.get_running_loop()
    turn = loop.create_future()
    loop.call_soon(turn.set_result, None)
    await turn
