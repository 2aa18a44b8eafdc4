"""Verdicts from what is pulled: static and registered, one at a time, asked again where the server says so."""

import asyncio
from typing import Any

import pytest

from jupyter_lsp_agent.core.behaviour import ChangedFilesReaction, Freshness, ReadySignal, ServerBehaviour
from jupyter_lsp_agent.core.clock import time_limit
from jupyter_lsp_agent.core.errors import InvalidResponseError, ResponseError
from jupyter_lsp_agent.core.ids import DocumentUri
from jupyter_lsp_agent.lsp.client import FileChange, FileChangeKind
from tests.support.fake_server import PULL, URI, Stage, error_item, on_stage, settle

STATIC = {"diagnosticProvider": PULL}
OTHER = "file:///project/other.py"


def messages(report: Any) -> list[str]:
    return [diagnostic.message for diagnostic in report.diagnostics]


async def test_a_static_provider_is_asked_about_the_text_that_was_sent() -> None:
    async with on_stage(capabilities=STATIC) as stage:
        task = stage.diagnose("x\n")
        version = await stage.opened()
        assert await stage.server.answer_pull([error_item()]) == {"textDocument": {"uri": URI}}
        report = await task
        assert (messages(report), report.version, report.freshness) == (["wrong"], version, Freshness.PULL)


async def test_a_push_cannot_stand_in_for_a_pull() -> None:
    async with on_stage(capabilities=STATIC) as stage:
        task = stage.diagnose("x\n")
        version = await stage.opened()
        request = await stage.server.expect("textDocument/diagnostic")
        await stage.server.publish([], version)
        await stage.wind(600)
        assert not task.done()
        await stage.server.respond(request, {"kind": "full", "items": [error_item()]})
        assert messages(await task) == ["wrong"]


async def test_a_provider_that_is_registered_later_is_waited_for() -> None:
    async with on_stage() as stage:
        task = stage.diagnose("x\n")
        await stage.opened()
        await stage.wind(5)
        await stage.server.register_pull(identifier="fake")
        assert await stage.server.answer_pull([]) == {"textDocument": {"uri": URI}, "identifier": "fake"}
        report = await task
        assert (messages(report), report.freshness) == ([], Freshness.PULL)


async def test_a_server_that_pushes_before_it_registers_is_believed_and_pulled_the_next_time() -> None:
    async with on_stage() as stage:
        task = stage.diagnose("x\n")
        await stage.server.publish([error_item()], await stage.opened())
        await stage.wind(0.2)
        assert (await task).freshness is Freshness.VERSIONED_PUSH
        await stage.server.register_pull()
        second = stage.diagnose("y\n")
        await stage.changed()
        await stage.server.answer_pull([])
        assert (await second).freshness is Freshness.PULL


async def test_a_provider_that_is_taken_back_leaves_the_pushes() -> None:
    async with on_stage() as stage:
        await stage.server.register_pull("p")
        await stage.server.ask("client/unregisterCapability", {"unregisterations": [{"id": "p", "method": "x"}]})
        task = stage.diagnose("x\n")
        await stage.server.publish([], await stage.opened())
        await stage.wind(0.2)
        assert (await task).freshness is Freshness.VERSIONED_PUSH


async def test_a_provider_for_another_language_is_not_asked() -> None:
    async with on_stage() as stage:
        await stage.server.register_pull(documentSelector=[{"language": "csharp"}])
        task = stage.diagnose("x\n")
        await stage.server.publish([], await stage.opened())
        await stage.wind(0.2)
        assert (await task).freshness is Freshness.VERSIONED_PUSH


async def test_every_source_of_a_server_is_asked() -> None:
    async with on_stage() as stage:
        await stage.server.register_pull("1", identifier="syntax")
        await stage.server.register_pull("2", identifier="meaning")
        task = stage.diagnose("x\n")
        await stage.opened()
        assert (await stage.server.answer_pull([error_item("a")]))["identifier"] == "syntax"
        assert (await stage.server.answer_pull([error_item("b")]))["identifier"] == "meaning"
        assert messages(await task) == ["a", "b"]


