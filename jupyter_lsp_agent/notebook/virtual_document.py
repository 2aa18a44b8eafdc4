"""From a notebook to the texts that language servers are shown.

One text for the kernel's language, and one for each body of another language (`%%bash`, a cell that VS Code marks as
JavaScript). `build_virtual_documents` is a pure function; what it cannot know without the file system (`%run`'s file,
folders that look like modules) comes in as options, and what it would like to know goes out as `Needs`.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial

from jupyter_lsp_agent.core.diagnostic import CellDiagnostic
from jupyter_lsp_agent.core.ids import LanguageId
from jupyter_lsp_agent.core.positions import CellLine, split_lines
from jupyter_lsp_agent.notebook.advice import CellAdvice
from jupyter_lsp_agent.notebook.build_cache import BuildCache
from jupyter_lsp_agent.notebook.build_options import BuildOptions
from jupyter_lsp_agent.notebook.languages import (
    PYTHON,
    detect_language,
    file_extension,
    is_python_cell,
    language_from_name,
)
from jupyter_lsp_agent.notebook.line_map import CellChunk, LineMap, MappedLine, whole_lines
from jupyter_lsp_agent.notebook.model import Cell, CellKind, Notebook
from jupyter_lsp_agent.notebook.other_kernels import is_joinable, join_cells
from jupyter_lsp_agent.notebook.python_cell import PythonCell
from jupyter_lsp_agent.notebook.python_document import PythonText, build_python_text
from jupyter_lsp_agent.notebook.sql_templates import fill_templates

__all__ = [
    "BuildCache",
    "BuildOptions",
    "Needs",
    "UncheckedLines",
    "VirtualDocument",
    "VirtualNotebook",
    "build_kernel_document",
    "build_virtual_documents",
]

_SQL = LanguageId("sql")


@dataclass(frozen=True, slots=True)
class VirtualDocument:
    """A text to be shown to a server.

    Attributes:
        language_id: its language.
        extension: of a file in that language, with the dot.
        kernel: whether it is in the kernel's language; else it is one body inside one cell.
        text: what the server sees.
        line_map: where its characters came from.
        advice: by cell index; cells without an entry need none.
        sources: by cell index, the sources of its cells, for guards.
        redefined: names that more than one of its cells defines.
        elsewhere_modules: modules that a kernel finds where a server does not look.
        cell_index: of a body inside one cell, that cell; `None` for the kernel's document.
        reason: of a body inside one cell, how it comes to be there (`cell magic %%bash`).
    """

    language_id: LanguageId
    extension: str
    kernel: bool
    text: str = field(repr=False)
    line_map: LineMap = field(repr=False, compare=False)
    advice: Mapping[int, CellAdvice] = field(default_factory=dict, repr=False, hash=False)
    sources: Mapping[int, str] = field(default_factory=dict, repr=False, hash=False)
    redefined: frozenset[str] = frozenset()
    elsewhere_modules: frozenset[str] = frozenset()
    cell_index: int | None = None
    reason: str = ""


@dataclass(frozen=True, slots=True)
class UncheckedLines:
    """Lines of a cell, 0-based and inclusive, that no server can be shown, and why."""

    cell_index: int
    first_line: int
    last_line: int
    reason: str


@dataclass(frozen=True, slots=True)
class Needs:
    """What the caller can find out for a better build (`BuildOptions`).

    Attributes:
        imported_modules: top-level names of all imported modules (→ `missing_modules`, `beside`).
        imported_paths: dotted names of everything imported that may be a module (→ `opaque_modules`).
        run_files: arguments of `%run`, as written (→ `run_names`).
        written_files: arguments of `%%writefile`, as written (→ `written_modules`).
        search_folders: where the notebook has modules looked for (→ `elsewhere_modules`).
        looks_elsewhere: it has them looked for in other folders than its own.
    """

    imported_modules: frozenset[str] = frozenset()
    imported_paths: frozenset[str] = frozenset()
    run_files: tuple[str, ...] = ()
    written_files: tuple[str, ...] = ()
    search_folders: frozenset[str] = frozenset()
    looks_elsewhere: bool = False


@dataclass(frozen=True, slots=True)
class VirtualNotebook:
    """A notebook as servers see it.

    Attributes:
        language: the kernel's; `None` where nothing tells it.
        documents: the kernel's document first, where there is code.
        findings: our own, in cell coordinates.
        unchecked: lines that are in no document.
        needs: what would be good to know.
    """

    language: LanguageId | None
    documents: tuple[VirtualDocument, ...]
    findings: tuple[CellDiagnostic, ...] = ()
    unchecked: tuple[UncheckedLines, ...] = ()
    needs: Needs = field(default_factory=Needs)


def build_virtual_documents(
    notebook: Notebook, options: BuildOptions, cache: BuildCache | None = None
) -> VirtualNotebook:
    """Build every virtual document of a notebook.

    Args:
        notebook: the notebook as read.
        options: settings and facts.
        cache: what was kept of the last build of the same notebook.
    """
    cache = cache or BuildCache()
    if options.python_version is None:
        options = replace(options, python_version=_stored_version(notebook.kernel.language_version))
    cache.turn((options.magics, options.python_version))
    language = detect_language(notebook, partial(_is_python_cell, cache))
    own, foreign = _by_language(notebook, language)
    built = _python_notebook(own, options, cache) if language == PYTHON else _kernel_notebook(language, own)
    return replace(
        built,
        documents=(*built.documents, *(_whole_cell(cell) for cell in foreign)),
        unchecked=(*_defects(notebook), *built.unchecked),
    )


def _stored_version(version: str | None) -> tuple[int, int] | None:
    """The kernel's (major, minor) as the notebook has it."""
    found = re.match(r"(\d+)\.(\d+)", version or "")
    return (int(found[1]), int(found[2])) if found else None


