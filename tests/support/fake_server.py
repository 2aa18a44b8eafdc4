"""A language server that a test drives while it runs: nothing is answered, pushed or broken unless the test says so.

The same `FakeServer` stands behind two carriers: a pair of streams in memory (`connect_in_memory`), and a process
(`FakeProcess`) that is a mere puppet: `fake_server_process.py` carries bytes between its standard streams and the test,
and does as it is told (die, close a stream, write to standard error, ignore signals, have a child).

All that the client sent is recorded. What the test never looked at makes `check_all_read` fail.
"""

import asyncio
import base64
import contextlib
import itertools
import json
import os
import sys
import tempfile
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any, Protocol

from jupyter_lsp_agent.core.behaviour import ServerBehaviour
from jupyter_lsp_agent.core.ids import DocumentUri, ServerId
from jupyter_lsp_agent.core.launch import LaunchCommand, ServerLaunch, TextDocument
from jupyter_lsp_agent.jsonrpc.memory import MemoryTransport
from jupyter_lsp_agent.jsonrpc.transport import memory_transport_pair
from jupyter_lsp_agent.lsp.client import ClientState, LanguageClient
from tests.support.clock import ManualClock

URI = DocumentUri("file:///project/model.py")
ROOT = DocumentUri("file:///project")
PULL = {"interFileDependencies": True, "workspaceDiagnostics": False}


class Wire(Protocol):
    """What carries a fake server's bytes."""

    async def receive(self) -> bytes: ...

    async def send(self, data: bytes) -> None: ...


async def settle() -> None:
    """Let every task run until it waits for something that only the test can bring."""
    for _ in range(60):
        await asyncio.sleep(0)


async def wind(clock: ManualClock, seconds: float) -> None:
    """Let `seconds` pass, with all that is due in between happening in its turn."""
    end_seconds = clock.monotonic_seconds() + seconds
    await settle()
    while (due := clock.next_due) is not None and clock.monotonic_seconds() + due <= end_seconds:
        clock.advance(due)
        await settle()
    clock.advance(end_seconds - clock.monotonic_seconds())
    await settle()


def frame(message: Any) -> bytes:
    body = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False).encode()
    return b"Content-Length: %d\r\n\r\n" % len(body) + body


def error_item(message: str = "wrong", line: int = 0, **more: Any) -> dict[str, Any]:
    """A diagnostic as a server writes it."""
    range_ = {"start": {"line": line, "character": 0}, "end": {"line": line, "character": 1}}
    return {"range": range_, "severity": 1, "message": message, "source": "fake", **more}


