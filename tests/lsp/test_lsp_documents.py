"""How texts get to a server, and that a version stands for one text."""

import asyncio
from typing import Any

import pytest

from jupyter_lsp_agent.core.behaviour import FullChange, ServerBehaviour
from jupyter_lsp_agent.core.errors import TransportError
from jupyter_lsp_agent.core.ids import DocumentUri
from jupyter_lsp_agent.lsp.client import FileChange, FileChangeKind
from tests.support.fake_server import URI, Stage, error_item, on_stage, settle

PULLS = {"diagnosticProvider": {}}


async def pulled(stage: Stage, text: str, uri: str = URI) -> None:
    """A verdict on `text`, whatever messages that took."""
    task = stage.diagnose(text, uri)
    while not task.done():
        message = await stage.server.receive()
        if message["method"] == "textDocument/diagnostic":
            await stage.server.respond(message, {"kind": "full", "items": []})
            await task


def methods_sent(stage: Stage) -> list[str]:
    return [message["method"] for message in stage.server.sent_by_client if "method" in message][2:]


def params_of(stage: Stage, method: str) -> list[Any]:
    return [message["params"] for message in stage.server.sent_by_client if message.get("method") == method]


async def test_a_text_is_opened_once_and_then_replaced_whole() -> None:
    async with on_stage(capabilities=PULLS) as stage:
        await pulled(stage, "a = 1\n")
        await pulled(stage, "a = 2\n")
        opened, changed = params_of(stage, "textDocument/didOpen"), params_of(stage, "textDocument/didChange")
        version = opened[0]["textDocument"]["version"]
        item = {"uri": URI, "languageId": "python", "version": version, "text": "a = 1\n"}
        assert opened == [{"textDocument": item}]
        assert changed[0]["textDocument"]["uri"] == URI
        assert changed[0]["textDocument"]["version"] > version
        assert changed[0]["contentChanges"] == [{"text": "a = 2\n"}]


async def test_the_same_text_is_not_sent_again() -> None:
    async with on_stage(capabilities=PULLS) as stage:
        await pulled(stage, "a = 1\n")
        await pulled(stage, "a = 1\n")
        assert methods_sent(stage).count("textDocument/didChange") == 0
        assert methods_sent(stage).count("textDocument/diagnostic") == 2


async def test_a_text_that_was_changed_and_put_back_is_sent_each_time() -> None:
    async with on_stage(capabilities=PULLS) as stage:
        for text in ("a\n", "b\n", "a\n"):
            await pulled(stage, text)
        changes = params_of(stage, "textDocument/didChange")
        assert [change["contentChanges"][0]["text"] for change in changes] == ["b\n", "a\n"]


RANGES = [
    ("", "utf-16", (0, 0)),
    ("a = 1\n", "utf-16", (1, 0)),
    ("a\r\nb\rc", "utf-16", (2, 1)),
    ("x = '\U0001f600é'", "utf-16", (0, 9)),
    ("x = '\U0001f600é'", "utf-8", (0, 12)),
    ("x = '\U0001f600é'", "utf-32", (0, 8)),
]


@pytest.mark.parametrize(("old", "encoding", "end"), RANGES)
async def test_a_server_may_want_the_whole_range_over_the_old_text(
    old: str, encoding: str, end: tuple[int, int]
) -> None:
    behaviour = ServerBehaviour(full_change=FullChange.RANGE)
    async with on_stage(behaviour, PULLS | {"positionEncoding": encoding}) as stage:
        await pulled(stage, old)
        await pulled(stage, "new\n")
        (change,) = params_of(stage, "textDocument/didChange")
        whole = {"start": {"line": 0, "character": 0}, "end": {"line": end[0], "character": end[1]}}
        assert change["contentChanges"] == [{"range": whole, "text": "new\n"}]


