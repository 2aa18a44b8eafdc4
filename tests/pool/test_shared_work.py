"""Equal work at the same time is done once, and goes on for a while when its callers are gone."""

import asyncio

import pytest

from jupyter_lsp_agent.pool.shared_work import SharedWork
from tests.support.clock import ManualClock
from tests.support.fake_clients import next_turn, until


class Work:
    """Work that ends when the test lets it."""

    def __init__(self) -> None:
        self.gate = asyncio.Event()
        self.begun = 0
        self.cancelled = 0

    async def __call__(self) -> int:
        self.begun += 1
        number = self.begun
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return number


async def test_callers_of_equal_work_share_it_and_others_do_not():
    work, shared = Work(), SharedWork[int](ManualClock())
    tasks = [asyncio.create_task(shared.run(name, work)) for name in ("a", "a", "b", "a")]
    await until(lambda: work.begun == 2)
    work.gate.set()
    assert await asyncio.gather(*tasks) == [1, 1, 2, 1]
    assert await shared.run("a", work) == 3


async def test_work_that_was_given_up_is_joined_by_the_next_caller():
    clock, work = ManualClock(), Work()
    shared = SharedWork[int](clock, linger_seconds=30)
    task = asyncio.create_task(shared.run("a", work))
    await until(lambda: work.begun == 1)
    task.cancel()
    await until(task.done)
    clock.advance(29)
    again = asyncio.create_task(shared.run("a", work))
    await next_turn()
    clock.advance(29)
    work.gate.set()
    assert await again == 1


async def test_work_that_nobody_wants_ends_after_its_time():
    clock, work = ManualClock(), Work()
    shared = SharedWork[int](clock, linger_seconds=30)
    task = asyncio.create_task(shared.run("a", work))
    await until(lambda: work.begun == 1)
    task.cancel()
    await until(task.done)
    clock.advance(30)
    await until(lambda: work.cancelled == 1)


async def test_a_failure_reaches_every_caller():
    async def fail() -> int:
        raise ValueError("no")

    shared = SharedWork[int](ManualClock())
    results = await asyncio.gather(shared.run("a", fail), shared.run("a", fail), return_exceptions=True)
    assert [str(error) for error in results] == ["no", "no"]


async def test_closing_ends_what_is_under_way():
    work, shared = Work(), SharedWork[int](ManualClock())
    task = asyncio.create_task(shared.run("a", work))
    await until(lambda: work.begun == 1)
    await shared.aclose()
    with pytest.raises(asyncio.CancelledError):
        await task


async def test_work_that_its_last_caller_does_not_want_ends_at_once():
    work, shared = Work(), SharedWork[int](ManualClock())
    first, second = (asyncio.create_task(shared.run("a", work)) for _ in range(2))
    await until(lambda: work.begun == 1)
    first.cancel()
    await until(first.done)
    shared.give_up("a")
    await next_turn()
    assert work.cancelled == 0
    second.cancel()
    await until(second.done)
    shared.give_up("a")
    await until(lambda: work.cancelled == 1)
    shared.give_up("a")
