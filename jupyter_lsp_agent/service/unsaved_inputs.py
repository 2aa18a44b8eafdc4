"""What ran in a kernel and may be of cells that are not saved: the inputs, and the names that live by them.

Of an input that ran since somebody listens, time and cell are known: its text is put into the notebook in its place. Of
one that ran before, only the text is known: it may be of a cell that is not saved, or of one that was deleted or edited
since. Its text stays out, so that no text that is nowhere any more is judged, and none takes the place of a newer one;
the names that it made are there all the same.
"""

from collections import Counter, deque
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence

from jupyter_lsp_agent.notebook.hidden_state import user_names
from jupyter_lsp_agent.notebook.model import CellKind, Notebook
from jupyter_lsp_agent.notebook.name_flow import NameFlow, name_flow
from jupyter_lsp_agent.notebook.python_syntax import is_name
from jupyter_lsp_agent.notebook.similarity import count_words, likeness
from jupyter_lsp_agent.service.execution import Execution, latest_ends
from jupyter_lsp_agent.service.kernel_view import KernelDocument, build_options, is_own_magic
from jupyter_lsp_agent.service.ran_cells import LIKE_A_VERSION, as_recorded
from jupyter_lsp_agent.service.settings import Settings

_COMPARED = 20
"""How many later inputs without ids one is compared with."""


def unsaved(document: KernelDocument, executed: Sequence[Execution], written_seconds: float) -> tuple[Execution, ...]:
    """What ran after a notebook was written, and is not what the notebook holds.

    Args:
        document: the notebook.
        executed: what ran, in order.
        written_seconds: when the notebook was written; what ran before may have been edited since.
    """
    late = [cell for cell in _late(executed, written_seconds) if cell.ended_seconds is not None]
    return _not_in(document.notebook, _latest_versions(late))


def perhaps_unsaved(
    document: KernelDocument, executed: Sequence[Execution], written_seconds: float
) -> tuple[Execution, ...]:
    """What ran when nobody listened, may have run after a notebook was written, and is not what the notebook holds.

    Args:
        document: the notebook.
        executed: what ran, in order; one at the end that nobody listened to yet runs now, and is left out.
        written_seconds: when the notebook was written.
    """
    late = _latest_versions(_late(executed, written_seconds))
    return tuple(cell for cell in _not_in(document.notebook, late) if _is_unheard(cell) and cell != executed[-1])


def names_of_unsaved(
    document: KernelDocument,
    content: KernelDocument,
    executed: Sequence[Execution],
    *,
    names: Iterable[str],
    settings: Settings,
    written_seconds: float,
) -> frozenset[str]:
    """The names that live, that inputs made which may be of unsaved cells, and that a content does not give its cells.

    Where such a cell stands is not known for certain: a cell may use its names that stands above it in `content`.

    Args:
        document: the notebook as it is saved.
        content: the same with what ran since in its place (`with_executed`, `with_cell`).
        executed: what ran, in order.
        names: that live in the user's namespace.
        settings: `kernel_names` and `python_cell_magics` are used.
        written_seconds: when the notebook was written.
    """
    ran = _not_in(document.notebook, _without_older(_late(executed, written_seconds)))
    if not ran:
        return frozenset()
    magics = build_options(settings).magics
    live = frozenset(name for name in user_names(names, (), settings.kernel_names) if is_name(name))
    made = {name for cell in ran for name in name_flow(cell.source, magics).bindings}
    flows = [name_flow(source, magics) for source in _code(content.notebook)]
    bound = frozenset[str]().union(*(flow.bindings for flow in flows))
    unseen = (name_flow(cell.source, magics) for cell in _not_in(content.notebook, ran))
    if any(flow.hides_names or flow.run_files for flow in unseen):
        return live - bound
    stored = (name_flow(source, magics).bindings for source in _code(document.notebook))
    moved = made.difference(*stored)
    return live & ((made - bound) | _used_above(flows, moved))


def _used_above(flows: Sequence[NameFlow], names: Collection[str]) -> frozenset[str]:
    """Those of `names` that a cell reads as it runs, and that only cells below it bind."""
    used, bound = set[str](), set[str]()
    for flow in flows:
        used.update(use.name for use in flow.uses if not use.is_late and use.name in names and use.name not in bound)
        bound.update(flow.bindings)
    return frozenset(used)


def _late(executed: Sequence[Execution], written_seconds: float) -> list[Execution]:
    """What ran, or may have run, after a notebook was written."""
    ends = latest_ends(executed)
    return [
        cell
        for cell, latest_end in zip(executed, ends, strict=True)
        if latest_end > written_seconds and not is_own_magic(cell.source)
    ]


def _is_unheard(cell: Execution) -> bool:
    return cell.ended_seconds is None


def _not_in(notebook: Notebook, executed: Iterable[Execution]) -> tuple[Execution, ...]:
    sources = {as_recorded(cell.source) for cell in notebook.cells}
    return tuple(cell for cell in executed if as_recorded(cell.source) not in sources)


def _code(notebook: Notebook) -> Iterator[str]:
    return (cell.source for cell in notebook.cells if cell.kind is CellKind.CODE)


def _without_older(executed: Sequence[Execution]) -> list[Execution]:
    """Without those of which an id says that their cell has a newer version. Likeness is no proof: what another cell
    made would be lost."""
    last: Mapping[str, int] = {cell.cell_id: number for number, cell in enumerate(executed) if cell.cell_id}
    return [cell for number, cell in enumerate(executed) if last.get(cell.cell_id or "", number) == number]


def _latest_versions(executed: Sequence[Execution]) -> list[Execution]:
    """Of each cell the last version, in order. Without ids, a later text that is much like an earlier one is its next
    version, so that what was mended is not held against anybody; the same text once more is the same cell."""
    latest: list[Execution] = []
    ids: set[str] = set()
    texts: set[str] = set()
    words: deque[Counter[str]] = deque(maxlen=_COMPARED)
    for cell in reversed(executed):
        if cell.cell_id:
            is_superseded = cell.cell_id in ids
            ids.add(cell.cell_id)
        else:
            own = count_words(cell.source)
            is_superseded = cell.source in texts or any(likeness(own, later) >= LIKE_A_VERSION for later in words)
            words.append(own)
        texts.add(cell.source)
        if not is_superseded:
            latest.append(cell)
    return latest[::-1]
