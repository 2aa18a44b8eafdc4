"""The first exchange with a server, and what it may ask from the first moment on."""

import asyncio
import os
from typing import Any

import pytest

from jupyter_lsp_agent.core.behaviour import EmptyConfiguration, ReadySignal, ServerBehaviour
from jupyter_lsp_agent.core.errors import ClosedError, InitializeFailedError, SpawnFailedError
from jupyter_lsp_agent.core.positions import PositionEncoding
from jupyter_lsp_agent.lsp.client import ClientState, LanguageClient
from jupyter_lsp_agent.lsp.client_capabilities import client_capabilities, offers
from tests.support.clock import ManualClock
from tests.support.fake_server import ROOT, MemorySide, make_launch, on_stage, settle


async def test_initialize_says_who_asks_and_where() -> None:
    options = {"tsserver": {"path": "/x"}}
    info = {"serverInfo": {"name": "Fake", "version": "1.2"}}
    async with on_stage(initialization_options=options, result=info) as stage:
        params = stage.initialize_params
        assert params["processId"] == os.getpid()
        assert params["rootUri"] == ROOT
        assert params["rootPath"] == "/project"
        assert params["workspaceFolders"] == [{"uri": ROOT, "name": "project"}]
        assert params["initializationOptions"] == options
        assert stage.client.server_version == "1.2"
        assert stage.client.state is ClientState.RUNNING


async def test_a_server_that_says_little_is_taken_as_it_is() -> None:
    async with on_stage() as stage:
        assert "initializationOptions" not in stage.initialize_params
        assert stage.client.server_version is None
        assert stage.client.server_version is None
        assert stage.client.capabilities.position_encoding is PositionEncoding.UTF_16


async def test_settings_follow_initialized() -> None:
    async with on_stage(settings={"python": {"pythonPath": "/p"}}):
        pass  # `on_stage` expects the didChangeConfiguration


async def test_without_settings_none_are_sent() -> None:
    async with on_stage() as stage:
        await stage.server.expect_nothing()


ASKED_DURING_INITIALIZE = {
    "window/workDoneProgress/create": ({"token": 1}, None),
    "client/registerCapability": ({"registrations": []}, None),
    "client/unregisterCapability": ({"unregisterations": []}, None),
    "workspace/workspaceFolders": (None, [{"uri": ROOT, "name": "project"}]),
    "workspace/applyEdit": ({"edit": {}}, {"applied": False, "failureReason": "this client applies no edits"}),
    "window/showMessageRequest": ({"type": 1, "message": "Restart?", "actions": [{"title": "yes"}]}, None),
    "window/showDocument": ({"uri": "https://example.org"}, {"success": False}),
    "workspace/diagnostic/refresh": (None, None),
    "workspace/semanticTokens/refresh": (None, None),
    "workspace/inlayHint/refresh": (None, None),
    "workspace/codeLens/refresh": (None, None),
}


@pytest.mark.parametrize("method", ASKED_DURING_INITIALIZE)
async def test_a_server_is_answered_before_it_answers_initialize(method: str) -> None:
    params, expected = ASKED_DURING_INITIALIZE[method]
    side, clock = MemorySide(), ManualClock()
    client = LanguageClient(make_launch(), clock=clock, connect=side.connect)
    starting = asyncio.create_task(client.start())
    initialize = await side.server.expect("initialize")
    answer = await side.server.ask(method, params)
    assert answer["result"] == expected
    await side.server.respond(initialize, {"capabilities": {}})
    await side.server.expect("initialized")
    await starting
    closing = asyncio.create_task(client.aclose())
    await side.server.expect_farewell()
    await closing
    await side.server.aclose()


async def test_what_is_not_known_is_answered_with_method_not_found() -> None:
    async with on_stage() as stage:
        answer = await stage.server.ask("workspace/makeCoffee", {})
        assert answer["error"]["code"] == -32601


@pytest.mark.parametrize("request_id", [0, 7, "seven", "0"])
async def test_ids_of_any_type_are_echoed(request_id: Any) -> None:
    async with on_stage() as stage:
        answer = await stage.server.ask("workspace/workspaceFolders", None, request_id)
        assert answer["id"] == request_id
        assert type(answer["id"]) is type(request_id)


SETTINGS = {"python": {"pythonPath": "/p", "analysis": {"mode": "strict"}}, "ty.lint": {"level": 2}, "off": False}
SECTIONS = [
    ("python", {"pythonPath": "/p", "analysis": {"mode": "strict"}}),
    ("python.analysis", {"mode": "strict"}),
    ("python.analysis.mode", "strict"),
    ("ty", {"lint": {"level": 2}}),
    ("ty.lint", {"level": 2}),
    ("ty.lint.level", 2),
    ("off", False),
    ("nowhere", None),
    ("python.nowhere", None),
    ("python.pythonPath.deeper", None),
]


async def test_configuration_has_one_answer_for_each_item() -> None:
    async with on_stage(settings=SETTINGS) as stage:
        items = [{"section": section, "scopeUri": ROOT} for section, _ in SECTIONS]
        answer = await stage.server.ask("workspace/configuration", {"items": items})
        assert answer["result"] == [expected for _, expected in SECTIONS]
        whole = await stage.server.ask("workspace/configuration", {"items": [{}]})
        assert whole["result"] == [SETTINGS]


