"""Equal work at the same time is done once, and outlives its callers for a while.

A check that came too late for its caller is not wasted: it goes on for `linger_seconds`, and the next caller who wants
the same joins it. A caller who was cancelled, and so wants nothing any more, says so with `give_up`.
"""

import asyncio
from collections.abc import Callable, Coroutine, Hashable
from dataclasses import dataclass
from typing import Any, Generic, TypeVar

from jupyter_lsp_agent.core.clock import Clock, TimerHandle
from jupyter_lsp_agent.core.waiting import finish_all

T = TypeVar("T")


@dataclass(slots=True, eq=False)
class _Work(Generic[T]):
    task: asyncio.Task[T]
    callers: int = 0
    end: TimerHandle | None = None


class SharedWork(Generic[T]):
    """Work by name: whoever asks for work that is under way gets its result.

    Args:
        clock: the time.
        linger_seconds: how long work goes on that nobody waits for any more.
    """

    def __init__(self, clock: Clock, linger_seconds: float = 30.0) -> None:
        self._clock = clock
        self._linger_seconds = linger_seconds
        self._works: dict[Hashable, _Work[T]] = {}

    async def run(self, name: Hashable, work: Callable[[], Coroutine[Any, Any, T]]) -> T:
        """The result of the work `name`, begun with `work` where it is not under way.

        Raises:
            whatever the work raises; to each of its callers.
        """
        entry = self._works.get(name) or self._begin(name, work())
        entry.callers += 1
        if entry.end is not None:
            entry.end.cancel()
            entry.end = None
        try:
            return await asyncio.shield(entry.task)
        finally:
            entry.callers -= 1
            if entry.callers == 0 and not entry.task.done():
                entry.end = self._clock.call_later(self._linger_seconds, lambda: _cancel(entry.task))

    def give_up(self, name: Hashable) -> None:
        """End the work `name` at once where nobody waits for it: its last caller does not want it any more."""
        entry = self._works.get(name)
        if entry is not None and entry.callers == 0:
            entry.task.cancel()

    async def aclose(self) -> None:
        """Give up all that is under way."""
        tasks = [entry.task for entry in self._works.values()]
        for task in tasks:
            task.cancel()
        await finish_all(tasks)

    def _begin(self, name: Hashable, work: Coroutine[Any, Any, T]) -> _Work[T]:
        entry = _Work(asyncio.create_task(work, name=f"shared work {name}"))
        self._works[name] = entry
        entry.task.add_done_callback(lambda _task: self._end(name, entry))
        return entry

    def _end(self, name: Hashable, entry: _Work[T]) -> None:
        if self._works.get(name) is entry:
            del self._works[name]
        if entry.end is not None:
            entry.end.cancel()
        # Its callers may all be gone; then nobody else asks for the exception.
        if not entry.task.cancelled():
            entry.task.exception()


def _cancel(task: asyncio.Task[Any]) -> None:
    task.cancel()
