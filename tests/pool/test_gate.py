"""Many pass together, or one alone; who is cancelled leaves nothing behind."""

import asyncio
from contextlib import AbstractAsyncContextManager

from jupyter_lsp_agent.pool.gate import Gate


class Visit:
    """A pass through a gate that stays inside until it is let go."""

    def __init__(self, way: AbstractAsyncContextManager[None]) -> None:
        self.is_inside = False
        self._may_leave = asyncio.Event()
        self._task = asyncio.create_task(self._pass(way))

    async def _pass(self, way: AbstractAsyncContextManager[None]) -> None:
        async with way:
            self.is_inside = True
            await self._may_leave.wait()
        self.is_inside = False

    async def leave(self) -> None:
        self._may_leave.set()
        await self._task

    async def give_up(self) -> None:
        self._task.cancel()
        await asyncio.gather(self._task, return_exceptions=True)


async def turn() -> None:
    for _ in range(10):
        await asyncio.sleep(0)


async def test_many_pass_together() -> None:
    gate = Gate()
    visits = [Visit(gate.together()) for _ in range(3)]
    await turn()
    assert all(visit.is_inside for visit in visits)
    for visit in visits:
        await visit.leave()


async def test_who_passes_alone_waits_for_those_inside_and_keeps_later_ones_out() -> None:
    gate = Gate()
    first, alone = Visit(gate.together()), Visit(gate.alone())
    await turn()
    later, other = Visit(gate.together()), Visit(gate.alone())
    await turn()
    assert (first.is_inside, alone.is_inside, later.is_inside, other.is_inside) == (True, False, False, False)
    await first.leave()
    await turn()
    assert (alone.is_inside, later.is_inside, other.is_inside) == (True, False, False)
    await alone.leave()
    await turn()
    assert (later.is_inside, other.is_inside) == (False, True)
    await other.leave()
    await turn()
    assert later.is_inside
    await later.leave()


async def test_who_gives_up_while_waiting_holds_up_nobody() -> None:
    gate = Gate()
    first, alone = Visit(gate.together()), Visit(gate.alone())
    await turn()
    later = Visit(gate.together())
    await turn()
    assert not later.is_inside
    await alone.give_up()
    await turn()
    assert later.is_inside
    await first.leave()
    await later.leave()


async def test_who_is_cancelled_inside_opens_the_gate() -> None:
    gate = Gate()
    alone = Visit(gate.alone())
    await turn()
    later = Visit(gate.together())
    await alone.give_up()
    await turn()
    assert later.is_inside
    await later.leave()