@pytest.mark.parametrize("sync", [1, {"openClose": True, "change": 1}])
async def test_a_server_that_takes_full_texts_only_gets_no_range(sync: Any) -> None:
    behaviour = ServerBehaviour(full_change=FullChange.RANGE)
    async with on_stage(behaviour, PULLS | {"textDocumentSync": sync}) as stage:
        await pulled(stage, "old\n")
        await pulled(stage, "new\n")
        (change,) = params_of(stage, "textDocument/didChange")
        assert change["contentChanges"] == [{"text": "new\n"}]


@pytest.mark.parametrize("sync", [0, None, {"openClose": True}])
async def test_a_server_that_takes_no_changes_has_its_documents_opened_again(sync: Any) -> None:
    async with on_stage(capabilities=PULLS | {"textDocumentSync": sync}) as stage:
        await pulled(stage, "old\n")
        await pulled(stage, "new\n")
        opened = params_of(stage, "textDocument/didOpen")
        assert [item["textDocument"]["text"] for item in opened] == ["old\n", "new\n"]
        assert methods_sent(stage).index("textDocument/didClose") == 2
        assert "textDocument/didChange" not in methods_sent(stage)


async def test_lone_surrogates_are_sent_as_what_every_server_can_read() -> None:
    async with on_stage(capabilities=PULLS) as stage:
        await pulled(stage, "x = '\ud83d' + y\n")
        (opened,) = params_of(stage, "textDocument/didOpen")
        assert opened["textDocument"]["text"] == "x = '\ufffd' + y\n"


async def test_a_save_is_told_after_each_change_where_the_server_checks_only_then() -> None:
    async with on_stage(ServerBehaviour(save_after_change=True), PULLS) as stage:
        for text in ("a\n", "b\n", "b\n"):
            await pulled(stage, text)
        assert methods_sent(stage) == [
            "textDocument/didOpen",
            "textDocument/didSave",
            "textDocument/diagnostic",
            "textDocument/didChange",
            "textDocument/didSave",
            "textDocument/diagnostic",
            "textDocument/diagnostic",
        ]


SAVING = ServerBehaviour(save_after_change=True)
SAVES = [
    ({"change": 1, "save": {"includeText": True}}, [{"textDocument": {"uri": URI}, "text": "a\n"}]),
    ({"change": 1, "save": {}}, [{"textDocument": {"uri": URI}}]),
    ({"change": 1, "save": True}, [{"textDocument": {"uri": URI}}]),
    ({"change": 1, "save": False}, [{"textDocument": {"uri": URI}}]),
    (1, [{"textDocument": {"uri": URI}}]),
]


@pytest.mark.parametrize(("sync", "expected"), SAVES)
async def test_a_save_is_told_as_the_server_wants_it(sync: Any, expected: list[Any]) -> None:
    async with on_stage(SAVING, PULLS | {"textDocumentSync": sync}) as stage:
        await pulled(stage, "a\n")
        assert params_of(stage, "textDocument/didSave") == expected


async def test_a_document_is_closed_once_and_opened_with_a_version_never_used_before() -> None:
    async with on_stage(capabilities=PULLS) as stage:
        await pulled(stage, "a\n")
        await stage.client.close_document(URI)
        await stage.client.close_document(URI)
        assert await stage.server.expect_params("textDocument/didClose") == {"textDocument": {"uri": URI}}
        assert stage.client.open_documents == ()
        await pulled(stage, "a\n")
        first, second = params_of(stage, "textDocument/didOpen")
        assert second["textDocument"]["version"] > first["textDocument"]["version"]


async def test_no_more_documents_are_open_than_the_bound() -> None:
    async with on_stage(capabilities=PULLS, max_open_documents=2) as stage:
        for name in ("a", "b", "a", "c"):
            await pulled(stage, "x\n", f"file:///project/{name}.py")
        assert stage.client.open_documents == ("file:///project/a.py", "file:///project/c.py")
        closed = params_of(stage, "textDocument/didClose")
        assert closed == [{"textDocument": {"uri": "file:///project/b.py"}}]


