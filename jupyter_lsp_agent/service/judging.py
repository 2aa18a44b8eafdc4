"""What the servers say of one content of one document: a notebook or a text, as stored, proposed or from before.

Here a content becomes findings, and the word of who gave them under which circumstances, so that two such words can
be compared or told to be incomparable (`diagnostics.baseline`).
"""

import asyncio
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path

from jupyter_lsp_agent.core.diagnostic import CellDiagnostic, Diagnostic
from jupyter_lsp_agent.core.errors import SettingsError
from jupyter_lsp_agent.core.ids import LanguageId
from jupyter_lsp_agent.core.positions import CellLine
from jupyter_lsp_agent.diagnostics.baseline import OWN_CHAIN, Finding, Judges, StateVerdict, UncheckedLines
from jupyter_lsp_agent.diagnostics.facts import ChainFailure
from jupyter_lsp_agent.diagnostics.report import EnvironmentReport, NoVerdictReason, ServerReport, Unchecked
from jupyter_lsp_agent.notebook.build_options import BuildOptions
from jupyter_lsp_agent.notebook.languages import PYTHON, detect_language
from jupyter_lsp_agent.notebook.model import Cell, CellKind, Notebook
from jupyter_lsp_agent.notebook.python_cell import INVALID_SYNTAX
from jupyter_lsp_agent.notebook.python_syntax import compiles
from jupyter_lsp_agent.servers.interpreters import OWN, Interpreter, resolve_interpreter
from jupyter_lsp_agent.service.asking import Asker
from jupyter_lsp_agent.service.chain_calls import Chain, Waits
from jupyter_lsp_agent.service.dependents import RecentDocuments
from jupyter_lsp_agent.service.documents import UncheckableError
from jupyter_lsp_agent.service.namespace import startup_names
from jupyter_lsp_agent.service.notebook_check import (
    NotebookMemory,
    NotebookTask,
    Outcome,
    check_notebook,
    settle_guards,
)
from jupyter_lsp_agent.service.places import Place, ipython_startup_folder
from jupyter_lsp_agent.service.requests import CheckRequest
from jupyter_lsp_agent.service.settings import Settings
from jupyter_lsp_agent.service.stamps import stamp_circumstances
from jupyter_lsp_agent.service.text_check import TextTask, check_text, text_language

_MAX_REMEMBERED_NOTEBOOKS = 64
_LATE = frozenset({NoVerdictReason.TIMEOUT, NoVerdictReason.STARTING})
_PYTHON_3 = re.compile(r"(3)\.(\d+)")
_OLDEST_PYTHON = (3, 7)
"""Older ones are no server's business any more; their code is read as that of the Python at hand."""
_NEWEST_PYTHON = (3, 14)
"""What all servers know; some refuse to work for one that they do not know, and newer code is read as of this one."""


@dataclass(frozen=True, slots=True)
class Content:
    """What is judged: a notebook, or the text of a plain file.

    Attributes:
        notebook: `None` for a plain file.
        text: `None` for a notebook.
        language: of the kernel or of the file; `None` where nothing tells it.
    """

    notebook: Notebook | None = field(default=None, repr=False)
    text: str | None = field(default=None, repr=False)
    language: LanguageId | None = None

    @property
    def cells(self) -> tuple[Cell, ...]:
        """The cells; a plain file is one code cell."""
        if self.notebook is not None:
            return self.notebook.cells
        return (Cell(0, None, CellKind.CODE, self.text or ""),)

    def with_cells(self, cells: tuple[Cell, ...]) -> "Content":
        """Another content of the same document, with all that is said about it now (its kernel above all)."""
        if self.notebook is not None:
            return replace(self, notebook=replace(self.notebook, cells=cells))
        return replace(self, text=cells[0].source if cells else "")


def notebook_content(notebook: Notebook) -> Content:
    """A notebook to be judged."""
    return Content(notebook=notebook, language=detect_language(notebook))


def text_content(place: Place, text: str) -> Content:
    """A plain file to be judged.

    Raises:
        UncheckableError: no server takes such files.
    """
    return Content(text=text, language=text_language(place))


