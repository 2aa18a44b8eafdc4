"""Which cell of a notebook is meant by what ran in a kernel.

A stored id tells it, where the client sends that; else an editor's own name for a cell that it ran before; else the
text, and for a new version of a cell the text that is most like it.
"""

import re
from collections.abc import Iterable, Sequence

from jupyter_lsp_agent.notebook.model import CellKind, Notebook
from jupyter_lsp_agent.notebook.similarity import count_words, likeness
from jupyter_lsp_agent.service.execution import Execution

LIKE_A_VERSION = 0.75
"""How alike two sources must be to be versions of one cell, where no id says so."""

_STORED_ID = re.compile(r"[A-Za-z0-9_-]{1,64}")


class RanCells:
    """Finds the cells of a notebook that ran with some id and text.

    An editor may call cells by names of its own in place of the file's ids: VS Code sends the address of its text
    document, JupyterLab makes ids for a file that has none. Such a name means the cell whose text it ran with before.

    Args:
        notebook: the notebook.
        executed: what ran, in order.
    """

    def __init__(self, notebook: Notebook, executed: Sequence[Execution] = ()) -> None:
        self._code = [cell for cell in notebook.cells if cell.kind is CellKind.CODE]
        self._by_id = _grouped((cell.cell_id or "", cell.index) for cell in self._code)
        self._by_source = _grouped((as_recorded(cell.source), cell.index) for cell in self._code)
        self._has_ids = any(cell.cell_id for cell in self._code)
        self._by_name = self._named_by_editor(executed)

    def find(self, cell_id: str | None, source: str) -> int | None:
        """The index of the one cell with this id, or else with this text; `None`: there is no such one."""
        by_id = self._by_id.get(cell_id or "", []) if cell_id else []
        if len(by_id) == 1:
            return by_id[0]
        by_name = self._by_name.get(cell_id or "")
        return self._with_text(source) if by_name is None else by_name

    def find_version(self, cell_id: str | None, source: str) -> int | None:
        """The same, or where no id can tell, the cell whose text is most like this one."""
        index = self.find(cell_id, source)
        is_several = as_recorded(source) in self._by_source
        if index is not None or is_several or (cell_id and self._is_stored(cell_id)):
            return index
        words = count_words(source)
        taken = set(self._by_name.values())
        others = [cell for cell in self._code if cell.index not in taken]
        alike = max(((likeness(count_words(cell.source), words), cell.index) for cell in others), default=(0.0, -1))
        return alike[1] if alike[0] >= LIKE_A_VERSION else None

    def _is_stored(self, cell_id: str) -> bool:
        """Whether an id is one as this file has them."""
        return self._has_ids and is_stored_id(cell_id)

    def _with_text(self, source: str) -> int | None:
        found = self._by_source.get(as_recorded(source), [])
        return found[0] if len(found) == 1 else None

    def _named_by_editor(self, executed: Sequence[Execution]) -> dict[str, int]:
        """The cells that an editor's names mean. A cell has one name: a second one's is a copy of it."""
        named: dict[str, int] = {}
        owners: dict[int, str] = {}
        for run in executed:
            index = None if run.cell_id is None or self._is_stored(run.cell_id) else self._with_text(run.source)
            if index is not None and run.cell_id and owners.setdefault(index, run.cell_id) == run.cell_id:
                named[run.cell_id] = index
        return named


def is_stored_id(cell_id: str) -> bool:
    """Whether a cell's id can be one of a file, as nbformat defines them; others are an editor's own names."""
    return _STORED_ID.fullmatch(cell_id) is not None


def as_recorded(source: str) -> str:
    """A source as IPython keeps it in its history: without the line ends at its end."""
    return source.rstrip("\n")


def _grouped(pairs: Iterable[tuple[str, int]]) -> dict[str, list[int]]:
    groups: dict[str, list[int]] = {}
    for key, index in pairs:
        groups.setdefault(key, []).append(index)
    return groups
