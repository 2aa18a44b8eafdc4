"""Whose turn it is with a server that pushes.

That a server has been quiet for a while tells something only if it was not busy with another document meanwhile: while
it checks one, it may push an empty list for the next, and the findings much later. So documents whose verdict is pushed
are taken one after the other. A pull needs no turn, its answer is an answer.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final, Literal

from jupyter_lsp_agent.core.clock import Clock

TURN_SECONDS: Final = 10.0
"""How long one document may hold up the others: a server may be silent on it for ever."""


class Turns:
    """One turn at a time.

    Args:
        clock: for the bound of a turn.
        limit_seconds: after so long the next may begin though this one goes on; `None`: not before it has ended.
    """

    def __init__(self, clock: Clock, limit_seconds: float | None = TURN_SECONDS) -> None:
        self._clock = clock
        self._limit_seconds = limit_seconds
        self._lock = asyncio.Lock()

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[Literal[True]]:
        """Wait for the turn, and have it during the block."""
        await self._lock.acquire()
        pass_on = _Once(self._lock)
        limit = self._limit_seconds
        timer = None if limit is None else self._clock.call_later(limit, pass_on)
        try:
            yield True
        finally:
            if timer is not None:
                timer.cancel()
            pass_on()


class _Once:
    """Releases a lock at its first call."""

    def __init__(self, lock: asyncio.Lock) -> None:
        self._lock: asyncio.Lock | None = lock

    def __call__(self) -> None:
        lock, self._lock = self._lock, None
        if lock is not None:
            lock.release()
