"""What a kernel knows and a file does not: names and values that Restart & Run All would not give.

Two questions, each asked of the first use of a name in a cell, by what the cells' texts say and what was run:

1. Would the name be there, if the cells ran from the top? If not, and the kernel has it all the same, then a cell was
   deleted, changed or run out of order, or something that is no cell defined it.
2. Would it be the same thing? It would not, if the cell was last run when another cell's definition, or an earlier
   version of the right one, was in force.

Only names are looked at, never values. Where the texts do not tell for certain (a name bound on one way of several, an
interrupted run, `import *`), nothing is said: silence is better than a false alarm.
"""

import builtins
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from enum import StrEnum

from jupyter_lsp_agent.core.diagnostic import CellDiagnostic, Diagnostic, DiagnosticSeverity
from jupyter_lsp_agent.core.ids import CellId
from jupyter_lsp_agent.core.positions import TextRange
from jupyter_lsp_agent.notebook.build_options import BuildOptions
from jupyter_lsp_agent.notebook.kernel_story import Above, ExecutedCell, KernelStory, Origin, PlacedCell
from jupyter_lsp_agent.notebook.model import Notebook
from jupyter_lsp_agent.notebook.name_flow import NameUse
from jupyter_lsp_agent.notebook.prefix import KERNEL_NAMES
from jupyter_lsp_agent.notebook.python_cell import SOURCE

__all__ = ["HIDDEN_STATE", "ExecutedCell", "HiddenState", "HiddenStateKind", "find_hidden_state", "user_names"]

HIDDEN_STATE = "hidden-state"
"""The code of these findings."""

_EVERYWHERE = frozenset(dir(builtins)).union(KERNEL_NAMES, {"open", "jupyter_lsp_agent"})
_PLATFORM = frozenset({"dbutils", "display_html", "displayHTML", "sc", "spark", "sqlContext", "table", "Out", "In"})


class HiddenStateKind(StrEnum):
    """How a cell came to depend on more than the file."""

    CELL_DELETED = "cell_deleted"
    """The name was defined by a cell that is not in the notebook any more."""
    CELL_EDITED = "cell_edited"
    """An earlier version of a cell defined it."""
    DEFINED_BELOW = "defined_below"
    """Only a cell below defines it."""
    NAME_DELETED = "name_deleted"
    """A cell above deletes it (`del`), after it was defined."""
    NO_CELL = "no_cell"
    """Nothing that was run as a cell of this notebook defines it."""
    OTHER_DEFINITION = "other_definition"
    """The cell was run when another definition was in force than the one that stands above it."""
    STALE_DEFINITION = "stale_definition"
    """The cell was run with what an earlier version of a cell defined."""


@dataclass(frozen=True, slots=True)
class HiddenState:
    """One use of a name that would not be what it is, if the notebook ran from the top.

    Attributes:
        cell_index: the cell that uses the name.
        cell_id: its id as stored.
        place: the first use, in the cell's source.
        name: the name.
        kind: how it came to be.
        message: the same in a sentence.
        definition_index: the cell that defines, or defined, what was used; `None` where there is none.
    """

    cell_index: int
    cell_id: CellId | None
    place: TextRange
    name: str
    kind: HiddenStateKind
    message: str
    definition_index: int | None = None

    @property
    def diagnostic(self) -> CellDiagnostic:
        """The same as a finding: a warning of ours."""
        diagnostic = Diagnostic(self.place, DiagnosticSeverity.WARNING, self.message, SOURCE, HIDDEN_STATE)
        return CellDiagnostic(self.cell_index, diagnostic)


def user_names(namespace: Iterable[str], hidden: Collection[str], kernel_names: Collection[str] = ()) -> frozenset[str]:
    """The names of a kernel's namespace that its user made.

    Args:
        namespace: the names in `user_ns`.
        hidden: the names in IPython's `user_ns_hidden`: what IPython, its kernel, start-up files and `exec_lines` put
            there before the first cell ran.
        kernel_names: names that a platform gives (setting `kernel_names`).
    """
    given = _EVERYWHERE.union(hidden, kernel_names)
    return frozenset(name for name in namespace if not name.startswith("_") and name not in given)


def find_hidden_state(
    notebook: Notebook,
    executed: Sequence[ExecutedCell],
    live_names: Collection[str],
    options: BuildOptions | None = None,
) -> tuple[HiddenState, ...]:
    """The uses of names in `notebook` that Restart & Run All would not serve as the kernel does.

    Args:
        notebook: the cells as they are now.
        executed: what the kernel has run, in order, since it was started.
        live_names: the names that its user made and that live now (`user_names`).
        options: `kernel_names`, `python_cell_magics`, `run_names` and the Python version are used.

    Returns:
        One finding for each cell and name, in the order of their places.
    """
    options = options or BuildOptions()
    live = frozenset(live_names) - _EVERYWHERE - _PLATFORM - options.kernel_names
    story = KernelStory(notebook, executed, options)
    found = (_judge(story, cell, use) for cell in story.cells for use in cell.flow.uses if use.name in live)
    told = [finding for finding in found if finding is not None]
    return tuple(sorted(told, key=lambda finding: (finding.cell_index, finding.place, finding.name)))


