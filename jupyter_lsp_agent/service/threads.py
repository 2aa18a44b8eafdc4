"""Work that may be too long for the event loop, done in a thread only where it is: a hand-over has its price too."""

import asyncio
from collections.abc import Callable
from typing import TypeVar

_T = TypeVar("_T")

_SMALL_BYTES = 100_000
"""Reading and writing so much JSON takes a few milliseconds."""


async def beside_the_loop(size_bytes: int, work: Callable[[], _T]) -> _T:
    """The result of `work`, whose input is `size_bytes` long."""
    if size_bytes <= _SMALL_BYTES:
        return work()
    return await asyncio.to_thread(work)
