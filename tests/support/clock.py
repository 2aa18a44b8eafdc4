"""A clock that a test winds by hand."""

import asyncio
import heapq
import itertools
from collections.abc import Callable
from dataclasses import dataclass, field


@dataclass(order=True, slots=True)
class ManualTimer:
    """A call that is due when the clock reaches `due_seconds`; equal times fire in the order of their making."""

    due_seconds: float
    order: int
    callback: Callable[[], None] = field(compare=False)
    cancelled: bool = field(default=False, compare=False)

    def cancel(self) -> None:
        self.cancelled = True


class ManualClock:
    """`core.clock.Clock` whose time moves only by `advance`.

    `advance` calls every timer that falls due, in order, with `monotonic_seconds` at that timer's own time. Tasks
    that those calls wake run when the test next gives way to the loop (`await`).
    """

    def __init__(self, start_seconds: float = 0.0) -> None:
        self._now_seconds = start_seconds
        self._timers: list[ManualTimer] = []
        self._orders = itertools.count()
        self._timer_made = asyncio.Event()

    def monotonic_seconds(self) -> float:
        return self._now_seconds

    def call_later(self, delay_seconds: float, callback: Callable[[], None]) -> ManualTimer:
        timer = ManualTimer(self._now_seconds + max(0.0, delay_seconds), next(self._orders), callback)
        heapq.heappush(self._timers, timer)
        self._timer_made.set()
        return timer

    async def wait_for_timer(self) -> float:
        """Wait until somebody waits for this clock, and return the seconds until the first timer is due."""
        while (due := self.next_due) is None:
            self._timer_made.clear()
            await self._timer_made.wait()
        return due

    @property
    def next_due(self) -> float | None:
        """Seconds until the next timer that is still to fire; `None` where none is."""
        while self._timers and self._timers[0].cancelled:
            heapq.heappop(self._timers)
        return self._timers[0].due_seconds - self._now_seconds if self._timers else None

    def advance(self, seconds: float) -> None:
        """Let `seconds` pass."""
        end_seconds = self._now_seconds + seconds
        while (due := self.next_due) is not None and self._now_seconds + due <= end_seconds:
            timer = heapq.heappop(self._timers)
            self._now_seconds = timer.due_seconds
            timer.callback()
        self._now_seconds = end_seconds
