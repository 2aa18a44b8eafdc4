"""The recipe of a check from inside a kernel; it runs on a thread of its own, so that the kernel can be interrupted.

Find the notebook, read its content, let an engine check it, and add what only the kernel knows. The Jupyter server's
warm language servers are used where it would take the same Python as this kernel; else a service of our own.
"""

import asyncio
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Self

from jupyter_lsp_agent.core.errors import InvalidRequestError
from jupyter_lsp_agent.core.ids import ServerId
from jupyter_lsp_agent.diagnostics.build import no_verdict_report
from jupyter_lsp_agent.diagnostics.facts import ReportFacts, ViewOptions
from jupyter_lsp_agent.diagnostics.hidden_state import hidden_state_apart, with_hidden_state
from jupyter_lsp_agent.diagnostics.report import CellReport, ContentSource, NoVerdictReason, Report, Status
from jupyter_lsp_agent.diagnostics.wording import counted
from jupyter_lsp_agent.frontends.magic.content import HISTORY_NAME, ContentFinder, KernelContent
from jupyter_lsp_agent.frontends.magic.engines import CheckTask, OwnEngine, ServerEngine
from jupyter_lsp_agent.frontends.magic.jupyter_servers import ServerAnswerError, ServerClient
from jupyter_lsp_agent.frontends.magic.locate import FoundNotebook, NotebookFinder
from jupyter_lsp_agent.frontends.magic.question import KernelQuestion
from jupyter_lsp_agent.frontends.magic.result import LspCheck
from jupyter_lsp_agent.service.execution import Execution
from jupyter_lsp_agent.service.kernel_view import (
    cell_index,
    display_path,
    given_names,
    hidden_findings,
    open_document,
    with_cell,
    with_executed,
)
from jupyter_lsp_agent.service.settings import Settings
from jupyter_lsp_agent.service.unsaved_inputs import names_of_unsaved, perhaps_unsaved, unsaved

_CONTENT_WORDS = {
    ContentSource.LIVE: "the shared document as it is now",
    ContentSource.CONTENTS: "the saved notebook",
    ContentSource.FILE: "the saved file",
    ContentSource.HISTORY: "the inputs that ran in this kernel, by their numbers",
}
_UNKNOWN = "No notebook is known: {how}; name it (`%lsp_check PATH`) to have it checked."
_BEHIND = "The saved notebook is older than what ran: save it to have {numbers} checked as it ran."
_PERHAPS_BEHIND = (
    "The saved notebook may be older than what ran before `%load_ext`: save it to have {numbers} checked as it ran."
)
_EVERYTHING = ViewOptions(statuses=frozenset(Status), max_per_cell=0, max_total=0)

_NEWS = ViewOptions(statuses=frozenset({Status.INTRODUCED, Status.OUTSTANDING}))
"""What is outstanding may be new to the user: the check that found it first may have been cut short by the next run."""


@dataclass(frozen=True, slots=True)
class _Case:
    """A question, and what was found for it."""

    question: KernelQuestion
    found: FoundNotebook
    content: KernelContent

    @property
    def path(self) -> Path:
        return self.found.path or self.question.around.folder / HISTORY_NAME

    @property
    def is_history(self) -> bool:
        return self.content.is_history


