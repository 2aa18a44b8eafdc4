"""What is kept of one notebook between builds. Owned by the caller; not to be used by two threads at once."""

from collections.abc import Callable, Hashable
from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    from jupyter_lsp_agent.notebook.python_cell import PythonCell
    from jupyter_lsp_agent.notebook.python_chunk import PythonChunk

Value = TypeVar("Value")


class _Generations(Generic[Value]):
    """Entries that the last build or this one used; older ones go."""

    def __init__(self) -> None:
        self._old: dict[Hashable, Value] = {}
        self._new: dict[Hashable, Value] = {}

    def get(self, key: Hashable, make: Callable[[], Value]) -> Value:
        """The value of `key`, made if it is not there."""
        found = self._new.get(key)
        if found is None:
            found = self._old.get(key)
            if found is None:
                found = make()
            self._new[key] = found
        return found

    def turn(self) -> None:
        """Begin a build: forget what the last one did not use."""
        self._old, self._new = self._new, {}


class BuildCache:
    """The analysed cells and composed chunks of one notebook."""

    def __init__(self) -> None:
        self.cells: _Generations[PythonCell] = _Generations()
        self.chunks: _Generations[PythonChunk] = _Generations()

    def turn(self) -> None:
        """Begin a build."""
        self.cells.turn()
        self.chunks.turn()
