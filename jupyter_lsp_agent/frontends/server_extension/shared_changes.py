"""Changes of open shared documents, as whoever types makes them, long before somebody saves.

Nothing is observed (a second observer of a shared document silences the first): while sessions follow documents, those
that are open are looked at once a second. A change is told when the document rests, or now and then while it does not.
A document that was not seen before counts as changed: what happened before the first look is not known here.
"""

import asyncio
import logging
from collections.abc import Callable, Coroutine, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from jupyter_lsp_agent.core.clock import Clock, pause
from jupyter_lsp_agent.core.waiting import finish_all

RHYTHM_SECONDS = 1.0
_MOST_RESTLESS_ROUNDS = 5
_MAX_DOCUMENTS = 64
_LOGGER = logging.getLogger("jupyter_lsp_agent")


class Marks(Protocol):
    """Documents that may be open as shared ones."""

    async def mark(self, name: str) -> bytes | None:
        """Something that differs whenever the shared document does; `None` where it is not open."""
        ...


@dataclass(slots=True)
class _Seen:
    told: bytes | None = None
    last: bytes | None = None
    restless_rounds: int = 0


class SharedChanges:
    """Looks at the open shared documents that somebody follows.

    Args:
        documents: where they are looked at.
        followed: the names of the documents that somebody follows, the most wanted last.
        on_changed: called with the name of a document that was changed; no other document waits for it.
        clock: the time.
    """

    def __init__(
        self,
        documents: Marks,
        followed: Callable[[], Sequence[str]],
        on_changed: Callable[[str], Coroutine[Any, Any, None]],
        clock: Clock,
    ) -> None:
        self._documents = documents
        self._followed = followed
        self._on_changed = on_changed
        self._clock = clock
        self._seen: dict[str, _Seen] = {}
        self._telling: dict[str, asyncio.Task[None]] = {}

    async def watch(self) -> None:
        """Look, until cancelled."""
        try:
            while True:
                await pause(self._clock, RHYTHM_SECONDS)
                await self.look()
        finally:
            for task in (tasks := tuple(self._telling.values())):
                task.cancel()
            await finish_all(tasks)

    async def look(self) -> None:
        """Look once at each."""
        names = self._followed()[-_MAX_DOCUMENTS:]
        self._seen = {name: self._seen[name] for name in names if name in self._seen}
        for name in names:
            if name not in self._telling and await self._has_changed(name):
                self._begin(name)

    def _begin(self, name: str) -> None:
        task = asyncio.create_task(self._on_changed(name))
        self._telling[name] = task
        task.add_done_callback(lambda _: self._telling.pop(name))

    async def _has_changed(self, name: str) -> bool:
        try:
            mark = await self._documents.mark(name)
        except Exception as error:  # noqa: BLE001 - other extensions raise what they like, and the next look will do
            _LOGGER.debug("no look at %s: %s", name, error)
            return False
        if mark is None:
            self._seen.pop(name, None)
            return False
        return self._is_news(self._seen.setdefault(name, _Seen()), mark)

    def _is_news(self, seen: _Seen, mark: bytes) -> bool:
        rests, seen.last = mark == seen.last, mark
        if mark == seen.told:
            return False
        seen.restless_rounds += 1
        if not rests and seen.restless_rounds < _MOST_RESTLESS_ROUNDS:
            return False
        seen.told, seen.restless_rounds = mark, 0
        return True
