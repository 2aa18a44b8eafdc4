"""Waiting that leaves nothing behind."""

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from jupyter_lsp_agent.core.waiting import finish_all

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
