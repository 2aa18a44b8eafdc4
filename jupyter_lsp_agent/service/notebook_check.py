"""One notebook, checked: built, asked about, brought back into cells.

A server that believes that nothing runs after some statement is silent about all that follows. Its hints say where; the
notebook is built again with a guard there, and the server asked again, a few times at most.
"""

import asyncio
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from jupyter_lsp_agent.core.diagnostic import CellDiagnostic, Diagnostic
from jupyter_lsp_agent.core.ids import LanguageId, ServerId
from jupyter_lsp_agent.core.positions import CellLine, TextPosition, split_lines
from jupyter_lsp_agent.diagnostics.baseline import ChainId, Judge
from jupyter_lsp_agent.diagnostics.facts import ChainFailure
from jupyter_lsp_agent.diagnostics.merge import merge_cell_diagnostics
from jupyter_lsp_agent.diagnostics.relocate import Relocated, relocate
from jupyter_lsp_agent.diagnostics.report import CellReference, NoVerdictReason, ServerReport, Unchecked
from jupyter_lsp_agent.notebook.guards import strengthened
from jupyter_lsp_agent.notebook.languages import PYTHON, chain_language
from jupyter_lsp_agent.notebook.model import Cell, Notebook
from jupyter_lsp_agent.notebook.other_kernels import is_joinable
from jupyter_lsp_agent.notebook.virtual_document import (
    BuildCache,
    BuildOptions,
    VirtualDocument,
    VirtualNotebook,
    build_virtual_documents,
)
from jupyter_lsp_agent.servers.interpreters import Interpreter
from jupyter_lsp_agent.service.asking import Asker, ChainAnswer
from jupyter_lsp_agent.service.chain_calls import Chain, ChainSilence, Question, Waits
from jupyter_lsp_agent.service.chains import chain_name, choose_chains, language_title
from jupyter_lsp_agent.service.documents import UncheckableError
from jupyter_lsp_agent.service.elsewhere import set_aside_imports
from jupyter_lsp_agent.service.kernel_check import ask_about_joined
from jupyter_lsp_agent.service.namespace import (
    beside_modules,
    elsewhere_modules,
    missing_modules,
    run_names,
    written_modules,
)
from jupyter_lsp_agent.service.opaque_modules import opaque_modules
from jupyter_lsp_agent.service.own_projects import in_own_project
from jupyter_lsp_agent.service.places import Place
from jupyter_lsp_agent.service.virtual_paths import speak_of_notebook, virtual_path

if TYPE_CHECKING:
    from jupyter_lsp_agent.notebook.advice import Guard

_SMALL_CHARACTERS = 10_000
_MAX_ROUNDS = 8
"""How often a notebook is built for the sake of what a server takes for unreachable."""


class NotebookMemory:
    """What is kept of one notebook between checks: built cells, and the guards that each chain was found to need."""

    def __init__(self) -> None:
        self._cache = BuildCache()
        self._lock = asyncio.Lock()
        self.guards: dict[Chain, frozenset[Guard]] = {}
        self.settled: dict[Chain, str] = {}
        """The text of each chain's last verdict: its guards are found."""

    async def build(self, notebook: Notebook, options: BuildOptions) -> VirtualNotebook:
        """The virtual documents; one build at a time, since they share what is kept. A large notebook is built beside
        the loop; for a small one the way to another thread would take longer than the work."""
        async with self._lock:
            if sum(len(cell.source) for cell in notebook.cells) <= _SMALL_CHARACTERS:
                return build_virtual_documents(notebook, options, self._cache)
            return await asyncio.to_thread(build_virtual_documents, notebook, options, self._cache)


