"""Waiting for tasks to end, whatever happens to the one who waits."""

import asyncio
from collections.abc import Iterable
from typing import Any


async def finish_all(tasks: Iterable[asyncio.Task[Any]]) -> None:
    """Wait until all of `tasks` are done, also when cancelled meanwhile; the cancellation is raised after that."""
    tasks = tuple(tasks)
    cancelled: asyncio.CancelledError | None = None
    while pending := [task for task in tasks if not task.done()]:
        try:
            await asyncio.wait(pending)
        except asyncio.CancelledError as error:
            cancelled = error
    if cancelled is not None:
        raise cancelled
