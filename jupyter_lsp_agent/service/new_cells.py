"""Where a cell that ran and is not saved is put into the notebook, since nobody tells where it stands."""

from jupyter_lsp_agent.notebook.build_options import BuildOptions
from jupyter_lsp_agent.notebook.model import CellKind, Notebook
from jupyter_lsp_agent.notebook.name_flow import NameFlow, name_flow

_MAGICS = BuildOptions().magics


class NewCells:
    """Places new cells, one after the other as they ran.

    Args:
        notebook: the notebook as it is saved.
    """

    def __init__(self, notebook: Notebook) -> None:
        code = [cell for cell in notebook.cells if cell.kind is CellKind.CODE]
        self._stored = {cell.index: _flow(cell.source) for cell in code}
        self._new: list[tuple[int, NameFlow]] = []
        self._end = len(notebook.cells) - 1

    def replace(self, index: int, source: str) -> None:
        """A stored cell has a newer text."""
        self._stored[index] = _flow(source)

    def place(self, source: str, before: int | None, *, failed: bool | None) -> int:
        """The index of the stored cell that a new one follows; -1: none, the notebook is empty.

        It is the one that ran `before` it; else the end; but where the new cell ran well, it is not above what it read.
        """
        flow = _flow(source)
        place = self._end if before is None else before
        if not failed:
            reads = {use.name for use in flow.uses if not use.is_late}
            place = max([place, *(self._first_binding(name) for name in reads)])
        self._new.append((place, flow))
        return place

    def _first_binding(self, name: str) -> int:
        """After which stored cell a name is there; -1: none binds it."""
        return min((index for index, flow in (*self._stored.items(), *self._new) if name in flow.bindings), default=-1)


def _flow(source: str) -> NameFlow:
    return name_flow(source, _MAGICS)