class FakeServer:
    """The server's side of one connection."""

    def __init__(self, wire: Wire) -> None:
        self.wire = wire
        self.sent_by_client: list[dict[str, Any]] = []
        """Everything, in order."""
        self.eof = asyncio.Event()
        """The client closed its end."""
        self._unread: deque[dict[str, Any]] = deque()
        self._arrived = asyncio.Event()
        self._ids = itertools.count(1)
        self._reader = asyncio.create_task(self._read())

    # -------------------------------------------------------------- what the client sends

    async def receive(self) -> dict[str, Any]:
        """The next message that the test has not looked at."""
        while not self._unread:
            self._arrived.clear()
            async with asyncio.timeout(10):
                await self._arrived.wait()
        return self._unread.popleft()

    async def expect(self, method: str) -> dict[str, Any]:
        """The next message, which has to be a call of `method`."""
        message = await self.receive()
        assert message.get("method") == method, f"expected {method}, the client sent {message}"
        return message

    async def expect_params(self, method: str) -> Any:
        return (await self.expect(method)).get("params")

    async def expect_nothing(self) -> None:
        await settle()
        assert not self._unread, f"the client sent {list(self._unread)}"

    def check_all_read(self) -> None:
        assert not self._unread, f"the test never looked at {list(self._unread)}"

    # -------------------------------------------------------------- what the server sends

    async def send(self, message: dict[str, Any]) -> None:
        await self.wire.send(frame(message))

    async def send_bytes(self, data: bytes) -> None:
        await self.wire.send(data)

    async def respond(self, request: dict[str, Any], result: Any) -> None:
        await self.send({"id": request["id"], "result": result})

    async def refuse(self, request: dict[str, Any], code: int, data: Any = None) -> None:
        error = {"code": code, "message": "refused"} | ({} if data is None else {"data": data})
        await self.send({"id": request["id"], "error": error})

    async def notify(self, method: str, params: Any) -> None:
        await self.send({"method": method, "params": params})

    async def publish(self, items: list[Any], version: int | None = None, uri: str = URI) -> None:
        params = {"uri": uri, "diagnostics": items} | ({} if version is None else {"version": version})
        await self.notify("textDocument/publishDiagnostics", params)
        await settle()

    async def ask(self, method: str, params: Any = None, request_id: Any = None) -> dict[str, Any]:
        """Ask the client something; its answer."""
        request_id = f"s{next(self._ids)}" if request_id is None else request_id
        await self.send({"id": request_id, "method": method, "params": params})
        # The client may call us in the meantime: its answer is what carries the id and no method.
        async with asyncio.timeout(10):
            while True:
                for message in self._unread:
                    if "method" not in message and message["id"] == request_id:
                        self._unread.remove(message)
                        return message
                self._arrived.clear()
                await self._arrived.wait()

    async def register_pull(self, registration_id: str = "pull", **options: Any) -> None:
        await self.ask(
            "client/registerCapability",
            {
                "registrations": [
                    {"id": registration_id, "method": "textDocument/diagnostic", "registerOptions": options}
                ]
            },
        )
        await settle()

    async def answer_pull(self, items: list[Any] | None = None, **report: Any) -> dict[str, Any]:
        """Expect a pull and answer it; the parameters of the pull."""
        request = await self.expect("textDocument/diagnostic")
        await self.respond(request, {"kind": "full", "items": items or [], **report})
        await settle()
        params: dict[str, Any] = request["params"]
        return params

    async def greet(self, capabilities: dict[str, Any] | None = None, **result: Any) -> dict[str, Any]:
        """The handshake, from the server's side; the parameters of `initialize`."""
        request = await self.expect("initialize")
        known = {"textDocumentSync": 2} | (capabilities or {})
        await self.respond(request, {"capabilities": known, **result})
        await self.expect("initialized")
        params: dict[str, Any] = request["params"]
        return params

    async def expect_farewell(self) -> None:
        """`shutdown` and `exit`, as LSP has them: without parameters."""
        request = await self.expect("shutdown")
        assert "params" not in request
        await self.respond(request, None)
        assert "params" not in await self.expect("exit")

    async def aclose(self) -> None:
        self._reader.cancel()
        await asyncio.wait([self._reader])

    async def _read(self) -> None:
        buffer = b""
        while data := await self.wire.receive():
            buffer += data
            while (cut := _cut(buffer)) is not None:
                body, buffer = cut
                message = json.loads(body.decode())
                self.sent_by_client.append(message)
                self._unread.append(message)
                self._arrived.set()
        self.eof.set()


def _cut(buffer: bytes) -> tuple[bytes, bytes] | None:
    head, separator, rest = buffer.partition(b"\r\n\r\n")
    if not separator:
        return None
    fields = dict(line.split(b": ", 1) for line in head.split(b"\r\n"))
    length = int(fields[b"Content-Length"])
    return (rest[:length], rest[length:]) if len(rest) >= length else None


def make_launch(behaviour: ServerBehaviour | None = None, **more: Any) -> ServerLaunch:
    command = more.pop("command", None) or LaunchCommand(("fake-server", "--stdio"), Path("/"), {})
    return ServerLaunch(ServerId("fake"), command, ROOT, behaviour=behaviour or ServerBehaviour(), **more)


def text_document(text: str, uri: str = URI, language_id: str = "python") -> TextDocument:
    return TextDocument(DocumentUri(uri), language_id, text)


class MemorySide:
    """A client's `connect`, and the server that it reaches."""

    def __init__(self) -> None:
        self.client_end, self.server_end = memory_transport_pair()
        self.server = FakeServer(self.server_end)

    async def connect(self, _command: LaunchCommand) -> MemoryTransport:
        return self.client_end

    async def crash(self, exit_code: int = -11, stderr: str = "") -> None:
        """The process ends: both streams with it."""
        self.server_end.exit_code = exit_code
        self.server_end.stderr_tail = stderr
        await self.server_end.aclose()
        await settle()