@dataclass(frozen=True, slots=True, kw_only=True)
class NotebookTask:
    """What is to be checked, and under which circumstances.

    Attributes:
        place: of the notebook.
        notebook: its content.
        interpreter: the Python that it means.
        options: settings and facts for the build.
        memory: of this notebook.
        language: of its kernel.
        server: this server alone.
        waits: how long an answer is waited for.
        closes: the content is not what is stored.
    """

    place: Place
    notebook: Notebook = field(repr=False)
    interpreter: Interpreter
    options: BuildOptions
    memory: NotebookMemory = field(repr=False)
    language: LanguageId
    server: ServerId | None = None
    waits: Waits = field(default_factory=Waits)
    closes: bool = False


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of asking about a notebook, or about one of its documents.

    Attributes:
        findings: what was found, ours too.
        servers: who was asked.
        failures: chains without an answer.
        unchecked: lines that no server looked at.
        unmapped: findings that belong to no cell line.
        chains: who spoke for each chain that was asked; `None`: nobody.
        chain_of: which chain gave a finding; our own are not in it.
    """

    findings: tuple[CellDiagnostic, ...] = ()
    servers: tuple[ServerReport, ...] = ()
    failures: tuple[ChainFailure, ...] = ()
    unchecked: tuple[Unchecked, ...] = ()
    unmapped: tuple[Diagnostic, ...] = ()
    chains: Mapping[ChainId, Judge | None] = field(default_factory=dict)
    chain_of: Mapping[CellDiagnostic, ChainId] = field(default_factory=dict)


async def check_notebook(task: NotebookTask, asker: Asker) -> Outcome:
    """Ask every chain of every language about the notebook.

    Raises:
        UncheckableError: nobody can be asked about the kernel's language.
    """
    chains = kernel_chains(task)
    built, task = await build_with_facts(task)
    has_kernel_document = kernel_document(built) is not None
    ask_about_kernel = _ask_about_python if task.language == PYTHON else _ask_about_other_kernel
    outcomes = await asyncio.gather(
        *(ask_about_kernel(task, asker, chain, number) for number, chain in enumerate(chains) if has_kernel_document),
        *(_ask_about_body(task, asker, document) for document in built.documents if not document.kernel),
    )
    return _joined(task, built, outcomes)


def kernel_chains(task: NotebookTask) -> tuple[Chain, ...]:
    """Who is asked about the kernel's language.

    Raises:
        UncheckableError: nobody can be.
    """
    chains = choose_chains(task.place, chain_language(task.notebook, task.language), task.server)
    if task.language != PYTHON and not is_joinable(task.language):
        raise UncheckableError(
            NoVerdictReason.UNSUPPORTED_LANGUAGE,
            f"notebooks of {language_title(task.language)} are not understood yet; "
            "`jupyter lsp-agent check` takes plain files of that language",
        )
    return chains


async def build_with_facts(task: NotebookTask) -> tuple[VirtualNotebook, NotebookTask]:
    """The notebook built with what only the file system knows, and the task with these facts."""
    built = await task.memory.build(task.notebook, task.options)
    if not built.needs.run_files and not built.needs.imported_modules:
        return built, task
    options = await asyncio.to_thread(_with_facts, task, built)
    if options == task.options:
        return built, task
    return await task.memory.build(task.notebook, options), replace(task, options=options)


def _with_facts(task: NotebookTask, built: VirtualNotebook) -> BuildOptions:
    needs, place = built.needs, task.place
    return replace(
        task.options,
        missing_modules=missing_modules(needs.imported_modules, place, task.interpreter),
        run_names=run_names(needs.run_files, place),
        elsewhere_modules=elsewhere_modules(needs.search_folders, needs.imported_modules, place),
        written_modules=written_modules(needs.written_files, place, task.interpreter),
        opaque_modules=opaque_modules(needs.imported_paths, place.path.parent, task.interpreter),
        beside=beside_modules(needs.imported_modules, place, task.interpreter, may_move=needs.looks_elsewhere),
    )


async def _ask_about_python(task: NotebookTask, asker: Asker, chain: Chain, number: int) -> Outcome:
    chain_id, rounds_left = chain_name(task.language, number), _MAX_ROUNDS
    while True:
        guards = task.memory.guards.get(chain, frozenset())
        built = await task.memory.build(task.notebook, replace(task.options, guards=guards))
        document = kernel_document(built)
        if document is None:
            return Outcome()
        answer = await asker.ask(question_about(task, document, chain))
        if isinstance(answer, ChainSilence):
            return Outcome(servers=answer.servers, failures=(answer.failure,), chains={chain_id: None})
        relocated, rounds_left = relocate(document, answer.diagnostics), rounds_left - 1
        wanted = strengthened(guards, relocated.guards)
        if wanted == guards or not rounds_left:
            task.memory.settled[chain] = document.text
            findings = tuple(
                speak_of_notebook(found, task.place.path, document.line_map) for found in relocated.cell_diagnostics
            )
            return _with_unreached(task, relocated, _answered(findings, relocated, answer, chain_id))
        task.memory.guards[chain] = wanted


async def settle_guards(task: NotebookTask, asker: Asker, chain: Chain) -> ChainFailure | None:
    """Find the guards that a Python notebook needs, where no check has found them: what a server knows of code that it
    takes for unreachable is nonsense.

    Returns:
        Why that was not had, where it was not.
    """
    guards = task.memory.guards.get(chain, frozenset())
    document = kernel_document(await task.memory.build(task.notebook, replace(task.options, guards=guards)))
    if document is None or task.memory.settled.get(chain) == document.text:
        return None
    outcome = await _ask_about_python(task, asker, chain, 0)
    return next(iter(outcome.failures), None)


async def _ask_about_other_kernel(task: NotebookTask, asker: Asker, chain: Chain, number: int) -> Outcome:
    chain_id = chain_name(task.language, number)
    document = kernel_document(await task.memory.build(task.notebook, task.options))
    if document is None:
        return Outcome()
    cells = [cell for cell in task.notebook.cells if cell.index in document.sources]
    said = await ask_about_joined(
        task.language, cells, lambda asked: asker.ask(in_own_project(question_about(task, asked, chain)))
    )
    if isinstance(said, ChainSilence):
        return Outcome(servers=said.servers, failures=(said.failure,), chains={chain_id: None})
    return _answered(said.findings, Relocated(said.findings, said.unmapped), said.answer, chain_id)


async def _ask_about_body(task: NotebookTask, asker: Asker, document: VirtualDocument) -> Outcome:
    """Ask about a body of another language. Without an answer its lines are unchecked, and no more: the kernel does
    not speak that language."""
    try:
        chains = choose_chains(task.place, document.language_id, task.server)
    except UncheckableError as error:
        return Outcome(unchecked=(_unchecked_body(task, document, str(error), error.reason),))
    answers = await asyncio.gather(*(asker.ask(question_about(task, document, chain)) for chain in chains))
    outcomes = []
    for number, answer in enumerate(answers):
        chain_id = chain_name(document.language_id, number)
        if isinstance(answer, ChainSilence):
            failure = answer.failure
            body = _unchecked_body(task, document, failure.detail, failure.reason)
            outcomes.append(Outcome(unchecked=(body,), chains={chain_id: None}))
        else:
            relocated = relocate(document, answer.diagnostics)
            outcomes.append(_answered(relocated.cell_diagnostics, relocated, answer, chain_id))
    return _sum(outcomes)


def _answered(
    findings: tuple[CellDiagnostic, ...], relocated: Relocated, answer: ChainAnswer, chain_id: ChainId
) -> Outcome:
    return Outcome(
        findings=findings,
        servers=answer.servers,
        unmapped=relocated.unmapped,
        chains={chain_id: answer.judge},
        chain_of=dict.fromkeys(findings, chain_id),
    )


def question_about(task: NotebookTask, document: VirtualDocument, chain: Chain) -> Question:
    """One of the notebook's documents, as a chain is asked about it."""
    return Question(
        place=task.place,
        path=virtual_path(task.place.path, document.extension, document.cell_index),
        text=document.text,
        language=document.language_id,
        chain=chain,
        interpreter=task.interpreter if document.language_id == PYTHON else None,
        waits=task.waits,
        closes=task.closes,
    )


