"""A gate that many pass together, or one alone.

While a server has a text that is only proposed, what it says of other documents may be about that text too. So whoever
proposes a text passes alone, from the change until it is taken back.
"""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager


class Gate:
    """Who wants to pass alone goes before those who come after it."""

    def __init__(self) -> None:
        self._together = 0
        self._is_held = False
        self._waiting = 0
        self._changed = asyncio.Event()

    @asynccontextmanager
    async def together(self) -> AsyncIterator[None]:
        """Pass with others."""
        await self._until(lambda: not self._is_held and not self._waiting)
        self._together += 1
        try:
            yield
        finally:
            self._together -= 1
            self._changed.set()

    @asynccontextmanager
    async def alone(self) -> AsyncIterator[None]:
        """Pass when nobody else does, and keep all others out."""
        self._waiting += 1
        try:
            await self._until(lambda: not self._is_held and not self._together)
            self._is_held = True
        finally:
            self._waiting -= 1
            self._changed.set()
        try:
            yield
        finally:
            self._is_held = False
            self._changed.set()

    async def _until(self, is_free: Callable[[], bool]) -> None:
        while not is_free():
            self._changed.clear()
            await self._changed.wait()