class Stage:
    """A client that is running against a fake server in memory, and the clock of both."""

    def __init__(self, client: LanguageClient, side: MemorySide, clock: ManualClock) -> None:
        self.client = client
        self.side = side
        self.server = side.server
        self.clock = clock
        self.initialize_params: dict[str, Any] = {}
        self._tasks: list[asyncio.Task[Any]] = []

    def diagnose(self, text: str, uri: str = URI, *, is_module: bool = False) -> "asyncio.Task[Any]":
        """A call that is under way."""
        document = replace(text_document(text, uri), is_module=is_module)
        task = asyncio.create_task(self.client.diagnose(document))
        self._tasks.append(task)
        return task

    async def wind(self, seconds: float) -> None:
        await wind(self.clock, seconds)

    async def opened(self) -> int:
        """Expect a didOpen; its version."""
        params = await self.server.expect_params("textDocument/didOpen")
        version: int = params["textDocument"]["version"]
        return version

    async def changed(self) -> int:
        """Expect a didChange; its version."""
        params = await self.server.expect_params("textDocument/didChange")
        version: int = params["textDocument"]["version"]
        return version

    async def verdict(self, text: str, items: list[Any], uri: str = URI, *, is_module: bool = False) -> Any:
        """One whole round with a server that pushes versions: `items` on `text`."""
        is_open = uri in self.client.open_documents
        task = self.diagnose(text, uri, is_module=is_module)
        version = await (self.changed() if is_open else self.opened())
        await self.server.publish(items, version, uri)
        await self.wind(10)
        return await task

    async def finish(self) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        if self.client.state is ClientState.RUNNING:
            closing = asyncio.create_task(self.client.aclose())
            await self.server.expect_farewell()
            await closing
        await self.client.aclose()


@asynccontextmanager
async def on_stage(
    behaviour: ServerBehaviour | None = None,
    capabilities: dict[str, Any] | None = None,
    *,
    max_open_documents: int = 64,
    result: dict[str, Any] | None = None,
    **launch: Any,
) -> AsyncIterator[Stage]:
    """A client that has greeted a fake server. Leaving it stops both, and fails where a message stayed unread."""
    side, clock = MemorySide(), ManualClock()
    client = LanguageClient(
        make_launch(behaviour, **launch), clock=clock, connect=side.connect, max_open_documents=max_open_documents
    )
    stage = Stage(client, side, clock)
    starting = asyncio.create_task(client.start())
    stage.initialize_params = await side.server.greet(capabilities, **(result or {}))
    if launch.get("settings"):
        await side.server.expect("workspace/didChangeConfiguration")
    await starting
    try:
        yield stage
        await stage.finish()
        side.server.check_all_read()
    finally:
        # Where the test failed nobody answers a farewell any more.
        await side.server_end.aclose()
        await client.aclose()
        await side.server.aclose()


class FakeProcess:
    """A fake server in a process of its own; made by `fake_process`, given to a client as its command."""

    def __init__(
        self, command: LaunchCommand, events: "asyncio.Queue[dict[str, Any]]", tell: Callable[..., Awaitable[None]]
    ) -> None:
        self.command = command
        self.tell = tell
        """Have the process do something: see `fake_server_process.py`."""
        self.pid = 0
        self._events = events
        self._stdin: asyncio.Queue[bytes] = asyncio.Queue()
        self._answers: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
        self._sorter = asyncio.create_task(self._sort())
        self.server = FakeServer(self)

    async def receive(self) -> bytes:
        return await self._stdin.get()

    async def send(self, data: bytes) -> None:
        await self.tell(do="write", data=base64.b64encode(data).decode())

    async def wait_started(self) -> None:
        """The process is there and listens."""
        self.pid = (await self._answers.get())["pid"]

    async def spawn_grandchild(self) -> int:
        """Have a child of the server that outlives it and holds its streams; the child's process id."""
        await self.tell(do="spawn_grandchild")
        pid: int = (await self._answers.get())["grandchild"]
        return pid

    async def aclose(self) -> None:
        await self.server.aclose()
        self._sorter.cancel()
        await asyncio.wait([self._sorter])

    async def _sort(self) -> None:
        while True:
            event = await self._events.get()
            if "stdin" in event:
                self._stdin.put_nowait(base64.b64decode(event["stdin"]))
            else:
                self._answers.put_nowait(event)


@asynccontextmanager
async def fake_process() -> AsyncIterator[FakeProcess]:
    """A fake server's process to be, and the channel by which it is driven. Leaving it checks that all was read."""
    events: asyncio.Queue[dict[str, Any]] = asyncio.Queue()
    writers: asyncio.Queue[asyncio.StreamWriter] = asyncio.Queue()

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        writers.put_nowait(writer)
        while line := await reader.readline():
            events.put_nowait(json.loads(line))
        writer.close()

    async def tell(**order: Any) -> None:
        writer = await writers.get()
        writers.put_nowait(writer)
        writer.write(json.dumps(order).encode() + b"\n")
        with contextlib.suppress(ConnectionError):
            await writer.drain()

    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "control")
        listener = await asyncio.start_unix_server(serve, path, limit=2**26)
        script = str(Path(__file__).with_name("fake_server_process.py"))
        command = LaunchCommand((sys.executable, "-I", "-S", script, path), Path(folder), dict(os.environ))
        process = FakeProcess(command, events, tell)
        try:
            yield process
            process.server.check_all_read()
        finally:
            await process.aclose()
            while not writers.empty():
                writers.get_nowait().close()
            listener.close()
            await listener.wait_closed()
