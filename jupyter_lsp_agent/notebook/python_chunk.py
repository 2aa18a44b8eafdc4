"""One Python cell among others: what the rest of the notebook changes in the text that is sent of it."""

import zlib
from collections.abc import Iterator
from dataclasses import dataclass, field, replace

from jupyter_lsp_agent.core.diagnostic import Diagnostic
from jupyter_lsp_agent.core.positions import CellLine, TextPosition, TextRange
from jupyter_lsp_agent.notebook.advice import CellAdvice, Guard, GuardStrength
from jupyter_lsp_agent.notebook.beside_modules import BesideModules, imports_from_root, parts_imported
from jupyter_lsp_agent.notebook.guards import enclose, guard_rewrites, statement_before
from jupyter_lsp_agent.notebook.line_map import CellChunk
from jupyter_lsp_agent.notebook.missing_modules import MissingImport, find_missing_imports
from jupyter_lsp_agent.notebook.module_names import Annotation
from jupyter_lsp_agent.notebook.python_cell import UNRESOLVED_IMPORT, PythonCell, own_finding
from jupyter_lsp_agent.notebook.python_syntax import parse
from jupyter_lsp_agent.notebook.reserved_names import ANYTHING, CHECK, MISSING_MODULE
from jupyter_lsp_agent.notebook.rewrite import Glue, Replace, Rewrite, apply_rewrites
from jupyter_lsp_agent.notebook.source_text import SourceText


@dataclass(frozen=True, slots=True)
class ChunkContext:
    """What other cells and the caller say about one cell.

    Attributes:
        loosened: names that it defines and another cell assigns: their type must not be its definition's alone.
        relaxed: names that it annotates and another cell binds differently.
        guards: its statements that a server takes for the last to run.
        missing_modules: modules that it imports and that do not exist.
        unseen_modules: dotted names of modules of which nothing is known, such as cells before it write.
        beside: modules that it may import and that are to be looked for beside the notebook.
        run_names: line → names that `%run` on that line binds.
        hides_names: one of its magics binds names that nobody can know.
    """

    loosened: frozenset[str] = frozenset()
    relaxed: frozenset[str] = frozenset()
    guards: frozenset[Guard] = frozenset()
    missing_modules: frozenset[str] = frozenset()
    unseen_modules: frozenset[str] = frozenset()
    beside: BesideModules = field(default_factory=BesideModules)
    run_names: tuple[tuple[int, tuple[str, ...]], ...] = ()
    hides_names: bool = False


@dataclass(frozen=True, slots=True)
class PythonChunk:
    """What is sent of a cell, our own findings in it, and the advice for relocation."""

    chunk: CellChunk
    findings: tuple[Diagnostic, ...] = ()
    advice: CellAdvice = field(default_factory=CellAdvice)


def compose_chunk(cell: PythonCell, context: ChunkContext) -> PythonChunk:
    """Put one cell into its place."""
    rewrites: list[Rewrite] = [*cell.rewrites]
    rewrites += _loosened(cell, context.loosened)
    checks = [_relax(cell, note) for note in cell.names.annotations if note.name in context.relaxed]
    rewrites += [rewrite for check in checks for rewrite in check.rewrites]
    rewrites += _bindings(cell, context)
    missing, beside = _imports(cell, context)
    rewrites += [*(found.rewrite for found in missing), *beside]
    rewrites += _guarded(cell, context)
    if not rewrites and not context.hides_names:
        return PythonChunk(CellChunk(cell.lines), cell.findings, cell.advice)
    chunk = CellChunk(apply_rewrites(cell.lines, rewrites))
    own_places = CellChunk(cell.lines)
    told = [(found, place) for found in missing if (place := _to_cell(own_places, found.place)) is not None]
    advice = replace(
        cell.advice,
        checks=_check_lines(cell, chunk, checks),
        missing_imports=tuple(_to_cell(own_places, found.extent) or place for found, place in told),
        hides_names=context.hides_names or cell.advice.hides_names,
    )
    findings = (_missing_module(found, place) for found, place in told if found.reason)
    return PythonChunk(chunk, (*cell.findings, *findings), advice)


def _loosened(cell: PythonCell, names: frozenset[str]) -> Iterator[Rewrite]:
    """A decorator of which nothing is known, above each definition of a name that another cell assigns.

    The name is then declared, and as anything: functions that use it are not held to one of its types, and where a
    server narrows on assignment the later type is followed. Giving the definition another name and assigning it would
    follow the later type in every server, and make every function that uses the name wrong in two of them.
    """
    for definition in cell.names.definitions:
        start = definition.start
        indentation = cell.lines[start.line].text[: start.column]
        if definition.name in names and not indentation.strip():
            yield Glue(start.line, f"{indentation}@{ANYTHING}")


@dataclass(frozen=True, slots=True)
class _Check:
    """An annotation that was taken from its name and put on a name of ours."""

    name: str
    place: TextRange
    rewrites: tuple[Rewrite, ...]


