"""Which documents are being edited at this moment, so that their saves can be told from those of others.

The save event of an edit of ours comes while the edit is under way, and others may save meanwhile too. Whoever heard of
a save waits for the end of the edits, and then looks what is there.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(slots=True)
class _UnderWay:
    ended: asyncio.Event = field(default_factory=asyncio.Event)
    edits: int = 0
    is_waited_for: bool = False


class EditsUnderWay:
    """The edits under way, by document."""

    def __init__(self) -> None:
        self._documents: dict[str, _UnderWay] = {}

    @contextmanager
    def of(self, name: str) -> Iterator[None]:
        """An edit of the document `name` lasts as long as the block."""
        document = self._documents.setdefault(name, _UnderWay())
        document.edits += 1
        try:
            yield
        finally:
            document.edits -= 1
            if not document.edits:
                del self._documents[name]
                document.ended.set()

    async def ended(self, name: str) -> bool:
        """Wait until nobody edits the document; false at once where somebody else waits for that already."""
        document = self._documents.get(name)
        if document is None:
            return True
        if document.is_waited_for:
            return False
        document.is_waited_for = True
        try:
            await document.ended.wait()
        finally:
            document.is_waited_for = False
        return True
