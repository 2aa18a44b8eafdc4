"""From a server's findings about a virtual document to findings in cells, a notebook's own ways taken out.

A kernel allows what a file does not: `await` outside functions, a definition in one cell and another in the next, a
value for its own sake on the last line. Findings that exist only because cells were joined are dropped here, by what
is known of the cells (`CellAdvice`), never by the words of a message alone. Nothing else is dropped: what has no
place in a cell is `unmapped`.

Hints that code is unreachable are no findings. Where a server believes so of a later cell, the statement before is
handed back as a guard for the next build.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from jupyter_lsp_agent.core.diagnostic import (
    CellDiagnostic,
    Diagnostic,
    DiagnosticSeverity,
    DiagnosticTag,
    RelatedInformation,
)
from jupyter_lsp_agent.core.positions import TextRange
from jupyter_lsp_agent.diagnostics.dead_cells import find_dead_cells, says_unreachable
from jupyter_lsp_agent.diagnostics.finding_kinds import FindingKind, kind_of
from jupyter_lsp_agent.diagnostics.notebook_ways import (
    is_notebook_way,
    is_of_several_cells,
    is_silenced,
    plays_definitions_off,
)
from jupyter_lsp_agent.diagnostics.softening import Softening, words_at
from jupyter_lsp_agent.notebook.advice import CellAdvice, Guard
from jupyter_lsp_agent.notebook.magic_prelude import TYPE_NAMES
from jupyter_lsp_agent.notebook.reserved_names import PREFIX
from jupyter_lsp_agent.notebook.virtual_document import VirtualDocument

_NO_ADVICE = CellAdvice()
_OUR_NAME = re.compile(rf"\b{PREFIX}(\w+)")


@dataclass(frozen=True, slots=True)
class Relocated:
    """What a server said of one virtual document, in cells.

    Attributes:
        cell_diagnostics: the findings, in the order in which they came.
        unmapped: errors and warnings that belong to no cell line.
        guards: statements after which the server believes that later cells never run; build again with them.
        unreached: indexes of the cells that the server believes never to run.
    """

    cell_diagnostics: tuple[CellDiagnostic, ...]
    unmapped: tuple[Diagnostic, ...] = ()
    guards: frozenset[Guard] = frozenset()
    unreached: frozenset[int] = frozenset()


def relocate(document: VirtualDocument, diagnostics: Sequence[Diagnostic]) -> Relocated:
    """Put `diagnostics`, which speak of `document.text`, into the cells that they are about."""
    found: list[CellDiagnostic] = []
    unmapped: list[Diagnostic] = []
    for diagnostic in diagnostics:
        placed = _place(document, diagnostic)
        if placed is not None:
            found.append(placed)
        elif _is_lost(document, diagnostic):
            unmapped.append(diagnostic)
    softened = Softening(document, found).soften(found)
    kept = [entry for finding in softened if (entry := _judge(document, finding)) is not None]
    return Relocated(tuple(kept), tuple(unmapped), *find_dead_cells(document, diagnostics))


def _place(document: VirtualDocument, diagnostic: Diagnostic) -> CellDiagnostic | None:
    start = diagnostic.range.start
    place = document.line_map.place_at(start.line)
    if place is None:
        return _moved(document, diagnostic) or _below(document, diagnostic)
    checks = document.advice.get(place.cell_index, _NO_ADVICE).checks
    checked = checks.get(start.line - place.first_line)
    if checked is not None:
        return CellDiagnostic(place.cell_index, _in_notebook_words(document, replace(diagnostic, range=checked)))
    moved = document.line_map.range_to_cell(diagnostic.range)
    if moved is None:
        return None
    cell_index, cell_range = moved
    return CellDiagnostic(cell_index, _in_notebook_words(document, replace(diagnostic, range=cell_range)))


def _moved(document: VirtualDocument, diagnostic: Diagnostic) -> CellDiagnostic | None:
    """A finding on a cell's line that stands above the cells."""
    moved = document.line_map.range_to_cell(diagnostic.range)
    return None if moved is None else CellDiagnostic(moved[0], replace(diagnostic, range=moved[1]))


def _below(document: VirtualDocument, diagnostic: Diagnostic) -> CellDiagnostic | None:
    """A finding below the last cell, at the end of that cell: what is left open is noticed where the text ends."""
    places = document.line_map.places
    if not places or diagnostic.range.start.line < document.line_map.line_count:
        return None
    end = places[-1].chunk.end_of_cell(places[-1].chunk.line_count - 1)
    if end is None:
        return None
    return CellDiagnostic(places[-1].cell_index, replace(diagnostic, range=TextRange(end, end)))


def _in_notebook_words(document: VirtualDocument, diagnostic: Diagnostic) -> Diagnostic:
    """The finding with IPython's names for the types of ours (`_jla_SList`), and other places as places in cells."""
    places = (_related_place(document, entry) for entry in diagnostic.related_information)
    related = tuple(place for place in places if place is not None)
    message = _OUR_NAME.sub(lambda name: TYPE_NAMES.get(name[0], name[1]), diagnostic.message)
    return replace(diagnostic, message=message, related_information=related)


def _related_place(document: VirtualDocument, entry: RelatedInformation) -> RelatedInformation | None:
    """Another place that a finding speaks of; `None` where it lies in text of ours, which nobody can look at."""
    if entry.range is None:
        return entry
    moved = document.line_map.range_to_cell(entry.range)
    return None if moved is None else replace(entry, cell_index=moved[0], range=moved[1])


def _is_lost(document: VirtualDocument, diagnostic: Diagnostic) -> bool:
    """Whether a finding without a place must be told: it speaks of the whole text. Others are about text of ours."""
    if diagnostic.severity > DiagnosticSeverity.WARNING or DiagnosticTag.UNNECESSARY in diagnostic.tags:
        return False
    start, end = diagnostic.range.start, diagnostic.range.end
    if kind_of(diagnostic) is FindingKind.FILE_LAYOUT:
        return False
    line_map = document.line_map
    return line_map.place_at(start.line) is None and (start == end or end.line >= line_map.prefix_line_count)


def _judge(document: VirtualDocument, finding: CellDiagnostic) -> CellDiagnostic | None:
    """The finding as a notebook's; `None` where a kernel has nothing against it."""
    advice = document.advice.get(finding.cell_index)
    if advice is None:
        return finding
    diagnostic = finding.diagnostic
    if diagnostic.severity is DiagnosticSeverity.HINT or DiagnosticTag.UNNECESSARY in diagnostic.tags:
        return None if says_unreachable(diagnostic) else finding
    if plays_definitions_off(diagnostic, document.redefined):
        return None
    words = words_at(document, finding)
    if is_of_several_cells(diagnostic, words, document.advice.values(), document.redefined):
        return None
    return None if is_silenced(advice, diagnostic) or is_notebook_way(advice, diagnostic, words) else finding