def _is_python_cell(cache: BuildCache, source: str) -> bool:
    found = cache.python_sources.find(source)
    return cache.python_sources.keep(source, is_python_cell(source)) if found is None else found


def _python_notebook(cells: Sequence[Cell], options: BuildOptions, cache: BuildCache) -> VirtualNotebook:
    if not cells:
        return VirtualNotebook(PYTHON, ())
    built = build_python_text(cells, options, cache)
    document = VirtualDocument(
        language_id=PYTHON,
        extension=".py",
        kernel=True,
        text=built.text,
        line_map=built.line_map,
        advice=built.advice,
        sources={cell.index: cell.source for cell in cells},
        redefined=built.redefined,
        elsewhere_modules=options.elsewhere_modules,
    )
    return VirtualNotebook(
        language=PYTHON,
        documents=(
            document,
            *(body for index, cell in built.magic_cells.items() for body in _foreign_bodies(index, cell)),
        ),
        findings=built.findings,
        unchecked=tuple(lines for index, cell in built.magic_cells.items() for lines in _unchecked(index, cell)),
        needs=_needs(built),
    )


def _needs(built: PythonText) -> Needs:
    ends = [advice.open_ends for advice in built.advice.values()]
    folders = frozenset(folder for one in ends for folder in one.folders)
    elsewhere = bool(folders) or any(one.looks_anywhere for one in ends)
    return Needs(
        imported_modules=built.imported_modules,
        imported_paths=built.imported_paths,
        run_files=built.run_files,
        written_files=built.written_files,
        search_folders=folders,
        looks_elsewhere=elsewhere,
    )


def _by_language(notebook: Notebook, language: LanguageId | None) -> tuple[list[Cell], list[Cell]]:
    """The code cells in the kernel's language, and those that say that they are in another."""
    own: list[Cell] = []
    foreign: list[Cell] = []
    for cell in notebook.cells:
        if cell.kind is CellKind.CODE and cell.defect is None:
            elsewhere = cell.language is not None and language_from_name(cell.language) != language
            (foreign if elsewhere else own).append(cell)
    return own, foreign


def build_kernel_document(
    language: LanguageId, cells: Sequence[Cell], broken: frozenset[str] = frozenset()
) -> VirtualDocument:
    """The document of cells in a kernel's language that is not Python.

    Args:
        language: one that `other_kernels.is_joinable`.
        cells: its cells, in order; one alone to see whether it parses.
        broken: sources of cells that do not parse; nothing of them is shown.
    """
    joined = join_cells(language, cells, broken)
    return VirtualDocument(
        language_id=language,
        extension=file_extension(language),
        kernel=True,
        text=joined.text,
        line_map=LineMap(joined.prefix.count("\n"), joined.chunks, joined.moved),
        sources={cell.index: cell.source for cell in cells},
    )


def _kernel_notebook(language: LanguageId | None, cells: Sequence[Cell]) -> VirtualNotebook:
    """A notebook of another kernel than Python's; of one that we know no rules for, the cells as they are."""
    if language is None or not cells:
        return VirtualNotebook(language, ())
    if is_joinable(language):
        return VirtualNotebook(language, (build_kernel_document(language, cells),))
    chunks = [(cell.index, CellChunk(whole_lines(cell.source))) for cell in cells]
    document = VirtualDocument(
        language_id=language,
        extension=file_extension(language),
        kernel=True,
        text="".join(chunk.text for _, chunk in chunks),
        line_map=LineMap(0, chunks),
        sources={cell.index: cell.source for cell in cells},
    )
    return VirtualNotebook(language, (document,))


def _whole_cell(cell: Cell) -> VirtualDocument:
    language = language_from_name(cell.language or "plaintext")
    return _body(cell.index, language, whole_lines(cell.source), f"cell language {cell.language}")


def _foreign_bodies(cell_index: int, cell: PythonCell) -> Iterator[VirtualDocument]:
    for body in cell.translation.foreign:
        lines = split_lines(cell.source)
        mapped = [MappedLine(lines[n], CellLine(n)) for n in range(body.first_line, body.last_line + 1)]
        if mapped:
            filled = fill_templates(mapped) if body.language == _SQL else mapped
            yield _body(cell_index, body.language, filled, body.origin)


def _body(cell_index: int, language: LanguageId, lines: Sequence[MappedLine], reason: str) -> VirtualDocument:
    chunk = CellChunk(lines)
    return VirtualDocument(
        language_id=language,
        extension=file_extension(language),
        kernel=False,
        text=chunk.text,
        line_map=LineMap(0, [(cell_index, chunk)]),
        cell_index=cell_index,
        reason=reason,
    )


def _unchecked(cell_index: int, cell: PythonCell) -> Iterator[UncheckedLines]:
    for lines in cell.translation.unchecked:
        yield UncheckedLines(cell_index, lines.first_line, lines.last_line, lines.reason)


def _defects(notebook: Notebook) -> Iterator[UncheckedLines]:
    for cell in notebook.cells:
        if cell.defect is not None:
            yield UncheckedLines(cell.index, 0, len(split_lines(cell.source)) - 1, cell.defect)
