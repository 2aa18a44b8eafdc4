"""How a request names a cell: by its stored id, or by its 0-based index. An id that occurs twice names none."""

from collections.abc import Sequence

from jupyter_lsp_agent.core.errors import InvalidEditError, UnknownCellError
from jupyter_lsp_agent.notebook.model import Cell

CellRef = str | int
"""A cell by its stored id, or by its 0-based index among all cells."""

_MAX_IDS_NAMED = 20
_MAX_ID_CHARACTERS = 64


class CellNames:
    """The names of a notebook's cells."""

    def __init__(self, cells: Sequence[Cell]) -> None:
        self._count = len(cells)
        self._by_id: dict[str, list[int]] = {}
        for cell in cells:
            if cell.cell_id is not None:
                self._by_id.setdefault(cell.cell_id, []).append(cell.index)

    def __contains__(self, cell_id: str) -> bool:
        """Some cell has this id."""
        return cell_id in self._by_id

    def find(self, ref: CellRef, where: str) -> int:
        """The index of the cell that `ref` names; messages begin with `where`.

        Raises:
            UnknownCellError: there is none.
            InvalidEditError: there is more than one.
        """
        return self._by_index(ref, where) if isinstance(ref, int) else self._find_id(ref, where)

    def _by_index(self, index: int, where: str) -> int:
        if 0 <= index < self._count:
            return index
        cells = "1 cell" if self._count == 1 else f"{self._count} cells"
        raise UnknownCellError(f"{where}: there is no cell {index}: the notebook has {cells}")

    def _find_id(self, cell_id: str, where: str) -> int:
        found = self._by_id.get(cell_id, [])
        if not found:
            raise UnknownCellError(f"{where}: no cell has the id {cell_id!r}: {self._known()}")
        if len(found) > 1:
            raise InvalidEditError(f"{where}: {len(found)} cells have the id {cell_id!r}: use an index")
        return found[0]

    def _known(self) -> str:
        ids = list(self._by_id)
        if not ids:
            return "the notebook's cells have none; use an index, from 0"
        named = ", ".join(repr(one[:_MAX_ID_CHARACTERS]) for one in ids[:_MAX_IDS_NAMED])
        more = f" and {len(ids) - _MAX_IDS_NAMED} more" if len(ids) > _MAX_IDS_NAMED else ""
        return f"there are {named}{more}; or use an index, from 0"
