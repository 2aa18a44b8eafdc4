"""What agents do with the documents of a store: list cells, check, edit, and ask what runs.

Each verb is a recipe over the checking service and the editor, within the limits of the public interface. No front
end's words are used here: a REST handler and a tool server call the same verbs. An answer comes in time even where the
check behind it does not; the work then goes on for a while, and the next call has it. Whoever listens for the results
of changes (`telling`) has the late ones too.
"""

import asyncio
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

from jupyter_lsp_agent.core.clock import Clock
from jupyter_lsp_agent.core.errors import InvalidEditError, InvalidRequestError, JupyterLspAgentError
from jupyter_lsp_agent.diagnostics.report import Counts, DocumentKind, NoVerdictReason, Report, Verdict
from jupyter_lsp_agent.navigation.answer import QueryAnswer
from jupyter_lsp_agent.notebook.surgery import EditedOutputs
from jupyter_lsp_agent.service.agent_answers import EditAnswer, TouchAnswer
from jupyter_lsp_agent.service.agent_checks import check_after_edit, check_of, no_verdict, parse_notebook, plain_check
from jupyter_lsp_agent.service.agent_requests import AgentCheck, AgentEdit
from jupyter_lsp_agent.service.cell_listing import list_cells
from jupyter_lsp_agent.service.checking import CheckingService
from jupyter_lsp_agent.service.documents import UncheckableError, document_kind
from jupyter_lsp_agent.service.editing import DocumentEditor, EditBatch, EditOutcome, content_hash
from jupyter_lsp_agent.service.edits_under_way import EditsUnderWay
from jupyter_lsp_agent.service.neighbours import StoredNeighbours
from jupyter_lsp_agent.service.query_requests import AgentQuery, QueryRequest
from jupyter_lsp_agent.service.requests import Comparison, SessionKey
from jupyter_lsp_agent.service.settings import Settings
from jupyter_lsp_agent.service.stores import DocumentStore, OpenedDocument
from jupyter_lsp_agent.service.telling import NOT_YET, ResultTeller
from jupyter_lsp_agent.service.threads import beside_the_loop
from jupyter_lsp_agent.service.timely_checks import OUTSIDE_WORKTREES, TimelyChecks


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
        self._timely = TimelyChecks(checks, settings, clock)
        self._results = ResultTeller(self._timely.answer_whenever, on_result, self._timely.patience_seconds)
        self._edits = EditsUnderWay()

    async def cells(self, name: str, key: SessionKey | None) -> dict[str, Any]:
        """The cells of a notebook; the servers that will check it are started on the way.

        Raises:
            InvalidRequestError: the document is no notebook, or none that can be read.
        """
        document = await self._documents.read(name)
        if document_kind(document.location) is not DocumentKind.NOTEBOOK:
            raise InvalidRequestError(f"{name} has no cells: read it as a file")
        notebook = await beside_the_loop(len(document.data), lambda: parse_notebook(document))
        comparison = Comparison(baseline="session" if key else "none", session=key, keeps=False)
        request = plain_check(document, comparison)
        if not self._timely.is_outside(request):
            self._timely.begin(request)
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
            return no_verdict(question.name, error.reason, str(error))
        request = await check_of(asked, document, user)
        return await self._timely.answer(request, self._left(question.wait_ms, began_seconds))

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
        request = plain_check(document, Comparison())
        if self._timely.is_outside(request):
            return QueryAnswer(
                path=asked.name,
                method=asked.question.method,
                reason=NoVerdictReason.OUTSIDE_WORKSPACE,
                detail=OUTSIDE_WORKTREES,
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
            await self._checks.meet(check_after_edit(asked, outcome, user))
            written.append(outcome)

        try:
            outcome = await self._editor.edit(batch, on_written)
            if not asked.check:
                self._results.leave_out(batch.name, outcome.content_hash)
                return EditAnswer(outcome, None)
            request = check_after_edit(asked, outcome, user)
            report = await self._timely.answer(request, self._left(asked.question.wait_ms, began_seconds))
        except JupyterLspAgentError as error:
            if not written:
                raise
            # A refusal would say that nothing was written.
            report = no_verdict(batch.name, NoVerdictReason.UNREADABLE, str(error))
        except asyncio.CancelledError:
            # The asker has hung up; what was written is checked for those who listen.
            for outcome in written if asked.check else ():
                self._results.owe(batch.name, check_after_edit(asked, outcome, user), outcome.content_hash)
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
        request = plain_check(document, Comparison())
        report = await self._timely.answer(request, None)
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
        await self._timely.aclose()
        await self._checks.aclose()

    def _left(self, wait_ms: int | None, began_seconds: float) -> float | None:
        if wait_ms is None:
            return None
        return max(0.0, wait_ms / 1000 - (self._clock.monotonic_seconds() - began_seconds))


def _hash(document: OpenedDocument) -> str | None:
    try:
        return content_hash(document)
    except InvalidEditError:
        return None
