"""Verdicts from what is pushed: each way in which a push can mislead, and that it does not."""

import asyncio
from typing import Any

import pytest

from jupyter_lsp_agent.core.behaviour import Freshness, ReadySignal, ServerBehaviour
from tests.support.fake_server import URI, Stage, error_item, on_stage

UNVERSIONED = ServerBehaviour(quiet_period_seconds=0.2, first_quiet_period_seconds=1.0)


def messages(report: Any) -> list[str]:
    return [diagnostic.message for diagnostic in report.diagnostics]


async def check_waits(stage: Stage, task: "asyncio.Task[Any]", seconds: float = 3600.0) -> None:
    """No verdict, however long one waits."""
    await stage.wind(seconds)
    assert not task.done(), f"a verdict came from nowhere: {task.result()}"


async def test_a_versioned_push_after_its_quiet_period_is_the_verdict() -> None:
    async with on_stage() as stage:
        task = stage.diagnose("x\n")
        version = await stage.opened()
        await stage.server.publish([error_item()], version)
        await stage.wind(0.14)
        assert not task.done()
        await stage.wind(0.02)
        report = await task
        assert messages(report) == ["wrong"]
        assert report.freshness is Freshness.VERSIONED_PUSH
        assert (report.uri, report.version) == (URI, version)


async def test_the_verdict_on_the_text_before_is_not_the_verdict_on_this_one() -> None:
    async with on_stage() as stage:
        assert messages(await stage.verdict("bad\n", [error_item("old")])) == ["old"]
        task = stage.diagnose("good\n")
        version = await stage.changed()
        await check_waits(stage, task)
        await stage.server.publish([], version)
        await stage.wind(1)
        assert messages(await task) == []


async def test_a_push_on_the_version_before_does_not_count() -> None:
    async with on_stage() as stage:
        first = await stage.verdict("bad\n", [error_item("old")])
        task = stage.diagnose("good\n")
        version = await stage.changed()
        await stage.server.publish([error_item("old")], first.version)
        await check_waits(stage, task)
        await stage.server.publish([], version)
        await stage.wind(1)
        assert messages(await task) == []


async def test_a_silent_server_gives_no_verdict() -> None:
    async with on_stage() as stage:
        task = stage.diagnose("x\n")
        await stage.opened()
        await check_waits(stage, task)


async def test_a_push_for_another_document_does_not_count() -> None:
    async with on_stage() as stage:
        task = stage.diagnose("x\n")
        await stage.opened()
        await stage.server.publish([], None, "file:///project/other.py")
        await check_waits(stage, task)


async def test_the_last_push_of_a_burst_counts() -> None:
    async with on_stage() as stage:
        task = stage.diagnose("x\n")
        version = await stage.opened()
        for items in ([], [error_item("syntax")], [error_item("syntax"), error_item("meaning")]):
            await stage.server.publish(items, version)
            await stage.wind(0.1)
        await stage.wind(1)
        assert messages(await task) == ["syntax", "meaning"]


async def test_an_empty_first_push_is_waited_out_for_the_first_verdict() -> None:
    async with on_stage(ServerBehaviour(first_quiet_period_seconds=1.0)) as stage:
        task = stage.diagnose("x\n")
        version = await stage.opened()
        await stage.server.publish([], version)
        await stage.wind(0.9)
        await stage.server.publish([error_item()], version)
        await stage.wind(1.1)
        assert messages(await task) == ["wrong"]
        second = stage.diagnose("y\n")
        await stage.server.publish([], await stage.changed())
        await stage.wind(0.2)
        assert messages(await second) == []


async def test_a_first_push_that_seeds_is_skipped() -> None:
    async with on_stage(ServerBehaviour(first_push_seeds=True)) as stage:
        task = stage.diagnose("x\n")
        version = await stage.opened()
        await stage.server.publish([], version)
        await check_waits(stage, task)
        await stage.server.publish([error_item()], version)
        await stage.wind(1)
        assert messages(await task) == ["wrong"]
        second = stage.diagnose("y\n")
        await stage.server.publish([], await stage.changed())
        await stage.wind(1)
        assert messages(await second) == []