def _judge(story: KernelStory, cell: PlacedCell, use: NameUse) -> HiddenState | None:
    if story.may_be_bound_by_unsaved_cells(use.name):
        return None
    if use.is_late:
        is_given = story.is_bound(use.name) or story.hides_names()
        return None if is_given else _tell(cell, use, *_unknown(story, cell, use))
    above = story.above(cell, use.name)
    if above.is_defined:
        return _of_other_definition(story, cell, use, above)
    if story.hides_names(before=cell):
        return None
    if above.deleted_by is not None:
        return _of_deleted_name(cell, use, above.deleted_by)
    below = story.below(cell, use.name)
    if below is None:
        return _tell(cell, use, *_unknown(story, cell, use))
    return _of_name_below(story, cell, use, below)


def _tell(
    cell: PlacedCell, use: NameUse, kind: HiddenStateKind, message: str, definition: int | None = None
) -> HiddenState:
    return HiddenState(cell.index, cell.cell_id, use.place, use.name, kind, message, definition)


def _failure(use: NameUse) -> str:
    when = "when the function is called" if use.is_late else "here"
    return f"Restart & Run All fails {when} with NameError"


def _of_deleted_name(cell: PlacedCell, use: NameUse, deleting: PlacedCell) -> HiddenState | None:
    if not use.is_certain:
        return None
    message = f"`{use.name}` lives in the kernel, but cell {deleting.index} above deletes it; {_failure(use)}"
    return _tell(cell, use, HiddenStateKind.NAME_DELETED, message, deleting.index)


def _of_name_below(story: KernelStory, cell: PlacedCell, use: NameUse, below: PlacedCell) -> HiddenState | None:
    if not use.is_certain:
        return None
    was_run = " and was run before this one" if story.was_run_before(below, cell) else ""
    message = f"`{use.name}` is defined only in cell {below.index}, which stands below{was_run}; {_failure(use)}"
    return _tell(cell, use, HiddenStateKind.DEFINED_BELOW, message, below.index)


def _unknown(story: KernelStory, cell: PlacedCell, use: NameUse) -> tuple[HiddenStateKind, str, int | None]:
    """No cell of the notebook defines the name."""
    origin = story.last_definition(use.name, besides=cell)
    if origin is None:
        said = "lives in the kernel, but no cell defines it and none that was run did"
        return HiddenStateKind.NO_CELL, f"`{use.name}` {said}; {_failure(use)}", None
    run = _run(origin)
    if origin.cell is not None:
        said = f"was defined by an earlier version of cell {origin.cell.index}{run}, and no cell defines it now"
        return HiddenStateKind.CELL_EDITED, f"`{use.name}` {said}; {_failure(use)}", origin.cell.index
    if origin.is_from_elsewhere:
        said = f"was defined by code that is no cell of this notebook{run}"
        return HiddenStateKind.NO_CELL, f"`{use.name}` {said}; {_failure(use)}", None
    said = f"was defined by a cell that was deleted or changed since{run}, and no cell defines it now"
    return HiddenStateKind.CELL_DELETED, f"`{use.name}` {said}; {_failure(use)}", None


def _run(origin: Origin) -> str:
    count = origin.execution_count
    return "" if count is None else f" (run as In [{count}])"


def _of_other_definition(story: KernelStory, cell: PlacedCell, use: NameUse, above: Above) -> HiddenState | None:
    """The name would be there; whether it would be what it was when the cell was last run."""
    if above.surely is None or not use.is_certain:
        return None
    origin = story.definition_in_force(cell, use.name)
    if origin is None or story.is_same_definition(use.name, origin, above.surely):
        return None
    right = above.surely.index
    if origin.cell is None:
        said = f"had its value from a cell that was deleted or changed since{_run(origin)}, when this cell was run"
        kind, there = HiddenStateKind.OTHER_DEFINITION, None
    elif not origin.is_current and origin.cell.index == right:
        said = f"had its value from an earlier version of cell {right}{_run(origin)}, when this cell was run"
        message = f"`{use.name}` {said}; Restart & Run All gives it that of the cell as it is now"
        return _tell(cell, use, HiddenStateKind.STALE_DEFINITION, message, right)
    else:
        version = "" if origin.is_current else "an earlier version of "
        said = f"had its value from {version}cell {origin.cell.index}{_run(origin)}, when this cell was run"
        kind, there = HiddenStateKind.OTHER_DEFINITION, origin.cell.index
    return _tell(cell, use, kind, f"`{use.name}` {said}; Restart & Run All gives it that of cell {right}", there)
