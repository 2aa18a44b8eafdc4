"""The lives of clients: each has one task that owns it from the wish for it until nothing of it is left.

Wait for room, start, watch, stop: so nothing that a caller does, or that is done to a caller, can leave a half-started
server behind. A client takes up room until its process is gone, so that there are never more processes than allowed.
Who comes in place of a client that died has its documents opened again, but for those that it was still looking at and
those that are another text on the disk by now.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Generic

from jupyter_lsp_agent.core.clock import Clock, pause
from jupyter_lsp_agent.core.errors import JupyterLspAgentError, ServerUnavailableError, SpawnFailedError, TransportError
from jupyter_lsp_agent.core.launch import ServerLaunch, TextDocument
from jupyter_lsp_agent.pool.broken import BrokenServers
from jupyter_lsp_agent.pool.crashes import CrashHistory
from jupyter_lsp_agent.pool.place import ClientT, Place
from jupyter_lsp_agent.pool.snapshots import without_changed
from jupyter_lsp_agent.pool.waiting import StoppedError, unless_stopped

if TYPE_CHECKING:
    from jupyter_lsp_agent.pool.keys import ClientKey

_LOGGER = logging.getLogger("jupyter_lsp_agent")

StartClient = Callable[[ServerLaunch], Awaitable[ClientT]]
"""Starts a client and greets its server; leaves nothing behind when it fails or is cancelled."""


class Lives(Generic[ClientT]):
    """Starts, watches and stops the clients of places.

    Args:
        clock: the time.
        start: starts a client; raises `ServerUnavailableError` where that cannot be done.
        broken: is told of starts that failed, and of too many deaths.
        crashes: is told of deaths.
        max_lives: so many clients are between the begin of their start and the end of their process.
    """

    def __init__(
        self,
        clock: Clock,
        start: StartClient[ClientT],
        broken: BrokenServers,
        crashes: CrashHistory,
        *,
        max_lives: int,
    ) -> None:
        self._clock = clock
        self._start_client = start
        self._broken = broken
        self._crashes = crashes
        self._room = asyncio.Semaphore(max_lives)
        self._places: dict[asyncio.Task[None], Place[ClientT]] = {}
        self._left_open: dict[ClientKey, tuple[TextDocument, ...]] = {}

    @property
    def tasks(self) -> tuple[asyncio.Task[None], ...]:
        """The lives under way."""
        return tuple(self._places)

    def begin(self, place: Place[ClientT], *, on_started: Callable[[], None], on_ended: Callable[[], None]) -> None:
        """Begin the life of a place's client.

        Args:
            place: its `ready` is settled, whatever happens.
            on_started: called once the client runs.
            on_ended: called once it can no longer be used, while its process may still be there; may come twice.
        """
        life = asyncio.create_task(self._live(place, on_started, on_ended), name=f"life of {place.key}")
        self._places[life] = place
        life.add_done_callback(self._places.pop)

    def stop_all(self, reason: str) -> None:
        """Have every client stopped, those that are in use, too."""
        for place in self._places.values():
            place.stop(reason)

    async def _live(self, place: Place[ClientT], on_started: Callable[[], None], on_ended: Callable[[], None]) -> None:
        try:
            async with self._room:
                client = await self._start(place)
                on_started()
                try:
                    await self._watch(place, client)
                finally:
                    on_ended()
                    await client.aclose()
        except StoppedError:
            _LOGGER.info("not started: %s: %s", place.key, place.stop_reason)
        except ServerUnavailableError as error:
            _LOGGER.warning("not started: %s: %s", place.key, error)
            self._broken.mark(place.key, error)
            place.settle(error)
        finally:
            on_ended()
            place.settle(SpawnFailedError(f"{place.key.server_id} was stopped while it started"))

    async def _start(self, place: Place[ClientT]) -> ClientT:
        began = self._clock.monotonic_seconds()
        client = await unless_stopped(self._start_after_back_off(place), place.stop_requested)
        place.started_seconds = place.last_used_seconds = self._clock.monotonic_seconds()
        self._crashes.record_start(place.key)
        _LOGGER.info("started %s (pid %s, %.2f s)", place.key, client.pid, place.started_seconds - began)
        place.ready.set_result(client)
        return client

    async def _start_after_back_off(self, place: Place[ClientT]) -> ClientT:
        if (seconds := self._crashes.back_off_seconds(place.key)) > 0:
            await pause(self._clock, seconds)
        client = await self._start_client(place.launch)
        try:
            await client.reopen(await asyncio.to_thread(without_changed, self._left_open.pop(place.key, ())))
        except TransportError as error:
            await client.aclose()
            raise SpawnFailedError(f"{place.key.server_id} died as its documents were opened again: {error}") from error
        return client

    async def _watch(self, place: Place[ClientT], client: ClientT) -> None:
        try:
            cause = await unless_stopped(client.wait_closed(), place.stop_requested)
        except StoppedError:
            self._crashes.forgive(place.key)
            _LOGGER.info("stopped %s: %s", place.key, place.stop_reason)
        except JupyterLspAgentError as error:
            self._record_death(place, client, error)
        else:
            self._record_death(place, client, cause)

    def _record_death(self, place: Place[ClientT], client: ClientT, cause: object) -> None:
        # Not those that were being looked at: one of them may have been its death.
        self._left_open[place.key] = client.idle_documents
        lifetime = self._clock.monotonic_seconds() - (place.started_seconds or 0.0)
        said = f": {cause}" if isinstance(cause, Exception) else ""
        _LOGGER.warning("died: %s after %.1f s%s", place.key, lifetime, said)
        if self._crashes.record_death(place.key, lifetime):
            self._broken.mark(place.key, SpawnFailedError(f"it died several times in a row, the last time{said}"))