@dataclass(frozen=True, slots=True, kw_only=True)
class Judged:
    """What was said of a content.

    Attributes:
        verdict: the findings, and who gave them.
        servers: who was asked, also those that failed.
        failures: chains that gave no answer.
        unchecked: lines that no server looked at.
        unmapped: findings that belong to no cell line.
        environment: the Python that the servers were told of.
    """

    verdict: StateVerdict
    servers: tuple[ServerReport, ...] = ()
    failures: tuple[ChainFailure, ...] = ()
    unchecked: tuple[Unchecked, ...] = ()
    unmapped: tuple[Diagnostic, ...] = ()
    environment: EnvironmentReport | None = None

    @property
    def was_answered(self) -> bool:
        """Whether there is a verdict at all: some chain answered, or there was nothing to ask."""
        chains = self.verdict.judges.chains
        return not chains or any(judge is not None for judge in chains.values())


class DocumentJudge:
    """Judges contents.

    Args:
        asker: asks the servers.
    """

    def __init__(self, asker: Asker) -> None:
        self._asker = asker
        self._memories: RecentDocuments[Path, NotebookMemory] = RecentDocuments(_MAX_REMEMBERED_NOTEBOOKS)
        self._startup_names: frozenset[str] | None = None

    async def judge(self, place: Place, content: Content, request: CheckRequest, *, is_stored: bool) -> Judged:
        """What the servers say.

        Args:
            place: of the document.
            content: what it holds, or might hold, or held.
            request: which servers, which Python, how long.
            is_stored: the content is what the document holds.

        Raises:
            UncheckableError: nobody can be asked.
            SettingsError: the request names an interpreter that is none.
        """
        if content.notebook is None:
            return await self._judge_text(place, content, request, is_stored=is_stored)
        if not any(cell.kind is CellKind.CODE or cell.defect for cell in content.cells):
            return Judged(verdict=StateVerdict(content.cells, ()))
        return await self._judge_notebook(place, content.notebook, content.language, request, is_stored=is_stored)

    async def notebook_task(
        self, place: Place, notebook: Notebook, language: LanguageId | None, request: CheckRequest, *, is_stored: bool
    ) -> NotebookTask:
        """What servers are to be asked of a notebook, and under which circumstances.

        Raises:
            UncheckableError: nothing tells its language.
            SettingsError: the request names an interpreter that is none.
        """
        interpreter = await interpreter_of(place, request, notebook)
        return NotebookTask(
            place=place,
            notebook=notebook,
            interpreter=interpreter,
            options=self._build_options(place, interpreter, request.given_names),
            memory=self._memory(place.path),
            language=require_language(language),
            server=request.server,
            waits=waits_of(request, place.settings),
            closes=not is_stored,
        )

    async def settle(self, task: NotebookTask, chain: Chain) -> None:
        """Make sure that a notebook is built as the servers of a chain need it (`settle_guards`).

        Raises:
            UncheckableError: that could not be had in time.
        """
        failure = await settle_guards(task, self._asker, chain) if task.language == PYTHON else None
        if failure is not None and failure.reason in _LATE:
            raise UncheckableError(failure.reason, failure.detail)

    async def _judge_notebook(
        self, place: Place, notebook: Notebook, language: LanguageId | None, request: CheckRequest, *, is_stored: bool
    ) -> Judged:
        task = await self.notebook_task(place, notebook, language, request, is_stored=is_stored)
        outcome = await check_notebook(task, self._asker)
        interpreter = task.interpreter
        stamps = await asyncio.to_thread(stamp_circumstances, place, task.language, request, interpreter)
        return Judged(
            verdict=_notebook_verdict(notebook, outcome, stamps),
            servers=outcome.servers,
            failures=outcome.failures,
            unchecked=outcome.unchecked,
            unmapped=outcome.unmapped,
            environment=_environment(interpreter) if language == PYTHON else None,
        )

    async def _judge_text(self, place: Place, content: Content, request: CheckRequest, *, is_stored: bool) -> Judged:
        language, text = require_language(content.language), content.text or ""
        interpreter = await interpreter_of(place, request)
        task = TextTask(
            place=place,
            text=text,
            language=language,
            interpreter=interpreter,
            server=request.server,
            waits=waits_of(request, place.settings),
            closes=not is_stored,
        )
        outcome = await check_text(task, self._asker)
        stamps = await asyncio.to_thread(stamp_circumstances, place, language, request, interpreter)
        return Judged(
            verdict=StateVerdict(
                cells=content.cells,
                findings=tuple(Finding(0, found, outcome.chain_of.get(found, OWN_CHAIN)) for found in outcome.findings),
                judges=replace(stamps, chains=outcome.chains),
                unparsed=frozenset() if language != PYTHON or compiles(text) else frozenset({0}),
            ),
            servers=outcome.servers,
            failures=outcome.failures,
            environment=_environment(interpreter) if language == PYTHON else None,
        )

    def _build_options(self, place: Place, interpreter: Interpreter, given: frozenset[str]) -> BuildOptions:
        settings = place.settings
        return BuildOptions(
            kernel_names=frozenset(settings.kernel_names) | self._names_at_startup(place) | given,
            python_cell_magics=frozenset(settings.python_cell_magics),
            python_version=interpreter.version,
        )

    def _names_at_startup(self, place: Place) -> frozenset[str]:
        if self._startup_names is None:
            self._startup_names = startup_names(ipython_startup_folder(place.search.environ))
        return self._startup_names

    def _memory(self, path: Path) -> NotebookMemory:
        memory = self._memories.get(path) or NotebookMemory()
        self._memories.remember(path, memory)
        return memory


