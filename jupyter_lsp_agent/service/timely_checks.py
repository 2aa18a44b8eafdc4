"""Checks whose callers have only so long to wait.

An answer comes in time even where the check behind it does not; the work then goes on for a while, and the next call
has it. Where only documents inside a git worktree are checked, the others are answered here.
"""

import asyncio
from dataclasses import replace

from jupyter_lsp_agent.core.clock import Clock, TimerHandle
from jupyter_lsp_agent.diagnostics.report import NoVerdictReason, Report
from jupyter_lsp_agent.servers.roots import find_git_worktree
from jupyter_lsp_agent.service.agent_checks import no_verdict
from jupyter_lsp_agent.service.checking import CheckingService
from jupyter_lsp_agent.service.requests import CheckRequest
from jupyter_lsp_agent.service.settings import Settings

OUTSIDE_WORKTREES = (
    'only documents inside a git worktree are checked on this server; its owner can set `workspace` to "root_dir"'
)

_GRACE_SECONDS = 0.1
"""How much longer than its wait a check may take to say that it had no answer."""

_LINGER_SECONDS = 30.0


class TimelyChecks:
    """Checks that are answered in time.

    Args:
        checks: the service that checks.
        settings: of this process.
        clock: the time.
    """

    def __init__(self, checks: CheckingService, settings: Settings, clock: Clock) -> None:
        self._checks = checks
        self._settings = settings
        self._clock = clock
        self._running: set[asyncio.Task[Report]] = set()

    @property
    def patience_seconds(self) -> float:
        """How long a check may go on that nobody waits for: a server that is starting has its own limit, and a first
        verdict comes after that."""
        return _LINGER_SECONDS + self._settings.initialize_timeout_s

    def is_outside(self, request: CheckRequest) -> bool:
        """Whether the document lies where nothing is checked."""
        return self._settings.workspace == "git" and find_git_worktree(request.path) is None

    async def answer(self, request: CheckRequest, wait_seconds: float | None) -> Report:
        """The report, or that there is none yet. A caller that hangs up cancels its check; a late check goes on."""
        if self.is_outside(request):
            return _outside(request)
        late = asyncio.Event()
        task = self.begin(replace(request, wait_seconds=wait_seconds, is_awaited=lambda: not late.is_set()))
        longest = self._settings.first_wait_ms / 1000 if wait_seconds is None else wait_seconds
        try:
            done, _ = await asyncio.wait({task}, timeout=longest + _GRACE_SECONDS)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if done:
            return task.result()
        late.set()
        self._end_later(task)
        return no_verdict(
            request.display_path,
            NoVerdictReason.TIMEOUT,
            "there was no verdict in time; check again in a moment, or raise `wait_ms`",
        )

    async def answer_whenever(self, request: CheckRequest) -> Report:
        """The report, as late as it may be."""
        return _outside(request) if self.is_outside(request) else await self._checks.check(request)

    def begin(self, request: CheckRequest) -> asyncio.Task[Report]:
        """Begin a check; whoever wants its report may wait for the task."""
        task = asyncio.create_task(self._checks.check(request), name=f"check of {request.display_path}")
        self._running.add(task)
        task.add_done_callback(self._finished)
        return task

    async def aclose(self) -> None:
        """Give up what is under way."""
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)

    def _finished(self, task: asyncio.Task[Report]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # whoever waits for it has it; nobody may be waiting

    def _end_later(self, task: asyncio.Task[Report]) -> None:
        timer: TimerHandle = self._clock.call_later(_LINGER_SECONDS, lambda: None if task.done() else _cancel(task))
        task.add_done_callback(lambda _task: timer.cancel())


def _cancel(task: asyncio.Task[Report]) -> None:
    task.cancel()


def _outside(request: CheckRequest) -> Report:
    return no_verdict(request.display_path, NoVerdictReason.OUTSIDE_WORKSPACE, OUTSIDE_WORKTREES)