async def test_a_document_in_use_is_not_closed_for_another() -> None:
    async with on_stage(capabilities=PULLS, max_open_documents=1) as stage:
        first, second = stage.diagnose("a\n", "file:///project/a.py"), stage.diagnose("b\n", "file:///project/b.py")
        calls = [await stage.server.receive() for _ in range(4)]
        assert "textDocument/didClose" not in {call["method"] for call in calls}
        for call in calls:
            if call["method"] == "textDocument/diagnostic":
                await stage.server.respond(call, {"kind": "full", "items": [error_item()]})
        assert len((await first).diagnostics) == len((await second).diagnostics) == 1


async def test_spellings_of_one_uri_are_one_document() -> None:
    async with on_stage() as stage:
        task = stage.diagnose("a\n", "file:///project/a%20(1).py")
        version = await stage.opened()
        await stage.server.publish([error_item()], version, "file:///project/a%20%281%29.py")
        await stage.wind(1)
        assert len((await task).diagnostics) == 1
        assert stage.client.open_documents == ("file:///project/a%20(1).py",)


async def test_a_change_on_disk_is_told_and_makes_what_was_pushed_old() -> None:
    async with on_stage() as stage:
        await stage.verdict("import helpers\n", [error_item("unresolved")])
        changes = [{"uri": "file:///project/helpers.py", "type": 1}]
        await stage.client.did_change_watched_files(
            [FileChange(DocumentUri("file:///project/helpers.py"), FileChangeKind.CREATED)]
        )
        assert await stage.server.expect_params("workspace/didChangeWatchedFiles") == {"changes": changes}
        task = stage.diagnose("import helpers\n")
        version = await stage.changed()
        await stage.server.publish([], version)
        await stage.wind(1)
        assert (await task).diagnostics == ()
        await stage.client.did_change_watched_files([])
        await stage.server.expect_nothing()


MODULE = "file:///project/helpers.py"
NEIGHBOURS: list[tuple[str, bool]] = [("opened", True), ("changed", True), ("closed", True), ("asked", False)]


@pytest.mark.parametrize(("happens", "is_old"), NEIGHBOURS)
@pytest.mark.parametrize("is_module", [True, False])
async def test_what_was_pushed_is_old_once_a_module_has_another_text(
    happens: str, *, is_old: bool, is_module: bool
) -> None:
    async with on_stage() as stage:
        if happens != "opened":
            await stage.verdict("old\n", [], MODULE, is_module=is_module)
        await stage.verdict("import helpers\n", [error_item()])
        if happens == "closed":
            await stage.client.close_document(MODULE)
            await stage.server.expect("textDocument/didClose")
        elif happens == "asked":
            await stage.diagnose("old\n", MODULE, is_module=is_module)
        else:
            await stage.verdict("new\n", [], MODULE, is_module=is_module)
        task = stage.diagnose("import helpers\n")
        if is_old and is_module:
            version = await stage.changed()
            await stage.wind(60)
            assert not task.done()
            await stage.server.publish([], version)
            await stage.wind(1)
            assert (await task).diagnostics == ()
        else:
            assert len((await task).diagnostics) == 1
        await stage.server.expect_nothing()


async def test_a_dead_server_is_told_nothing() -> None:
    async with on_stage(capabilities=PULLS) as stage:
        await pulled(stage, "a\n")
        await stage.side.crash()
        with pytest.raises(TransportError):
            await stage.client.close_document(URI)


async def test_a_document_that_is_closed_between_two_calls_is_opened_for_the_second() -> None:
    async with on_stage(capabilities=PULLS) as stage:
        first = stage.diagnose("a\n")
        await stage.opened()
        request = await stage.server.expect("textDocument/diagnostic")
        closing = asyncio.create_task(stage.client.close_document(URI))
        await settle()
        second = stage.diagnose("a\n")
        await stage.server.respond(request, {"kind": "full", "items": [error_item("one")]})
        assert [item.message for item in (await first).diagnostics] == ["one"]
        await closing
        await stage.server.expect("textDocument/didClose")
        await stage.opened()
        await stage.server.answer_pull([error_item("two")])
        assert [item.message for item in (await second).diagnostics] == ["two"]
        assert stage.client.open_documents == (URI,)
