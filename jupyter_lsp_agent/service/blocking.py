"""The service for callers that cannot await: one background thread with a loop of its own, leased.

The first lease starts the thread and opens what runs on it; the last one closes both. A call is refused on that thread
alone, since there it could only wait for itself; a cell of a kernel runs on a loop too, another one, and may call.
A time-out ends the wait and not the work, so that the next call finds the work done.
"""

import asyncio
import concurrent.futures
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from contextlib import contextmanager
from typing import Any, Generic, Protocol, TypeVar

from jupyter_lsp_agent.core.errors import ClosedError, RequestTimeoutError


class Closeable(Protocol):
    """What can be leased."""

    async def aclose(self) -> None:
        """Release everything; called once, on the loop that opened it."""
        ...


S = TypeVar("S", bound=Closeable)
T = TypeVar("T")


class LoopThread:
    """A thread that runs an event loop until it is stopped. It never keeps the interpreter from ending."""

    def __init__(self, name: str) -> None:
        self._loop = asyncio.new_event_loop()
        self._loop.set_exception_handler(_tell_unless_at_end)
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)
        self._thread.start()

    def run(self, work: Coroutine[Any, Any, T], *, timeout_seconds: float | None = None) -> T:
        """Run `work` on the loop and wait for it. An interrupt of the waiting thread cancels the work.

        Raises:
            ClosedError: called on the loop's own thread, or after `stop`.
            RequestTimeoutError: the wait was too long; the work goes on.
        """
        if threading.current_thread() is self._thread or not self._thread.is_alive():
            work.close()
            own = threading.current_thread() is self._thread
            raise ClosedError("a blocking call on its own loop's thread: await it there" if own else "already closed")
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result(timeout_seconds)
        except concurrent.futures.TimeoutError:
            if future.done():
                raise
            raise RequestTimeoutError("the call", timeout_seconds or 0.0) from None
        except BaseException:
            future.cancel()
            raise

    def submit(self, work: Coroutine[Any, Any, T]) -> "concurrent.futures.Future[T]":
        """Begin `work` on the loop, and wait for nothing."""
        return asyncio.run_coroutine_threadsafe(work, self._loop)

    def stop(self) -> None:
        """End the loop and wait for its thread."""
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()

    def _run(self) -> None:
        asyncio.set_event_loop(self._loop)
        try:
            self._loop.run_forever()
            _cancel_all(self._loop)
        finally:
            self._loop.close()


class BlockingProvider(Generic[S]):
    """Leases of one object that lives on a thread of its own.

    Args:
        open_resource: opens it, on the thread's loop.
        name: of the thread.
    """

    def __init__(self, open_resource: Callable[[], Awaitable[S]], *, name: str = "jupyter-lsp-agent") -> None:
        self._open_resource = open_resource
        self._name = name
        self._lock = threading.Lock()
        self._users = 0
        self._portal: BlockingPortal[S] | None = None

    @contextmanager
    def lease(self) -> Iterator["BlockingPortal[S]"]:
        """The portal to the object; opened by the first user, closed after the last one."""
        portal = self._enter()
        try:
            yield portal
        finally:
            self._leave()

    def _enter(self) -> "BlockingPortal[S]":
        with self._lock:
            if self._portal is None:
                self._portal = BlockingPortal.start(self._open_resource, self._name)
            self._users += 1
            return self._portal

    def _leave(self) -> None:
        with self._lock:
            self._users -= 1
            if self._users or self._portal is None:
                return
            portal, self._portal = self._portal, None
            portal.close()


class BlockingPortal(Generic[S]):
    """The way to an object that lives on another thread's loop."""

    def __init__(self, thread: LoopThread, resource: S) -> None:
        self._thread = thread
        self._resource = resource

    @classmethod
    def start(cls, open_resource: Callable[[], Awaitable[S]], name: str) -> "BlockingPortal[S]":
        """Start a thread and open the object on it; nothing is left where that fails."""
        thread = LoopThread(name)
        try:
            return cls(thread, thread.run(_await(open_resource)))
        except BaseException:
            thread.stop()
            raise

    def call(self, verb: Callable[[S], Coroutine[Any, Any, T]], *, timeout_seconds: float | None = None) -> T:
        """`verb` of the object, awaited on its loop; see `LoopThread.run`."""
        return self._thread.run(verb(self._resource), timeout_seconds=timeout_seconds)

    def submit(self, verb: Callable[[S], Coroutine[Any, Any, T]]) -> "concurrent.futures.Future[T]":
        """`verb` of the object, begun on its loop; see `LoopThread.submit`."""
        return self._thread.submit(verb(self._resource))

    def close(self) -> None:
        """Close the object and end its thread."""
        try:
            self._thread.run(self._resource.aclose())
        finally:
            self._thread.stop()


def _tell_unless_at_end(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
    """Errors that nobody awaits. At the interpreter's end no task gets a thread any more, and all is closed anyway."""
    if threading.main_thread().is_alive():
        loop.default_exception_handler(context)


async def _await(open_resource: Callable[[], Awaitable[T]]) -> T:
    return await open_resource()


def _cancel_all(loop: asyncio.AbstractEventLoop) -> None:
    """Cancel what still runs, as `asyncio.run` does at its end."""
    tasks = asyncio.all_tasks(loop)
    for task in tasks:
        task.cancel()
    loop.run_until_complete(asyncio.gather(*tasks, return_exceptions=True))
    loop.run_until_complete(loop.shutdown_asyncgens())