def _joined(task: NotebookTask, built: VirtualNotebook, outcomes: list[Outcome]) -> Outcome:
    """All outcomes as one, with our own findings, in the notebook's terms."""
    cells = {cell.index: cell for cell in task.notebook.cells}
    total = _sum(outcomes)
    findings = merge_cell_diagnostics((built.findings, total.findings))
    unchecked = (*_own_unchecked(built, cells), *total.unchecked)
    if task.interpreter.elsewhere is not None:
        findings, imports = set_aside_imports(findings, cells, task.interpreter.elsewhere)
        unchecked = (*unchecked, *imports)
    unchecked = (*unchecked, *_hidden_names(built, cells))
    order = sorted(unchecked, key=lambda lines: (lines.cell.cell_index, lines.first_line))
    return replace(total, findings=findings, unchecked=tuple(order))


def _sum(outcomes: list[Outcome]) -> Outcome:
    return Outcome(
        tuple(finding for outcome in outcomes for finding in outcome.findings),
        tuple(dict.fromkeys(server for outcome in outcomes for server in outcome.servers)),
        tuple(failure for outcome in outcomes for failure in outcome.failures),
        tuple(dict.fromkeys(lines for outcome in outcomes for lines in outcome.unchecked)),
        tuple(diagnostic for outcome in outcomes for diagnostic in outcome.unmapped),
        {chain: judge for outcome in outcomes for chain, judge in outcome.chains.items()},
        {found: chain for outcome in reversed(outcomes) for found, chain in outcome.chain_of.items()},
    )


