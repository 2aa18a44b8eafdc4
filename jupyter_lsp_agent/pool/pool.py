"""The pool: one client per key, started when it is first wanted, stopped when it is not.

Each client has a *place*, and each place one task that owns the client's whole life: wait for room, start, watch, stop.
So nothing that a caller does, or that is done to a caller, can leave a half-started server behind: callers only wait
for the place's `ready` future. A place that is stopping still takes up room until its process is gone, so that there
are never more processes than `max_servers`.
"""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Generic

from jupyter_lsp_agent.core.clock import Clock, TimerHandle, pause, time_limit
from jupyter_lsp_agent.core.errors import (
    ClosedError,
    JupyterLspAgentError,
    PoolBusyError,
    ServerExitedError,
    ServerUnavailableError,
    SpawnFailedError,
    TransportError,
)
from jupyter_lsp_agent.core.ids import DocumentUri, ServerId
from jupyter_lsp_agent.core.launch import ServerLaunch
from jupyter_lsp_agent.pool.broken import BrokenServers, matches
from jupyter_lsp_agent.pool.choices import Choices
from jupyter_lsp_agent.pool.crashes import CrashHistory
from jupyter_lsp_agent.pool.eviction import Occupant, choose_evictions, choose_idle, next_idle_check_seconds
from jupyter_lsp_agent.pool.keys import ClientKey, PoolLimits
from jupyter_lsp_agent.pool.memory import process_tree_rss_bytes
from jupyter_lsp_agent.pool.place import BrokenStatus, ClientStatus, ClientT, Place, PoolStatus
from jupyter_lsp_agent.pool.waiting import StoppedError, finish_all, unless_stopped

_LOGGER = logging.getLogger("jupyter_lsp_agent")

StartClient = Callable[[ServerLaunch], Awaitable[ClientT]]
"""Starts a client and greets its server; leaves nothing behind when it fails or is cancelled."""


