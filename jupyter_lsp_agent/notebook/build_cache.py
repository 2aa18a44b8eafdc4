"""What is kept of one notebook between builds. Owned by the caller; not to be used by two threads at once."""

from collections.abc import Hashable
from typing import TYPE_CHECKING, Generic, TypeVar

from jupyter_lsp_agent.notebook.notebook_names import NotebookNames

if TYPE_CHECKING:
    from jupyter_lsp_agent.notebook.python_cell import PythonCell
    from jupyter_lsp_agent.notebook.python_chunk import PythonChunk

Value = TypeVar("Value")


class _Generations(Generic[Value]):
    """Entries that the last build or this one used; older ones go."""

    def __init__(self) -> None:
        self._old: dict[Hashable, Value] = {}
        self._new: dict[Hashable, Value] = {}

    def find(self, key: Hashable) -> Value | None:
        """The value of `key`, which is kept for the next build too; `None` where there is none."""
        found = self._new.get(key)
        if found is None:
            found = self._old.get(key)
            if found is not None:
                self._new[key] = found
        return found

    def keep(self, key: Hashable, value: Value) -> Value:
        """Keep `value`, and give it back."""
        self._new[key] = value
        return value

    def turn(self) -> None:
        """Begin a build: forget what the last one did not use."""
        self._old, self._new = self._new, {}


class BuildCache:
    """The analysed cells and composed chunks of one notebook.

    Attributes:
        cells: by source, and by more where a translation depends on other cells; for one set of options.
        plain_chunks: by analysed cell, of those that other cells do not change.
        chunks: by analysed cell and context.
        python_sources: by source, whether IPython would take it.
        names: what the cells of the last build bind.
    """

    def __init__(self) -> None:
        self._options: object = None
        self.cells: _Generations[PythonCell] = _Generations()
        self.plain_chunks: _Generations[PythonChunk] = _Generations()
        self.chunks: _Generations[PythonChunk] = _Generations()
        self.python_sources: _Generations[bool] = _Generations()
        self.names = NotebookNames()

    def turn(self, options: object) -> None:
        """Begin a build; what was made with other `options` is forgotten."""
        if options != self._options:
            self.cells = _Generations()
            self._options = options
        for kept in (self.cells, self.plain_chunks, self.chunks, self.python_sources):
            kept.turn()
