"""What moves the bytes: the seam between the protocol and its two carriers.

`StdioTransport` is a child process, `memory_transport_pair` two ends in one process, for tests.
"""

import asyncio
import os
import signal
import socket
import subprocess
import sys
from contextlib import AsyncExitStack, ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Final, Protocol

from jupyter_lsp_agent.core.clock import Clock, SystemClock, time_limit
from jupyter_lsp_agent.core.errors import ServerExitedError, SpawnFailedError
from jupyter_lsp_agent.core.launch import LaunchCommand
from jupyter_lsp_agent.jsonrpc.memory import MemoryTransport, memory_transport_pair
from jupyter_lsp_agent.jsonrpc.pipes import PipeInbox, PipeReader, PipeWriter
from jupyter_lsp_agent.jsonrpc.stderr import StderrTail
from jupyter_lsp_agent.jsonrpc.supervision import Supervision, encode_order

__all__ = ["MemoryTransport", "Patience", "StdioTransport", "Transport", "memory_transport_pair"]

_SUPERVISOR: Final = str(Path(__file__).with_name("supervisor.py"))


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


@dataclass(frozen=True, slots=True)
class Patience:
    """How long each step of the end is waited for before the next.

    Attributes:
        close_seconds: after its standard input was closed.
        terminate_seconds: after SIGTERM.
        exit_seconds: for a process to end whose stream has ended, before it is called alive.
    """

    close_seconds: float = 1.0
    terminate_seconds: float = 2.0
    exit_seconds: float = 0.5


class StdioTransport:
    """A server's process, spoken to by its standard input and output; made by `spawn`.

    The process leads a session and a group of its own, and lives below a supervisor that ends all of it when we are
    gone (see `supervisor`). Its standard error is always read. The stream ends when it closes its output *or* its
    input, or when it has ended, even though a descendant of it may still hold the pipes.

    `aclose` is the lower half of the ladder; the upper one (`shutdown`, `exit`) is LSP's: close its standard input,
    SIGTERM, SIGKILL, each to everything that descends from it.
    """

    def __init__(self, supervisor: "_SupervisorProcess", clock: Clock, patience: Patience) -> None:
        self._clock = clock
        self._patience = patience
        self._stderr = StderrTail()
        self._supervision = Supervision(supervisor.process, supervisor.socket, self._take_exit)
        self._inbox = PipeInbox(supervisor.stdout)
        self._stdin = PipeWriter(supervisor.stdin, self._inbox.finish)
        self._stderr_reader = PipeReader(supervisor.stderr, self._stderr.add, lambda: None)
        self._closing: asyncio.Task[None] | None = None
        self._program = "the server"
        self._is_started = False

    @classmethod
    async def spawn(
        cls, command: LaunchCommand, *, clock: Clock | None = None, patience: Patience | None = None
    ) -> "StdioTransport":
        """Start `command`, whose `environment` is the whole one of the process. A failed start leaves nothing behind.

        Raises:
            ServerNotFoundError: there is no such program.
            SpawnFailedError: it could not be started.
        """
        order = encode_order(command)
        transport = cls(_start_supervisor(), clock or SystemClock(), patience or Patience())
        async with AsyncExitStack() as stack:
            stack.push_async_callback(transport.aclose)
            await transport._start(command, order)
            stack.pop_all()
        return transport

    @property
    def pid(self) -> int:
        """The server's own process, which leads its process group. Its supervisor is its parent, not part of it."""
        return self._supervision.pid or 0

    @property
    def exit_code(self) -> int | None:
        """How it ended, negative for a signal; `None` while it lives."""
        return self._supervision.exit_code

    @property
    def stderr_tail(self) -> str:
        """The last lines of its standard error, at most 100 and 16 KiB."""
        return self._stderr.text

    async def receive(self) -> bytes:
        """The next bytes of its standard output; `b""` at the end of the stream, and ever after."""
        return await self._inbox.receive()

    async def send(self, data: bytes) -> None:
        """Write to its standard input (see `Transport.send`).

        Raises:
            ServerExitedError: it has ended, or no longer reads.
        """
        try:
            await self._stdin.send(data)
        except BrokenPipeError:
            raise await self.exit_error() from None

    async def exit_error(self) -> ServerExitedError:
        """How it ended, or that it lives with a closed stream, with the tail of its standard error."""
        try:
            async with time_limit(self._clock, self._patience.exit_seconds):
                await self._supervision.wait_exited()
        except TimeoutError:
            what = "closed its standard input or output though it still runs"
        else:
            what = _describe_exit(self.exit_code)
        last_line = self._stderr.last_line
        said = f"; the last it said: {last_line}" if last_line else ""
        return ServerExitedError(
            f"{self._program} {what}{said}", exit_code=self.exit_code, stderr_tail=self._stderr.text
        )

    async def aclose(self) -> None:
        """End the process and everything below it, and release all descriptors.

        May be called again and by several tasks; finishes even when the caller is cancelled.
        """
        if self._closing is None:
            self._closing = asyncio.create_task(self._close())
        await asyncio.shield(self._closing)

    async def _start(self, command: LaunchCommand, order: bytes) -> None:
        self._program = command.argv[0]
        await self._supervision.start(command, order)
        self._is_started = True

    async def _close(self) -> None:
        try:
            self._stdin.close()
            if self._is_started:
                await self._ask_to_end()
            self._supervision.kill()
            await self._supervision.wait_gone()
        finally:
            for pipe in (self._inbox, self._stderr_reader, self._supervision):
                pipe.close()

    async def _ask_to_end(self) -> None:
        if not await self._gone_within(self._patience.close_seconds):
            self._supervision.terminate()
            await self._gone_within(self._patience.terminate_seconds)

    async def _gone_within(self, seconds: float) -> bool:
        try:
            async with time_limit(self._clock, seconds):
                await self._supervision.wait_gone()
        except TimeoutError:
            return False
        return True

    def _take_exit(self) -> None:
        self._stderr_reader.finish()
        self._inbox.finish()


