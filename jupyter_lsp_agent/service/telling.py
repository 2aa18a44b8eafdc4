"""Telling of the results of checks that a change of a document caused, also of those that come late.

Whoever listens is owed the verdict on an edit, a save or a change of a shared document, even where the one who asked
for it waited less long than it took, or has hung up. So a check that gave no verdict yet is asked for again, for as
long as the work behind it goes on, and compared without changing what a session knows: the agent has not seen it, and
what is new to the agent stays new until its own next check.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, replace

from jupyter_lsp_agent.core.errors import JupyterLspAgentError
from jupyter_lsp_agent.core.waiting import finish_all
from jupyter_lsp_agent.diagnostics.report import NoVerdictReason, Report
from jupyter_lsp_agent.service.requests import CheckRequest

NOT_YET = frozenset({NoVerdictReason.STARTING, NoVerdictReason.TIMEOUT})
"""Reasons that time mends."""

_MAX_REMEMBERED = 256


@dataclass(frozen=True, slots=True)
class _Owed:
    content_hash: str | None
    task: asyncio.Task[None]


class ResultTeller:
    """Tells of results, one document at a time the newest content only.

    Args:
        check: gives the report on a request.
        tell: called with the document's name and the report.
        patience_seconds: how long a late verdict is waited for.
    """

    def __init__(
        self,
        check: Callable[[CheckRequest], Awaitable[Report]],
        tell: Callable[[str, Report], None],
        patience_seconds: float,
    ) -> None:
        self._check = check
        self._tell = tell
        self._patience_seconds = patience_seconds
        self._told: OrderedDict[str, str] = OrderedDict()
        self._owed: dict[str, _Owed] = {}

    def tell(self, name: str, report: Report, request: CheckRequest, content_hash: str | None) -> None:
        """Tell of a result; where it is not there yet, of the late one too.

        Args:
            name: the document.
            report: the result.
            request: what was asked.
            content_hash: of the content that was to be checked.
        """
        self._forget_other(name, content_hash)
        self._emit(name, report, content_hash)
        if report.reason in NOT_YET:
            self.owe(name, request, content_hash)

    def owe(self, name: str, request: CheckRequest, content_hash: str | None) -> None:
        """Have a content checked for those who listen alone; a newer content of the document ends it."""
        self.forget(name)
        quiet = replace(
            request,
            wait_seconds=self._patience_seconds,
            comparison=replace(request.comparison, keeps=False),
        )
        task = asyncio.create_task(self._tell_late(name, quiet, content_hash), name=f"late result of {name}")
        self._owed[name] = _Owed(content_hash, task)
        task.add_done_callback(lambda done: self._settled(name, done))

    def forget(self, name: str) -> None:
        """The document has another content now, so nobody waits for the verdict on the last one."""
        if owed := self._owed.pop(name, None):
            owed.task.cancel()

    def leave_out(self, name: str, content_hash: str) -> None:
        """Nothing is to be told of this content."""
        self._forget_other(name, content_hash)
        self._remember(name, content_hash)

    def knows(self, name: str, content_hash: str | None) -> bool:
        """The last result told of a document was about this content, or one on it is owed."""
        if content_hash is None:
            return False
        owed = self._owed.get(name)
        return self._told.get(name) == content_hash or (owed is not None and owed.content_hash == content_hash)

    async def aclose(self) -> None:
        """Give up what is still owed."""
        tasks = [owed.task for owed in self._owed.values()]
        for task in tasks:
            task.cancel()
        await finish_all(tasks)

    async def _tell_late(self, name: str, request: CheckRequest, content_hash: str | None) -> None:
        try:
            report = await self._check(request)
        except JupyterLspAgentError:
            return  # the one who asked was told of it; there is no verdict to tell
        if report.reason not in NOT_YET:
            self._emit(name, report, content_hash)

    def _emit(self, name: str, report: Report, content_hash: str | None) -> None:
        self._remember(name, content_hash)
        self._tell(name, report)

    def _remember(self, name: str, content_hash: str | None) -> None:
        self._told.pop(name, None)
        if content_hash is not None:
            self._told[name] = content_hash
        while len(self._told) > _MAX_REMEMBERED:
            self._told.popitem(last=False)

    def _forget_other(self, name: str, content_hash: str | None) -> None:
        owed = self._owed.get(name)
        if owed is not None and owed.content_hash != content_hash:
            self.forget(name)

    def _settled(self, name: str, task: asyncio.Task[None]) -> None:
        owed = self._owed.get(name)
        if owed is not None and owed.task is task:
            del self._owed[name]
        if not task.cancelled():
            task.exception()
