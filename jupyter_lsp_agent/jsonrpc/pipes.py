"""Pipes on the event loop, below asyncio's streams.

asyncio's own pipe transports hide what is needed here: to take what a dead process left in its pipe and stop, though
some grandchild still holds the other end. A `PipeWriter` keeps what is not yet written, so a send that is cancelled
never cuts a message.

Each class owns its descriptor and closes it. Unix event loops only.
"""

import asyncio
import os
from collections import deque
from collections.abc import Callable

_READ_BYTES = 256 * 1024
_HIGH_WATER_BYTES = 1024 * 1024


class PipeReader:
    """Hands every chunk of a pipe to `on_data`, and calls `on_end` once, at its end."""

    def __init__(self, descriptor: int, on_data: Callable[[bytes], None], on_end: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._on_data = on_data
        self._on_end = on_end
        self._loop = asyncio.get_running_loop()
        self._ended = self._closed = False
        os.set_blocking(descriptor, False)
        self.resume()

    def pause(self) -> None:
        """Read no more until `resume`; the writer is held up when the pipe is full."""
        if not self._closed:
            self._loop.remove_reader(self._descriptor)

    def resume(self) -> None:
        """Read on."""
        if not self._ended and not self._closed:
            self._loop.add_reader(self._descriptor, self._read)

    def finish(self) -> None:
        """The writer is dead: take what it left behind, and end, whoever else holds the other end of the pipe."""
        for _ in range(64):  # a grandchild may go on writing
            if self._ended or self._closed or not self._read():
                break
        self._end()

    def close(self) -> None:
        """Let go of the pipe; `on_end` is called if it was not."""
        if not self._closed:
            self._end()
            self._closed = True
            os.close(self._descriptor)

    def _read(self) -> bool:
        """Whether there was anything."""
        try:
            data = os.read(self._descriptor, _READ_BYTES)
        except (BlockingIOError, InterruptedError):
            return False
        except OSError:
            data = b""
        if data:
            self._on_data(data)
        else:
            self._end()
        return bool(data)

    def _end(self) -> None:
        if not self._ended and not self._closed:
            self._loop.remove_reader(self._descriptor)
            self._ended = True
            self._on_end()


class PipeInbox:
    """A pipe to `receive` from. At most about a megabyte is kept unreceived."""

    def __init__(self, descriptor: int) -> None:
        self._chunks: deque[bytes] = deque()
        self._kept_bytes = 0
        self._ended = False
        self._changed = asyncio.Event()
        self._reader = PipeReader(descriptor, self._keep, self._end)

    async def receive(self) -> bytes:
        """The next bytes; `b""` at the end."""
        while not self._chunks and not self._ended:
            self._changed.clear()
            await self._changed.wait()
        if not self._chunks:
            return b""
        data = self._chunks.popleft()
        was_full = self._kept_bytes >= _HIGH_WATER_BYTES
        self._kept_bytes -= len(data)
        if was_full and self._kept_bytes < _HIGH_WATER_BYTES:
            self._reader.resume()
        return data

    def finish(self) -> None:
        """The writer is dead: what it left behind is still received, then comes the end."""
        self._reader.finish()

    def close(self) -> None:
        """Let go of the pipe."""
        self._reader.close()

    def _keep(self, data: bytes) -> None:
        self._chunks.append(data)
        self._kept_bytes += len(data)
        if self._kept_bytes >= _HIGH_WATER_BYTES:
            self._reader.pause()
        self._changed.set()

    def _end(self) -> None:
        self._ended = True
        self._changed.set()


class PipeWriter:
    """A pipe to `send` to. `on_broken` is called once, when nobody reads it any more."""

    def __init__(self, descriptor: int, on_broken: Callable[[], None]) -> None:
        self._descriptor = descriptor
        self._on_broken = on_broken
        self._loop = asyncio.get_running_loop()
        self._unwritten = bytearray()
        self._is_broken = self._closed = False
        self._changed = asyncio.Event()
        os.set_blocking(descriptor, False)

    async def send(self, data: bytes) -> None:
        """Queue `data` and write; waits while more than about a megabyte is unwritten.

        Raises:
            BrokenPipeError: nobody reads, or the pipe was closed here.
        """
        self._check_open()
        is_idle = not self._unwritten
        self._unwritten += data
        if is_idle:
            self._write()
        while len(self._unwritten) > _HIGH_WATER_BYTES:
            self._changed.clear()
            await self._changed.wait()
        self._check_open()

    def close(self) -> None:
        """Let go of the pipe, so that its reader sees the end; what is unwritten is lost."""
        if not self._closed:
            self._forget()
            self._closed = True
            os.close(self._descriptor)

    def _check_open(self) -> None:
        if self._is_broken or self._closed:
            raise BrokenPipeError

    def _write(self) -> None:
        try:
            while self._unwritten:
                n_bytes = os.write(self._descriptor, self._unwritten)
                del self._unwritten[:n_bytes]
        except (BlockingIOError, InterruptedError):
            self._loop.add_writer(self._descriptor, self._write)
        except OSError:
            self._break()
        else:
            self._loop.remove_writer(self._descriptor)
        self._changed.set()

    def _break(self) -> None:
        self._forget()
        self._is_broken = True
        self._on_broken()

    def _forget(self) -> None:
        self._loop.remove_writer(self._descriptor)
        self._unwritten.clear()
        self._changed.set()
