"""Whether the server has loaded enough for its answers to mean something.

Some servers answer at once, and emptily, while they still load the project. Their behaviour class names the signal to
wait for. Of one that never gives it, findings are believed after a time, and marked; that it found nothing is not.
"""

import asyncio

from jupyter_lsp_agent.core.behaviour import ReadySignal, ServerBehaviour
from jupyter_lsp_agent.core.clock import Clock, TimerHandle
from jupyter_lsp_agent.lsp.wire.server import Progress


class Readiness:
    """Follows `experimental/serverStatus` and `$/progress` of one server."""

    def __init__(self, behaviour: ServerBehaviour, clock: Clock) -> None:
        self._behaviour = behaviour
        self._clock = clock
        self._is_quiescent = False
        self._active: set[str] = set()
        self._n_ended = 0
        self._timer: TimerHandle | None = None
        self._is_overdue = False
        self._ready_seconds: float | None = None
        self._changed = asyncio.Event()

    @property
    def is_ready(self) -> bool:
        """Whether it gave its signal, or needs none."""
        match self._behaviour.ready:
            case ReadySignal.NONE:
                return True
            case ReadySignal.QUIESCENT:
                return self._is_quiescent
            case ReadySignal.PROGRESS_END:
                return self._n_ended > 0 and not self._active

    @property
    def ready_seconds(self) -> float:
        """When it became ready by the clock; 0 where it needs no signal."""
        return self._ready_seconds or 0.0

    @property
    def is_working(self) -> bool:
        """Whether some work-done progress is under way."""
        return bool(self._active)

    def begin(self) -> None:
        """Count the time from now: the handshake is over."""
        if not self.is_ready:
            self._timer = self._clock.call_later(self._behaviour.ready_timeout_seconds, self._time_is_over)

    def aclose(self) -> None:
        """Count no longer."""
        if self._timer is not None:
            self._timer.cancel()

    def on_status(self, *, quiescent: bool) -> None:
        """Take note of `experimental/serverStatus`."""
        self._is_quiescent = quiescent
        self._announce()

    def on_progress(self, progress: Progress) -> None:
        """Take note of `$/progress`."""
        if progress.kind == "begin":
            self._active.add(progress.token)
        elif progress.kind == "end" and progress.token in self._active:
            self._active.discard(progress.token)
            self._n_ended += 1
        self._announce()

    async def wait(self) -> bool:
        """Wait until it is ready; whether it gave its signal, or only its time is over."""
        while not self.is_ready and not self._is_overdue:
            await self._changed.wait()
        return self.is_ready

    async def wait_for_signal(self) -> None:
        """Wait for its signal, however long that is."""
        while not self.is_ready:
            await self._changed.wait()

    async def wait_until_idle(self) -> None:
        """Wait until no work-done progress is under way."""
        while self._active:
            await self._changed.wait()

    def _time_is_over(self) -> None:
        self._is_overdue = True
        self._announce()

    def _announce(self) -> None:
        if self._ready_seconds is None and (self.is_ready or self._is_overdue):
            self._ready_seconds = self._clock.monotonic_seconds()
        self._changed.set()
        self._changed = asyncio.Event()
