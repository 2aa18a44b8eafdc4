"""Two ends of a stream in one process."""

import asyncio
from collections import deque

from jupyter_lsp_agent.core.errors import ServerExitedError


class MemoryTransport:
    """One end. What a test may set on it: `exit_code` and `stderr_tail`, which the other end's `exit_error` tells."""

    def __init__(self) -> None:
        self.exit_code: int | None = None
        self.stderr_tail = ""
        self._peer: MemoryTransport = self
        self._chunks: deque[bytes] = deque()
        self._arrived = asyncio.Event()
        self._closed = False

    def connect(self, peer: "MemoryTransport") -> None:
        """Make `peer` the other end of this one."""
        self._peer = peer

    def deliver(self, data: bytes) -> None:
        """Have `data` come out of this end's `receive`; `b""` is the end of the stream."""
        self._chunks.append(data)
        self._arrived.set()

    @property
    def is_closed(self) -> bool:
        """Whether `aclose` was called on this end."""
        return self._closed

    async def receive(self) -> bytes:
        """The next bytes; `b""` at the end of the stream, and ever after."""
        while not self._chunks:
            self._arrived.clear()
            await self._arrived.wait()
        return self._chunks.popleft() if self._chunks[0] else b""

    async def send(self, data: bytes) -> None:
        """Give `data` to the other end.

        Raises:
            ServerExitedError: one of the two ends is closed.
        """
        if self._closed or self._peer.is_closed:
            raise await self.exit_error()
        if data:
            self._peer.deliver(data)

    async def exit_error(self) -> ServerExitedError:
        """That the other end is closed, with its `exit_code` and `stderr_tail`."""
        return ServerExitedError(
            "the other end of the in-memory stream was closed",
            exit_code=self._peer.exit_code,
            stderr_tail=self._peer.stderr_tail,
        )

    async def aclose(self) -> None:
        """End the stream in both directions; what was sent before is still received."""
        if not self._closed:
            self._closed = True
            self._peer.deliver(b"")
            self.deliver(b"")


def memory_transport_pair() -> tuple[MemoryTransport, MemoryTransport]:
    """Two connected ends: what one sends the other receives."""
    client, server = MemoryTransport(), MemoryTransport()
    client.connect(server)
    server.connect(client)
    return client, server
