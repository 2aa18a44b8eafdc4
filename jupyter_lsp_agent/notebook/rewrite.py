"""Rewriting of mapped lines: replacements and glue, with the map kept true.

Everything is said in the coordinates of the lines as they came in, so that edits found in one syntax tree need not
know of each other; `apply_rewrites` does them at once.
"""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from jupyter_lsp_agent.core.positions import TextPosition, TextRange
from jupyter_lsp_agent.notebook.line_map import ColumnSpan, MappedLine


@dataclass(frozen=True, slots=True)
class Replace:
    """Put `text` (of one line) in place of `range`; where the range spans lines, the lines stay and lose its
    characters."""

    range: TextRange
    text: str


@dataclass(frozen=True, slots=True)
class Glue:
    """A line that no cell has: before line `line`, or after it.

    `outer` glue encloses an `Indent` and stays where it is; other glue among indented lines goes with them.
    """

    line: int
    text: str
    after: bool = False
    outer: bool = False


@dataclass(frozen=True, slots=True)
class Indent:
    """One more space before each of the lines `first_line` to `last_line`, inclusive."""

    first_line: int
    last_line: int


Rewrite = Replace | Glue | Indent


def insertion(position: TextPosition, text: str) -> Replace:
    """Put `text` in at `position`."""
    return Replace(TextRange(position, position), text)


def apply_rewrites(lines: Sequence[MappedLine], rewrites: Iterable[Rewrite]) -> tuple[MappedLine, ...]:
    """`lines` with `rewrites` done. Replacements must not overlap; glue at one line keeps the given order."""
    edited = list(lines)
    pieces: defaultdict[int, list[tuple[int, int, str]]] = defaultdict(list)
    glue: list[Glue] = []
    indented: set[int] = set()
    for rewrite in rewrites:
        match rewrite:
            case Replace():
                _collect_pieces(edited, rewrite, pieces)
            case Glue():
                glue.append(rewrite)
            case Indent():
                indented.update(range(rewrite.first_line, rewrite.last_line + 1))
    for number, cuts in pieces.items():
        edited[number] = _cut_all(edited[number], cuts)
    for number in indented:
        edited[number] = _cut(edited[number], 0, 0, " ")
    return _with_glue(edited, glue, indented) if glue else tuple(edited)


def _with_glue(lines: list[MappedLine], glue: list[Glue], indented: set[int]) -> tuple[MappedLine, ...]:
    before: defaultdict[int, list[MappedLine]] = defaultdict(list)
    after: defaultdict[int, list[MappedLine]] = defaultdict(list)
    # Outer glue goes to the outside: first before a line, last after one.
    for piece in sorted(glue, key=lambda piece: piece.outer == piece.after):
        text = " " + piece.text if piece.line in indented and not piece.outer else piece.text
        (after if piece.after else before)[piece.line].append(MappedLine(text, None))
    return tuple(line for number, own in enumerate(lines) for line in (*before[number], own, *after[number]))


def _collect_pieces(
    lines: Sequence[MappedLine], rewrite: Replace, pieces: dict[int, list[tuple[int, int, str]]]
) -> None:
    start, end = rewrite.range.start, rewrite.range.end
    if start.line == end.line:
        pieces[start.line].append((start.column, end.column, rewrite.text))
        return
    pieces[start.line].append((start.column, len(lines[start.line].text), rewrite.text))
    for number in range(start.line + 1, end.line):
        pieces[number].append((0, len(lines[number].text), ""))
    pieces[end.line].append((0, end.column, ""))


def _cut_all(line: MappedLine, cuts: list[tuple[int, int, str]]) -> MappedLine:
    # From right to left, so that columns to the left stay what they were; insertions at one place keep their order.
    ordered = sorted(enumerate(cuts), key=lambda item: (item[1][0], item[0]), reverse=True)
    for _, (start, end, text) in ordered:
        line = _cut(line, start, end, text)
    return line


def _cut(line: MappedLine, start: int, end: int, text: str) -> MappedLine:
    new_text = line.text[:start] + text + line.text[end:]
    if line.cell_line is None:
        return replace(line, text=new_text)
    spans = (ColumnSpan(0, 0, len(line.text)),) if line.spans is None else line.spans
    shift = start + len(text) - end
    kept = [*_clip(spans, 0, start, 0), *_clip(spans, end, len(line.text), shift)]
    return MappedLine(new_text, line.cell_line, tuple(kept))


def _clip(spans: Iterable[ColumnSpan], low: int, high: int, shift: int) -> Iterable[ColumnSpan]:
    for span in spans:
        first = max(span.virtual_column, low)
        last = min(span.virtual_column + span.length, high)
        if first < last:
            yield ColumnSpan(first + shift, span.cell_column + first - span.virtual_column, last - first)
