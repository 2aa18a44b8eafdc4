"""The bridge for callers that cannot await: threads counted, waits bounded, its own thread refused."""

import asyncio
import subprocess
import sys
import threading

import pytest

from jupyter_lsp_agent.core.errors import ClosedError, RequestTimeoutError
from jupyter_lsp_agent.service.blocking import BlockingPortal, BlockingProvider

NAME = "bridge-under-test"


class Resource:
    """Counts what is done to it."""

    def __init__(self) -> None:
        self.closed = 0
        self.gate = asyncio.Event()
        self.finished = threading.Event()

    async def add(self, left: int, right: int) -> int:
        return left + right

    async def wait_for_gate(self) -> str:
        await self.gate.wait()
        self.finished.set()
        return "open"

    async def open_gate(self) -> None:
        self.gate.set()

    async def aclose(self) -> None:
        self.closed += 1


async def open_resource() -> Resource:
    return Resource()


def threads() -> int:
    return sum(thread.name == NAME for thread in threading.enumerate())


@pytest.fixture
def provider() -> BlockingProvider[Resource]:
    return BlockingProvider(open_resource, name=NAME)


def test_a_call_is_answered(provider: BlockingProvider[Resource]) -> None:
    with provider.lease() as portal:
        assert portal.call(lambda resource: resource.add(2, 3)) == 5


def test_users_share_one_thread_and_the_last_one_closes_it(provider: BlockingProvider[Resource]) -> None:
    with provider.lease() as first:
        with provider.lease() as second:
            assert first is second
            assert threads() == 1
        assert first.call(lambda resource: resource.add(1, 1)) == 2
    assert threads() == 0


def test_a_new_lease_after_the_last_one_opens_anew(provider: BlockingProvider[Resource]) -> None:
    with provider.lease() as first:
        pass
    with provider.lease() as second:
        assert second is not first
        assert second.call(lambda resource: resource.add(1, 2)) == 3


async def test_a_thread_with_a_running_loop_may_call(provider: BlockingProvider[Resource]) -> None:
    assert asyncio.get_running_loop().is_running()
    with provider.lease() as portal:
        assert portal.call(lambda resource: resource.add(4, 5)) == 9


def test_its_own_thread_is_refused(provider: BlockingProvider[Resource]) -> None:
    with provider.lease() as portal:

        async def call_again(resource: Resource) -> int:
            return portal.call(lambda inner: inner.add(1, 1))

        with pytest.raises(ClosedError, match="own loop"):
            portal.call(call_again)


def test_a_time_out_ends_the_wait_and_not_the_work(provider: BlockingProvider[Resource]) -> None:
    with provider.lease() as portal:
        with pytest.raises(RequestTimeoutError):
            portal.call(lambda resource: resource.wait_for_gate(), timeout_seconds=0.01)
        finished = portal.call(_finished)
        portal.call(lambda resource: resource.open_gate())
        assert finished.wait(10)


async def _finished(resource: Resource) -> threading.Event:
    return resource.finished


def test_a_closed_portal_says_so(provider: BlockingProvider[Resource]) -> None:
    with provider.lease() as portal:
        pass
    with pytest.raises(ClosedError, match="closed"):
        portal.call(lambda resource: resource.add(1, 1))


def test_nothing_is_left_where_opening_fails() -> None:
    async def fail() -> Resource:
        raise OSError("no")

    with pytest.raises(OSError, match="no"), BlockingProvider(fail, name=NAME).lease():
        pass
    assert threads() == 0


def test_closing_cancels_what_still_runs() -> None:
    portal = BlockingPortal.start(open_resource, NAME)
    with pytest.raises(RequestTimeoutError):
        portal.call(lambda resource: resource.wait_for_gate(), timeout_seconds=0.01)
    portal.close()
    assert threads() == 0


def test_many_threads_lease_at_once(provider: BlockingProvider[Resource]) -> None:
    sums: list[int] = []

    def use(number: int) -> None:
        with provider.lease() as portal:
            sums.append(portal.call(lambda resource: resource.add(number, 1)))

    users = [threading.Thread(target=use, args=(number,)) for number in range(20)]
    for user in users:
        user.start()
    for user in users:
        user.join()
    assert sorted(sums) == list(range(1, 21))
    assert threads() == 0


_ENDING = """
import asyncio, atexit
from contextlib import ExitStack
from jupyter_lsp_agent.service.blocking import BlockingProvider

class Thing:
    def __init__(self):
        self.is_closing = asyncio.Event()
        self.task = asyncio.ensure_future(self.work())
    async def work(self):
        await self.is_closing.wait()
        await asyncio.to_thread(int)
    async def aclose(self):
        self.is_closing.set()
        await asyncio.wait([self.task])
        print("closed")

async def open_thing():
    return Thing()

stack = ExitStack()
stack.enter_context(BlockingProvider(open_thing).lease())
atexit.register(stack.close)
"""


def test_the_interpreters_end_is_quiet() -> None:
    """Work that wants a thread when there are none any more: a kernel that ends in the middle of a check."""
    run = subprocess.run([sys.executable, "-c", _ENDING], capture_output=True, text=True, timeout=60, check=False)
    assert (run.returncode, run.stdout, run.stderr) == (0, "closed\n", "")
