"""Time as a thing that is handed in, so that no test waits for it."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from typing import Protocol


class TimerHandle(Protocol):
    """A call that is still to come."""

    def cancel(self) -> None:
        """Forget the call; harmless when it was made already."""
        ...


class Clock(Protocol):
    """Where the time comes from. `monotonic_seconds` never goes back."""

    def monotonic_seconds(self) -> float:
        """Seconds since some moment."""
        ...

    def call_later(self, delay_seconds: float, callback: Callable[[], None]) -> TimerHandle:
        """Have `callback` called on the running loop after `delay_seconds`."""
        ...


class SystemClock:
    """The running event loop's own time."""

    def monotonic_seconds(self) -> float:
        """Seconds since some moment."""
        return asyncio.get_running_loop().time()

    def call_later(self, delay_seconds: float, callback: Callable[[], None]) -> TimerHandle:
        """Have `callback` called on the running loop after `delay_seconds`."""
        return asyncio.get_running_loop().call_later(delay_seconds, callback)


async def pause(clock: Clock, seconds: float) -> None:
    """Let `seconds` of `clock` pass."""
    done = asyncio.Event()
    timer = clock.call_later(seconds, done.set)
    try:
        await done.wait()
    finally:
        timer.cancel()


def time_limit(clock: Clock, seconds: float | None) -> AbstractAsyncContextManager[None]:
    """Bound a block by `seconds` of `clock`; `None` is no bound.

    Raises:
        TimeoutError: the block took longer (it was cancelled).
    """
    return _time_limit(clock, seconds)


@asynccontextmanager
async def _time_limit(clock: Clock, seconds: float | None) -> AsyncIterator[None]:
    # asyncio.timeout keeps cancellations from outside and our own apart; only its trigger is ours.
    async with asyncio.timeout(None) as limit:
        loop = asyncio.get_running_loop()
        timer = None
        if seconds is not None:
            timer = clock.call_later(seconds, lambda: None if limit.expired() else limit.reschedule(loop.time()))
        try:
            yield
        finally:
            if timer is not None:
                timer.cancel()
