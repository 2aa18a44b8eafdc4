"""The pool: one client per key, started when it is first wanted, stopped when it is not.

Callers lease a *place* and wait for its client; the client's life itself is in other hands (`lives`). Which places
there are, who may have one, and who has to give up theirs is decided here, without waiting for anything.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Generic

from jupyter_lsp_agent.core.clock import Clock, TimerHandle, time_limit
from jupyter_lsp_agent.core.errors import ClosedError, PoolBusyError, ServerExitedError, TransportError
from jupyter_lsp_agent.core.ids import DocumentUri, ServerId
from jupyter_lsp_agent.core.launch import ServerLaunch
from jupyter_lsp_agent.core.waiting import finish_all
from jupyter_lsp_agent.pool.broken import BrokenServers, matches
from jupyter_lsp_agent.pool.choices import Choices
from jupyter_lsp_agent.pool.crashes import CrashHistory
from jupyter_lsp_agent.pool.eviction import Occupant, choose_evictions, choose_idle, next_idle_check_seconds
from jupyter_lsp_agent.pool.keys import ClientKey, PoolLimits
from jupyter_lsp_agent.pool.lives import Lives, StartClient
from jupyter_lsp_agent.pool.memory import process_tree_rss_bytes
from jupyter_lsp_agent.pool.place import BrokenStatus, ClientStatus, ClientT, Place, PoolStatus


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
        self._measure_rss_bytes = measure_rss_bytes
        self._broken = BrokenServers(clock, limits.broken_retry_seconds)
        self._crashes = CrashHistory(limits)
        self._lives = Lives(clock, start, self._broken, self._crashes, max_lives=limits.max_servers)
        self._looks: set[asyncio.Task[None]] = set()
        self._places: dict[ClientKey, Place[ClientT]] = {}
        self._place_became_free = asyncio.Event()
        self._idle_timer: TimerHandle | None = None
        self._is_closed = False

    @asynccontextmanager
    async def lease(
        self, key: ClientKey, launch: ServerLaunch, *, patience_seconds: float = 0.0
    ) -> AsyncIterator[ClientT]:
        """The client of `key`, started with `launch` where it does not run; it is not stopped while it is leased.

        Args:
            key: which client.
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

    def record_answer(self, key: ClientKey) -> None:
        """The client of `key` answered: its deaths so far do not count towards its being broken."""
        self._crashes.record_answer(key)

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
        self._lives.stop_all("the pool closes")
        self._places.clear()
        await finish_all((*self._lives.tasks, *self._looks))

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
        place = Place[ClientT](key, launch, self._clock.monotonic_seconds())
        self._places[key] = place
        self._lives.begin(place, on_started=self._arm_idle_timer, on_ended=lambda: self._leave(place))
        return place

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
            version=client.server_version if client else None,
        )