async def test_a_double_push_counts_with_its_second() -> None:
    async with on_stage(ServerBehaviour(pushes_per_change=2)) as stage:
        task = stage.diagnose("x\n")
        version = await stage.opened()
        await stage.server.publish([], version)
        await check_waits(stage, task)
        await stage.server.publish([error_item()], version)
        await stage.wind(1)
        assert messages(await task) == ["wrong"]


async def test_old_findings_under_the_new_version_are_waited_out() -> None:
    async with on_stage(ServerBehaviour(stale_push_seconds=2.0)) as stage:
        await stage.verdict("bad\n", [error_item("old")])
        task = stage.diagnose("good\n")
        version = await stage.changed()
        await stage.server.publish([error_item("old")], version)
        await stage.wind(1.9)
        assert not task.done()
        await stage.server.publish([], version)
        await stage.wind(0.2)
        assert messages(await task) == []


async def test_an_unversioned_push_counts_after_our_change_and_quiet() -> None:
    async with on_stage(UNVERSIONED) as stage:
        first = stage.diagnose("bad\n")
        await stage.opened()
        await stage.server.publish([error_item("old")])
        await stage.wind(1.1)
        report = await first
        # No older text exists, so it can be about no other.
        assert (messages(report), report.freshness) == (["old"], Freshness.PUSH)

        task = stage.diagnose("good\n")
        await stage.changed()
        await check_waits(stage, task)
        await stage.server.publish([error_item("old")])  # late, about the text before
        await stage.wind(0.15)
        await stage.server.publish([])
        await stage.wind(0.15)
        assert not task.done()
        await stage.wind(0.1)
        report = await task
        assert (messages(report), report.freshness) == ([], Freshness.QUIET_PUSH)


async def test_an_unversioned_push_still_owed_for_a_text_that_was_given_up_is_waited_out() -> None:
    async with on_stage(UNVERSIONED) as stage:
        first = stage.diagnose("a\n")
        await stage.opened()
        await stage.server.publish([])
        await stage.wind(1.1)
        await first
        given_up = stage.diagnose("good\n")
        await stage.changed()
        given_up.cancel()
        task = stage.diagnose("bad\n")
        await stage.changed()
        await stage.server.publish([])  # about `good`
        await stage.wind(0.9)
        assert not task.done()
        await stage.server.publish([error_item()])
        await stage.wind(1.1)
        assert messages(await task) == ["wrong"]


async def test_a_push_that_arrives_while_the_change_is_being_written_is_about_the_new_text() -> None:
    # The version is noted before the write: a push that comes during it must not be filed under the version before.
    async with on_stage(UNVERSIONED) as stage:
        first = stage.diagnose("bad\n")
        await stage.opened()
        await stage.server.publish([error_item("old")])
        await stage.wind(1.1)
        await first
        send, gate = stage.side.client_end.send, asyncio.Event()

        async def slow_send(data: bytes) -> None:
            await send(data)
            await gate.wait()

        stage.side.client_end.send = slow_send  # type: ignore[method-assign]
        task = stage.diagnose("good\n")
        await stage.changed()
        await stage.server.publish([])
        gate.set()
        await stage.wind(0.3)
        assert messages(await task) == []


async def test_silence_is_a_clean_verdict_only_where_the_server_is_silent_when_clean() -> None:
    async with on_stage(ServerBehaviour(silent_when_clean_seconds=2.0)) as stage:
        task = stage.diagnose("good\n")
        await stage.opened()
        await stage.wind(1.9)
        assert not task.done()
        await stage.wind(0.2)
        report = await task
        assert (messages(report), report.freshness) == ([], Freshness.QUIET_PUSH)


async def test_after_findings_silence_says_nothing() -> None:
    async with on_stage(ServerBehaviour(silent_when_clean_seconds=2.0)) as stage:
        await stage.verdict("bad\n", [error_item()])
        task = stage.diagnose("good\n")
        version = await stage.changed()
        await check_waits(stage, task)
        await stage.server.publish([], version)
        await stage.wind(1)
        assert messages(await task) == []
        again = stage.diagnose("good too\n")
        await stage.changed()
        await stage.wind(2.1)
        assert messages(await again) == []


