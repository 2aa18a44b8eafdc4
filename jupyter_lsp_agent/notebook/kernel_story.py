"""What was run in a kernel, laid beside the cells of its notebook.

Which cell an execution was of is told by the cell's id where the front end gave one that the notebook knows, else by
its source. Definitions are compared by their text: an import or a function that stands in two cells is the same thing.
"""

import ast
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jupyter_lsp_agent.core.ids import CellId
from jupyter_lsp_agent.core.positions import split_lines
from jupyter_lsp_agent.notebook.build_options import BuildOptions
from jupyter_lsp_agent.notebook.languages import PYTHON, language_from_name
from jupyter_lsp_agent.notebook.model import Cell, CellKind, Notebook
from jupyter_lsp_agent.notebook.name_flow import NameBinding, NameFlow, name_flow
from jupyter_lsp_agent.notebook.python_syntax import parse


@dataclass(frozen=True, slots=True)
class ExecutedCell:
    """One execution.

    Attributes:
        source: what was run, as the kernel was given it.
        execution_count: the number in `In [n]`; `None` where none was given.
        cell_id: the cell's id where the front end told it.
        failed: whether it raised or was interrupted; `None` where that is not known.
        may_be_unsaved: it may be of a cell, or of a version of one, that the front end has and the notebook's content
            has not yet.
    """

    source: str
    execution_count: int | None = None
    cell_id: CellId | None = None
    failed: bool | None = None
    may_be_unsaved: bool = False


@dataclass(frozen=True, slots=True, eq=False)
class PlacedCell:
    """A Python cell of the notebook: `number` counts these alone, `index` all cells."""

    number: int
    index: int
    cell_id: CellId | None
    text: str
    flow: NameFlow


@dataclass(frozen=True, slots=True)
class Above:
    """What the cells above a cell do to a name.

    Attributes:
        is_defined: one may define it.
        surely: the one that defines it last, where that is certain.
        deleted_by: the one that deletes it, where nothing defines it after that.
    """

    is_defined: bool = False
    surely: PlacedCell | None = None
    deleted_by: PlacedCell | None = None


@dataclass(frozen=True, slots=True)
class Origin:
    """The execution that a definition comes from.

    Attributes:
        cell: the notebook's cell that was run; `None` where it is not in the notebook.
        is_current: that cell has not changed since.
        execution_count: the number in `In [n]`.
        binding: how it bound the name.
        is_from_elsewhere: the front end tells ids of cells, and told none.
    """

    cell: PlacedCell | None
    is_current: bool
    execution_count: int | None
    binding: NameBinding
    is_from_elsewhere: bool = False


@dataclass(frozen=True, slots=True)
class _Run:
    """An execution, with the cells that it may have been of: several where they have the same source and no ids."""

    executed: ExecutedCell
    flow: NameFlow
    cells: tuple[PlacedCell, ...]
    is_current: bool
    is_from_elsewhere: bool
    is_placed: bool
    """Which cell it was of is certain, or that this cell is gone."""

    def is_of(self, cell: PlacedCell) -> bool:
        """Whether it was of `cell` as it is now, for certain."""
        return self.is_current and self.cells == (cell,)


