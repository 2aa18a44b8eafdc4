"""When a change of a shared document is told: at rest, at the latest after some looks, each once."""

import asyncio

import pytest

from jupyter_lsp_agent.frontends.server_extension.shared_changes import RHYTHM_SECONDS, SharedChanges
from tests.support.clock import ManualClock


class Desk:
    """Documents by name, with what a look at them gives: a mark, `None` (not open) or an error."""

    def __init__(self, **marks) -> None:
        self.marks, self.told, self.gate = marks, [], asyncio.Event()
        self.gate.set()
        self.clock = ManualClock()
        self.changes = SharedChanges(self, lambda: list(self.marks), self._on_changed, self.clock)

    async def mark(self, name: str) -> bytes | None:
        if isinstance(self.marks[name], Exception):
            raise self.marks[name]
        return self.marks[name]

    async def _on_changed(self, name: str) -> None:
        self.told.append((name, self.marks[name]))
        await self.gate.wait()

    async def look(self) -> None:
        await self.changes.look()
        for _ in range(3):
            await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("looks", "told"),
    [
        ([b"a"], []),
        ([b"a", b"a", b"a"], [b"a"]),
        ([b"a", b"a", b"b", b"c", b"c", b"c"], [b"a", b"c"]),
        ([b"a", b"a", b"b", b"a", b"a"], [b"a"]),
        ([b"a", b"b", b"c", b"d", b"e", b"f"], [b"e"]),
        ([None, None, b"a", b"a", None, b"a", b"a"], [b"a", b"a"]),
        ([b"a", RuntimeError("busy"), b"a"], [b"a"]),
    ],
)
async def test_what_is_told_of_a_document(looks, told):
    desk = Desk(n=None)
    for desk.marks["n"] in looks:
        await desk.look()
    assert [mark for _, mark in desk.told] == told


async def test_no_document_waits_for_another():
    desk = Desk(n=b"a", m=None)
    desk.gate.clear()
    await desk.look()
    await desk.look()
    desk.marks["m"] = b"x"
    await desk.look()
    await desk.look()
    assert desk.told == [("n", b"a"), ("m", b"x")]
    # And one that is being checked is looked at again afterwards.
    desk.marks["n"] = b"b"
    await desk.look()
    await desk.look()
    assert len(desk.told) == 2
    desk.gate.set()
    for _ in range(3):
        await asyncio.sleep(0)
    await desk.look()
    await desk.look()
    assert desk.told[2:] == [("n", b"b")]


async def test_it_looks_at_its_rhythm_until_it_is_cancelled():
    desk = Desk(n=b"a")
    desk.gate.clear()
    watch = asyncio.create_task(desk.changes.watch())
    for _ in range(2):
        assert await desk.clock.wait_for_timer() == RHYTHM_SECONDS
        desk.clock.advance(RHYTHM_SECONDS)
        for _ in range(5):
            await asyncio.sleep(0)
    assert desk.told == [("n", b"a")]
    watch.cancel()
    with pytest.raises(asyncio.CancelledError):
        await watch
    await asyncio.sleep(0)
    assert {task for task in asyncio.all_tasks() if task is not asyncio.current_task()} == set()
