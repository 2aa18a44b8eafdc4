"""A line of a notebook, named by its cell and its line in it: what the modules that compare states pass around."""

from dataclasses import dataclass

from jupyter_lsp_agent.core.positions import CellLine


@dataclass(frozen=True, slots=True, order=True)
class CellPlace:
    """A line of a cell: the cell's position in the notebook, and its 0-based line."""

    cell_index: int
    line: CellLine

    def moved_by(self, n_lines: int) -> "CellPlace":
        """The place `n_lines` further down in the same cell."""
        return CellPlace(self.cell_index, CellLine(self.line + n_lines))


@dataclass(frozen=True, slots=True)
class LineBlock:
    """Lines that follow each other, without their ends: of one cell, or of neighbouring cells.

    Attributes:
        places: where each line is.
        lines: their text.
    """

    places: tuple[CellPlace, ...]
    lines: tuple[str, ...]

    def part(self, start: int, end: int) -> "LineBlock":
        """The lines from `start` up to `end`."""
        return LineBlock(self.places[start:end], self.lines[start:end])
