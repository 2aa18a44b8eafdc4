"""Which texts are asked about for one question, and where in them: a notebook's documents, or a plain file.

They are exactly the texts that a check of the same content shows to the same servers, so that neither undoes what the
other has had opened.
"""

from dataclasses import dataclass, replace

from jupyter_lsp_agent.core.errors import InvalidRequestError
from jupyter_lsp_agent.core.positions import TextPosition, split_lines
from jupyter_lsp_agent.diagnostics.report import NoVerdictReason, Unchecked
from jupyter_lsp_agent.diagnostics.wording import counted
from jupyter_lsp_agent.navigation.answer import QueryMethod
from jupyter_lsp_agent.navigation.placing import ShownDocument
from jupyter_lsp_agent.navigation.targets import NoTarget, Target, find_target, unseen_body, unseen_lines
from jupyter_lsp_agent.notebook.cell_refs import CellNames
from jupyter_lsp_agent.notebook.languages import PYTHON
from jupyter_lsp_agent.notebook.model import Cell, CellKind, Notebook
from jupyter_lsp_agent.notebook.virtual_document import VirtualDocument, VirtualNotebook
from jupyter_lsp_agent.service.chain_calls import Chain, Question
from jupyter_lsp_agent.service.chains import choose_chains
from jupyter_lsp_agent.service.documents import UncheckableError
from jupyter_lsp_agent.service.judging import Content, DocumentJudge, interpreter_of, require_language, waits_of
from jupyter_lsp_agent.service.notebook_check import (
    NotebookTask,
    build_with_facts,
    kernel_chains,
    kernel_document,
    question_about,
)
from jupyter_lsp_agent.service.own_projects import in_own_project
from jupyter_lsp_agent.service.places import Place
from jupyter_lsp_agent.service.query_requests import CodeQuestion
from jupyter_lsp_agent.service.requests import CheckRequest


@dataclass(frozen=True, slots=True)
class Subject:
    """A text to be asked about.

    Attributes:
        question: the text, and who is asked.
        shown: what it stands for.
        position: the place in it that is asked about.
        is_main: in the document's own language; else a body inside a cell, whose servers may be missing.
    """

    question: Question
    shown: ShownDocument
    position: TextPosition | None = None
    is_main: bool = True


@dataclass(frozen=True, slots=True)
class Subjects:
    """All texts for a question, and the lines of the document that are in none of them."""

    texts: tuple[Subject, ...] = ()
    unchecked: tuple[Unchecked, ...] = ()


class SubjectFinder:
    """Finds the texts for a question.

    Args:
        judge: knows how contents are shown to servers.
    """

    def __init__(self, judge: DocumentJudge) -> None:
        self._judge = judge

    async def find(self, place: Place, content: Content, request: CheckRequest, asked: CodeQuestion) -> Subjects:
        """The texts; none where the document has no code that could be asked about.

        Raises:
            UncheckableError: nobody can be asked.
            InvalidRequestError, EditError: the place that is asked about is none.
        """
        if content.notebook is None:
            return Subjects((await self._file(place, content, request, asked),))
        return await self._notebook(place, content.notebook, content, request, asked)

    async def main_document(self, place: Place, content: Content, request: CheckRequest) -> Subject | None:
        """The text of a notebook's own language; `None` where it has none, or another language than Python."""
        if content.notebook is None or content.language != PYTHON:
            return None
        task = await self._judge.notebook_task(place, content.notebook, content.language, request, is_stored=True)
        built, task, chain = await _build(task)
        document = kernel_document(built)
        return None if document is None else _subject(task, Target(document), chain, request)

    async def _file(self, place: Place, content: Content, request: CheckRequest, asked: CodeQuestion) -> Subject:
        if asked.cell is not None:
            raise InvalidRequestError(f'{place.path.name} has no cells: leave "cell" out')
        text, language = content.text or "", require_language(content.language)
        if asked.position is not None:
            _require_inside(text, asked.position, place.path.name)
        question = Question(
            place=place,
            path=place.path,
            text=text,
            language=language,
            chain=_joined(choose_chains(place, language, request.server)),
            interpreter=await interpreter_of(place, request),
            waits=waits_of(request, place.settings),
        )
        return Subject(question, ShownDocument(_name(request), text), asked.position)

    async def _notebook(
        self, place: Place, notebook: Notebook, content: Content, request: CheckRequest, asked: CodeQuestion
    ) -> Subjects:
        cell = _cell(notebook, asked)
        if not any(one.kind is CellKind.CODE or one.defect for one in notebook.cells) and cell is None:
            return Subjects()
        task = await self._judge.notebook_task(place, notebook, content.language, request, is_stored=True)
        built, task, chain = await _build(task)
        targets = _targets(built, asked, cell)
        if any(target.document.kernel for target in targets):
            # Only now, since no server is to be started for a place that none is shown.
            await self._judge.settle(task, kernel_chains(task)[0])
            built, task, chain = await _build(task)
            targets = _targets(built, asked, cell)
        if asked.position is not None:
            return Subjects(tuple(_subject(task, target, chain, request) for target in targets))
        texts, unseen = [], [*unseen_lines(built, notebook.cells, cell)]
        for target in targets:
            try:
                texts.append(_subject(task, target, chain, request))
            except UncheckableError as error:  # a body of a language that nobody speaks
                unseen.append(unseen_body(target.document, notebook.cells, str(error)))
        if not texts and unseen:
            raise UncheckableError(NoVerdictReason.UNSUPPORTED_LANGUAGE, unseen[0].reason)
        return Subjects(tuple(texts), tuple(unseen))