@dataclass(frozen=True, slots=True)
class _SupervisorProcess:
    """A supervisor that waits for its order, and our ends of the descriptors to it and to the server."""

    process: "subprocess.Popen[bytes]"
    socket: int
    stdin: int
    stdout: int
    stderr: int


def _start_supervisor() -> _SupervisorProcess:
    if os.name != "posix":
        raise SpawnFailedError("language servers are started on Linux and macOS only so far; use one of them, or WSL")
    # All of these are closed in every program that anybody starts (PEP 446); the supervisor alone is handed its ends.
    ours, theirs = socket.socketpair()
    stdin, stdout, stderr = os.pipe(), os.pipe(), os.pipe()
    with ExitStack() as on_failure, ExitStack() as always:
        for descriptor in (stdin[1], stdout[0], stderr[0]):
            on_failure.callback(os.close, descriptor)
        for descriptor in (stdin[0], stdout[1], stderr[1]):
            always.callback(os.close, descriptor)
        on_failure.callback(ours.close)
        always.callback(theirs.close)
        try:
            process = subprocess.Popen(
                [sys.executable or "python3", "-I", "-S", _SUPERVISOR, str(os.getpid()), str(stdin[0]), str(stdout[1])],
                stdin=theirs.fileno(),
                stdout=subprocess.DEVNULL,
                stderr=stderr[1],
                pass_fds=(stdin[0], stdout[1]),
                start_new_session=True,
            )
        except OSError as error:
            raise SpawnFailedError(f"no process could be started: {error}") from error
        on_failure.pop_all()
        return _SupervisorProcess(process, ours.detach(), stdin[1], stdout[0], stderr[0])


def _describe_exit(exit_code: int | None) -> str:
    if exit_code is None:
        return "was lost with its supervisor"
    if exit_code >= 0:
        return f"ended with exit code {exit_code}"
    try:
        return f"was ended by {signal.Signals(-exit_code).name}"
    except ValueError:
        return f"was ended by signal {-exit_code}"
