"""The verbs of agents over a checking service that a test holds in its hands: time, cancellation, what is asked for."""

import asyncio
import json
from dataclasses import dataclass, field
from typing import Any

import pytest

from jupyter_lsp_agent.core.clock import SystemClock
from jupyter_lsp_agent.core.errors import InvalidRequestError, UnknownCellError
from jupyter_lsp_agent.diagnostics.build import build_report
from jupyter_lsp_agent.diagnostics.report import ContentSource, NoVerdictReason, Verdict
from jupyter_lsp_agent.service.agent_requests import decode_check, decode_edits
from jupyter_lsp_agent.service.agent_service import AgentService
from jupyter_lsp_agent.service.requests import CheckRequest, SessionKey
from jupyter_lsp_agent.service.settings import Settings
from tests.service.test_editing import MemoryStore
from tests.support.fake_clients import until
from tests.support.reports import facts
from tests.support.small_notebooks import notebook_object


@dataclass
class HeldChecks:
    """Answers every check once its gate is open."""

    gate: asyncio.Event = field(default_factory=asyncio.Event)
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    requests: list[CheckRequest] = field(default_factory=list)
    met: list[CheckRequest] = field(default_factory=list)
    cancelled: int = 0
    is_followed: bool = False
    is_closed: bool = False

    async def check(self, request: CheckRequest) -> Any:
        self.requests.append(request)
        self.asked.set()
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return build_report(facts(path=request.display_path), request.view)

    async def meet(self, request: CheckRequest) -> None:
        self.met.append(request)

    def followed(self, path) -> list[str]:
        return ["n.ipynb"] if self.is_followed else []

    async def aclose(self) -> None:
        self.is_closed = True


class Desk:
    """An agent service, and what is behind it."""

    def __init__(self, **settings: Any) -> None:
        self.checks, self.store, self.told = HeldChecks(), MemoryStore("a = 1", "b = 2"), []
        self._has_told = asyncio.Event()
        self.service = AgentService(self.checks, self.store, Settings(**settings), SystemClock(), self._tell)

    def _tell(self, *event: Any) -> None:
        self.told.append(event)
        self._has_told.set()

    async def all_told(self, number: int) -> None:
        """Wait until so many results were told."""
        while len(self.told) < number:
            self._has_told.clear()
            await self._has_told.wait()

    def check(self, **body: Any) -> asyncio.Task[Any]:
        return asyncio.create_task(self.service.check(decode_check({"path": "n.ipynb", **body}), "user"))

    def edit(self, *edits: Any, **body: Any) -> asyncio.Task[Any]:
        asked = decode_edits({"path": "n.ipynb", "edits": list(edits), **body})
        return asyncio.create_task(self.service.edit(asked, "user"))


_REPLACE = {"op": "replace", "cell": 1, "source": "b = 3"}


async def test_a_check_that_is_late_is_answered_in_time_and_goes_on():
    desk = Desk()
    report = await desk.check(wait_ms=0)
    assert (report.verdict, report.reason) == (Verdict.NO_VERDICT, NoVerdictReason.TIMEOUT)
    assert "wait_ms" in report.detail
    assert desk.checks.cancelled == 0
    assert not desk.checks.requests[0].is_awaited()
    await desk.service.aclose()
    assert desk.checks.cancelled == 1
    assert desk.checks.is_closed


async def test_a_check_whose_caller_hangs_up_is_cancelled():
    desk = Desk()
    task = desk.check(wait_ms=60_000)
    await desk.checks.asked.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    await asyncio.sleep(0)
    assert desk.checks.cancelled == 1


async def test_an_edit_is_written_although_its_check_is_late():
    desk = Desk()
    answer = await desk.edit(_REPLACE, wait_ms=0)
    assert answer.outcome.written is not None
    assert answer.report.reason is NoVerdictReason.TIMEOUT
    assert desk.store.sources() == ["a = 1", "b = 3"]


