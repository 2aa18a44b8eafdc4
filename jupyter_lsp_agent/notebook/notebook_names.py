"""Which names a notebook's cells bind, in how many cells, and how: kept between builds, brought up to date by
difference."""

from collections import Counter, defaultdict
from collections.abc import Sequence

from jupyter_lsp_agent.notebook.python_cell import PythonCell


class NotebookNames:
    """Counts of cells by name. `update` makes them true for a list of cells."""

    def __init__(self) -> None:
        self._cells: list[PythonCell] = []
        self._assigned: Counter[str] = Counter()
        self._bound: Counter[str] = Counter()
        self._declared: Counter[str] = Counter()
        self._defined: Counter[str] = Counter()
        self._annotations: defaultdict[str, Counter[str]] = defaultdict(Counter)
        self.contested: frozenset[str] = frozenset()
        """Names that one cell declares and another binds; only cells with such a name depend on others."""
        self.redefined: frozenset[str] = frozenset()
        """Names that more than one cell defines."""

    def update(self, cells: Sequence[PythonCell]) -> None:
        """Count `cells`: what changed lies between what both lists begin and end with."""
        old, new = self._cells, list(cells)
        start = next((n for n, (a, b) in enumerate(zip(old, new, strict=False)) if a is not b), min(len(old), len(new)))
        longest = min(len(old), len(new)) - start
        end = next((n for n in range(longest) if old[-1 - n] is not new[-1 - n]), longest)
        self._count(old[start : len(old) - end], -1)
        self._count(new[start : len(new) - end], +1)
        self._cells = new
        self.contested = frozenset(name for name in self._declared if self._bound[name] > 1)
        self.redefined = frozenset(name for name in self.contested if self._defined[name] > 1)

    def _count(self, cells: Sequence[PythonCell], sign: int) -> None:
        for cell in cells:
            _add(self._assigned, cell.assigned, sign)
            _add(self._bound, cell.advice.bound, sign)
            _add(self._declared, cell.declared, sign)
            _add(self._defined, frozenset(definition.name for definition in cell.names.definitions), sign)
            for note in cell.names.annotations:
                _add(self._annotations[note.name], (note.text,), sign)

    def is_bound(self, name: str) -> bool:
        """Whether any cell binds `name`."""
        return name in self._bound

    def is_annotated_differently(self, name: str) -> bool:
        """Whether `name` is given more than one annotation."""
        return len(self._annotations[name]) > 1

    def assigned_elsewhere(self, name: str, cell: PythonCell) -> bool:
        """Whether another cell gives `name` a value by assignment, loop, import or a broken line."""
        return self._assigned[name] > (name in cell.assigned)

    def annotated_elsewhere(self, name: str, cell: PythonCell) -> bool:
        """Whether another cell declares a type for `name`, which `cell` does not."""
        return bool(self._annotations.get(name)) and all(note.name != name for note in cell.names.annotations)

    def bound_elsewhere(self, name: str, cell: PythonCell) -> bool:
        """Whether another cell binds `name` in any way."""
        return self._bound[name] > (name in cell.advice.bound)


def _add(counts: Counter[str], names: Sequence[str] | frozenset[str], sign: int) -> None:
    for name in names:
        count = counts[name] + sign
        if count:
            counts[name] = count
        else:
            del counts[name]
