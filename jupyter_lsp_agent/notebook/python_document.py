"""The virtual document of a Python notebook: its cells, made independent of each other where a kernel holds them so.

Two passes: each cell alone (`python_cell`, kept while its source is), then what the cells mean for each other
(`python_chunk`, kept while that is). A changed cell costs itself, and a loop over the others that touches no text.
"""

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from jupyter_lsp_agent.core.diagnostic import CellDiagnostic
from jupyter_lsp_agent.notebook.advice import CellAdvice
from jupyter_lsp_agent.notebook.beside_modules import BesideModules
from jupyter_lsp_agent.notebook.build_cache import BuildCache
from jupyter_lsp_agent.notebook.build_options import BuildOptions
from jupyter_lsp_agent.notebook.cell_translation import CellTranslation, EffectKind, MagicOptions
from jupyter_lsp_agent.notebook.line_map import LineMap
from jupyter_lsp_agent.notebook.magics import close_own_scopes, translate_cell
from jupyter_lsp_agent.notebook.model import Cell
from jupyter_lsp_agent.notebook.notebook_names import NotebookNames
from jupyter_lsp_agent.notebook.prefix import prefix_text
from jupyter_lsp_agent.notebook.python_cell import UNDEFINED_NAME, PythonCell, analyse_cell, own_finding
from jupyter_lsp_agent.notebook.python_chunk import ChunkContext, PythonChunk, compose_chunk

_SURROGATE = re.compile("[\ud800-\udfff]")
_HIDING = frozenset({EffectKind.PYLAB, EffectKind.STORE_ALL, EffectKind.INJECT, EffectKind.RUN_MODULE})


@dataclass(frozen=True, slots=True)
class PythonText:
    """The text of a Python notebook with its map, our findings, the advice of each cell, and what was seen on the way.

    Attributes:
        magic_cells: cell index → the analysed cell, of those with IPython's syntax.
        imported_modules: top-level names of everything that is imported.
        imported_paths: dotted names of everything that is imported and may be a module.
        run_files: what `%run` is given, as written.
        written_files: what `%%writefile` is given, as written.
        redefined: names that more than one cell defines.
    """

    text: str
    line_map: LineMap
    findings: tuple[CellDiagnostic, ...]
    advice: dict[int, CellAdvice]
    magic_cells: dict[int, PythonCell]
    imported_modules: frozenset[str]
    imported_paths: frozenset[str]
    run_files: tuple[str, ...]
    written_files: tuple[str, ...]
    redefined: frozenset[str]


def build_python_text(cells: Sequence[Cell], options: BuildOptions, cache: BuildCache) -> PythonText:
    """Build the text of a notebook's Python cells, in order."""
    analysed = _analyse_all(cells, options, cache)
    names = cache.names
    names.update(analysed)
    unseen = _unseen_modules(analysed, options)
    chunks = [_compose(cell, names, options, cache, made) for cell, made in zip(analysed, unseen, strict=True)]
    indexes = [cell.index for cell in cells]
    placed = list(zip(indexes, analysed, chunks, strict=True))
    telling = [entry for entry in placed if not entry[1].is_plain or entry[2].findings]
    prefix = _prefix(analysed, [cell for _, cell, _ in telling], names, options)
    line_map = LineMap(prefix.count("\n"), [(index, chunk.chunk) for index, _, chunk in placed])
    return PythonText(
        text=prefix + "".join([chunk.chunk.text for chunk in chunks]),
        line_map=line_map,
        findings=tuple(_findings(telling, names)),
        advice={index: chunk.advice for index, _, chunk in placed},
        magic_cells={index: cell for index, cell, _ in telling if not cell.translation.is_identity},
        imported_modules=frozenset().union(*[cell.names.imported for cell in analysed]),
        imported_paths=frozenset().union(*[cell.names.imported_paths for cell in analysed]),
        run_files=_arguments(EffectKind.RUN_FILE, telling),
        written_files=_arguments(EffectKind.WRITE_FILE, telling),
        redefined=names.redefined,
    )


def _analyse_all(cells: Sequence[Cell], options: BuildOptions, cache: BuildCache) -> list[PythonCell]:
    magics, nowhere = options.magics, frozenset[str]()
    analysed = [_analyse(cell.source, options, cache, magics, nowhere) for cell in cells]
    special = [
        number for number, cell in enumerate(analysed) if cell.translation.automagic or cell.translation.scoped_names
    ]
    if special:
        names = cache.names
        names.update(analysed)
        for number in special:
            analysed[number] = _analyse_again(analysed[number], names, options, cache)
    return analysed


def _analyse_again(cell: PythonCell, names: NotebookNames, options: BuildOptions, cache: BuildCache) -> PythonCell:
    """A cell whose translation depends on what other cells bind."""
    magics = options.magics
    word = cell.translation.automagic
    if word is not None and names.is_bound(word):
        magics = replace(magics, automagic=False)
    elsewhere = frozenset(name for name in cell.translation.scoped_names if names.bound_elsewhere(name, cell))
    return _analyse(cell.source, options, cache, magics, elsewhere)