class ClientPool(Generic[ClientT]):
    """Clients by key.

    Args:
        limits: the bounds.
        clock: the time.
        start: starts a client; raises `ServerUnavailableError` where that cannot be done.
        measure_rss_bytes: the memory of a process and its descendants.
    """

    def __init__(
        self,
        limits: PoolLimits,
        clock: Clock,
        start: StartClient[ClientT],
        *,
        measure_rss_bytes: Callable[[int], int] = process_tree_rss_bytes,
    ) -> None:
        self.limits = limits
        self.choices = Choices(clock, limits.broken_retry_seconds)
        self._clock = clock
        self._start_client = start
        self._measure_rss_bytes = measure_rss_bytes
        self._places: dict[ClientKey, Place[ClientT]] = {}
        self._lives: dict[asyncio.Task[None], Place[ClientT]] = {}
        self._looks: set[asyncio.Task[None]] = set()
        self._room = asyncio.Semaphore(limits.max_servers)
        self._place_became_free = asyncio.Event()
        self._broken = BrokenServers(clock, limits.broken_retry_seconds)
        self._crashes = CrashHistory(limits)
        self._idle_timer: TimerHandle | None = None
        self._is_closed = False

    @asynccontextmanager
    async def lease(
        self, key: ClientKey, launch: ServerLaunch, *, patience_seconds: float = 0.0
    ) -> AsyncIterator[ClientT]:
        """The client of `key`, started with `launch` where it does not run; it is not stopped while it is leased.

        Args:
            key: from `client_key`.
            launch: what starts it.
            patience_seconds: how long to wait for a place where all are leased.

        Raises:
            MarkedBrokenError: it failed a short time ago.
            PoolBusyError: all places are leased.
            ServerUnavailableError: it could not be started.
            ServerExitedError: it was stopped while it was in use (a restart).
            ClosedError: the pool was closed.
        """
        place = await self._find_place(key, launch, patience_seconds)
        place.users += 1
        try:
            yield await asyncio.shield(place.ready)
        except TransportError:
            # The next lease is not to get the dead client before its life has noticed.
            self._leave(place)
            raise
        except ClosedError as error:
            if self._is_closed or not place.stop_requested.is_set():
                raise
            raise ServerExitedError(f"{key.server_id} was stopped: {place.stop_reason}") from error
        finally:
            place.users -= 1
            self._after_use(place)

    def warm_up(self, key: ClientKey, launch: ServerLaunch) -> None:
        """Start the client of `key` where it does not run, without waiting for it.

        Raises:
            MarkedBrokenError: it failed a short time ago.
            PoolBusyError: all places are leased.
        """
        self._place_for(key, launch)

    def launch_of(self, key: ClientKey) -> ServerLaunch | None:
        """What started the client that runs or starts under `key`; `None` where there is none."""
        place = self._places.get(key)
        return place.launch if place is not None else None

    def is_started(self, key: ClientKey) -> bool:
        """Whether the client of `key` runs and was greeted."""
        place = self._places.get(key)
        return place is not None and place.client is not None

    def replace(self, key: ClientKey, reason: str) -> None:
        """Have the next lease of `key` get a new client; the present one ends with its last lease."""
        place = self._places.get(key)
        if place is None:
            return
        self._leave(place)
        if place.users == 0:
            self._stop(place, reason)
        else:
            place.retire(reason)

    async def restart(self, server_id: ServerId, root_uri: DocumentUri | None = None) -> PoolStatus:
        """Stop and start again what runs of a server, in one root or in all, and forget its failures."""
        self._broken.clear(server_id, root_uri)
        self._crashes.clear(server_id, root_uri)
        self.choices.clear()
        places = [place for key, place in self._places.items() if matches(key, server_id, root_uri)]
        for place in places:
            self._stop(place, "restart")
        again = [self._occupy(place.key, place.launch).ready for place in places]
        await asyncio.gather(*map(asyncio.shield, again), return_exceptions=True)
        return (await self.status()).of(server_id)

    async def status(self) -> PoolStatus:
        """What runs, and what is broken."""
        places = tuple(self._places.values())
        pids = [place.client.pid if place.client else None for place in places]
        sizes = await asyncio.to_thread(lambda: [self._measure_rss_bytes(pid) if pid else 0 for pid in pids])
        running = tuple(self._client_status(place, size) for place, size in zip(places, sizes, strict=True))
        broken = tuple(
            BrokenStatus(mark.key, str(mark.cause), self._broken.retry_in_seconds(mark))
            for mark in self._broken.marks()
        )
        return PoolStatus(running, broken)

    async def aclose(self) -> None:
        """Stop everything. May be called again; finishes, also when it is cancelled."""
        self._is_closed = True
        if self._idle_timer is not None:
            self._idle_timer.cancel()
        # Not only those that can still be leased: also one that was replaced and is in use.
        for place in tuple(self._lives.values()):
            self._stop(place, "the pool closes")
        await finish_all((*self._lives, *self._looks))

    async def _find_place(self, key: ClientKey, launch: ServerLaunch, patience_seconds: float) -> Place[ClientT]:
        try:
            return self._place_for(key, launch)
        except PoolBusyError:
            if patience_seconds <= 0:
                raise
        return await self._wait_for_place(key, launch, patience_seconds)

    async def _wait_for_place(self, key: ClientKey, launch: ServerLaunch, patience_seconds: float) -> Place[ClientT]:
        busy = self._busy_error()
        try:
            async with time_limit(self._clock, patience_seconds):
                while True:
                    self._place_became_free.clear()
                    await self._place_became_free.wait()
                    try:
                        return self._place_for(key, launch)
                    except PoolBusyError:
                        continue
        except TimeoutError:
            raise busy from None

    def _place_for(self, key: ClientKey, launch: ServerLaunch) -> Place[ClientT]:
        if self._is_closed:
            raise ClosedError("the pool of servers was closed")
        if key in self._places:
            return self._places[key]
        if (error := self._broken.error_for(key)) is not None:
            raise error
        evictions = choose_evictions((place.occupant for place in self._places.values()), self.limits.max_servers)
        if evictions is None:
            raise self._busy_error()
        for victim in evictions:
            self._stop(self._places[victim], "its place is needed")
        return self._occupy(key, launch)

    def _busy_error(self) -> PoolBusyError:
        return PoolBusyError(
            f"all {self.limits.max_servers} places for servers are taken by checks that are under way; "
            "try again, or raise `max_servers`"
        )

    def _occupy(self, key: ClientKey, launch: ServerLaunch) -> Place[ClientT]:
        ready: asyncio.Future[ClientT] = asyncio.get_running_loop().create_future()
        # Where all who waited were cancelled, nobody asks for the exception; that is no mistake.
        ready.add_done_callback(lambda future: future.cancelled() or future.exception())
        place = Place(key, launch, ready, self._clock.monotonic_seconds())
        self._places[key] = place
        life = asyncio.create_task(self._live(place), name=f"life of {key}")
        self._lives[life] = place
        life.add_done_callback(self._lives.pop)
        return place

    async def _live(self, place: Place[ClientT]) -> None:
        """The whole life of one client."""
        try:
            async with self._room:
                client = await self._start(place)
                try:
                    await self._watch(place, client)
                finally:
                    self._leave(place)
                    await client.aclose()
        except StoppedError:
            _LOGGER.info("not started: %s: %s", place.key, place.stop_reason)
        except ServerUnavailableError as error:
            self._fail(place, error)
        finally:
            self._leave(place)
            self._settle(place, SpawnFailedError(f"{place.key.server_id} was stopped while it started"))

    async def _start(self, place: Place[ClientT]) -> ClientT:
        started = self._clock.monotonic_seconds()
        client = await unless_stopped(self._start_after_back_off(place), place.stop_requested)
        place.started_seconds = place.last_used_seconds = self._clock.monotonic_seconds()
        self._crashes.record_start(place.key)
        _LOGGER.info("started %s (pid %s, %.2f s)", place.key, client.pid, place.started_seconds - started)
        place.ready.set_result(client)
        self._arm_idle_timer()
        return client

    async def _start_after_back_off(self, place: Place[ClientT]) -> ClientT:
        if (seconds := self._crashes.back_off_seconds(place.key)) > 0:
            await pause(self._clock, seconds)
        return await self._start_client(place.launch)

    async def _watch(self, place: Place[ClientT], client: ClientT) -> None:
        try:
            cause = await unless_stopped(client.wait_closed(), place.stop_requested)
        except StoppedError:
            self._crashes.forgive(place.key)
            _LOGGER.info("stopped %s: %s", place.key, place.stop_reason)
        except JupyterLspAgentError as error:
            self._record_death(place, error)
        else:
            self._record_death(place, cause)

    def _record_death(self, place: Place[ClientT], cause: object) -> None:
        lifetime = self._clock.monotonic_seconds() - (place.started_seconds or 0.0)
        said = f": {cause}" if isinstance(cause, Exception) else ""
        _LOGGER.warning("died: %s after %.1f s%s", place.key, lifetime, said)
        if self._crashes.record_death(place.key, lifetime):
            times = self.limits.max_crashes
            self._broken.mark(place.key, SpawnFailedError(f"it died {times} times in a row{said}"))

    def _fail(self, place: Place[ClientT], error: ServerUnavailableError) -> None:
        _LOGGER.warning("not started: %s: %s", place.key, error)
        self._broken.mark(place.key, error)
        self._settle(place, error)

    @staticmethod
    def _settle(place: Place[ClientT], error: ServerUnavailableError) -> None:
        if not place.ready.done():
            place.ready.set_exception(error)

    def _stop(self, place: Place[ClientT], reason: str) -> None:
        place.stop(reason)
        self._leave(place)

    def _leave(self, place: Place[ClientT]) -> None:
        """Give up the place: whoever wants this key from now on gets a new one."""
        if self._places.get(place.key) is place:
            del self._places[place.key]
            self._place_became_free.set()

    def _after_use(self, place: Place[ClientT]) -> None:
        place.last_used_seconds = self._clock.monotonic_seconds()
        if place.users > 0 or self._is_closed:
            return
        if place.retire_reason:
            self._stop(place, place.retire_reason)
        self._place_became_free.set()
        self._arm_idle_timer()
        self._look_at_memory(place)

    def _arm_idle_timer(self) -> None:
        if self._idle_timer is not None or self._is_closed:
            return
        now = self._clock.monotonic_seconds()
        seconds = next_idle_check_seconds(self._occupants(), now, self.limits.idle_timeout_seconds)
        if seconds is not None:
            self._idle_timer = self._clock.call_later(seconds, self._stop_idle)

    def _stop_idle(self) -> None:
        self._idle_timer = None
        now = self._clock.monotonic_seconds()
        for key in choose_idle(self._occupants(), now, self.limits.idle_timeout_seconds):
            self._stop(self._places[key], "nobody used it")
        self._arm_idle_timer()

    def _occupants(self) -> tuple[Occupant, ...]:
        return tuple(place.occupant for place in self._places.values())

    def _look_at_memory(self, place: Place[ClientT]) -> None:
        now = self._clock.monotonic_seconds()
        seen, pid = place.memory_checked_seconds, place.client.pid if place.client else None
        if pid is None or (seen is not None and now - seen < self.limits.memory_check_seconds):
            return
        place.memory_checked_seconds = now
        look = asyncio.create_task(self._bound_memory(place, pid), name=f"memory of {place.key}")
        self._looks.add(look)
        look.add_done_callback(self._looks.discard)

    async def _bound_memory(self, place: Place[ClientT], pid: int) -> None:
        rss_bytes = await asyncio.to_thread(self._measure_rss_bytes, pid)
        if rss_bytes > self.limits.max_server_rss_bytes:
            reason = f"it takes {rss_bytes // 2**20} MB of memory"
            if place.users == 0:
                self._stop(place, reason)
            else:
                place.retire(reason)

    def _client_status(self, place: Place[ClientT], rss_bytes: int) -> ClientStatus:
        client = place.client
        return ClientStatus(
            key=place.key,
            state=place.state,
            pid=client.pid if client else None,
            documents=len(client.open_documents) if client else 0,
            idle_seconds=0.0 if place.users else self._clock.monotonic_seconds() - place.last_used_seconds,
            rss_bytes=rss_bytes,
            restarts=self._crashes.restarts(place.key),
        )