class KernelChecks:
    """Checks for one kernel.

    Args:
        settings: of this process.
    """

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._client = ServerClient()
        self._finder = NotebookFinder(self._client)
        self._contents = ContentFinder(self._client)
        self._own = OwnEngine(settings)
        self._other_python: set[Path] = set()
        self._name = uuid.uuid4().hex[:12]
        # A server keeps its sessions when a kernel is restarted, and what was told to the one before was not told here.
        self._news_name = f" auto {self._name}"
        self._news_turn = asyncio.Lock()

    @classmethod
    async def open(cls, settings: Settings) -> Self:
        """Checks on the running loop; nothing is started before the first."""
        return cls(settings)

    async def check(self, question: KernelQuestion) -> LspCheck:
        """The report on a document, or on the notebook of the kernel.

        Raises:
            JupyterLspAgentError: the question cannot be meant; the text is for the user.
        """
        case = await self._case(question)
        task, notes = self._task(case), list(self._notes(case))
        if question.body is not None:
            task, note = _with_body(_with_what_ran(case), task)
            notes += [note] if note else []
            task = self._with_live_names(case, task)
        report, by = await self._ask(case, task)
        return self._result(case, task, report, by, [*notes, *_elsewhere(report, task.view, question)])

    async def check_news(self, question: KernelQuestion) -> LspCheck:
        """The report on what came since the first such check: the notebook as it is, with what ran unsaved.

        One at a time, in the order of the calls: the first one's content is what is old.
        """
        async with self._news_turn:
            return await self._check_news(question)

    async def _check_news(self, question: KernelQuestion) -> LspCheck:
        case = await self._case(question)
        task = replace(
            self._task(case),
            session=self._session(question, self._news_name),
            baseline="session",
            remembers=True,
            view=_NEWS,
        )
        newer = _with_what_ran(case)
        if newer is not case and newer.content.document is not None:
            task = replace(task, data=newer.content.document.data, source=ContentSource.REQUEST)
        task = self._with_live_names(case, task)
        report, by = await self._ask(newer, task)
        return self._result(newer, task, report, by, [])

    async def cell_count(self, question: KernelQuestion) -> int:
        """How many cells the notebook of the kernel has."""
        document = (await self._case(question)).content.document
        return 0 if document is None else len(document.notebook.cells)

    async def aclose(self) -> None:
        """Stop the language servers, and close the connections."""
        self._client.close()
        await self._own.aclose()

    async def _case(self, question: KernelQuestion) -> _Case:
        if question.path is None:
            found = await self._finder.own(question.around, question.executed)
        else:
            found = await self._finder.named(question.path, question.around, question.executed)
        content = await self._contents.read(found, question)
        return _Case(question, found.gone() if content.is_history else found, content)

    def _task(self, case: _Case) -> CheckTask:
        question, document = case.question, case.content.document
        view = _EVERYTHING if question.everything else ViewOptions()
        if question.cell is not None:
            if document is None:
                raise InvalidRequestError("--cell: the document has no cells that can be read; leave it out")
            view = replace(view, cells=frozenset({cell_index(document, question.cell)}))
        own = case.found.is_own
        return CheckTask(
            path=case.path,
            name=display_path(case.path, question.around.folder),
            data=None if document is None else document.data,
            source=case.content.source,
            stored=None if document is None else document.data,
            session=self._session(question) if question.baseline == "session" else None,
            baseline=question.baseline,
            severity=question.severity,
            view=view,
            server=None if question.server is None else ServerId(question.server),
            python=question.around.python if own else None,
            given_names=self._given_names(case),
        )

    def _session(self, question: KernelQuestion, suffix: str = "") -> str:
        """The name of this kernel's session; a terminal has no id, and there may be several at one server."""
        name = f"kernel {question.around.kernel_id or f'of a terminal {self._name}'}"
        return f"{name[: 128 - len(suffix)]}{suffix}"

    def _given_names(self, case: _Case) -> frozenset[str]:
        """What inputs find beside what they made: of a file's cells, hidden state is told instead."""
        document = case.content.document
        if document is None or not case.is_history:
            return frozenset()
        return given_names(document, case.question.known, self._settings)

    def _with_live_names(self, case: _Case, task: CheckTask) -> CheckTask:
        """The task with the names that live by what is perhaps not saved, and are not in its data."""
        document, question = case.content.document, case.question
        if document is None or task.data is None or case.is_history or not case.found.is_own:
            return task
        names = names_of_unsaved(
            document,
            open_document(task.data, document.name),
            question.executed,
            names=question.names,
            settings=self._settings,
            written_seconds=case.content.written_seconds,
        )
        return replace(task, given_names=names)

    async def _ask(self, case: _Case, task: CheckTask) -> tuple[Report, str]:
        """The report, and who made it."""
        session = case.content.session
        if session is not None and task.server is None and case.path not in self._other_python:
            try:
                report = await ServerEngine(self._client, session, self._settings).check(task)
            except ServerAnswerError:
                pass  # it went, or is of another version: the kernel's own servers do it
            else:
                if task.python is None or _is_same_python(report, task.python):
                    return report, "the language servers of its Jupyter server"
                self._other_python.add(case.path)
        return await self._own.check(task), "this kernel's own language servers"

    def _result(self, case: _Case, task: CheckTask, report: Report, by: str, notes: Sequence[str]) -> LspCheck:
        document, question = case.content.document, case.question
        apart: tuple[CellReport, ...] = ()
        if case.is_history:
            report = replace(report, path=None)
        elif document is not None and case.found.is_own and question.body is None:
            written = case.content.written_seconds
            names = question.names - task.given_names  # where an unsaved cell stands is not known
            findings = hidden_findings(document, question.executed, names, self._settings, written)
            view = replace(task.view, severity=report.severity)
            apart = hidden_state_apart(report, document.notebook, findings, view)
            report = with_hidden_state(report, document.notebook, findings, view)
        return LspCheck(report, _content_line(case, by), tuple(notes), apart)

    def _notes(self, case: _Case) -> Sequence[str]:
        document = case.content.document
        if case.is_history:
            failed = ", ".join(f"[{number}]" for number in sorted(case.question.unjudged))
            left_out = (f"Inputs that failed are not judged: {failed}.",) if failed else ()
            return (
                *((_UNKNOWN.format(how=case.found.how),) if case.question.around.is_kernel else ()),
                *left_out,
            )
        if document is None or not case.found.is_own or case.question.body is not None:
            return ()
        executed, written = case.question.executed, case.content.written_seconds
        behind = _numbers(unsaved(document, executed, written))
        perhaps = _numbers(perhaps_unsaved(document, executed, written))
        return (
            *((_BEHIND.format(numbers=behind),) if behind else ()),
            *((_PERHAPS_BEHIND.format(numbers=perhaps),) if perhaps else ()),
        )