def _analyse(
    source: str, options: BuildOptions, cache: BuildCache, magics: MagicOptions, elsewhere: frozenset[str]
) -> PythonCell:
    key = source if magics.automagic and not elsewhere else (source, magics.automagic, elsewhere)
    found = cache.cells.find(key)
    if found is not None:
        return found
    translation = close_own_scopes(translate_cell(_SURROGATE.sub("\ufffd", source), magics), elsewhere)
    return cache.cells.keep(key, analyse_cell(source, translation, options.python_version))


def _unseen_modules(cells: Sequence[PythonCell], options: BuildOptions) -> Iterator[frozenset[str]]:
    """For each cell the modules of which nothing is known: those that cells before it write and that are not there yet,
    those that may be one thing or another, and those that no server can read."""
    unseen = options.beside.unknown | options.opaque_modules
    for cell in cells:
        yield unseen
        for effect in cell.translation.effects if options.written_modules else ():
            if effect.kind is EffectKind.WRITE_FILE:
                unseen |= options.written_modules.get(effect.argument, frozenset())


def _compose(
    cell: PythonCell, names: NotebookNames, options: BuildOptions, cache: BuildCache, unseen: frozenset[str]
) -> PythonChunk:
    context = _context(cell, names, options, unseen)
    if context is None:
        return cache.plain_chunks.find(cell) or cache.plain_chunks.keep(cell, compose_chunk(cell, ChunkContext()))
    key = (cell, context)
    return cache.chunks.find(key) or cache.chunks.keep(key, compose_chunk(cell, context))


def _context(
    cell: PythonCell, names: NotebookNames, options: BuildOptions, unseen: frozenset[str]
) -> ChunkContext | None:
    """What others say about a cell; `None`, quickly, where that is nothing."""
    contested = names.contested & cell.declared if cell.declared else cell.declared
    missing = options.missing_modules & cell.names.imported if options.missing_modules else options.missing_modules
    guards = options.guards and frozenset(guard for guard in options.guards if guard.source == cell.source)
    unseen = frozenset(name for name in unseen if name.partition(".")[0] in cell.names.imported)
    is_beside = not options.beside.known.isdisjoint(cell.names.imported)
    if not (contested or guards or missing or unseen or is_beside or cell.translation.effects):
        return None
    return ChunkContext(
        loosened=_loosened(cell, names) & contested,
        relaxed=_relaxed(cell, names) & contested,
        guards=guards,
        missing_modules=missing,
        unseen_modules=unseen,
        beside=options.beside if is_beside else BesideModules(),
        run_names=tuple(_run_names(cell.translation, options)),
        hides_names=_hides_names(cell.translation, options),
    )


def _loosened(cell: PythonCell, names: NotebookNames) -> frozenset[str]:
    return frozenset(
        definition.name
        for definition in cell.names.definitions
        if names.assigned_elsewhere(definition.name, cell) or names.annotated_elsewhere(definition.name, cell)
    )


def _relaxed(cell: PythonCell, names: NotebookNames) -> frozenset[str]:
    return frozenset(
        note.name
        for note in cell.names.annotations
        if names.is_annotated_differently(note.name) or names.bound_elsewhere(note.name, cell)
    )


def _run_names(translation: CellTranslation, options: BuildOptions) -> Iterator[tuple[int, tuple[str, ...]]]:
    for effect in translation.effects:
        if effect.kind is EffectKind.RUN_FILE:
            yield effect.cell_line, tuple(sorted(options.run_names.get(effect.argument) or ()))


def _hides_names(translation: CellTranslation, options: BuildOptions) -> bool:
    return any(
        effect.kind in _HIDING
        or (effect.kind is EffectKind.RUN_FILE and options.run_names.get(effect.argument) is None)
        for effect in translation.effects
    )


def _arguments(kind: EffectKind, cells: Iterable[tuple[int, PythonCell, PythonChunk]]) -> tuple[str, ...]:
    """What magics of this kind are given, once each."""
    effects = (effect for _, cell, _ in cells for effect in cell.translation.effects)
    return tuple(dict.fromkeys(effect.argument for effect in effects if effect.kind is kind))


def _prefix(
    cells: Sequence[PythonCell], telling: Sequence[PythonCell], names: NotebookNames, options: BuildOptions
) -> str:
    first = next((cell for cell in cells if cell.source.strip()), None)
    history = {name for cell in telling for name in cell.history_names if not names.is_bound(name)}
    return prefix_text(
        directives=first.directives.texts if first is not None and first.directives.alone else (),
        futures=(feature for cell in telling for feature in cell.futures),
        helpers=(helper for cell in telling for helper in cell.translation.helpers),
        names=(*options.kernel_names, *history),
    )


def _findings(cells: Iterable[tuple[int, PythonCell, PythonChunk]], names: NotebookNames) -> Iterator[CellDiagnostic]:
    for index, cell, chunk in cells:
        for finding in chunk.findings:
            yield CellDiagnostic(index, finding)
        if cell.file_uses and not names.is_bound("__file__"):
            for place in cell.file_uses:
                message = "Name `__file__` is not defined in a notebook"
                yield CellDiagnostic(index, own_finding(UNDEFINED_NAME, message, place))
