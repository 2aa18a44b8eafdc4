"""Our end of the socket to a supervisor (see `supervisor`).

To it: one order, which is four bytes of length and the NUL-separated working folder, number of arguments, arguments,
number of variables for the private folder, their names, and `NAME=value` pairs; then `T` (terminate everything) and
`K` (kill everything). From it, as lines: `started <pid>` or `failed <stage> <errno>`, `exited <code>`; the end of the
socket says that nothing is left.
"""

import asyncio
import errno
import os
from collections.abc import Callable
from typing import TYPE_CHECKING

from jupyter_lsp_agent.core.errors import ServerNotFoundError, SpawnFailedError
from jupyter_lsp_agent.core.launch import LaunchCommand
from jupyter_lsp_agent.jsonrpc.pipes import PipeReader

if TYPE_CHECKING:
    import subprocess


class Supervision:
    """One server's supervisor, and what it said.

    Args:
        process: the supervisor.
        descriptor: the socket to it, which is owned.
        on_exited: called once, when the server's own process has ended or nothing more can be known of it.
    """

    def __init__(self, process: "subprocess.Popen[bytes]", descriptor: int, on_exited: Callable[[], None]) -> None:
        self._process = process
        self._descriptor = descriptor
        self._on_exited = on_exited
        self._unread = b""
        self._pid: int | None = None
        self._failure: tuple[str, int] | None = None
        self._exit_code: int | None = None
        self._told = asyncio.Event()
        self._exited = asyncio.Event()
        self._gone = asyncio.Event()
        self._reader = PipeReader(descriptor, self._receive, self._end)

    @property
    def pid(self) -> int | None:
        """The server's process; `None` where it was never started."""
        return self._pid

    @property
    def exit_code(self) -> int | None:
        """How it ended, negative for a signal; `None` while it lives, and when nobody knows."""
        return self._exit_code

    async def start(self, command: LaunchCommand, order: bytes) -> None:
        """Have the server started.

        Args:
            command: for messages.
            order: what `encode_order` made of it.

        Raises:
            ServerNotFoundError: there is no such program.
            SpawnFailedError: it could not be started.
        """
        self._tell(order)
        while self._pid is None and self._failure is None and not self._gone.is_set():
            self._told.clear()
            await self._told.wait()
        if self._pid is None:
            raise _spawn_error(command, self._failure)

    def terminate(self) -> None:
        """SIGTERM to everything."""
        self._tell(b"T")

    def kill(self) -> None:
        """SIGKILL to everything, until nothing is left."""
        self._tell(b"K")

    async def wait_exited(self) -> None:
        """Wait until the server's own process has ended."""
        await self._exited.wait()

    async def wait_gone(self) -> None:
        """Wait until nothing is left, then take the supervisor's own end."""
        await self._gone.wait()
        self._process.wait()  # its end closed the socket, so this waits for the kernel only

    def close(self) -> None:
        """Let go of the socket. A supervisor that still runs takes that for our end, and ends everything."""
        self._reader.close()
        self._process.poll()

    def _tell(self, words: bytes) -> None:
        if self._gone.is_set():
            return
        os.set_blocking(self._descriptor, True)  # an order may be larger than the socket's buffer
        try:
            _write_all(self._descriptor, words)
        except OSError:
            return  # it has ended, which the reader sees too
        finally:
            os.set_blocking(self._descriptor, False)

    def _receive(self, data: bytes) -> None:
        *lines, self._unread = (self._unread + data).split(b"\n")
        for line in lines:
            self._heed(line.decode("ascii").split())

    def _heed(self, words: list[str]) -> None:
        match words:
            case ["started", pid]:
                self._pid = int(pid)
            case ["failed", stage, number]:
                self._failure = stage, int(number)
            case ["exited", code]:
                self._exit_code = int(code)
                self._set_exited()
        self._told.set()

    def _end(self) -> None:
        self._gone.set()
        self._told.set()
        self._set_exited()

    def _set_exited(self) -> None:
        if not self._exited.is_set():
            self._exited.set()
            self._on_exited()


def encode_order(command: LaunchCommand) -> bytes:
    """What tells a supervisor to start `command`.

    Raises:
        SpawnFailedError: no program can be given this.
    """
    environment = [f"{name}={value}" for name, value in command.environment.items()]
    lists = (str(part) for items in (command.argv, command.private_folder) for part in (len(items), *items))
    fields = [str(command.cwd), *lists, *environment]
    if any("\0" in field for field in fields):
        raise SpawnFailedError(
            f"{command.argv[0]!r} could not be started: its command holds a NUL character; remove it"
        )
    order = b"\0".join(os.fsencode(field) for field in fields)
    return len(order).to_bytes(4, "big") + order


def _write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


def _spawn_error(command: LaunchCommand, failure: tuple[str, int] | None) -> ServerNotFoundError | SpawnFailedError:
    program = command.argv[0]
    if failure is None:
        return SpawnFailedError(f"{program} could not be started: its supervisor ended without a word; try again")
    stage, number = failure
    reason = os.strerror(number)
    if stage == "chdir":
        return SpawnFailedError(f"{program} could not be started in {command.cwd}: {reason}; check that folder")
    if stage == "folder":
        return SpawnFailedError(
            f"{program} could not be started: no folder for temporary files could be made ({reason}); "
            "set TMPDIR to a folder that can be written, with a short path"
        )
    if number == errno.ENOENT:
        return ServerNotFoundError(f"{program} was not found; install it, or set the command of this server")
    return SpawnFailedError(f"{program} could not be started: {reason}; check that it is a program for this machine")