def waits_of(request: CheckRequest, settings: Settings) -> Waits:
    """How long a request waits for an answer."""
    if request.wait_seconds is not None:
        return Waits(
            taken_up_seconds=None, whole_seconds=request.wait_seconds, first_whole_seconds=request.wait_seconds
        )
    if request.timeout_seconds is not None:
        return Waits(taken_up_seconds=request.timeout_seconds, option=request.words.timeout)
    return Waits(
        taken_up_seconds=None,
        whole_seconds=settings.wait_ms / 1000,
        first_whole_seconds=settings.first_wait_ms / 1000,
    )


async def interpreter_of(place: Place, request: CheckRequest, notebook: Notebook | None = None) -> Interpreter:
    """The Python that a document means.

    Raises:
        SettingsError: the request names one that is none.
    """
    try:
        interpreter = await asyncio.to_thread(
            resolve_interpreter,
            place.path.parent,
            place.boundary,
            surroundings=place.surroundings,
            kernel_name=notebook.kernel.kernel_name if notebook else None,
            named=request.python,
            is_notebook=notebook is not None,
        )
    except SettingsError as error:
        raise SettingsError(f"{request.words.python} {error}") from None
    said = _stored_version(notebook) if notebook else None
    if said is None or not _yields_to(interpreter, said):
        return interpreter
    # Servers that ask the program for its version would be told its own, and take newer syntax for an error.
    is_newer = interpreter.version is None or said > interpreter.version
    return replace(interpreter, version=said, may_run=interpreter.may_run and not is_newer)


def _stored_version(notebook: Notebook) -> tuple[int, int] | None:
    """The Python that the notebook says it ran on, as far as servers can be told of it."""
    said = _PYTHON_3.match(notebook.kernel.language_version or "")
    version = (int(said[1]), int(said[2])) if said else (0, 0)
    return min(version, _NEWEST_PYTHON) if version >= _OLDEST_PYTHON else None


def _yields_to(interpreter: Interpreter, said: tuple[int, int]) -> bool:
    """Whether the notebook's word on its version counts: its kernel is not here, or nothing but our own Python is,
    which tells nothing of what newer syntax means. Any environment of the project is a better witness."""
    if interpreter.elsewhere is not None:
        return True
    return interpreter.origin == OWN and interpreter.version is not None and said > interpreter.version


def require_language(language: LanguageId | None) -> LanguageId:
    """The language of a notebook.

    Raises:
        UncheckableError: nothing tells it.
    """
    if language is None:
        raise UncheckableError(
            NoVerdictReason.UNSUPPORTED_LANGUAGE,
            "nothing tells the notebook's language; set `metadata.kernelspec.language` in it",
        )
    return language


def _environment(interpreter: Interpreter) -> EnvironmentReport:
    return EnvironmentReport(python=str(interpreter.python or interpreter.prefix), origin=interpreter.origin)


def _notebook_verdict(notebook: Notebook, outcome: Outcome, stamps: Judges) -> StateVerdict:
    return StateVerdict(
        cells=notebook.cells,
        findings=tuple(
            Finding(found.cell_index, found.diagnostic, outcome.chain_of.get(found, OWN_CHAIN))
            for found in outcome.findings
        ),
        judges=replace(stamps, chains=outcome.chains),
        unparsed=frozenset(_unparsed(outcome.findings)),
        unchecked=tuple(
            UncheckedLines(lines.cell.cell_index, CellLine(lines.first_line), CellLine(lines.last_line))
            for lines in outcome.unchecked
            if not lines.partial
        ),
    )


def _unparsed(findings: Iterable[CellDiagnostic]) -> Iterator[int]:
    return (found.cell_index for found in findings if found.diagnostic.code == INVALID_SYNTAX)