async def test_an_error_does_not_outlive_its_mending() -> None:
    async with on_stage() as stage:
        assert messages(await stage.verdict("bad\n", [error_item()])) == ["wrong"]
        assert messages(await stage.verdict("good\n", [])) == []
        assert messages(await stage.verdict("bad\n", [error_item()])) == ["wrong"]


async def test_a_push_that_nobody_can_read_is_no_clean_one() -> None:
    async with on_stage() as stage:
        task = stage.diagnose("x\n")
        version = await stage.opened()
        await stage.server.publish([], version)
        await stage.server.publish([{"range": "?"}, 7], version)
        await check_waits(stage, task)
        await stage.server.publish([{"range": "?"}, error_item()], version)
        await stage.wind(1)
        report = await task
        assert (messages(report), report.dropped) == (["wrong"], 1)


async def test_a_later_push_on_the_same_text_is_the_verdict_of_the_next_call() -> None:
    async with on_stage() as stage:
        first = await stage.verdict("import helpers\n", [])
        await stage.server.publish([error_item("helpers is gone")], first.version)
        task = stage.diagnose("import helpers\n")
        await stage.wind(1)
        assert messages(await task) == ["helpers is gone"]


READY = [
    (
        ServerBehaviour(ready=ReadySignal.QUIESCENT),
        ("experimental/serverStatus", {"health": "ok", "quiescent": False}),
        ("experimental/serverStatus", {"health": "ok", "quiescent": True}),
    ),
    (
        # As rust-analyzer says it of a manifest that does not parse: it has nothing more to do, and nothing to say.
        ServerBehaviour(ready=ReadySignal.QUIESCENT),
        ("experimental/serverStatus", {"health": "error", "quiescent": True, "message": "no manifest"}),
        ("experimental/serverStatus", {"health": "warning", "quiescent": True}),
    ),
    (
        ServerBehaviour(ready=ReadySignal.PROGRESS_END),
        ("$/progress", {"token": "load", "value": {"kind": "begin", "title": "Loading"}}),
        ("$/progress", {"token": "load", "value": {"kind": "end"}}),
    ),
]


@pytest.mark.parametrize(("behaviour", "begins", "ends"), READY)
async def test_an_answer_before_the_server_is_ready_does_not_count(
    behaviour: ServerBehaviour, begins: tuple[str, Any], ends: tuple[str, Any]
) -> None:
    async with on_stage(behaviour) as stage:
        await stage.server.notify(*begins)
        task = stage.diagnose("x\n")
        version = await stage.opened()
        await stage.server.publish([], version)
        await stage.wind(30)
        assert not task.done()
        await stage.server.notify(*ends)
        await stage.wind(0.1)
        assert not task.done()
        await stage.server.publish([error_item()], version)
        await stage.wind(0.2)
        report = await task
        assert (messages(report), report.is_ready) == (["wrong"], True)


async def test_findings_of_a_server_that_never_says_that_it_is_ready_are_believed_in_the_end_and_marked() -> None:
    async with on_stage(ServerBehaviour(ready=ReadySignal.QUIESCENT, ready_timeout_seconds=60)) as stage:
        task = stage.diagnose("x\n")
        await stage.server.publish([error_item()], await stage.opened())
        await stage.wind(59)
        assert not task.done()
        await stage.wind(2)
        report = await task
        assert (messages(report), report.is_ready) == (["wrong"], False)


async def test_that_a_server_which_is_not_ready_found_nothing_is_never_believed() -> None:
    async with on_stage(ServerBehaviour(ready=ReadySignal.QUIESCENT, ready_timeout_seconds=60)) as stage:
        task = stage.diagnose("x\n")
        await stage.server.publish([], await stage.opened())
        await check_waits(stage, task)
        await stage.server.notify("experimental/serverStatus", {"health": "ok", "quiescent": True})
        await stage.wind(1)
        report = await task
        assert (messages(report), report.is_ready) == ([], True)
