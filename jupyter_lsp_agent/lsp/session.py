"""One server process from its start to its end: the handshake, the states, the orderly farewell.

Every way out leads through `aclose`, which ends the process: a handshake that failed or was given up, a server that
died, one that closed its output and lives on, and a plain stop.
"""

import asyncio
import logging
import os
from collections.abc import Awaitable, Callable, Coroutine
from enum import Enum
from typing import Any, Final, TypeAlias, TypeVar

from jupyter_lsp_agent._version import __version__
from jupyter_lsp_agent.core.clock import Clock
from jupyter_lsp_agent.core.errors import (
    ClosedError,
    InitializeFailedError,
    InvalidResponseError,
    RequestError,
    ServerExitedError,
    TransportError,
)
from jupyter_lsp_agent.core.launch import LaunchCommand, ServerLaunch
from jupyter_lsp_agent.core.uris import path_from_uri
from jupyter_lsp_agent.core.waiting import finish_all
from jupyter_lsp_agent.jsonrpc.connection import Connection
from jupyter_lsp_agent.jsonrpc.incoming import IncomingHandler
from jupyter_lsp_agent.jsonrpc.transport import Transport
from jupyter_lsp_agent.lsp import methods
from jupyter_lsp_agent.lsp.client_capabilities import client_capabilities
from jupyter_lsp_agent.lsp.server_requests import workspace_folders
from jupyter_lsp_agent.lsp.wire.server import InitializeResult, decode_initialize_result

_log = logging.getLogger(__name__)
_T = TypeVar("_T")

SHUTDOWN_SECONDS: Final = 2.0
"""How long a server may take to answer `shutdown`; then its process is ended all the same."""

_MAX_TAIL_LINES: Final = 5

Connect: TypeAlias = Callable[[LaunchCommand], Awaitable[Transport]]
"""Starts a server's process and gives the stream to it; raises `SpawnFailedError` where it cannot."""


class ClientState(Enum):
    """Where a client is in its life. FAILED and STOPPED are final.

    ```
    NEW ──start──► STARTING ──handshake done──► RUNNING ──aclose──► STOPPING ──process ended──► STOPPED
     │                 │                           │
     │                 └── failed or given up ─────┴── the server died ──► FAILED
     └──aclose──► STOPPED
    ```
    """

    NEW = "new"
    STARTING = "starting"
    RUNNING = "running"
    STOPPING = "stopping"
    STOPPED = "stopped"
    FAILED = "failed"


_TRANSITIONS: Final = {
    ClientState.NEW: {ClientState.STARTING, ClientState.STOPPED},
    ClientState.STARTING: {ClientState.RUNNING, ClientState.FAILED},
    ClientState.RUNNING: {ClientState.STOPPING, ClientState.FAILED},
    ClientState.STOPPING: {ClientState.STOPPED},
    ClientState.STOPPED: set[ClientState](),
    ClientState.FAILED: set[ClientState](),
}