async def test_a_server_that_is_not_offered_pull_is_not_pulled() -> None:
    async with on_stage(ServerBehaviour(advertise_pull=False), STATIC) as stage:
        task = stage.diagnose("x\n")
        await stage.server.publish([], await stage.opened())
        await stage.wind(0.2)
        assert (await task).freshness is Freshness.VERSIONED_PUSH


async def test_the_first_method_not_found_is_remembered() -> None:
    async with on_stage(capabilities=STATIC) as stage:
        task = stage.diagnose("x\n")
        version = await stage.opened()
        await stage.server.refuse(await stage.server.expect("textDocument/diagnostic"), -32601)
        await stage.wind(60)
        assert not task.done()
        await stage.server.publish([error_item()], version)
        await stage.wind(0.2)
        assert messages(await task) == ["wrong"]
        second = stage.diagnose("y\n")
        await stage.server.publish([], await stage.changed())
        await stage.wind(0.2)
        assert (await second).freshness is Freshness.VERSIONED_PUSH


@pytest.mark.parametrize("code", [-32603, -32602, -32803, -32000, 1])
async def test_a_refused_pull_is_no_verdict(code: int) -> None:
    async with on_stage(capabilities=STATIC) as stage:
        task = stage.diagnose("x\n")
        await stage.opened()
        await stage.server.refuse(await stage.server.expect("textDocument/diagnostic"), code)
        with pytest.raises(ResponseError) as caught:
            await task
        assert caught.value.code == code


NO_REPORTS = [
    None,
    [],
    {},
    {"kind": "full"},
    {"kind": "partial", "items": []},
    {"kind": 3, "items": []},
    {"kind": "unchanged"},
    {"kind": "full", "items": [{"range": "?"}, 3]},
]


@pytest.mark.parametrize("result", NO_REPORTS)
async def test_what_is_no_report_is_no_verdict(result: Any) -> None:
    async with on_stage(capabilities=STATIC) as stage:
        task = stage.diagnose("x\n")
        await stage.opened()
        await stage.server.respond(await stage.server.expect("textDocument/diagnostic"), result)
        if result == {"kind": "unchanged"}:  # of a report that it never gave: the whole one is asked for once
            await stage.server.respond(await stage.server.expect("textDocument/diagnostic"), result)
        with pytest.raises(InvalidResponseError):
            await task


async def test_unchanged_means_as_in_the_report_before() -> None:
    async with on_stage(capabilities=STATIC) as stage:
        first = stage.diagnose("x\n")
        await stage.opened()
        await stage.server.answer_pull([error_item()], resultId="r1")
        await first
        second = stage.diagnose("x\n")
        request = await stage.server.expect("textDocument/diagnostic")
        assert request["params"]["previousResultId"] == "r1"
        await stage.server.respond(request, {"kind": "unchanged", "resultId": "r1"})
        assert messages(await second) == ["wrong"]


async def test_a_reopened_document_has_no_result_to_refer_to() -> None:
    async with on_stage(capabilities=STATIC) as stage:
        first = stage.diagnose("x\n")
        await stage.opened()
        await stage.server.answer_pull([error_item()], resultId="r1")
        await first
        await stage.client.close_document(URI)
        await stage.server.expect("textDocument/didClose")
        second = stage.diagnose("x\n")
        await stage.opened()
        assert "previousResultId" not in await stage.server.answer_pull([])
        assert messages(await second) == []


async def test_a_document_that_is_opened_again_for_a_change_has_no_result_to_refer_to() -> None:
    async with on_stage(capabilities=STATIC | {"textDocumentSync": 0}) as stage:
        first = stage.diagnose("x\n")
        await stage.opened()
        await stage.server.answer_pull([error_item()], resultId="r1")
        await first
        second = stage.diagnose("y\n")
        await stage.server.expect("textDocument/didClose")
        await stage.opened()
        assert "previousResultId" not in await stage.server.answer_pull([])
        assert messages(await second) == []