async def test_what_a_check_is_asked_for():
    desk = Desk()
    desk.checks.gate.set()
    await desk.check(session="s", severity="warning", cells=["c1"], max_total=3)
    (request,) = desk.checks.requests
    assert request.display_path == "n.ipynb"
    assert request.content_source is ContentSource.CONTENTS
    assert request.comparison.session == SessionKey("user", "s")
    assert (request.comparison.baseline, request.comparison.keeps) == ("session", True)
    assert request.is_awaited()
    assert (request.view.cells, request.view.max_total) == ({1}, 3)


async def test_what_is_told_to_nobody_is_no_verdict_of_the_session():
    desk = Desk()
    desk.checks.gate.set()
    await desk.service.touch(decode_check({"path": "n.ipynb", "session": "s", "touch": True}), "user")
    await desk.service.cells("n.ipynb", SessionKey("user", "s"))
    await until(lambda: len(desk.checks.requests) == 2)
    comparisons = [(request.comparison.session, request.comparison.keeps) for request in desk.checks.requests]
    assert comparisons == [(SessionKey("user", "s"), False)] * 2


@pytest.mark.parametrize(
    ("options", "baseline"),
    [({}, "none"), ({"session": "s"}, "session"), ({"session": "s", "baseline": "none"}, "none"),
     ({"baseline": "session"}, "none"), ({"baseline": "git:HEAD~1"}, "git:HEAD~1")],
)  # fmt: skip
async def test_what_a_check_is_compared_with(options, baseline):
    desk = Desk()
    desk.checks.gate.set()
    await desk.check(**options)
    assert desk.checks.requests[0].comparison.baseline == baseline


async def test_what_is_proposed_changes_no_state():
    desk = Desk()
    desk.checks.gate.set()
    stored = desk.store.data["n.ipynb"]
    await desk.check(session="s", content={"cells": [], "nbformat": 4, "nbformat_minor": 5, "metadata": {}})
    await desk.edit(_REPLACE, session="s", dry_run=True)
    await desk.edit(_REPLACE, session="s")
    proposed, dry, real = desk.checks.requests
    for request in (proposed, dry):
        assert request.is_proposed
        assert request.comparison.keeps is False
        assert request.comparison.before_bytes == stored
    assert real.comparison.keeps is True
    assert real.comparison.before_bytes == stored
    assert real.content_bytes == desk.store.data["n.ipynb"]
    assert real.view.edited_cells == {1}
    assert [name for name, _ in desk.told] == ["n.ipynb"]


async def test_outside_a_git_worktree_nothing_is_checked_where_that_is_set():
    desk = Desk(workspace="git")
    report = await desk.check()
    assert (report.verdict, report.reason) == (Verdict.NO_VERDICT, NoVerdictReason.OUTSIDE_WORKSPACE)
    answer = await desk.edit(_REPLACE)
    assert (answer.outcome.written is not None, answer.report.reason) == (True, NoVerdictReason.OUTSIDE_WORKSPACE)
    await desk.service.cells("n.ipynb", None)
    assert desk.checks.requests == []


@pytest.mark.parametrize(("cells", "error"), [(["zz"], UnknownCellError), ([7], UnknownCellError)])
async def test_a_cell_that_is_not_there_refuses_the_whole_request(cells, error):
    desk = Desk()
    with pytest.raises(error):
        await desk.check(cells=cells)
    with pytest.raises(error):
        await desk.edit(_REPLACE, cells=cells)
    assert desk.store.writes == 0
    assert desk.checks.requests == []


async def test_cells_start_a_check_and_do_not_wait_for_it():
    desk = Desk()
    answer = await desk.service.cells("n.ipynb", SessionKey("user", "s"))
    assert [cell["source"] for cell in answer["cells"]] == ["a = 1", "b = 2"]
    await desk.checks.asked.wait()
    assert desk.checks.requests[0].comparison.session == SessionKey("user", "s")
    await desk.service.aclose()


async def test_what_cannot_be_read_has_no_cells():
    desk = Desk()
    desk.store.data["n.ipynb"] = b"{"
    with pytest.raises(InvalidRequestError, match=r"n\.ipynb"):
        await desk.service.cells("n.ipynb", None)