class KernelStory:
    """A notebook's Python cells, and what was run of them.

    Args:
        notebook: the cells as they are now.
        executed: in order.
        options: of the build.
    """

    def __init__(self, notebook: Notebook, executed: Sequence[ExecutedCell], options: BuildOptions) -> None:
        self._options = options
        own = (cell for cell in notebook.cells if _is_python(cell))
        self.cells = tuple(
            PlacedCell(number, cell.index, cell.cell_id, _plain(cell.source), self._flow(cell.source))
            for number, cell in enumerate(own)
        )
        self._events: defaultdict[str, list[PlacedCell]] = defaultdict(list)
        for cell in self.cells:
            for name in {*cell.flow.bindings, *cell.flow.deleted}:
                self._events[name].append(cell)
        self._runs = list(self._place(executed))
        self._unsaved = [
            run
            for run in self._runs
            if run.executed.may_be_unsaved and not run.is_current and not run.is_from_elsewhere
        ]
        self._last_run = {cell.number: n for n, run in enumerate(self._runs) for cell in run.cells}

    def _flow(self, source: str) -> NameFlow:
        return name_flow(source, self._options.magics)

    def _place(self, executed: Sequence[ExecutedCell]) -> Iterator[_Run]:
        by_id: defaultdict[CellId | None, list[PlacedCell]] = defaultdict(list)
        by_text: defaultdict[str, list[PlacedCell]] = defaultdict(list)
        for cell in self.cells:
            by_id[cell.cell_id].append(cell)
            by_text[cell.text].append(cell)
        known = {cell_id for cell_id, cells in by_id.items() if cell_id is not None and len(cells) == 1}
        tells_ids = any(one.cell_id in known for one in executed)
        has_told = False
        for one in executed:
            text, flow = _plain(one.source), self._flow(one.source)
            has_told = has_told or one.cell_id in known
            if one.cell_id in known:
                cells = tuple(by_id[one.cell_id])
                yield _Run(one, flow, cells, cells[0].text == text, is_from_elsewhere=False, is_placed=True)
                continue
            cells = tuple(by_text[text])
            is_gone = tells_ids and one.cell_id is not None
            elsewhere = has_told and one.cell_id is None and not cells
            yield _Run(one, flow, cells, bool(cells), elsewhere, is_placed=len(cells) == 1 or (not cells and is_gone))

    def may_be_bound_by_unsaved_cells(self, name: str) -> bool:
        """Whether a cell that is not saved yet, and is not seen here, may bind a name."""
        return any(name in run.flow.bindings or self._hides(run.flow) for run in self._unsaved)

    def is_bound(self, name: str) -> bool:
        """Whether any cell may bind a name."""
        return any(name in cell.flow.bindings for cell in self._events.get(name, ())) or any(
            name in (self._options.run_names.get(path) or ()) for cell in self.cells for path in cell.flow.run_files
        )

    def hides_names(self, before: PlacedCell | None = None) -> bool:
        """Whether any cell, or any above `before`, may bind names that nobody can see."""
        cells = self.cells if before is None else self.cells[: before.number]
        return any(self._hides(cell.flow) for cell in cells)

    def _hides(self, flow: NameFlow) -> bool:
        return flow.hides_names or any(self._options.run_names.get(path) is None for path in flow.run_files)

    def above(self, cell: PlacedCell, name: str) -> Above:
        """What the cells above `cell` do to `name`."""
        is_defined = self._is_given_by_file(cell, name)
        for other in reversed(self._events.get(name, ())):
            if other.number >= cell.number:
                continue
            binding = other.flow.bindings.get(name)
            if binding is None:
                return Above(is_defined, None, None if is_defined else other)
            if binding.is_certain:
                return Above(is_defined=True, surely=None if is_defined else other)
            is_defined = True
        return Above(is_defined)

    def _is_given_by_file(self, cell: PlacedCell, name: str) -> bool:
        names = self._options.run_names
        return any(name in (names.get(path) or ()) for one in self.cells[: cell.number] for path in one.flow.run_files)

    def below(self, cell: PlacedCell, name: str) -> PlacedCell | None:
        """The first cell below `cell` that may bind `name`."""
        events = self._events.get(name, ())
        return next((one for one in events if one.number > cell.number and name in one.flow.bindings), None)

    def was_run_before(self, cell: PlacedCell, other: PlacedCell) -> bool:
        """Whether `cell` was run before the last run of `other`."""
        last = self._last_run.get(other.number)
        return last is not None and any(cell in run.cells for run in self._runs[:last])

    def last_definition(self, name: str, besides: PlacedCell) -> Origin | None:
        """The last execution that may have bound `name`, other than of the cell `besides` as it is."""
        for run in reversed(self._runs):
            if name in run.flow.bindings and not (run.is_current and besides in run.cells):
                return _origin(run, run.flow.bindings[name])
        return None

    def definition_in_force(self, cell: PlacedCell, name: str) -> Origin | None:
        """The definition of `name` that was in force when `cell` was last run; `None` where that is not certain, or
        the cell was not run as it is."""
        last = self._last_run.get(cell.number)
        if last is None or not self._runs[last].is_of(cell) or self._runs[last].executed.failed:
            return None
        for run in reversed(self._runs[:last]):
            if self._hides(run.flow) or name in run.flow.deleted:
                return None
            binding = run.flow.bindings.get(name)
            if binding is not None:
                is_clear = binding.is_certain and run.executed.failed is False and run.is_placed
                return _origin(run, binding) if is_clear and cell not in run.cells else None
        return None

    def is_same_definition(self, name: str, origin: Origin, cell: PlacedCell) -> bool:
        """Whether what `origin` bound is what `cell` binds."""
        if origin.is_current and origin.cell == cell:
            return True
        return _says_the_same(origin.binding.text, cell.flow.bindings[name].text)


def _origin(run: _Run, binding: NameBinding) -> Origin:
    cell = run.cells[0] if run.cells else None
    return Origin(cell, run.is_current, run.executed.execution_count, binding, run.is_from_elsewhere)


def _is_python(cell: Cell) -> bool:
    is_own = cell.language is None or language_from_name(cell.language) == PYTHON
    return cell.kind is CellKind.CODE and cell.defect is None and is_own


def _plain(source: str) -> str:
    """A source as kernels keep it: IPython takes empty lines from its end, front ends may change line ends."""
    return "\n".join(split_lines(source)).strip("\n")


def _says_the_same(one: str | None, other: str | None) -> bool:
    """Whether two statements differ in nothing but comments and blanks; statements that nobody knows do not differ."""
    if one is None or other is None or one == other:
        return True
    first, second = parse(one), parse(other)
    return first is not None and second is not None and ast.dump(first) == ast.dump(second)
