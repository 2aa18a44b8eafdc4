"""Starting and stopping many servers leaves no child, no zombie, no descriptor, no thread."""

import os
import threading
from pathlib import Path

import psutil
import pytest

from jupyter_lsp_agent.core.errors import ServerNotFoundError
from jupyter_lsp_agent.core.launch import LaunchCommand
from jupyter_lsp_agent.jsonrpc.transport import StdioTransport
from tests.support.full import sample

_N_SPAWNS = sample(500, 60)
_COMMANDS = [
    ("/bin/cat",),  # ends with its input
    ("/bin/sh", "-c", "exit 3"),  # ends by itself
    ("/bin/sh", "-c", "kill -9 $$"),
    ("/no/such/program",),
]


@pytest.mark.timeout(600)
async def test_many_starts_leave_no_child_and_no_descriptor() -> None:
    process = psutil.Process()
    await start_and_stop(_COMMANDS[0])  # what is made once and for all
    before = process.num_fds(), threading.active_count()
    children = set(process.children())
    for number in range(_N_SPAWNS):
        await start_and_stop(_COMMANDS[number % len(_COMMANDS)])
    assert set(process.children()) <= children
    assert (process.num_fds(), threading.active_count()) == before


async def start_and_stop(argv: tuple[str, ...]) -> None:
    command = LaunchCommand(argv, Path.cwd(), {"PATH": os.defpath})
    try:
        transport = await StdioTransport.spawn(command)
    except ServerNotFoundError:
        return
    await transport.aclose()
