"""Documents whose verdicts are pushed are taken one after the other, but none holds up the others for ever."""

from typing import Any

import pytest

from jupyter_lsp_agent.core.behaviour import ServerBehaviour
from tests.support.fake_server import PULL, error_item, on_stage

OTHER = "file:///project/other.py"


def messages(report: Any) -> list[str]:
    return [diagnostic.message for diagnostic in report.diagnostics]


@pytest.mark.parametrize("behaviour", [ServerBehaviour(), ServerBehaviour(one_at_a_time=True)])
async def test_documents_that_are_pushed_are_taken_one_after_the_other(behaviour: ServerBehaviour) -> None:
    async with on_stage(behaviour) as stage:
        first, second = stage.diagnose("x\n"), stage.diagnose("y\n", OTHER)
        version = await stage.opened()
        await stage.wind(9)
        await stage.server.expect_nothing()
        await stage.server.publish([error_item("in x")], version)
        await stage.wind(0.2)
        assert messages(await first) == ["in x"]
        await stage.server.publish([error_item("in y")], await stage.opened(), OTHER)
        await stage.wind(0.2)
        assert messages(await second) == ["in y"]


async def test_a_document_that_the_server_is_silent_on_holds_up_the_others_for_a_while_only() -> None:
    async with on_stage() as stage:
        first, second = stage.diagnose("x\n"), stage.diagnose("y\n", OTHER)
        await stage.opened()
        await stage.wind(10)
        await stage.server.publish([error_item("in y")], await stage.opened(), OTHER)
        await stage.wind(0.2)
        assert messages(await second) == ["in y"]
        assert not first.done()


async def test_but_a_server_that_would_forget_it_is_left_alone() -> None:
    async with on_stage(ServerBehaviour(one_at_a_time=True)) as stage:
        first, second = stage.diagnose("x\n"), stage.diagnose("y\n", OTHER)
        await stage.opened()
        await stage.wind(3600)
        await stage.server.expect_nothing()
        first.cancel()
        await stage.server.publish([error_item("in y")], await stage.opened(), OTHER)
        await stage.wind(0.2)
        assert messages(await second) == ["in y"]


async def test_a_pull_needs_no_turn() -> None:
    async with on_stage(capabilities={"diagnosticProvider": PULL}) as stage:
        tasks = [stage.diagnose("x\n"), stage.diagnose("y\n", OTHER)]
        calls = [await stage.server.receive() for _ in range(4)]
        for call in calls:
            if call["method"] == "textDocument/diagnostic":
                await stage.server.respond(call, {"kind": "full", "items": [error_item()]})
        assert [messages(await task) for task in tasks] == [["wrong"], ["wrong"]]


async def test_what_was_given_up_is_finished_before_the_next_begins() -> None:
    async with on_stage() as stage:
        given_up = stage.diagnose("x\n")
        version = await stage.opened()
        given_up.cancel()
        task = stage.diagnose("y\n", OTHER)
        await stage.wind(5)
        await stage.server.expect_nothing()
        await stage.server.publish([error_item("in x")], version)
        await stage.wind(0.2)
        await stage.server.publish([error_item("in y")], await stage.opened(), OTHER)
        await stage.wind(0.2)
        assert messages(await task) == ["in y"]
        # The verdict that came meanwhile is there for who asks again.
        again = stage.diagnose("x\n")
        await stage.wind(0.2)
        assert messages(await again) == ["in x"]


async def test_what_was_given_up_and_never_finished_holds_up_the_next_once() -> None:
    async with on_stage() as stage:
        given_up = stage.diagnose("x\n")
        await stage.opened()
        given_up.cancel()
        for text in ("y\n", "z\n"):
            task = stage.diagnose(text, OTHER)
            await stage.wind(10 if text == "y\n" else 0)
            version = await (stage.opened() if text == "y\n" else stage.changed())
            await stage.server.publish([error_item(text)], version, OTHER)
            await stage.wind(0.2)
            assert messages(await task) == [text]