def _own_unchecked(built: VirtualNotebook, cells: Mapping[int, Cell]) -> Iterator[Unchecked]:
    for lines in built.unchecked:
        cell = cells[lines.cell_index]
        cause = NoVerdictReason.UNREADABLE if cell.defect else None
        yield _unchecked(cell, lines.first_line, lines.last_line, lines.reason, cause)


def _hidden_names(built: VirtualNotebook, cells: Mapping[int, Cell]) -> Iterator[Unchecked]:
    """Cells whose magics bind names that nobody can tell: from there on, an undefined name is no error."""
    document = kernel_document(built)
    for index, advice in document.advice.items() if document else ():
        if advice.hides_names:
            last = len(split_lines(cells[index].source)) - 1
            reason = "it binds names that cannot be told, so undefined names from here on are warnings"
            yield replace(_unchecked(cells[index], 0, last, reason), partial=True)


def _unchecked_body(task: NotebookTask, document: VirtualDocument, detail: str, cause: NoVerdictReason) -> Unchecked:
    place = document.line_map.places[0]
    cell = next(cell for cell in task.notebook.cells if cell.index == place.cell_index)
    location = document.line_map.to_cell(TextPosition(place.first_line, 0))
    first = location.position.line if location else 0
    return _unchecked(cell, first, len(split_lines(cell.source)) - 1, f"{document.reason}: {detail}", cause)


def _with_unreached(task: NotebookTask, relocated: Relocated, outcome: Outcome) -> Outcome:
    """`outcome` with the cells that the server will not look at, whatever we do: without errors there is no verdict."""
    dead = [cell for cell in task.notebook.cells if cell.index in relocated.unreached]
    if not dead:
        return outcome
    reason = "the server takes everything after an earlier cell for unreachable"
    detail = f"Cell {dead[0].index} and others were not looked at: {reason}; look at how the cell before it ends."
    unchecked = (_unchecked(cell, 0, len(split_lines(cell.source)) - 1, reason) for cell in dead)
    failure = ChainFailure(task.language, NoVerdictReason.BROKEN, detail)
    return replace(outcome, unchecked=tuple(unchecked), failures=(failure,))


def _unchecked(cell: Cell, first: int, last: int, reason: str, cause: NoVerdictReason | None = None) -> Unchecked:
    return Unchecked(CellReference(cell.index, cell.cell_id), CellLine(first), CellLine(last), reason, cause)


def kernel_document(built: VirtualNotebook) -> VirtualDocument | None:
    """The document in the kernel's language; `None` where there is no code in it."""
    return next((document for document in built.documents if document.kernel), None)
