"""What agents do with the documents of a store: list cells, check, edit, and ask what runs.

Each verb is a recipe over the checking service and the editor, within the limits of the public interface. No front
end's words are used here: a REST handler and a tool server call the same verbs. An answer comes in time even where the
check behind it does not; the work then goes on for a while, and the next call has it. Whoever listens for the results
of changes (`telling`) has the late ones too.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jupyter_lsp_agent.core.clock import Clock, TimerHandle
from jupyter_lsp_agent.core.diagnostic import DiagnosticSeverity
from jupyter_lsp_agent.core.errors import InvalidEditError, InvalidRequestError, JupyterLspAgentError, NotebookError
from jupyter_lsp_agent.diagnostics.build import no_verdict_report
from jupyter_lsp_agent.diagnostics.facts import ReportFacts, ViewOptions
from jupyter_lsp_agent.diagnostics.report import ContentSource, Counts, DocumentKind, NoVerdictReason, Report, Verdict
from jupyter_lsp_agent.navigation.answer import QueryAnswer
from jupyter_lsp_agent.notebook.cell_refs import CellNames
from jupyter_lsp_agent.notebook.model import Notebook
from jupyter_lsp_agent.notebook.reader import read_notebook
from jupyter_lsp_agent.notebook.surgery import EditedOutputs
from jupyter_lsp_agent.servers.roots import find_git_worktree
from jupyter_lsp_agent.service.agent_answers import EditAnswer, TouchAnswer
from jupyter_lsp_agent.service.agent_requests import AgentCheck, AgentEdit, AgentQuestion
from jupyter_lsp_agent.service.cell_listing import list_cells
from jupyter_lsp_agent.service.checking import CheckingService
from jupyter_lsp_agent.service.documents import UncheckableError, document_kind
from jupyter_lsp_agent.service.editing import DocumentEditor, EditBatch, EditOutcome, content_hash
from jupyter_lsp_agent.service.edits_under_way import EditsUnderWay
from jupyter_lsp_agent.service.neighbours import StoredNeighbours
from jupyter_lsp_agent.service.query_requests import AgentQuery, QueryRequest
from jupyter_lsp_agent.service.requests import CheckRequest, Comparison, SessionKey
from jupyter_lsp_agent.service.settings import Settings
from jupyter_lsp_agent.service.stores import DocumentStore, OpenedDocument
from jupyter_lsp_agent.service.telling import NOT_YET, ResultTeller
from jupyter_lsp_agent.service.threads import beside_the_loop

_GRACE_SECONDS = 0.1
"""How much longer than its wait a check may take to say that it had no answer."""

_LINGER_SECONDS = 30.0
_ONLY_IN_WORKTREES = (
    'only documents inside a git worktree are checked on this server; its owner can set `workspace` to "root_dir"'
)


class AgentService:
    """The verbs.

    Args:
        checks: the service that checks; it is closed with this one.
        documents: where documents come from and go to.
        settings: of this process.
        clock: the time.
        on_result: called with the name and the report of each check that an edit, a save or a change of a shared
            document caused, also where it comes late.
    """

    def __init__(
        self,
        checks: CheckingService,
        documents: DocumentStore,
        settings: Settings,
        clock: Clock,
        on_result: Callable[[str, Report], None],
    ) -> None:
        self._checks = checks
        self._documents = documents
        self._settings = settings
        self._clock = clock
        self._editor = DocumentEditor(
            documents, clock, outputs=EditedOutputs(settings.edited_outputs), allowed=settings.allow_edits
        )
        self._running: set[asyncio.Task[Report]] = set()
        # A server that is starting has its own limit, and a first verdict comes after that.
        patience_seconds = _LINGER_SECONDS + settings.initialize_timeout_s
        self._results = ResultTeller(self._check_inside, on_result, patience_seconds)
        self._edits = EditsUnderWay()

    async def cells(self, name: str, key: SessionKey | None) -> dict[str, Any]:
        """The cells of a notebook; the servers that will check it are started on the way.

        Raises:
            InvalidRequestError: the document is no notebook, or none that can be read.
        """
        document = await self._documents.read(name)
        if document_kind(document.location) is not DocumentKind.NOTEBOOK:
            raise InvalidRequestError(f"{name} has no cells: read it as a file")
        notebook = await beside_the_loop(len(document.data), lambda: _parse(document))
        comparison = Comparison(baseline="session" if key else "none", session=key, keeps=False)
        request = _request(document, comparison)
        if not self._is_outside(request):
            self._begin(request)
        return list_cells(name, notebook)

    async def check(self, asked: AgentCheck, user: str, spent_seconds: float = 0.0) -> Report:
        """The report on a document, stored, shared or proposed; `spent_seconds` of its wait are gone already.

        Raises:
            InvalidRequestError: a cell is named that cannot be meant.
            UnknownCellError: a cell is named that is not there.
        """
        began_seconds = self._clock.monotonic_seconds() - spent_seconds
        question = asked.question
        read = self._documents.read if asked.content is None else self._documents.read_or_empty
        try:
            document = await read(question.name)
        except UncheckableError as error:
            return _no_verdict(question.name, error.reason, str(error))
        request = await self._request(asked, document, user)
        return await self._in_time(request, self._left(question.wait_ms, began_seconds))

    async def touch(self, asked: AgentCheck, user: str, spent_seconds: float = 0.0) -> TouchAnswer:
        """Start the servers of a document, and let the session meet it."""
        report = await self.check(asked, user, spent_seconds)
        missing = report.verdict is Verdict.NO_VERDICT and report.reason not in NOT_YET
        return TouchAnswer(not missing, report.reason if missing else None, report.detail if missing else None)

    async def query(self, asked: AgentQuery, spent_seconds: float = 0.0) -> QueryAnswer:
        """The answer to a question about a document's code; `spent_seconds` of its wait are gone already.

        Raises:
            InvalidRequestError, EditError: a place is named that cannot be meant, or a cell that is not there.
        """
        began_seconds = self._clock.monotonic_seconds() - spent_seconds
        try:
            document = await self._documents.read(asked.name)
        except UncheckableError as error:
            return QueryAnswer(path=asked.name, method=asked.question.method, reason=error.reason, detail=str(error))
        request = _request(document, Comparison())
        if self._is_outside(request):
            return QueryAnswer(
                path=asked.name,
                method=asked.question.method,
                reason=NoVerdictReason.OUTSIDE_WORKSPACE,
                detail=_ONLY_IN_WORKTREES,
            )
        left = self._left(asked.wait_ms, began_seconds)
        return await self._checks.query(
            QueryRequest(
                document=replace(request, wait_seconds=left),
                question=asked.question,
                neighbours=StoredNeighbours(self._documents),
            )
        )

    async def edit(self, asked: AgentEdit, user: str, spent_seconds: float = 0.0) -> EditAnswer:
        """Do a batch of edits, and check what came of it; `spent_seconds` of its wait are gone already.

        Raises:
            EditError: the batch was refused; nothing was written.
        """
        began_seconds = self._clock.monotonic_seconds() - spent_seconds
        question = asked.question
        batch = EditBatch(
            name=question.name,
            edits=asked.edits,
            shown=question.cells,
            if_hash=asked.if_hash,
            dry_run=asked.dry_run,
            patience_seconds=self._left(question.wait_ms, began_seconds),
        )
        with self._edits.of(question.name):
            return await self._edit(batch, asked, user, began_seconds)

    async def _edit(self, batch: EditBatch, asked: AgentEdit, user: str, began_seconds: float) -> EditAnswer:
        written: list[EditOutcome] = []

        async def on_written(outcome: EditOutcome) -> None:
            # The session meets what was there before, whatever comes of the check, and before anybody else's edit.
            await self._checks.meet(_after_edit(asked, outcome, user))
            written.append(outcome)

        try:
            outcome = await self._editor.edit(batch, on_written)
            if not asked.check:
                self._results.leave_out(batch.name, outcome.content_hash)
                return EditAnswer(outcome, None)
            request = _after_edit(asked, outcome, user)
            report = await self._in_time(request, self._left(asked.question.wait_ms, began_seconds))
        except JupyterLspAgentError as error:
            if not written:
                raise
            # A refusal would say that nothing was written.
            report = _no_verdict(batch.name, NoVerdictReason.UNREADABLE, str(error))
        except asyncio.CancelledError:
            # The asker has hung up; what was written is checked for those who listen.
            for outcome in written if asked.check else ():
                self._results.owe(batch.name, _after_edit(asked, outcome, user), outcome.content_hash)
            raise
        if written:
            self._results.tell(batch.name, report, request, outcome.content_hash)
        return EditAnswer(outcome, report)

    async def check_changed(self, name: str) -> None:
        """Check a document that somebody else has saved or, where it is shared, changed, and tell of the result.

        Only where a session follows it, and where the verdict on this content was not told yet: what an edit of ours
        wrote is checked by the edit.
        """
        location = self._documents.location(name)
        if not (self._settings.follow_saves and self._settings.enabled and self._checks.followed(location)):
            return
        if not await self._edits.ended(name):
            return
        document = await self._documents.read(name)
        found = await beside_the_loop(len(document.data), lambda: _hash(document))
        if self._results.knows(name, found):
            return
        request = _request(document, Comparison())
        report = await self._in_time(request, None)
        if not self._results.knows(name, found):
            self._results.tell(name, report, request, found)

    def followed(self) -> Sequence[str]:
        """The names of the documents that some session follows."""
        return self._checks.followed()

    def moved(self, old: str, new: str | None) -> None:
        """A document or folder has another name, or is gone (`None`): sessions follow."""
        if new is None:
            self._checks.deleted(self._documents.location(old))
        else:
            self._checks.renamed(self._documents.location(old), self._documents.location(new))

    async def accept(self, name: str, key: SessionKey) -> Counts | None:
        """What the session knows of a document is old from now on."""
        return await self._checks.accept(key, await self._documents.read(name))

    async def forget(self, name: str, key: SessionKey) -> None:
        """The session meets the document anew next time."""
        await self._checks.forget(key, await self._documents.read(name))

    def sessions(self, user: str, name: str | None) -> list[dict[str, Any]]:
        """The sessions of a user."""
        return self._checks.sessions(user, name)

    async def status(self) -> dict[str, Any]:
        """What servers there are, what runs and what failed."""
        return await self._checks.status()

    async def restart(self, server_id: str, root: str | None) -> dict[str, Any]:
        """Restart a server.

        Raises:
            SettingsError: no server has this id.
        """
        return await self._checks.restart(server_id, root)

    async def aclose(self) -> None:
        """Give up what is under way and stop every server."""
        await self._results.aclose()
        for task in self._running:
            task.cancel()
        await asyncio.gather(*self._running, return_exceptions=True)
        await self._checks.aclose()

    async def _request(self, asked: AgentCheck, document: OpenedDocument, user: str) -> CheckRequest:
        question, proposed = asked.question, asked.content
        shown = document if proposed is None else replace(document, data=proposed, source=ContentSource.REQUEST)
        comparison = Comparison(
            baseline=question.baseline,
            session=_key(question, user),
            before_bytes=None if proposed is None or asked.remember else document.data,
            keeps=asked.remember or (proposed is None and not asked.touch),
        )
        view = await beside_the_loop(len(shown.data), lambda: _view(question, shown))
        return _request(shown, comparison, view=view, severity=question.severity)

    def _left(self, wait_ms: int | None, began_seconds: float) -> float | None:
        if wait_ms is None:
            return None
        return max(0.0, wait_ms / 1000 - (self._clock.monotonic_seconds() - began_seconds))

    async def _in_time(self, request: CheckRequest, wait_seconds: float | None) -> Report:
        """The report, or that there is none yet. A caller that hangs up cancels its check; a late check goes on."""
        if self._is_outside(request):
            return _outside(request)
        late = asyncio.Event()
        task = self._begin(replace(request, wait_seconds=wait_seconds, is_awaited=lambda: not late.is_set()))
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
        return _no_verdict(
            request.display_path,
            NoVerdictReason.TIMEOUT,
            "there was no verdict in time; check again in a moment, or raise `wait_ms`",
        )

    async def _check_inside(self, request: CheckRequest) -> Report:
        return _outside(request) if self._is_outside(request) else await self._checks.check(request)

    def _is_outside(self, request: CheckRequest) -> bool:
        return self._settings.workspace == "git" and find_git_worktree(request.path) is None

    def _begin(self, request: CheckRequest) -> asyncio.Task[Report]:
        task = asyncio.create_task(self._checks.check(request), name=f"check of {request.display_path}")
        self._running.add(task)
        task.add_done_callback(self._finished)
        return task

    def _finished(self, task: asyncio.Task[Report]) -> None:
        self._running.discard(task)
        if not task.cancelled():
            task.exception()  # whoever waits for it has it; nobody may be waiting

    def _end_later(self, task: asyncio.Task[Report]) -> None:
        timer: TimerHandle = self._clock.call_later(_LINGER_SECONDS, lambda: None if task.done() else _cancel(task))
        task.add_done_callback(lambda _task: timer.cancel())


def _hash(document: OpenedDocument) -> str | None:
    try:
        return content_hash(document)
    except InvalidEditError:
        return None


def _outside(request: CheckRequest) -> Report:
    return _no_verdict(
        request.display_path,
        NoVerdictReason.OUTSIDE_WORKSPACE,
        _ONLY_IN_WORKTREES,
    )


def _cancel(task: asyncio.Task[Report]) -> None:
    task.cancel()


def _request(
    document: OpenedDocument,
    comparison: Comparison,
    *,
    view: ViewOptions | None = None,
    severity: DiagnosticSeverity | None = None,
) -> CheckRequest:
    return CheckRequest(
        path=document.location,
        display_path=document.name,
        content_bytes=document.data,
        content_source=document.source,
        named=document.boundary,
        severity=severity,
        view=view or ViewOptions(),
        comparison=comparison,
    )


def _after_edit(asked: AgentEdit, outcome: EditOutcome, user: str) -> CheckRequest:
    question = asked.question
    comparison = Comparison(
        baseline=question.baseline,
        session=_key(question, user),
        before_bytes=outcome.before.data,
        keeps=not asked.dry_run,
    )
    source = ContentSource.REQUEST if asked.dry_run else outcome.before.source
    document = replace(outcome.before, data=outcome.data, source=source)
    view = replace(question.view, cells=outcome.shown, edited_cells=outcome.touched)
    return _request(document, comparison, view=view, severity=question.severity)


def _key(question: AgentQuestion, user: str) -> SessionKey | None:
    return None if question.session is None else SessionKey(user, question.session)


def _view(question: AgentQuestion, document: OpenedDocument) -> ViewOptions:
    if question.cells is None:
        return question.view
    if document_kind(document.location) is not DocumentKind.NOTEBOOK:
        raise InvalidRequestError(f'{document.name} has no cells: leave "cells" out')
    names = CellNames(_parse(document).cells)
    return replace(question.view, cells=frozenset(names.find(ref, '"cells"') for ref in question.cells))


def _parse(document: OpenedDocument) -> Notebook:
    try:
        return read_notebook(document.data, document.name)
    except NotebookError as error:
        raise InvalidRequestError(str(error)) from None


def _no_verdict(name: str | None, reason: NoVerdictReason, detail: str) -> Report:
    kind = document_kind(Path(name or ""))
    facts = ReportFacts(path=name, kind=kind, text=None, content_source=None, checked_at=datetime.now(UTC))
    return no_verdict_report(facts, reason, detail)
