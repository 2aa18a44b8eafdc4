"""Waiting that leaves nothing behind."""

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

T = TypeVar("T")


class StoppedError(Exception):
    """The work was given up because a stop was asked for."""


async def unless_stopped(work: Coroutine[Any, Any, T], stop: asyncio.Event) -> T:
    """The result of `work`, or `StoppedError` once `stop` is set; the work is cancelled then, and waited for.

    Where the work ends all the same, its result is given: it may be a thing that must be released.
    """
    if stop.is_set():
        work.close()
        raise StoppedError
    task = asyncio.create_task(work)
    waiter = asyncio.create_task(stop.wait())
    try:
        await asyncio.wait((task, waiter), return_when=asyncio.FIRST_COMPLETED)
    finally:
        waiter.cancel()
        if not task.done():
            task.cancel()
        await finish_all((task, waiter))
    if task.cancelled():
        raise StoppedError
    return task.result()


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
