"""The client and a server in a process of its own: what arrives over real pipes, and that nothing outlives it."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

import psutil
import pytest

from jupyter_lsp_agent.core.clock import SystemClock
from jupyter_lsp_agent.core.errors import InitializeFailedError, ServerExitedError
from jupyter_lsp_agent.jsonrpc.transport import Patience, StdioTransport
from jupyter_lsp_agent.lsp.client import ClientState, LanguageClient
from tests.support.fake_server import FakeProcess, error_item, fake_process, frame, make_launch, text_document

IMPATIENT = partial(StdioTransport.spawn, patience=Patience(close_seconds=0.1, terminate_seconds=0.1))
PULLS = {"diagnosticProvider": {}}


def make_client(process: FakeProcess, **launch: Any) -> LanguageClient:
    return LanguageClient(make_launch(command=process.command, **launch), clock=SystemClock(), connect=IMPATIENT)


@asynccontextmanager
async def running() -> AsyncIterator[tuple[LanguageClient, FakeProcess]]:
    """A client that has greeted a server which will not end by itself."""
    async with fake_process() as process:
        client = make_client(process)
        starting = asyncio.create_task(client.start())
        await process.wait_started()
        await process.server.greet(PULLS)
        await starting
        try:
            yield client, process
        finally:
            await client.aclose()


async def stop(client: LanguageClient, process: FakeProcess) -> None:
    closing = asyncio.create_task(client.aclose())
    await process.server.expect_farewell()
    await closing


def check_gone(*pids: int) -> None:
    assert [pid for pid in pids if psutil.pid_exists(pid)] == []


async def test_a_verdict_over_pipes_and_an_orderly_end() -> None:
    async with running() as (client, process):
        assert client.pid == process.pid
        task = asyncio.create_task(client.diagnose(text_document("x = 'é\U0001f600'\n")))
        opened = await process.server.expect_params("textDocument/didOpen")
        assert opened["textDocument"]["text"] == "x = 'é\U0001f600'\n"
        await process.server.answer_pull([error_item("é\U0001f600")])
        assert [item.message for item in (await task).diagnostics] == ["é\U0001f600"]
        await stop(client, process)
        check_gone(process.pid)


async def test_a_message_that_is_cut_inside_a_character_arrives_whole() -> None:
    async with running() as (client, process):
        task = asyncio.create_task(client.diagnose(text_document("x\n")))
        await process.server.expect("textDocument/didOpen")
        request = await process.server.expect("textDocument/diagnostic")
        report = {"kind": "full", "items": [error_item("\U0001f600")]}
        data = frame({"id": request["id"], "result": report})
        inside = data.index("\U0001f600".encode()) + 2
        for piece in (data[:5], data[5:inside], data[inside:]):
            await process.server.send_bytes(piece)
        assert [item.message for item in (await task).diagnostics] == ["\U0001f600"]
        await stop(client, process)


async def test_noise_before_a_message_is_skipped() -> None:
    async with running() as (client, process):
        task = asyncio.create_task(client.diagnose(text_document("x\n")))
        await process.server.expect("textDocument/didOpen")
        await process.server.send_bytes(b"loading plugins ...\nwarning: deprecated\r\n\r\n")
        await process.server.answer_pull([error_item()])
        assert len((await task).diagnostics) == 1
        await stop(client, process)


async def test_a_long_line_on_standard_error_holds_nothing_up_and_its_end_is_kept() -> None:
    async with running() as (client, process):
        await process.tell(do="stderr", data="eHh4" * 100_000)  # 300 kB in one line, base64
        await process.tell(do="stderr", data="CmJ5ZQo=")  # "\nbye\n"
        task = asyncio.create_task(client.diagnose(text_document("x\n")))
        await process.server.expect("textDocument/didOpen")
        await process.server.answer_pull([error_item()])
        assert len((await task).diagnostics) == 1
        await process.tell(do="exit", code=3)
        cause = await client.wait_closed()
        assert isinstance(cause, ServerExitedError)
        assert cause.exit_code == 3
        assert cause.stderr_tail.endswith("bye\n") or cause.stderr_tail.endswith("bye")


async def test_a_server_that_is_killed_fails_who_waits_at_once() -> None:
    async with running() as (client, process):
        task = asyncio.create_task(client.diagnose(text_document("x\n")))
        await process.server.expect("textDocument/didOpen")
        await process.server.expect("textDocument/diagnostic")
        await process.tell(do="die")
        with pytest.raises(ServerExitedError) as caught:
            await task
        assert caught.value.exit_code == -9
        await client.aclose()
        assert client.state is ClientState.FAILED
        check_gone(process.pid)


async def test_a_server_that_closes_its_output_but_lives_counts_as_dead_and_is_ended() -> None:
    async with running() as (client, process):
        task = asyncio.create_task(client.diagnose(text_document("x\n")))
        await process.server.expect("textDocument/didOpen")
        await process.server.expect("textDocument/diagnostic")
        await process.tell(do="close_stdout")
        with pytest.raises(ServerExitedError):
            await task
        await client.aclose()
        check_gone(process.pid)


async def test_nothing_outlives_a_server_that_ignores_every_polite_word() -> None:
    async with running() as (client, process):
        await process.tell(do="ignore_sigterm")
        grandchild = await process.spawn_grandchild()
        await stop(client, process)  # it answers shutdown, and goes on
        check_gone(process.pid, grandchild)
        assert client.state is ClientState.STOPPED


async def test_a_handshake_that_takes_too_long_leaves_no_process() -> None:
    async with fake_process() as process:
        client = make_client(process, initialize_timeout_seconds=0.5)
        starting = asyncio.create_task(client.start())
        await process.wait_started()
        grandchild = await process.spawn_grandchild()
        await process.server.expect("initialize")
        with pytest.raises(InitializeFailedError):
            await starting
        cancelled = await process.server.expect("$/cancelRequest")
        assert cancelled["params"]["id"] == 1
        check_gone(process.pid, grandchild)


async def test_a_start_that_is_given_up_leaves_no_process() -> None:
    async with fake_process() as process:
        client = make_client(process)
        starting = asyncio.create_task(client.start())
        await process.wait_started()
        await process.server.expect("initialize")
        starting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await starting
        await process.server.expect("$/cancelRequest")
        check_gone(process.pid)


async def test_a_server_that_dies_in_the_handshake_has_its_last_words_in_the_error() -> None:
    async with fake_process() as process:
        client = make_client(process)
        starting = asyncio.create_task(client.start())
        await process.wait_started()
        await process.server.expect("initialize")
        await process.tell(do="stderr", data="bm8gc3VjaCBtb2R1bGUK")  # "no such module\n"
        await process.tell(do="exit", code=1)
        with pytest.raises(InitializeFailedError, match="no such module"):
            await starting
        check_gone(process.pid)