def _numbers(executed: Sequence[Execution]) -> str:
    return ", ".join(f"[{cell.execution_count}]" for cell in executed)


def no_verdict(question: KernelQuestion, waited_seconds: float) -> LspCheck:
    """The result where the kernel is not kept waiting any longer."""
    detail = f"There was no verdict within {waited_seconds:g} s; ask again in a moment, or raise `wait_ms`."
    facts = ReportFacts(path=question.path, text=None, content_source=None, checked_at=datetime.now(UTC))
    return LspCheck(no_verdict_report(facts, NoVerdictReason.TIMEOUT, detail), "Content: none was had in time.")


def _with_what_ran(case: _Case) -> _Case:
    """The case with what ran and is not saved put into the content: its names are there."""
    document, question = case.content.document, case.question
    if document is None or case.is_history or not case.found.is_own:
        return case
    newer = unsaved(document, question.executed, case.content.written_seconds)
    if not newer:
        return case
    data = with_executed(document, question.executed, newer)
    return replace(case, content=replace(case.content, document=open_document(data, document.name)))


def _elsewhere(report: Report, view: ViewOptions, question: KernelQuestion) -> Sequence[str]:
    """That there is more than one cell's findings, where one cell alone is shown."""
    if view.cells is None or report.counts is None:
        return ()
    counts = report.counts
    more = counts.present + counts.introduced + counts.outstanding - len(list(report)) - counts.omitted
    shows = "`%%lsp_check --all` shows them" if question.body is not None else "leave `--cell` out to see them"
    return (f"{counted(more, 'finding')} in other cells: {shows}.",) if more > 0 else ()


def _with_body(case: _Case, task: CheckTask) -> tuple[CheckTask, str | None]:
    """The task with the given body in the place of the cell that holds it."""
    document, question = case.content.document, case.question
    if document is None:
        raise InvalidRequestError(f"{task.name} cannot be read, so the cell has no context; mend or save it first")
    # The body keeps its lines' numbers in the cell: the magic's own line stays, empty.
    source = f"\n{question.body}"
    asking = question.asking
    data, index = with_cell(document, asking.cell_id, asking.source, source, question.executed)
    is_known = index < len(document.notebook.cells)
    is_stored = not case.is_history
    task = replace(
        task,
        data=data,
        source=ContentSource.REQUEST if is_stored else ContentSource.HISTORY,
        view=task.view if question.everything else replace(task.view, cells=frozenset({index})),
    )
    return (
        task,
        None
        if is_known or case.is_history
        else "The cell is not in the saved notebook yet: it was checked at its end.",
    )


def _is_same_python(report: Report, python: Path) -> bool:
    """Whether a report speaks of this interpreter's packages; one that speaks of none does not speak against it."""
    if report.environment is None:
        return True
    return _home(Path(report.environment.python)) == _home(python)


def _home(python: Path) -> Path:
    """The folder of an environment's programs: a link to the program itself may lead out of the environment."""
    return python.parent.resolve()


def _content_line(case: _Case, by: str) -> str:
    words = _CONTENT_WORDS[case.content.source]
    if case.question.body is not None:
        words += ", with what ran since, and this cell as it is here" if not case.is_history else ", and this cell"
    found = "" if case.is_history else f" Found: {case.found.how}."
    return f"Content: {words}.{found} Asked: {by}."