async def test_results_on_related_documents_are_kept() -> None:
    async with on_stage(capabilities=STATIC) as stage:
        first = stage.diagnose("y\n", OTHER)
        await stage.opened()
        await stage.server.answer_pull([], resultId="o1")
        await first
        task = stage.diagnose("x\n")
        await stage.opened()
        related = {OTHER: {"kind": "full", "items": [error_item("broken by x")], "resultId": "o2"}}
        await stage.server.answer_pull([], relatedDocuments=related)
        await task
        again = stage.diagnose("y\n", OTHER)
        request = await stage.server.expect("textDocument/diagnostic")
        assert request["params"]["previousResultId"] == "o2"
        await stage.server.respond(request, {"kind": "unchanged", "resultId": "o2"})
        assert messages(await again) == ["broken by x"]


async def test_content_modified_is_asked_again_three_times() -> None:
    async with on_stage(capabilities=STATIC) as stage:
        task = stage.diagnose("x\n")
        await stage.opened()
        for pause_seconds in (0.5, 1.0, 2.0):
            await stage.server.refuse(await stage.server.expect("textDocument/diagnostic"), -32801)
            await stage.wind(pause_seconds - 0.01)
            await stage.server.expect_nothing()
            await stage.wind(0.01)
        await stage.server.answer_pull([error_item()])
        assert messages(await task) == ["wrong"]


async def test_content_modified_for_ever_is_no_verdict() -> None:
    async with on_stage(capabilities=STATIC) as stage:
        task = stage.diagnose("x\n")
        await stage.opened()
        for _ in range(4):
            await stage.server.refuse(await stage.server.expect("textDocument/diagnostic"), -32801)
            await stage.wind(2)
        with pytest.raises(ResponseError):
            await task


@pytest.mark.parametrize("data", [{"retriggerRequest": True}, None, {}])
async def test_a_pull_that_the_server_cancelled_is_asked_again(data: Any) -> None:
    async with on_stage(capabilities=STATIC) as stage:
        task = stage.diagnose("x\n")
        await stage.opened()
        await stage.server.refuse(await stage.server.expect("textDocument/diagnostic"), -32802, data)
        await stage.wind(0)
        await stage.server.answer_pull([error_item()])
        assert messages(await task) == ["wrong"]


async def test_a_pull_that_the_server_cancelled_for_good_is_no_verdict() -> None:
    async with on_stage(capabilities=STATIC) as stage:
        task = stage.diagnose("x\n")
        await stage.opened()
        request = await stage.server.expect("textDocument/diagnostic")
        await stage.server.refuse(request, -32802, {"retriggerRequest": False})
        with pytest.raises(ResponseError):
            await task


async def test_a_server_that_cancels_for_ever_is_not_asked_for_ever() -> None:
    async with on_stage(capabilities=STATIC) as stage:
        task = stage.diagnose("x\n")
        await stage.opened()
        asked = 0
        while not task.done():
            await stage.server.refuse(await stage.server.expect("textDocument/diagnostic"), -32802)
            asked += 1
            await stage.wind(3)
        assert asked < 10
        with pytest.raises(ResponseError):
            await task


async def test_a_pull_that_changes_overtake_again_and_again_makes_them_wait() -> None:
    async with on_stage(capabilities=STATIC) as stage:
        task = stage.diagnose("x\n")
        await stage.opened()
        for _ in range(3):
            await stage.server.refuse(await stage.server.expect("textDocument/diagnostic"), -32802)
            await stage.wind(0.2)
        request = await stage.server.expect("textDocument/diagnostic")
        other = stage.diagnose("y\n", OTHER)
        await stage.wind(1)
        await stage.server.expect_nothing()
        await stage.server.respond(request, {"kind": "full", "items": [error_item()]})
        assert messages(await task) == ["wrong"]
        assert (await stage.server.expect_params("textDocument/didOpen"))["textDocument"]["uri"] == OTHER
        await stage.server.answer_pull([])
        assert messages(await other) == []