class ServerSession:
    """The life of one server process.

    Args:
        launch: what to start and how to greet it.
        clock: for the time limits.
        connect: how to start it.
        handler: for the server's own calls; it is asked from before `initialize` is sent.
    """

    def __init__(self, launch: ServerLaunch, clock: Clock, connect: Connect, handler: IncomingHandler) -> None:
        self._launch = launch
        self._clock = clock
        self._connect = connect
        self._handler = handler
        self._state = ClientState.NEW
        self._transport: Transport | None = None
        self._connection: Connection | None = None
        self._watcher: asyncio.Task[None] | None = None
        self._ending: asyncio.Task[None] | None = None

    @property
    def state(self) -> ClientState:
        """Where it is in its life."""
        return self._state

    @property
    def transport(self) -> Transport | None:
        """The stream to the process; `None` before it was started."""
        return self._transport

    async def start(self, on_initialize: Callable[[InitializeResult], None]) -> None:
        """Start the process and do the handshake; whatever was started is ended where that fails or is given up.

        Args:
            on_initialize: takes over the server's answer, before `initialized` is sent.

        Raises:
            SpawnFailedError: the program cannot be started.
            InitializeFailedError: it did not complete the handshake in time, refused it, or died.
            ClosedError: called a second time, or closed meanwhile.
        """
        self._become(ClientState.STARTING)
        try:
            connection = await self._open()
            await self._handshake(connection, on_initialize)
        except (RequestError, TransportError) as error:
            await self.aclose()
            raise await self._initialize_failed(error) from error
        except BaseException:
            await self.aclose()
            raise
        self._become(ClientState.RUNNING)
        self._watcher = asyncio.create_task(self._watch(connection))

    async def request(self, method: str, params: Any) -> Any:
        """Ask the server; the raw result.

        Raises:
            ResponseError: its error.
            TransportError: it is gone.
            ClosedError: it is not running.
        """
        return await self._running().request(method, params)

    async def notify(self, method: str, params: Any) -> None:
        """Tell the server; queued before the call first gives way.

        Raises:
            TransportError: it is gone.
            ClosedError: it is not running.
        """
        await self._running().notify(method, params)

    async def until_closed(self, work: Coroutine[Any, Any, _T]) -> _T:
        """Do `work`, or fail at the moment when the server is gone, with the cause that all others get too.

        Raises:
            TransportError: the server is gone.
            ClosedError: it is not running.
        """
        try:
            connection = self._running()
        except (ClosedError, TransportError):
            work.close()
            raise
        working = asyncio.create_task(work)
        closed = asyncio.create_task(connection.wait_closed())
        try:
            await asyncio.wait([working, closed], return_when=asyncio.FIRST_COMPLETED)
            if working.done():
                return working.result()
            raise closed.result()
        finally:
            working.cancel()
            closed.cancel()
            await asyncio.wait([working, closed])

    async def wait_closed(self) -> TransportError:
        """Wait until the server is gone, and tell why.

        Raises:
            ClosedError: it was never started.
        """
        if self._connection is None:
            raise ClosedError(f"{self._launch.server_id} was never started")
        return await self._connection.wait_closed()

    async def aclose(self) -> None:
        """End the process, politely where it still listens. May be called again and by several tasks; finishes even
        when the caller is cancelled."""
        if self._ending is None:
            self._ending = asyncio.create_task(self._close())
        await finish_all([self._ending])
        self._ending.result()

    def _become(self, state: ClientState) -> None:
        if state not in _TRANSITIONS[self._state]:
            raise ClosedError(f"{self._launch.server_id} is {self._state.value} and cannot become {state.value}")
        self._state = state

    def _running(self) -> Connection:
        if self._connection is not None and self._connection.closed_cause is not None:
            raise self._connection.closed_cause
        if self._connection is None or self._state is not ClientState.RUNNING:
            raise ClosedError(f"{self._launch.server_id} is {self._state.value}, not running")
        return self._connection

    async def _open(self) -> Connection:
        transport = await self._connect(self._launch.command)
        if self._state is not ClientState.STARTING:
            await transport.aclose()
            raise ClosedError(f"{self._launch.server_id} was closed while it was being started")
        self._transport = transport
        self._connection = Connection(transport, self._handler, clock=self._clock)
        self._connection.start()
        return self._connection

    async def _handshake(self, connection: Connection, on_initialize: Callable[[InitializeResult], None]) -> None:
        answer = await connection.request(
            methods.INITIALIZE,
            _initialize_params(self._launch),
            timeout_seconds=self._launch.initialize_timeout_seconds,
        )
        result = decode_initialize_result(answer)
        if result is None:
            raise InvalidResponseError(methods.INITIALIZE, "it holds no capabilities")
        on_initialize(result)
        await connection.notify(methods.INITIALIZED, {})
        # An empty tree would be no news to most, and takes the defaults away from some.
        if self._launch.settings:
            settings = {"settings": dict(self._launch.settings)}
            await connection.notify(methods.DID_CHANGE_CONFIGURATION, settings)

    async def _initialize_failed(self, error: RequestError | TransportError) -> InitializeFailedError:
        """The error of a handshake that failed, with what the server wrote to standard error."""
        tail = error.stderr_tail if isinstance(error, ServerExitedError) else ""
        if not tail and self._transport is not None:
            tail = (await self._transport.exit_error()).stderr_tail
        lines = [line.strip() for line in tail.splitlines() if line.strip()][-_MAX_TAIL_LINES:]
        wrote = f"; it wrote: {' | '.join(lines)}" if lines and lines[-1] not in str(error) else ""
        program = " ".join(self._launch.command.argv)
        return InitializeFailedError(
            f"{self._launch.server_id} (`{program}`) started but did not complete the handshake: {error}{wrote}"
        )

    async def _watch(self, connection: Connection) -> None:
        """End the process of a server that is gone: one that only closed its output may live on."""
        cause = await connection.wait_closed()
        if self._state is ClientState.RUNNING:
            self._become(ClientState.FAILED)
            _log.debug("%s died: %s", self._launch.server_id, cause)
            await connection.aclose()

    async def _close(self) -> None:
        if self._state is ClientState.STARTING:
            self._become(ClientState.FAILED)
        elif self._state is ClientState.NEW:
            self._become(ClientState.STOPPED)
        elif self._state is ClientState.RUNNING:
            self._become(ClientState.STOPPING)
        if self._connection is not None:
            if self._state is ClientState.STOPPING:
                await _say_farewell(self._connection)
            await self._connection.aclose()
        if self._watcher is not None:
            await asyncio.wait([self._watcher])
        if self._state is ClientState.STOPPING:
            self._become(ClientState.STOPPED)


async def _say_farewell(connection: Connection) -> None:
    """`shutdown` and `exit`, both without `params`: some servers refuse `null` there."""
    try:
        await connection.request(methods.SHUTDOWN, timeout_seconds=SHUTDOWN_SECONDS)
    except RequestError as error:
        _log.debug("shutdown was not answered well: %s", error)
    except TransportError:
        return
    try:
        await connection.notify(methods.EXIT)
    except TransportError:
        return


def _initialize_params(launch: ServerLaunch) -> dict[str, Any]:
    root = path_from_uri(launch.root_uri)
    options = launch.initialization_options
    return {
        "processId": os.getpid(),
        "clientInfo": {"name": "jupyter-lsp-agent", "version": __version__},
        "locale": "en",
        "rootPath": None if root is None else str(root),
        "rootUri": launch.root_uri,
        "workspaceFolders": workspace_folders(launch),
        "capabilities": client_capabilities(launch.behaviour),
        "trace": "off",
        **({} if options is None else {"initializationOptions": options}),
    }
