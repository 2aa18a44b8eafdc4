"""The end of a server: told at once, to everybody, with one cause; and the orderly end."""

import asyncio

import pytest

from jupyter_lsp_agent.core.behaviour import ReadySignal, ServerBehaviour
from jupyter_lsp_agent.core.errors import ClosedError, ServerExitedError, TransportError
from jupyter_lsp_agent.lsp.client import ClientState
from tests.support.fake_server import PULL, on_stage, settle, text_document

STATIC = {"diagnosticProvider": PULL}


async def test_all_who_wait_fail_at_once_with_the_same_cause() -> None:
    async with on_stage(capabilities=STATIC) as stage:
        pulled, queued = stage.diagnose("x\n"), stage.diagnose("y\n")
        await stage.opened()
        await stage.server.expect("textDocument/diagnostic")
        closed = asyncio.create_task(stage.client.wait_closed())
        await stage.side.crash(-11, "segmentation fault")
        with pytest.raises(ServerExitedError) as first:
            await pulled
        with pytest.raises(ServerExitedError) as second:
            await queued
        assert first.value is second.value is await closed
        assert (first.value.exit_code, first.value.stderr_tail) == (-11, "segmentation fault")
        assert stage.client.state is ClientState.FAILED


@pytest.mark.parametrize("behaviour", [ServerBehaviour(), ServerBehaviour(ready=ReadySignal.QUIESCENT)])
async def test_who_waits_for_a_push_or_for_readiness_fails_too(behaviour: ServerBehaviour) -> None:
    async with on_stage(behaviour) as stage:
        task = stage.diagnose("x\n")
        await stage.opened()
        await stage.side.crash()
        with pytest.raises(ServerExitedError):
            await task


async def test_a_dead_server_is_not_asked_again() -> None:
    async with on_stage() as stage:
        await stage.side.crash()
        with pytest.raises(TransportError):
            await stage.client.diagnose(text_document("x\n"))
        assert stage.client.state is ClientState.FAILED


async def test_a_server_that_closed_its_output_is_ended() -> None:
    async with on_stage() as stage:
        await stage.side.crash()
        assert stage.side.client_end.is_closed


@pytest.mark.parametrize(
    "garbage", [b"Content-Length: 3\r\n\r\n{}}", b"Content-Length: -1\r\n\r\n", b"Content-Length: 2\r\n\r\n[]"]
)
async def test_bytes_that_are_no_protocol_end_it_with_their_cause(garbage: bytes) -> None:
    async with on_stage() as stage:
        task = stage.diagnose("x\n")
        await stage.opened()
        await stage.server.send_bytes(garbage)
        with pytest.raises(TransportError):
            await task
        await settle()
        assert stage.client.state is ClientState.FAILED


async def test_the_farewell_is_shutdown_then_exit() -> None:
    async with on_stage() as stage:
        closing = asyncio.create_task(stage.client.aclose())
        await stage.server.expect_farewell()
        await closing
        assert stage.client.state is ClientState.STOPPED
        assert stage.side.client_end.is_closed


async def test_a_server_that_does_not_answer_shutdown_is_ended_all_the_same() -> None:
    async with on_stage() as stage:
        closing = asyncio.create_task(stage.client.aclose())
        request = await stage.server.expect("shutdown")
        await stage.wind(2)
        await closing
        assert stage.client.state is ClientState.STOPPED
        seen = [await stage.server.receive() for _ in range(2)]
        assert {message["method"] for message in seen} == {"exit", "$/cancelRequest"}
        assert request["id"] is not None


async def test_a_server_that_refuses_shutdown_is_told_to_exit() -> None:
    async with on_stage() as stage:
        closing = asyncio.create_task(stage.client.aclose())
        await stage.server.refuse(await stage.server.expect("shutdown"), -32600)
        await stage.server.expect("exit")
        await closing
        assert stage.client.state is ClientState.STOPPED


async def test_closing_finishes_though_its_caller_gives_up() -> None:
    async with on_stage() as stage:
        closing = asyncio.create_task(stage.client.aclose())
        request = await stage.server.expect("shutdown")
        closing.cancel()
        await settle()
        await stage.server.respond(request, None)
        await stage.server.expect("exit")
        with pytest.raises(asyncio.CancelledError):
            await closing
        assert stage.client.state is ClientState.STOPPED
        assert stage.side.client_end.is_closed


async def test_several_may_close_and_whoever_waits_is_told() -> None:
    async with on_stage() as stage:
        task = stage.diagnose("x\n")
        await stage.opened()
        closing = [asyncio.create_task(stage.client.aclose()) for _ in range(3)]
        await stage.server.expect_farewell()
        await asyncio.gather(*closing)
        with pytest.raises(TransportError):
            await task
        with pytest.raises((ClosedError, TransportError)):
            await stage.client.diagnose(text_document("x\n"))