async def _build(task: NotebookTask) -> tuple[VirtualNotebook, NotebookTask, Chain]:
    """The notebook as the first chain of its language is shown it, and all of its servers, in order."""
    chains = kernel_chains(task)
    built, task = await build_with_facts(task)
    guards = task.memory.guards.get(chains[0])
    if guards:
        task = replace(task, options=replace(task.options, guards=guards))
        built = await task.memory.build(task.notebook, task.options)
    return built, task, _joined(chains)


def _subject(task: NotebookTask, target: Target, kernel_chain: Chain, request: CheckRequest) -> Subject:
    document = target.document
    chain = kernel_chain
    if not document.kernel:
        chain = _joined(choose_chains(task.place, document.language_id, task.server))
    question = question_about(task, document, chain)
    if document.kernel and task.language != PYTHON:
        question = in_own_project(question)
    cells = {cell.index: cell for cell in task.notebook.cells}
    shown = ShownDocument(_name(request), document.text, document.line_map, cells)
    return Subject(question, shown, target.position, is_main=document.kernel)


def _targets(built: VirtualNotebook, asked: CodeQuestion, cell: Cell | None) -> list[Target]:
    """The documents that are asked about, and where.

    Raises:
        UncheckableError: no server is shown the place.
    """
    if cell is None or asked.position is None:
        return [Target(document) for document in _asked_documents(built, asked, cell)]
    target = find_target(built, cell, asked.position)
    if isinstance(target, NoTarget):
        raise UncheckableError(target.reason, target.detail)
    return [target]


def _asked_documents(built: VirtualNotebook, asked: CodeQuestion, cell: Cell | None) -> list[VirtualDocument]:
    if asked.method is QueryMethod.WORKSPACE_SYMBOLS:
        return [one for one in built.documents if one.kernel]
    if cell is None:
        return list(built.documents)
    bodies = [one for one in built.documents if one.cell_index == cell.index]
    return bodies or [one for one in built.documents if one.line_map.place_of(cell.index) is not None]


def _cell(notebook: Notebook, asked: CodeQuestion) -> Cell | None:
    """The cell that is asked about, where one is; the place in it is one."""
    if asked.cell is None:
        if asked.position is not None:
            raise InvalidRequestError(
                'a place in a notebook needs a "cell", by its id or its index (CELL:LINE:COLUMN on the command line)'
            )
        return None
    cell = notebook.cells[CellNames(notebook.cells).find(asked.cell, '"cell"')]
    if asked.position is not None:
        _require_inside(cell.source, asked.position, f"cell {cell.index}")
    elif cell.kind is not CellKind.CODE:
        raise UncheckableError(
            NoVerdictReason.UNSUPPORTED_LANGUAGE, f"cell {cell.index} is no code cell, and has no symbols"
        )
    return cell


def _require_inside(text: str, position: TextPosition, what: str) -> None:
    """Make sure that a place is in a text; one behind the last character of a line is."""
    lines = split_lines(text)
    if position.line >= len(lines):
        raise InvalidRequestError(f'"line": {what} has {counted(len(lines), "line")}')
    if position.column > len(lines[position.line]):
        raise InvalidRequestError(
            f'"column": this line of {what} has {counted(len(lines[position.line]), "character")}; '
            "columns count Unicode code points, from 1"
        )


def _joined(chains: tuple[Chain, ...]) -> Chain:
    """All servers of a language, the first chain's before the others': one answer is wanted, not one of each chain."""
    return tuple(dict.fromkeys(spec for chain in chains for spec in chain))


def _name(request: CheckRequest) -> str:
    return request.display_path or str(request.path)
