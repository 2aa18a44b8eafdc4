"""The verbs of agents over a checking service that a test holds in its hands: time, cancellation, what is asked for."""

import asyncio
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
from tests.support.reports import facts


@dataclass
class HeldChecks:
    """Answers every check once its gate is open."""

    gate: asyncio.Event = field(default_factory=asyncio.Event)
    asked: asyncio.Event = field(default_factory=asyncio.Event)
    requests: list[CheckRequest] = field(default_factory=list)
    cancelled: int = 0
    followed: bool = False
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

    def is_followed(self, path) -> bool:
        return self.followed

    async def aclose(self) -> None:
        self.is_closed = True


class Desk:
    """An agent service, and what is behind it."""

    def __init__(self, **settings: Any) -> None:
        self.checks, self.store, self.told = HeldChecks(), MemoryStore("a = 1", "b = 2"), []
        self.service = AgentService(
            self.checks, self.store, Settings(**settings), SystemClock(), lambda *event: self.told.append(event)
        )

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
    assert (request.view.cells, request.view.max_total) == ({1}, 3)


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
async def test_a_save_is_checked_where_a_session_follows(followed, settings, is_checked):
    desk = Desk(**settings)
    desk.checks.followed = followed
    desk.checks.gate.set()
    assert (await desk.service.check_saved("n.ipynb") is not None) == is_checked
    assert len(desk.checks.requests) == is_checked


async def test_a_save_of_an_edit_of_ours_is_checked_by_the_edit():
    desk = Desk()
    desk.checks.followed = True
    edit = desk.edit(_REPLACE)
    await desk.checks.asked.wait()
    assert await desk.service.check_saved("n.ipynb") is None
    desk.checks.gate.set()
    await edit
    assert len(desk.checks.requests) == 1
    assert await desk.service.check_saved("n.ipynb") is not None
