"""Where each character of a virtual document came from.

A virtual document is a list of `MappedLine`s, in chunks of one cell each, behind a prefix. Lines that no cell has (the
prefix, glue between lines) have no `cell_line`; characters that no cell has lie in no `ColumnSpan`.
"""

from dataclasses import dataclass

from jupyter_lsp_agent.core.positions import CellLine


@dataclass(frozen=True, slots=True)
class ColumnSpan:
    """A run of characters copied unchanged: `length` code points from `cell_column` now stand at `virtual_column`."""

    virtual_column: int
    cell_column: int
    length: int


@dataclass(frozen=True, slots=True)
class MappedLine:
    """One line of virtual text, without its end, and where it came from.

    Attributes:
        text: the virtual text.
        cell_line: the cell's line that it stands for; `None` for glue.
        spans: what was copied, in order of `virtual_column`; `None` (with a `cell_line`): the whole line, columns equal.
    """

    text: str
    cell_line: CellLine | None
    spans: tuple[ColumnSpan, ...] | None = None