def _relax(cell: PythonCell, note: Annotation) -> _Check:
    start, end = note.statement.start, note.statement.end
    name = f"{CHECK}_{zlib.crc32(f'{note.name}:{note.text}'.encode()):08x}"
    if not note.has_value:
        return _Check(name, note.statement, (Replace(note.statement, "pass"),))
    plain = Replace(note.colon_to_end, "")
    indentation = cell.lines[start.line].text[: start.column]
    if indentation.strip():
        return _Check(name, note.statement, (plain,))
    return _Check(
        name, note.statement, (plain, Glue(end.line, f"{indentation}{name}: {note.text} = {note.name}", after=True))
    )


def _bindings(cell: PythonCell, context: ChunkContext) -> Iterator[Rewrite]:
    """Names that are bound by what cannot be sent."""
    if cell.broken_names:
        yield Glue(len(cell.lines) - 1, _from_nowhere(cell.broken_names), after=True)
    runs = context.run_names
    places = {own.cell_line: number for number, own in reversed([*enumerate(cell.lines)])} if runs else {}
    for line, names in runs:
        number = places.get(CellLine(line))
        if number is not None and names:
            indentation = cell.lines[number].text
            indentation = indentation[: len(indentation) - len(indentation.lstrip())]
            yield Glue(number, indentation + _from_nowhere(names), after=True)


def _from_nowhere(names: tuple[str, ...]) -> str:
    return f"from {MISSING_MODULE} import {', '.join(names)}"


def _imports(cell: PythonCell, context: ChunkContext) -> tuple[list[MissingImport], list[Replace]]:
    """Imports that come from nowhere, and what has others looked for beside the notebook."""
    named = context.missing_modules | context.unseen_modules | context.beside.known
    source = _source(cell)
    tree = parse("\n".join(source.lines)) if named or cell.names.has_relative_imports else None
    if tree is None:
        return [], []
    unseen = context.unseen_modules | parts_imported(tree, context.beside.known)
    missing = list(find_missing_imports(tree, source, context.missing_modules, unseen))
    return missing, list(imports_from_root(tree, source, context.beside, unseen))


def _guarded(cell: PythonCell, context: ChunkContext) -> Iterator[Rewrite]:
    source = _source(cell)
    tree = parse("\n".join(source.lines)) if context.guards else None
    if tree is None or not tree.body:
        return
    if any(guard.strength is GuardStrength.CELL for guard in context.guards):
        ran = (name for _, names in context.run_names for name in names)
        yield from enclose(tree.body, tree.body, source, (*cell.broken_names, *ran))
        return
    strengths: dict[int, GuardStrength] = {}
    for guard in context.guards:
        number = statement_before(tree.body, source, _place(cell, guard))
        strengths[number] = max(guard.strength, strengths.get(number, GuardStrength.LIGHT))
    enclosed: set[int] = set()
    for number in sorted(strengths, key=lambda number: -strengths[number]):
        if number not in enclosed:
            firm = strengths[number] is GuardStrength.STATEMENT
            rewrites, covered = guard_rewrites(tree.body, number, source, firm=firm)
            enclosed |= covered
            yield from rewrites


def _place(cell: PythonCell, guard: Guard) -> TextPosition | None:
    """Where the dead stretch of a guard begins in the cell's lines: where something of ours stands in the place of what
    was there (`raise`), at the beginning of that."""
    if guard.column is None:
        return None
    place = CellChunk(cell.lines).to_virtual(TextPosition(guard.line, guard.column))
    if place is None:
        return next((TextPosition(n, 0) for n, line in enumerate(cell.lines) if line.cell_line == guard.line), None)
    for rewrite in cell.rewrites:
        if isinstance(rewrite, Replace) and rewrite.range.start <= place <= rewrite.range.end:
            return rewrite.range.start
    return place


def _source(cell: PythonCell) -> SourceText:
    return SourceText("\n".join(line.text for line in cell.lines))


def _to_cell(chunk: CellChunk, place: TextRange) -> TextRange | None:
    """Where a stretch of a cell's text came from; `None` for glue of a magic."""
    start, end = chunk.to_cell(place.start), chunk.to_cell(place.end)
    return None if start is None or end is None else TextRange(start, max(start, end))


def _missing_module(found: MissingImport, place: TextRange) -> Diagnostic:
    message = f"Cannot resolve imported module `{found.module}`: {found.reason}"
    return own_finding(UNRESOLVED_IMPORT, message, place)


def _check_lines(cell: PythonCell, chunk: CellChunk, checks: list[_Check]) -> dict[int, TextRange]:
    """Virtual line of each check in the chunk → the statement that it is about."""
    if not checks:
        return {}
    own_places = CellChunk(cell.lines)
    places = {check.name: place for check in checks if (place := _to_cell(own_places, check.place)) is not None}
    names = {
        number: line.text.lstrip().partition(":")[0]
        for number, line in enumerate(chunk.lines)
        if line.cell_line is None and line.text.lstrip().startswith(CHECK)
    }
    return {number: places[name] for number, name in names.items() if name in places}
