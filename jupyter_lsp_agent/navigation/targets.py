"""From the asker's place in a cell to a place in a text that a server is shown."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jupyter_lsp_agent.core.positions import CellLine, TextPosition, split_lines
from jupyter_lsp_agent.diagnostics.report import CellReference, NoVerdictReason, Unchecked
from jupyter_lsp_agent.notebook.model import Cell, CellKind
from jupyter_lsp_agent.notebook.python_cell import INVALID_SYNTAX
from jupyter_lsp_agent.notebook.virtual_document import VirtualDocument, VirtualNotebook

_BROKEN = "the cell does not parse; mend its syntax first"


@dataclass(frozen=True, slots=True)
class Target:
    """A text that a server is shown, and the place in it that is asked about, where one is."""

    document: VirtualDocument
    position: TextPosition | None = None


@dataclass(frozen=True, slots=True)
class NoTarget:
    """Why no server can be asked about a place."""

    reason: NoVerdictReason
    detail: str


def find_target(built: VirtualNotebook, cell: Cell, position: TextPosition) -> Target | NoTarget:
    """Where a place of a cell stands; bodies of other languages come first, since theirs are not the kernel's lines."""
    for document in sorted(built.documents, key=lambda one: one.kernel):
        place = document.line_map.to_virtual(cell.index, position)
        if place is not None:
            return Target(document, place)
    return _why_not(built, cell, position)


def unseen_lines(built: VirtualNotebook, cells: Sequence[Cell], only: Cell | None) -> Iterator[Unchecked]:
    """The lines that no server is shown, or not as they are, with the reason: of one cell, or of all."""
    by_index = {cell.index: cell for cell in cells}
    for lines in built.unchecked:
        first, last = CellLine(lines.first_line), CellLine(lines.last_line)
        if only is None or only.index == lines.cell_index:
            cell = by_index[lines.cell_index]
            cause = NoVerdictReason.UNREADABLE if cell.defect else None
            yield Unchecked(_reference(cell), first, last, lines.reason, cause)
    broken = {one.cell_index for one in built.findings if one.diagnostic.code == INVALID_SYNTAX}
    for index in sorted(broken):
        cell = by_index[index]
        if only is None or only.index == index:
            last = CellLine(len(split_lines(cell.source)) - 1)
            yield Unchecked(_reference(cell), CellLine(0), last, _BROKEN, NoVerdictReason.UNREADABLE)


def unseen_body(document: VirtualDocument, cells: Sequence[Cell], reason: str) -> Unchecked:
    """A body of another language, inside one cell, that nobody can be asked about."""
    cell = next(cell for cell in cells if cell.index == document.cell_index)
    first = document.line_map.to_cell(TextPosition(document.line_map.prefix_line_count, 0))
    last = CellLine(len(split_lines(cell.source)) - 1)
    first_line = CellLine(first.position.line if first else 0)
    return Unchecked(_reference(cell), first_line, last, reason)


def _reference(cell: Cell) -> CellReference:
    return CellReference(cell.index, cell.cell_id)


def _why_not(built: VirtualNotebook, cell: Cell, position: TextPosition) -> NoTarget:
    if cell.kind is not CellKind.CODE:
        kind = "Markdown" if cell.kind is CellKind.MARKDOWN else f"of the type {cell.cell_type}"
        return NoTarget(
            NoVerdictReason.UNSUPPORTED_LANGUAGE, f"cell {cell.index} is {kind}: name a place in a code cell"
        )
    if cell.defect is not None:
        return NoTarget(NoVerdictReason.UNREADABLE, f"cell {cell.index} cannot be read: {cell.defect}")
    lines = [lines for lines in built.unchecked if lines.cell_index == cell.index]
    for one in lines:
        if one.first_line <= position.line <= one.last_line:
            return NoTarget(
                NoVerdictReason.UNSUPPORTED_LANGUAGE, f"no server is shown this line of cell {cell.index}: {one.reason}"
            )
    if any(one.cell_index == cell.index and one.diagnostic.code == INVALID_SYNTAX for one in built.findings):
        return NoTarget(
            NoVerdictReason.UNREADABLE,
            f"cell {cell.index} does not parse, so no server is shown this line; mend its syntax first",
        )
    return NoTarget(
        NoVerdictReason.UNSUPPORTED_LANGUAGE,
        f"this place in cell {cell.index} is IPython's own syntax, which no server is shown; name a place in its code",
    )
