"""One Python cell, looked at alone: its own errors, its names, and what must be rewritten wherever it stands.

Nothing here depends on other cells, so the result is kept as long as the cell's source is. What other cells change is
in `python_chunk`.
"""

import ast
import re
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from jupyter_lsp_agent.core.diagnostic import Diagnostic, DiagnosticSeverity
from jupyter_lsp_agent.core.positions import TextPosition, TextRange, split_lines
from jupyter_lsp_agent.notebook.advice import CellAdvice
from jupyter_lsp_agent.notebook.awaits import find_top_level_awaits
from jupyter_lsp_agent.notebook.broken_cell import salvage
from jupyter_lsp_agent.notebook.cell_translation import CellTranslation, EffectKind
from jupyter_lsp_agent.notebook.directives import Directives, find_directives
from jupyter_lsp_agent.notebook.dunder_file import find_dunder_file_uses
from jupyter_lsp_agent.notebook.existence_tests import (
    find_asked_modules,
    find_conditional_imports,
    find_existence_tests,
)
from jupyter_lsp_agent.notebook.future_imports import find_future_imports
from jupyter_lsp_agent.notebook.global_statements import global_rewrites
from jupyter_lsp_agent.notebook.line_map import CellChunk, MappedLine
from jupyter_lsp_agent.notebook.merge_conflicts import find_conflict
from jupyter_lsp_agent.notebook.module_names import ModuleNames, collect_names
from jupyter_lsp_agent.notebook.open_ends import find_open_ends, with_folder
from jupyter_lsp_agent.notebook.python_syntax import SyntaxFault, find_syntax_fault, parse
from jupyter_lsp_agent.notebook.reachability import dead_ranges, find_cell_end, reachability_rewrites
from jupyter_lsp_agent.notebook.rewrite import Rewrite
from jupyter_lsp_agent.notebook.source_text import SourceText

SOURCE = "jupyter-lsp-agent"
"""The `source` of findings that are ours."""

INVALID_SYNTAX = "invalid-syntax"
UNDEFINED_NAME = "undefined-name"
UNRESOLVED_IMPORT = "unresolved-import"

_IN_A_CONFLICT = "; the cell holds an unresolved merge conflict (`<<<<<<<` to `>>>>>>>`): keep one side of it"
_HISTORY_NAME = re.compile(r"\b_(?:i?\d+)\b")
_BROKEN_IN_EVERY_VERSION = re.compile(
    r"'.' was never closed|unmatched '.'|unterminated (?:triple-quoted )?string|unexpected (?:EOF|indent)|"
    r"expected an indented block|unindent does not match|inconsistent use of tabs|invalid non-printable|null byte"
)
_NEWER_SYNTAX = re.compile(
    r"\b(?:[fF][rR]?|[rR][fF]|[tT][rR]?|[rR][tT])[\"']|^\s*type\s+\w|\b(?:def|class)\s+\w+\s*\[|^\s*except\b[^:]*,"
)
"""What Python 3.12 to 3.14 added: nested f-strings, `type` and type parameters, t-strings, `except A, B`."""


@dataclass(frozen=True, slots=True, eq=False)
class PythonCell:
    """What is known of a cell's Python. Compared by identity: a cell is analysed once and kept.

    Attributes:
        source: the cell's source.
        translation: the same without IPython's syntax.
        lines: what may be sent of it, before `rewrites`.
        findings: our own, in the cell's coordinates.
        names: what it binds.
        declared: what it defines or annotates.
        assigned: what it binds, or may bind, by other means than a definition or an annotation.
        broken_names: what a broken cell would bind, as far as one can tell.
        rewrites: what must be changed wherever the cell stands; in the coordinates of `lines`.
        futures: features that it imports from `__future__`.
        directives: its file-level comments.
        history_names: `_3`, `_i7`: outputs and inputs that it may use.
        file_uses: where it uses `__file__`.
        advice: for relocation.
        is_plain: it is text and names, and nothing else of the above but `rewrites`: most cells are.
    """

    source: str
    translation: CellTranslation
    lines: tuple[MappedLine, ...]
    findings: tuple[Diagnostic, ...] = ()
    names: ModuleNames = field(default_factory=ModuleNames)
    declared: frozenset[str] = frozenset()
    assigned: frozenset[str] = frozenset()
    broken_names: tuple[str, ...] = ()
    rewrites: tuple[Rewrite, ...] = ()
    futures: frozenset[str] = frozenset()
    directives: Directives = field(default_factory=Directives)
    history_names: frozenset[str] = frozenset()
    file_uses: tuple[TextRange, ...] = ()
    advice: CellAdvice = field(default_factory=CellAdvice)
    is_plain: bool = False


def own_finding(code: str, message: str, place: TextRange) -> Diagnostic:
    """A finding of ours: always an error."""
    return Diagnostic(range=place, severity=DiagnosticSeverity.ERROR, message=message, source=SOURCE, code=code)


def analyse_cell(source: str, translation: CellTranslation, python_version: tuple[int, int] | None) -> PythonCell:
    """Look at one cell.

    Args:
        source: its text as stored.
        translation: the same in Python.
        python_version: the kernel's; `None`: as ours.
    """
    refused = tuple(own_finding(INVALID_SYNTAX, error.message, error.range) for error in translation.errors)
    text = translation.text
    fault = find_syntax_fault(text)
    if fault is None:
        return _sound_cell(source, translation, translation.lines, refused)
    if _may_be_newer_syntax(text, fault, python_version):
        return PythonCell(source, translation, translation.lines, refused)
    place = _to_cell(translation.lines, fault.range)
    finding = own_finding(INVALID_SYNTAX, fault.message + _why_refused(source, place), place)
    lines, lost = salvage(translation.lines)
    cell = _sound_cell(source, translation, lines, (finding, *refused))
    return _as_broken(cell, lost)


