"""A program that owns servers, to be killed by tests: `python owner.py WAY MARK` in the checkout.

WAY is what it does once two servers run, one of them stubborn, one busy answering: `serve` goes on for ever,
the others end the program, none of them closing anything. `fork` leaves a forked process behind that holds every
descriptor, tells its pid and goes on. It writes a line at each stage: `starting`, `started`, `serving`.
"""

import asyncio
import os
import signal
import sys
from typing import Any

from jupyter_lsp_agent.core.clock import SystemClock
from jupyter_lsp_agent.core.launch import LaunchCommand
from jupyter_lsp_agent.jsonrpc.connection import Connection
from jupyter_lsp_agent.jsonrpc.transport import StdioTransport
from tests.support.processes import stubborn


class Handler:
    def __init__(self) -> None:
        self.is_ready = asyncio.Event()

    async def handle_request(self, method: str, params: Any) -> Any:
        return params if method == "echo" else None

    def handle_notification(self, method: str, params: Any) -> None:
        self.is_ready.set()


async def connect(command: LaunchCommand, handler: Handler) -> Connection:
    connection = Connection(await StdioTransport.spawn(command), handler, clock=SystemClock())
    connection.start()
    return connection


async def talk(connection: Connection) -> None:
    """`cat` sends every request back, so we answer ourselves, for ever."""
    while True:
        await connection.request("echo", ["x" * 10_000])


async def main(way: str, mark: str) -> None:
    print("starting", flush=True)
    environment = {"MARK": mark, "PATH": os.defpath}
    handler = Handler()
    stubborn_one = await connect(stubborn("deaf", "child", "daemon", environment=environment), handler)
    print("started", flush=True)
    # A handshake that is never answered.
    asking = asyncio.create_task(stubborn_one.request("initialize"))
    echo = await connect(LaunchCommand(("/bin/cat",), stubborn().cwd, environment), Handler())
    talking = asyncio.create_task(talk(echo))
    await echo.request("echo", [])
    await handler.is_ready.wait()
    print("serving", flush=True)
    if way == "fork":
        pid = os.fork()
        if pid == 0:
            signal.pause()
        print(pid, flush=True)
    if way == "close":
        closing = asyncio.create_task(stubborn_one.aclose())
        await asyncio.wait([closing], timeout=0)
        return  # with it cancelled half-way, as everything that still runs is
    leave(way)
    await asyncio.wait([asking, talking])


def leave(way: str) -> None:
    match way:
        case "exit":
            sys.exit(3)
        case "raise":
            raise RuntimeError("unhandled")
        case "abort":
            os.abort()
        case "_exit":
            os._exit(4)
        case "stop-loop":
            asyncio.get_running_loop().stop()


asyncio.run(main(*sys.argv[1:]))