async def test_who_gives_up_while_his_change_waits_has_changed_nothing() -> None:
    async with on_stage(capabilities=STATIC) as stage:
        first = stage.diagnose("x\n", OTHER)
        await stage.opened()
        await stage.server.answer_pull([])
        await first
        task = stage.diagnose("x\n")
        await stage.opened()
        for _ in range(3):
            await stage.server.refuse(await stage.server.expect("textDocument/diagnostic"), -32802)
            await stage.wind(0.2)
        request = await stage.server.expect("textDocument/diagnostic")
        given_up = stage.diagnose("y\n", OTHER)
        await settle()
        given_up.cancel()
        again = stage.diagnose("y\n", OTHER)
        await settle()
        await stage.server.respond(request, {"kind": "full", "items": []})
        await task
        changed = await stage.server.expect_params("textDocument/didChange")
        assert changed["contentChanges"] == [{"text": "y\n"}]
        await stage.server.answer_pull([error_item("in y")])
        assert messages(await again) == ["in y"]


async def test_a_hanging_pull_is_cancelled_with_its_caller_and_the_next_one_is_sound() -> None:
    async with on_stage(capabilities=STATIC) as stage:

        async def bounded() -> None:
            async with time_limit(stage.clock, 3):
                await stage.diagnose("x\n")

        caller = asyncio.create_task(bounded())
        await stage.opened()
        request = await stage.server.expect("textDocument/diagnostic")
        await stage.wind(3)
        with pytest.raises(TimeoutError):
            await caller
        assert await stage.server.expect_params("$/cancelRequest") == {"id": request["id"]}
        second = stage.diagnose("y\n")
        await stage.changed()
        late = {"kind": "full", "items": []}
        await stage.server.respond(request, late)
        assert not second.done()
        await stage.server.answer_pull([error_item()])
        assert messages(await second) == ["wrong"]


async def test_there_are_never_two_pulls_for_a_document() -> None:
    async with on_stage(capabilities=STATIC) as stage:
        first, second = stage.diagnose("x\n"), stage.diagnose("y\n")
        await stage.opened()
        request = await stage.server.expect("textDocument/diagnostic")
        await stage.server.expect_nothing()
        await stage.server.respond(request, {"kind": "full", "items": [error_item("in x")]})
        assert messages(await first) == ["in x"]
        await stage.changed()
        await stage.server.answer_pull([error_item("in y")])
        assert messages(await second) == ["in y"]


async def test_documents_are_pulled_beside_each_other() -> None:
    async with on_stage(capabilities=STATIC) as stage:
        first, second = stage.diagnose("x\n"), stage.diagnose("y\n", OTHER)
        calls = [await stage.server.receive() for _ in range(4)]
        pulls = [call for call in calls if call["method"] == "textDocument/diagnostic"]
        for call in reversed(pulls):
            uri = call["params"]["textDocument"]["uri"]
            await stage.server.respond(call, {"kind": "full", "items": [error_item(uri)]})
        assert messages(await first) == [URI]
        assert messages(await second) == [OTHER]


async def test_a_refresh_during_a_pull_has_it_made_again() -> None:
    async with on_stage(capabilities=STATIC) as stage:
        task = stage.diagnose("x\n")
        await stage.opened()
        request = await stage.server.expect("textDocument/diagnostic")
        await stage.server.ask("workspace/diagnostic/refresh")
        await stage.server.respond(request, {"kind": "full", "items": []})
        await stage.server.answer_pull([error_item()])
        assert messages(await task) == ["wrong"]


async def test_a_server_that_refreshes_at_every_pull_is_pulled_three_times() -> None:
    async with on_stage(capabilities=STATIC) as stage:
        task = stage.diagnose("x\n")
        await stage.opened()
        for _ in range(3):
            request = await stage.server.expect("textDocument/diagnostic")
            await stage.server.ask("workspace/diagnostic/refresh")
            await stage.server.respond(request, {"kind": "full", "items": [error_item()]})
        assert messages(await task) == ["wrong"]


async def test_a_pull_before_the_server_is_ready_is_not_made() -> None:
    async with on_stage(ServerBehaviour(ready=ReadySignal.QUIESCENT), STATIC) as stage:
        task = stage.diagnose("x\n")
        await stage.opened()
        await stage.wind(10)
        await stage.server.expect_nothing()
        await stage.server.notify("experimental/serverStatus", {"health": "ok", "quiescent": True})
        await stage.server.answer_pull([error_item()])
        assert messages(await task) == ["wrong"]