def _why_refused(source: str, place: TextRange) -> str:
    """What more is known of a fault than Python says."""
    conflict = find_conflict(split_lines(source))
    return _IN_A_CONFLICT if conflict is not None and place.start.line in conflict else ""


def _may_be_newer_syntax(text: str, fault: SyntaxFault, python_version: tuple[int, int] | None) -> bool:
    """Whether a kernel newer than we are may accept what we do not; then its server has the word."""
    if python_version is None or python_version <= sys.version_info[:2]:
        return False
    line = text.split("\n")[fault.range.start.line]
    return not _BROKEN_IN_EVERY_VERSION.match(fault.message) and (
        fault.message.startswith("f-string") or _NEWER_SYNTAX.search(line) is not None
    )


def _sound_cell(
    source: str, translation: CellTranslation, lines: tuple[MappedLine, ...], findings: tuple[Diagnostic, ...]
) -> PythonCell:
    text = "\n".join(line.text for line in lines)
    tree = parse(text)
    if tree is None:
        return PythonCell(source, translation, lines, findings)
    sources, directives, chunk = SourceText(text), find_directives([line.text for line in lines]), CellChunk(lines)
    futures, names, end = find_future_imports(tree, sources), collect_names(tree, sources), find_cell_end(tree.body)
    history_names = frozenset(_HISTORY_NAME.findall(text)) if "_" in text else frozenset()
    file_uses = _ranges_to_cell(chunk, find_dunder_file_uses(tree, sources))
    ending = reachability_rewrites(sources, end) if end is not None else ()
    open_ends = find_open_ends(tree, sources)
    for effect in translation.effects:
        if effect.kind is EffectKind.CHANGE_FOLDER:
            open_ends = with_folder(open_ends, effect.argument)
    said = (findings, futures.features, directives.texts, history_names, file_uses)
    return PythonCell(
        source=source,
        translation=translation,
        lines=lines,
        findings=findings,
        names=names,
        declared=names.declared,
        assigned=frozenset(names.assigned),
        rewrites=(*directives.rewrites, *futures.rewrites, *global_rewrites(tree, sources), *ending),
        futures=futures.features,
        directives=directives,
        history_names=history_names,
        file_uses=file_uses,
        is_plain=translation.is_identity and not any(said),
        advice=replace(
            _places(tree, sources, chunk),
            dead=_ranges_to_cell(chunk, dead_ranges(sources, end) if end else ()),
            bound=names.bound,
            rebound=names.rebound,
            star_imports=_ranges_to_cell(chunk, names.star_imports),
            existence_tests=tuple(
                replace(test, place=_range_to_cell(chunk, test.place)) for test in find_existence_tests(tree, sources)
            ),
            asked_modules=find_asked_modules(tree, sources),
            conditional_imports=_ranges_to_cell(chunk, find_conditional_imports(tree, sources)),
            open_ends=open_ends,
            hides_names=open_ends.binds_anything,
            silenced_codes=directives.silenced_codes,
        ),
    )


def _places(tree: ast.Module, source: SourceText, chunk: CellChunk) -> CellAdvice:
    """Where a cell awaits, and where its parts begin and end, for rules that mean a file."""
    awaits = (chunk.to_cell(place) for place in find_top_level_awaits(tree, source))
    last = next((node for node in reversed(tree.body) if chunk.lines[node.lineno - 1].cell_line is not None), None)
    other = next((node for node in tree.body if not _may_precede_imports(node, chunk)), None)
    return CellAdvice(
        await_places=frozenset(place for place in awaits if place is not None),
        first_code=chunk.to_cell(source.start(tree.body[0])) if tree.body else None,
        last_expression=_range_to_cell(chunk, source.range(last)) if isinstance(last, ast.Expr) else None,
        imports_end=chunk.to_cell(source.start(other)) if other else None,
    )


def _may_precede_imports(node: ast.stmt, chunk: CellChunk) -> bool:
    """Imports, and magics: where a line is not the cell's own, no rule of Python's style is about it."""
    return isinstance(node, (ast.Import, ast.ImportFrom)) or chunk.lines[node.lineno - 1].spans is not None


def _as_broken(cell: PythonCell, lost: tuple[str, ...]) -> PythonCell:
    advice = replace(cell.advice, broken=True, bound=cell.advice.bound | frozenset(lost))
    return replace(cell, broken_names=lost, assigned=cell.assigned.union(lost), advice=advice, file_uses=())


def _to_cell(lines: Sequence[MappedLine], place: TextRange) -> TextRange:
    return _range_to_cell(CellChunk(lines), place)


def _range_to_cell(chunk: CellChunk, place: TextRange) -> TextRange:
    start, end = _nearest(chunk, place.start), _nearest(chunk, place.end)
    return TextRange(start, max(start, end))


def _ranges_to_cell(chunk: CellChunk, places: Iterable[TextRange]) -> tuple[TextRange, ...]:
    return tuple(_range_to_cell(chunk, place) for place in places)


def _nearest(chunk: CellChunk, place: TextPosition) -> TextPosition:
    """A place's own, or that of the line before it where it is on glue."""
    for line in range(place.line, -1, -1):
        found = chunk.to_cell(TextPosition(line, place.column if line == place.line else 0))
        if found is not None:
            return found
    return TextPosition(0, 0)