@pytest.mark.parametrize(("empty", "expected"), [(EmptyConfiguration.NULL, None), (EmptyConfiguration.OBJECT, {})])
async def test_an_unknown_section_is_null_or_an_empty_object_as_the_server_needs(
    empty: EmptyConfiguration, expected: Any
) -> None:
    async with on_stage(ServerBehaviour(empty_configuration=empty)) as stage:
        answer = await stage.server.ask("workspace/configuration", {"items": [{"section": "prisma"}, {}]})
        assert answer["result"] == [expected, expected]


def test_every_offer_has_a_reason_and_a_place_of_its_own() -> None:
    table = offers(ServerBehaviour(ready=ReadySignal.QUIESCENT))
    assert all(len(offer.reason) > 10 for offer in table)
    places = [offer.place for offer in table]
    assert len(set(places)) == len(places)


def test_pull_is_offered_as_the_behaviour_says() -> None:
    both = client_capabilities(ServerBehaviour())
    assert both["textDocument"]["diagnostic"]["dynamicRegistration"] is True
    assert both["workspace"]["diagnostics"] == {"refreshSupport": True}
    static = client_capabilities(ServerBehaviour(dynamic_registration=False))
    assert static["textDocument"]["diagnostic"]["dynamicRegistration"] is False
    push = client_capabilities(ServerBehaviour(advertise_pull=False))
    assert "diagnostic" not in push["textDocument"]
    assert "diagnostics" not in push["workspace"]


def test_progress_is_not_offered_to_a_server_that_it_crashes() -> None:
    assert client_capabilities(ServerBehaviour())["window"]["workDoneProgress"] is True
    assert "workDoneProgress" not in client_capabilities(ServerBehaviour(refuses_progress=True))["window"]


def test_server_status_is_asked_for_where_it_is_needed() -> None:
    assert "experimental" not in client_capabilities(ServerBehaviour())
    offered = client_capabilities(ServerBehaviour(ready=ReadySignal.QUIESCENT))
    assert offered["experimental"] == {"serverStatusNotification": True}


async def start_badly(side: MemorySide, clock: ManualClock | None = None) -> tuple[LanguageClient, Any]:
    client = LanguageClient(make_launch(), clock=clock or ManualClock(), connect=side.connect)
    starting = asyncio.create_task(client.start())
    return client, starting


async def check_failed(client: LanguageClient, side: MemorySide, starting: Any, *words: str) -> None:
    with pytest.raises(InitializeFailedError) as caught:
        await starting
    for word in ("fake", *words):
        assert word in str(caught.value)
    assert client.state is ClientState.FAILED
    assert side.client_end.is_closed
    await client.aclose()
    await side.server.aclose()


async def test_a_handshake_that_takes_too_long_is_ended() -> None:
    side, clock = MemorySide(), ManualClock()
    client, starting = await start_badly(side, clock)
    await side.server.expect("initialize")
    await settle()
    clock.advance(45)
    await check_failed(client, side, starting, "45 s")


async def test_a_server_that_dies_in_the_handshake_says_why() -> None:
    side = MemorySide()
    client, starting = await start_badly(side)
    await side.server.expect("initialize")
    await side.crash(1, "usage: fake-server\nno such option: --stdio\n")
    await check_failed(client, side, starting, "no such option: --stdio", "fake-server --stdio")


@pytest.mark.parametrize("result", [None, [], {}, {"capabilities": None}])
async def test_an_answer_without_capabilities_is_no_handshake(result: Any) -> None:
    side = MemorySide()
    client, starting = await start_badly(side)
    await side.server.respond(await side.server.expect("initialize"), result)
    await check_failed(client, side, starting, "no capabilities")


async def test_a_refused_handshake_is_told() -> None:
    side = MemorySide()
    client, starting = await start_badly(side)
    await side.server.refuse(await side.server.expect("initialize"), -32603)
    await check_failed(client, side, starting, "-32603")


async def test_a_start_that_is_given_up_leaves_nothing() -> None:
    side = MemorySide()
    client, starting = await start_badly(side)
    await side.server.expect("initialize")
    starting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await starting
    assert client.state is ClientState.FAILED
    assert side.client_end.is_closed
    await side.server.aclose()


async def test_a_program_that_cannot_be_started_is_told_as_it_is() -> None:
    async def connect(_command: Any) -> Any:
        raise SpawnFailedError("fake-server could not be started")

    client = LanguageClient(make_launch(), clock=ManualClock(), connect=connect)
    with pytest.raises(SpawnFailedError):
        await client.start()
    assert client.state is ClientState.FAILED


async def test_closing_while_the_program_is_being_started_ends_it() -> None:
    side, gate = MemorySide(), asyncio.Event()

    async def connect(_command: Any) -> Any:
        await gate.wait()
        return side.client_end

    client = LanguageClient(make_launch(), clock=ManualClock(), connect=connect)
    starting = asyncio.create_task(client.start())
    await settle()
    await client.aclose()
    gate.set()
    with pytest.raises(ClosedError):
        await starting
    assert side.client_end.is_closed
    await side.server.aclose()


async def test_a_client_starts_once() -> None:
    async with on_stage() as stage:
        with pytest.raises(ClosedError):
            await stage.client.start()


async def test_a_client_that_never_started_is_closed_at_once() -> None:
    client = LanguageClient(make_launch(), clock=ManualClock(), connect=MemorySide().connect)
    await client.aclose()
    await client.aclose()
    assert client.state is ClientState.STOPPED