BESIDE = ServerBehaviour(merge_push_with_pull=True, stale_push_seconds=0.5)


async def test_what_is_pushed_beside_the_pull_is_waited_for_and_merged_without_doubles() -> None:
    async with on_stage(BESIDE, STATIC) as stage:
        task = stage.diagnose("x\n")
        version = await stage.opened()
        await stage.server.publish([error_item("old")], version)  # restamped, about the text before
        await stage.server.answer_pull([error_item("native")])
        await stage.wind(0.3)
        assert not task.done()
        await stage.server.notify("$/progress", {"token": "check", "value": {"kind": "begin"}})
        await stage.wind(30)
        assert not task.done()
        await stage.server.publish([error_item("native"), error_item("compiler")], version)
        await stage.server.notify("$/progress", {"token": "check", "value": {"kind": "end"}})
        await stage.wind(0.2)
        assert messages(await task) == ["native", "compiler"]


async def test_a_pull_with_nothing_pushed_beside_it_is_not_kept_waiting() -> None:
    async with on_stage(BESIDE, STATIC) as stage:
        task = stage.diagnose("x\n")
        await stage.opened()
        await stage.server.answer_pull([])
        await stage.wind(0.6)
        assert messages(await task) == []


async def test_a_push_with_our_version_belongs_beside_a_pull_of_any_server() -> None:
    async with on_stage(capabilities=STATIC) as stage:
        task = stage.diagnose("x\n")
        await stage.server.publish([error_item("pushed")], await stage.opened())
        await stage.server.answer_pull([error_item("pulled")])
        assert messages(await task) == ["pulled", "pushed"]


@pytest.mark.parametrize("version", [None, 0])
async def test_a_push_that_may_be_old_does_not_belong_beside_a_pull(version: int | None) -> None:
    async with on_stage(capabilities=STATIC) as stage:
        task = stage.diagnose("x\n")
        await stage.opened()
        await stage.server.publish([error_item("old")], version)
        await stage.server.answer_pull([])
        assert messages(await task) == []


OTHER = DocumentUri("file:///project/other.py")


@pytest.mark.parametrize(
    ("reaction", "is_nudged"), [(ChangedFilesReaction.WATCHED_FILES, False), (ChangedFilesReaction.NUDGE, True)]
)
async def test_a_pulled_document_is_nudged_only_where_the_server_needs_it(
    reaction: ChangedFilesReaction, is_nudged: bool
) -> None:
    async with on_stage(ServerBehaviour(changed_files=reaction), STATIC) as stage:
        first = stage.diagnose("x\n")
        await stage.opened()
        await stage.server.answer_pull([])
        await first
        await stage.client.did_change_watched_files([FileChange(OTHER, FileChangeKind.CHANGED)])
        await stage.server.expect("workspace/didChangeWatchedFiles")
        second = stage.diagnose("x\n")
        if is_nudged:
            await stage.changed()
        await stage.server.answer_pull([error_item()])
        assert messages(await second) == ["wrong"]


async def check_doubles(stage: Stage, items: list[Any], expected: int) -> None:
    task = stage.diagnose("abc\ndef\n")
    await stage.opened()
    await stage.server.answer_pull(items)
    assert len((await task).diagnostics) == expected


DOUBLES = [
    ([error_item(), error_item()], 1),
    ([error_item(), error_item(severity=2)], 2),
    ([error_item(), error_item(code="E1")], 2),
    ([error_item(), error_item(source="other")], 2),
    ([error_item(), error_item("another")], 2),
    ([error_item(), error_item(line=1)], 2),
    ([error_item(), error_item(tags=[1])], 1),
]


@pytest.mark.parametrize(("items", "expected"), DOUBLES)
async def test_doubles_are_the_same_in_severity_code_source_message_and_range(items: list[Any], expected: int) -> None:
    async with on_stage(capabilities=STATIC) as stage:
        await check_doubles(stage, items, expected)
