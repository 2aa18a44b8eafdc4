"""Cells that a server believes never to run, from its hints: its silence about them must not be taken for praise.

A hint is read by where it lies in the text that was sent, glue and all, and not only by its words: one that reaches
from one cell over the beginning of the next can mean nothing else.
"""

from collections.abc import Iterable, Iterator, Sequence

from jupyter_lsp_agent.core.diagnostic import Diagnostic, DiagnosticTag
from jupyter_lsp_agent.core.positions import TextPosition, TextRange
from jupyter_lsp_agent.notebook.advice import Guard
from jupyter_lsp_agent.notebook.line_map import ChunkPlace
from jupyter_lsp_agent.notebook.virtual_document import VirtualDocument


def says_unreachable(diagnostic: Diagnostic) -> bool:
    """Whether a hint says so in words that are known."""
    message = diagnostic.message.lower()
    return "unreachable" in message or "not analyzed" in message


def find_dead_cells(
    document: VirtualDocument, diagnostics: Sequence[Diagnostic]
) -> tuple[frozenset[Guard], frozenset[int]]:
    """The statements to guard so that later cells are looked at, and the indexes of the cells that are not."""
    hints = [hint for hint in diagnostics if DiagnosticTag.UNNECESSARY in hint.tags or _is_mypy_way(hint)]
    hints = [hint for hint in hints if says_unreachable(hint) or hint.range.start.line < hint.range.end.line]
    if not hints:
        return frozenset(), frozenset()
    starts = list(_cell_starts(document))
    lines = document.text.split("\n")
    known = [_stretch(hint, starts, lines) for hint in hints if says_unreachable(hint)]
    others = [hint.range for hint in hints if not says_unreachable(hint)]
    guards: set[Guard] = set()
    unreached: set[int] = set()
    begins = {start for _, start in starts}
    # A part of a cell's first statement is dead, as in `x.foo if False else 1`: that says nothing of what follows.
    stretches = [dead for dead in _merged(lines, known) if dead.start not in begins or _ends_a_statement(lines, dead)]
    for dead in (*stretches, *(dead for dead in others if _crosses(document, starts, dead))):
        covered = [place.cell_index for place, start in starts if dead.start <= start < dead.end]
        unreached.update(covered)
        guard = _guard(document, starts, dead) if covered else None
        if guard is not None:
            guards.add(guard)
    return frozenset(guards), frozenset(unreached)


def _is_mypy_way(finding: Diagnostic) -> bool:
    """An error about the first statement that does not run, as mypy's like have it: nothing is said of the others."""
    return finding.code == "unreachable" and says_unreachable(finding)


def _stretch(hint: Diagnostic, starts: Sequence[tuple[ChunkPlace, TextPosition]], lines: Sequence[str]) -> TextRange:
    """What a hint calls dead."""
    start = hint.range.start
    is_inner = start.column > 0 and all(begin != start for _, begin in starts)
    if DiagnosticTag.UNNECESSARY in hint.tags or is_inner:
        return hint.range
    return TextRange(start, TextPosition(len(lines), 0))


def _cell_starts(document: VirtualDocument) -> Iterator[tuple[ChunkPlace, TextPosition]]:
    """Where the code of each cell begins in the text that was sent; cells without code are left out."""
    for place in document.line_map.places:
        for number, line in enumerate(place.chunk.lines):
            code = line.text.lstrip(" \t\f")
            if code and not code.startswith("#") and code != "\\":
                yield place, TextPosition(place.first_line + number, len(line.text) - len(code))
                break


def _merged(lines: Sequence[str], stretches: Iterable[TextRange]) -> list[TextRange]:
    """The stretches, those joined that have no code between them: some servers give one for each statement."""
    merged: list[TextRange] = []
    for dead in sorted(stretches, key=lambda stretch: (stretch.start, stretch.end)):
        if merged and not _has_code(lines, merged[-1].end, dead.start):
            merged[-1] = TextRange(merged[-1].start, max(merged[-1].end, dead.end))
        else:
            merged.append(dead)
    return merged


def _ends_a_statement(lines: Sequence[str], dead: TextRange) -> bool:
    """Whether nothing stands between the end of a stretch and that of its line, but for another statement."""
    end = dead.end
    if end.line >= len(lines):
        return True
    rest = lines[end.line][end.column :].lstrip(" \t\f")
    return rest.startswith(";") or not _has_code(lines, end, TextPosition(end.line, len(lines[end.line])))


def _has_code(lines: Sequence[str], start: TextPosition, end: TextPosition) -> bool:
    if end <= start:
        return False
    between = list(lines[start.line : end.line + 1])
    between[-1] = between[-1][: end.column]
    between[0] = between[0][start.column :]
    return any(line.partition("#")[0].strip(" \t\f;\\)") for line in between)


def _crosses(document: VirtualDocument, starts: Sequence[tuple[ChunkPlace, TextPosition]], dead: TextRange) -> bool:
    """Whether a stretch reaches over the beginning of a cell's code from before, or over that of two cells."""
    own = document.line_map.place_at(dead.start.line)
    return any(dead.start <= start < dead.end and place != own for place, start in starts)


def _guard(
    document: VirtualDocument, starts: Sequence[tuple[ChunkPlace, TextPosition]], dead: TextRange
) -> Guard | None:
    """The statement before a dead stretch: in the cell in which it begins, or the last of the one before."""
    before = [(place, start) for place, start in starts if start < dead.start]
    if not before:
        return None
    place, _ = before[-1]
    source = document.sources[place.cell_index]
    line = dead.start.line - place.first_line
    if line >= place.chunk.line_count:
        return Guard(source, 0)
    here = place.chunk.to_cell(TextPosition(line, dead.start.column)) or place.chunk.end_of_cell(line)
    return None if here is None else Guard(source, here.line, here.column)