@pytest.mark.parametrize(
    ("followed", "settings", "is_checked"),
    [(True, {}, True), (False, {}, False), (True, {"follow_saves": False}, False), (True, {"enabled": False}, False)],
)
async def test_a_save_is_checked_and_told_where_a_session_follows(followed, settings, is_checked):
    desk = Desk(**settings)
    desk.checks.is_followed = followed
    desk.checks.gate.set()
    await desk.service.check_changed("n.ipynb")
    assert (len(desk.checks.requests), len(desk.told)) == (is_checked, is_checked)


@pytest.mark.parametrize("theirs", [None, "theirs = 1"])
async def test_a_save_while_an_edit_is_checked_is_looked_at_afterwards(theirs):
    desk = Desk()
    desk.checks.is_followed = True
    edit = desk.edit(_REPLACE)
    await desk.checks.asked.wait()
    saves = [asyncio.create_task(desk.service.check_changed("n.ipynb")) for _ in range(3)]
    await asyncio.sleep(0)
    assert len(desk.checks.requests) == 1
    if theirs is not None:
        desk.store.data["n.ipynb"] = json.dumps(notebook_object([theirs])).encode()
    desk.checks.gate.set()
    await edit
    await asyncio.gather(*saves)
    # What the edit wrote is told by the edit; what somebody else wrote meanwhile is news, once.
    assert len(desk.checks.requests) == len(desk.told) == (1 if theirs is None else 2)


async def test_what_is_edited_without_a_check_is_not_told():
    desk = Desk()
    desk.checks.is_followed = True
    await desk.edit(_REPLACE, check=False)
    await desk.service.check_changed("n.ipynb")
    assert desk.told == desk.checks.requests == []


async def test_a_late_verdict_on_an_edit_is_told_when_it_comes_and_stays_new_to_the_agent():
    desk = Desk()
    answer = await desk.edit(_REPLACE, session="s", wait_ms=0)
    assert [report.verdict for _, report in desk.told] == [Verdict.NO_VERDICT]
    desk.checks.gate.set()
    await desk.all_told(2)
    assert desk.told[1][1].verdict is Verdict.CLEAN
    late = desk.checks.requests[-1]
    assert (late.comparison.session, late.comparison.keeps) == (SessionKey("user", "s"), False)
    assert (late.content_bytes, late.wait_seconds >= 30) == (answer.outcome.data, True)


@pytest.mark.parametrize("while_writing", [False, True])
async def test_an_edit_whose_asker_hangs_up_is_told(while_writing):
    desk = Desk()
    desk.checks.gate.set() if while_writing else None
    desk.store.gate.clear() if while_writing else None
    before = desk.store.data["n.ipynb"]
    edit = desk.edit(_REPLACE, session="s", wait_ms=60_000)
    await (desk.store.writing if while_writing else desk.checks.asked).wait()
    edit.cancel()
    await asyncio.sleep(0)
    desk.store.gate.set()
    with pytest.raises(asyncio.CancelledError):
        await edit
    desk.checks.gate.set()
    await desk.all_told(1)
    late = desk.checks.requests[-1]
    assert late.content_bytes == desk.store.data["n.ipynb"]
    # The session meets the document as it was before the edit that it does not know of.
    assert (late.comparison.before_bytes, late.comparison.keeps) == (before, False)


async def test_a_late_verdict_on_an_older_content_is_not_told():
    desk = Desk()
    await desk.edit(_REPLACE, wait_ms=0)
    newer = await desk.edit({"op": "replace", "cell": 1, "source": "b = 4"}, wait_ms=0)
    desk.checks.gate.set()
    await desk.all_told(3)
    await desk.service.aclose()
    assert len(desk.told) == 3
    late = [request for request in desk.checks.requests if request.wait_seconds and request.wait_seconds >= 30]
    assert late[-1].content_bytes == newer.outcome.data
    assert desk.checks.requests[-1] is late[-1]
