"""What moves the bytes: the seam between the protocol and its two carriers.

`StdioTransport` is a child process, `memory_transport_pair` two ends in one process, for tests.
"""

from typing import Protocol

from jupyter_lsp_agent.core.clock import Clock
from jupyter_lsp_agent.core.errors import ServerExitedError
from jupyter_lsp_agent.core.launch import LaunchCommand
from jupyter_lsp_agent.jsonrpc.memory import MemoryTransport, memory_transport_pair

__all__ = ["MemoryTransport", "StdioTransport", "Transport", "memory_transport_pair"]


class Transport(Protocol):
    """A stream of bytes in both directions."""

    async def receive(self) -> bytes:
        """The next bytes; `b""` at the end of the stream, and ever after."""
        ...

    async def send(self, data: bytes) -> None:
        """Send all of `data`, after whatever was sent before.

        The bytes are queued before the call first gives way, so the order of calls is the order on the wire, and
        cancelling the call never cuts `data`: it is sent whole or, when the stream breaks, lost with the stream.

        Raises:
            ServerExitedError: the other end is gone.
        """
        ...

    async def exit_error(self) -> ServerExitedError:
        """Why the stream ended, asked after `receive` returned `b""` or `send` failed."""
        ...

    async def aclose(self) -> None:
        """Release everything. May be called again and by several tasks; finishes even when the caller is cancelled."""
        ...


class StdioTransport:
    """A server's process, spoken to by its standard input and output."""

    @classmethod
    async def spawn(cls, command: LaunchCommand, *, clock: Clock | None = None) -> "StdioTransport":
        """Start `command`.

        Raises:
            ServerNotFoundError: there is no such program.
            SpawnFailedError: it could not be started.
        """
        raise NotImplementedError

    @property
    def pid(self) -> int:
        """The server's own process, which leads its process group."""
        raise NotImplementedError

    @property
    def exit_code(self) -> int | None:
        """How it ended, negative for a signal; `None` while it lives."""
        raise NotImplementedError

    @property
    def stderr_tail(self) -> str:
        """The last lines of its standard error, at most 100 and 16 KiB."""
        raise NotImplementedError

    async def receive(self) -> bytes:
        """The next bytes of its standard output; `b""` at the end, which is also when the process has ended."""
        raise NotImplementedError

    async def send(self, data: bytes) -> None:
        """Write to its standard input (see `Transport.send`)."""
        raise NotImplementedError

    async def exit_error(self) -> ServerExitedError:
        """How it ended, or that it lives with a closed stream, with the tail of its standard error."""
        raise NotImplementedError

    async def aclose(self) -> None:
        """Close its standard input, then terminate, then kill its process group, each after a short wait."""
        raise NotImplementedError
