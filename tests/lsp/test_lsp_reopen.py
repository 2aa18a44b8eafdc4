"""Documents that are closed and opened again, and texts that are sent again: nothing of the past is taken for news."""

from typing import Any

import pytest

from jupyter_lsp_agent.core.behaviour import ServerBehaviour
from jupyter_lsp_agent.core.ids import DocumentUri
from jupyter_lsp_agent.lsp.client import FileChange, FileChangeKind
from tests.support.fake_server import PULL, URI, Stage, error_item, on_stage

UNVERSIONED = ServerBehaviour()


def messages(report: Any) -> list[str]:
    return [diagnostic.message for diagnostic in report.diagnostics]


async def closed(stage: Stage) -> None:
    await stage.client.close_document(URI)
    await stage.server.expect("textDocument/didClose")


async def opened_after_silence(stage: Stage, text: str) -> tuple[Any, int]:
    """A call for a document whose server says nothing at a closing."""
    task = stage.diagnose(text)
    await stage.wind(2)
    return task, await stage.opened()


async def test_a_reopened_document_has_nothing_of_its_former_life() -> None:
    async with on_stage() as stage:
        await stage.verdict("bad\n", [error_item("old")])
        await closed(stage)
        task, _ = await opened_after_silence(stage, "bad\n")
        await stage.wind(3600)
        assert not task.done()


@pytest.mark.parametrize("behaviour", [ServerBehaviour(), UNVERSIONED])
@pytest.mark.parametrize("version", [None, 1, 2])
async def test_what_is_pushed_at_the_closing_is_not_the_answer_to_the_opening(
    behaviour: ServerBehaviour, version: int | None
) -> None:
    async with on_stage(behaviour) as stage:
        await stage.verdict("bad\n", [error_item("old")])
        await closed(stage)
        task = stage.diagnose("bad\n")
        await stage.wind(1)
        await stage.server.expect_nothing()  # not opened before the server has said its farewell
        await stage.server.publish([], version)
        new_version = await stage.opened()
        await stage.wind(60)
        assert not task.done()
        await stage.server.publish([error_item("new")], new_version)
        await stage.wind(1)
        assert messages(await task) == ["new"]


async def test_a_farewell_that_came_in_time_costs_nothing() -> None:
    async with on_stage() as stage:
        await stage.verdict("bad\n", [error_item("old")])
        await closed(stage)
        await stage.server.publish([])
        task = stage.diagnose("good\n")
        await stage.server.publish([], await stage.opened())
        await stage.wind(0.2)
        assert messages(await task) == []


async def test_a_farewell_that_comes_later_still_is_no_answer_either() -> None:
    async with on_stage(UNVERSIONED) as stage:
        await stage.verdict("bad\n", [error_item("old")])
        await closed(stage)
        task, version = await opened_after_silence(stage, "bad\n")
        await stage.server.publish([], version)
        await stage.wind(60)
        assert not task.done()
        await stage.server.publish([error_item("new")], version)
        await stage.wind(1)
        assert messages(await task) == ["new"]


async def test_a_server_without_farewells_is_known_after_three_of_them() -> None:
    async with on_stage() as stage:
        await stage.verdict("x\n", [error_item()])
        for _ in range(3):
            await closed(stage)
            task, version = await opened_after_silence(stage, "x\n")
            await stage.server.publish([error_item()], version)
            await stage.wind(1)
            assert messages(await task) == ["wrong"]
        await closed(stage)
        task = stage.diagnose("good\n")
        await stage.server.publish([], await stage.opened())
        await stage.wind(0.2)
        assert messages(await task) == []


async def test_a_document_that_is_pulled_waits_for_no_farewell() -> None:
    async with on_stage(capabilities={"diagnosticProvider": PULL}) as stage:
        for _ in range(2):
            task = stage.diagnose("x\n")
            await stage.opened()
            await stage.server.answer_pull([error_item()])
            assert messages(await task) == ["wrong"]
            await closed(stage)


async def test_a_text_that_was_given_up_is_sent_again() -> None:
    """The server may have dropped the check too, for another document's sake, and would stay silent for ever."""
    async with on_stage() as stage:
        first = stage.diagnose("x\n")
        await stage.opened()
        first.cancel()
        task = stage.diagnose("x\n")
        version = await stage.changed()
        await stage.server.publish([error_item()], version)
        await stage.wind(1)
        assert messages(await task) == ["wrong"]


async def test_a_change_on_disk_during_a_wait_is_not_forgotten_with_its_verdict() -> None:
    async with on_stage() as stage:
        first = stage.diagnose("x\n")
        version = await stage.opened()
        await stage.client.did_change_watched_files([FileChange(URI, FileChangeKind.CHANGED)])
        await stage.server.expect("workspace/didChangeWatchedFiles")
        await stage.server.publish([], version)
        await stage.wind(1)
        await first
        second = stage.diagnose("x\n")
        await stage.server.publish([error_item()], await stage.changed())
        await stage.wind(1)
        assert messages(await second) == ["wrong"]


DEAF = ServerBehaviour(reopen_to_recheck=True)


async def reopened(stage: Stage) -> int:
    await stage.server.expect("textDocument/didClose")
    await stage.server.publish([])
    return await stage.opened()


async def changed_beside(stage: Stage) -> None:
    await stage.client.did_change_watched_files(
        [FileChange(DocumentUri("file:///project/other.py"), FileChangeKind.CHANGED)]
    )
    await stage.server.expect("workspace/didChangeWatchedFiles")


async def test_a_server_that_is_deaf_to_a_text_it_knows_has_the_document_opened_again() -> None:
    async with on_stage(DEAF) as stage:
        await stage.verdict("x\n", [])
        await changed_beside(stage)
        task = stage.diagnose("x\n")
        await stage.server.publish([error_item()], await reopened(stage))
        await stage.wind(1)
        assert messages(await task) == ["wrong"]
        changed = stage.diagnose("y\n")
        await stage.server.publish([], await stage.changed())
        await stage.wind(1)
        assert messages(await changed) == []


async def test_so_has_it_after_a_text_that_was_given_up_since_this_one_may_be_the_one_before() -> None:
    async with on_stage(DEAF) as stage:
        await stage.verdict("x\n", [error_item()])
        given_up = stage.diagnose("y\n")
        await stage.changed()
        given_up.cancel()
        task = stage.diagnose("x\n")
        await stage.server.publish([error_item()], await reopened(stage))
        await stage.wind(1)
        assert messages(await task) == ["wrong"]


async def test_a_server_that_says_nothing_while_all_is_well_has_the_document_opened_again() -> None:
    async with on_stage(ServerBehaviour(reopen_when_clean=True)) as stage:
        await stage.verdict("fine\n", [])
        for text, items in (("finer\n", []), ("bad\n", [error_item()])):
            task = stage.diagnose(text)
            await stage.server.publish(items, await reopened(stage))
            await stage.wind(1)
            assert len((await task).diagnostics) == len(items)
        mended = stage.diagnose("fine\n")
        await stage.server.publish([], await stage.changed())
        await stage.wind(1)
        assert (await mended).diagnostics == ()
