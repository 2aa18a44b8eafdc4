"""Edits of a notebook's cells, and what the notebook is to be after them. Who writes it down is not decided here.

A batch is planned as a whole against the notebook as it was: indexes and ids keep their meaning while the cells move,
and one edit that cannot be done refuses them all. Cells that are put in the same place stand in the order of the batch,
as insertions at one position do in LSP. The plan says for each cell where it came from, so that the file's own text
(`surgery`) and a shared document are changed from the same values.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from uuid import uuid4

from jupyter_lsp_agent.core.errors import InvalidEditError
from jupyter_lsp_agent.core.ids import CellId
from jupyter_lsp_agent.notebook.cell_refs import CellNames, CellRef
from jupyter_lsp_agent.notebook.model import Cell, CellKind, Notebook
from jupyter_lsp_agent.notebook.sequence_anchors import longest_growing

_OLDEST_MAJOR = 4

EDITABLE_TYPES = tuple(kind.value for kind in CellKind if kind is not CellKind.UNKNOWN)
"""The cell types that an edit may make."""


@dataclass(frozen=True, slots=True)
class Replace:
    """Give a cell a new source."""

    cell: CellRef
    source: str


@dataclass(frozen=True, slots=True)
class ReplaceText:
    """Replace the one occurrence of `old`. `cell` is `None` for a plain file, and there only."""

    cell: CellRef | None
    old: str
    new: str


@dataclass(frozen=True, slots=True)
class Insert:
    """Put a new cell after another one; `None`: at the start."""

    after: CellRef | None
    cell_type: str
    source: str


@dataclass(frozen=True, slots=True)
class Append:
    """Put a new cell at the end."""

    cell_type: str
    source: str


@dataclass(frozen=True, slots=True)
class Delete:
    """Take a cell away."""

    cell: CellRef


@dataclass(frozen=True, slots=True)
class Move:
    """Put a cell after another one; `None`: at the start."""

    cell: CellRef
    after: CellRef | None


@dataclass(frozen=True, slots=True)
class SetType:
    """Make a cell code, Markdown or raw."""

    cell: CellRef
    cell_type: str


CellEdit = Replace | ReplaceText | Insert | Append | Delete | Move | SetType


@dataclass(frozen=True, slots=True)
class PlannedCell:
    """A cell of the notebook as it is to be.

    Attributes:
        origin: its index in the notebook as it was; `None` for a new one.
        cell_id: its id, stored or made for a new cell; `None` where it has none.
        cell_type: as it is to be stored.
        source: as it is to be.
        source_changed: it is not what it was.
        type_changed: it is not what it was.
    """

    origin: int | None
    cell_id: CellId | None
    cell_type: str
    source: str
    source_changed: bool = False
    type_changed: bool = False

    @property
    def changed(self) -> bool:
        """The cell itself is to be written anew."""
        return self.origin is None or self.source_changed or self.type_changed


@dataclass(frozen=True, slots=True)
class EditedPlace:
    """Where the cell of one edit is in the end; `cell_index` is `None` for a deleted one."""

    cell_id: CellId | None
    cell_index: int | None


@dataclass(frozen=True, slots=True)
class EditPlan:
    """The notebook as it is to be, and the place of each edit's cell in it, in the order of the batch."""

    cells: tuple[PlannedCell, ...]
    places: tuple[EditedPlace, ...]

    @property
    def touched(self) -> frozenset[int]:
        """The final indexes of the cells that were named by an edit or made by one."""
        return frozenset(place.cell_index for place in self.places if place.cell_index is not None)

    @property
    def kept(self) -> frozenset[int]:
        """The old indexes of the longest run of cells, in their old order, that need not be taken out."""
        origins = (cell.origin for cell in self.cells if cell.origin is not None and not cell.type_changed)
        return frozenset(origin for _, origin in longest_growing(list(enumerate(origins))))


def plan_edits(notebook: Notebook, edits: Sequence[CellEdit], new_id: Callable[[], str] | None = None) -> EditPlan:
    """What `notebook` is to be after all of `edits`.

    Args:
        notebook: as it was.
        edits: in the order in which they are to be done.
        new_id: makes an id for a new cell where the format wants one; another is asked for until it is a new one.

    Raises:
        InvalidEditError: an edit cannot be done (a deleted cell is named, an id is not unique, `old` does not occur
            once, …), or the notebook's format is too old for any.
        UnknownCellError: a cell is named that the notebook does not have.
    """
    if notebook.nbformat < _OLDEST_MAJOR:
        raise InvalidEditError(
            f"a notebook of nbformat {notebook.nbformat} is not edited: save it as nbformat 4 first, "
            "for example with `jupyter nbconvert --to notebook --inplace`"
        )
    draft = _Draft(notebook, new_id or _random_id)
    slots = [draft.apply(edit, f"edit {number}") for number, edit in enumerate(edits)]
    return EditPlan(tuple(slot.planned() for slot in draft.slots), tuple(draft.place(slot) for slot in slots))


def replace_once(text: str, old: str, new: str, where: str) -> str:
    """`text` with its one occurrence of `old` replaced.

    Raises:
        InvalidEditError: `old` is empty, or occurs not at all or more than once; the message begins with `where`.
    """
    if not old:
        raise InvalidEditError(f'{where}: "old" is empty: give the text to be replaced')
    at = text.find(old)
    if at < 0:
        raise InvalidEditError(f'{where}: "old" does not occur there: read the text again and give it as it stands')
    if text.find(old, at + 1) >= 0:
        raise InvalidEditError(f'{where}: "old" occurs more than once there: give more of the text around it')
    return text[:at] + new + text[at + len(old) :]


@dataclass(slots=True, eq=False)
class _Slot:
    """A cell on its way; compared by identity, since two cells may look the same."""

    origin: Cell | None
    cell_id: CellId | None
    cell_type: str
    source: str
    deleted: bool = False
    anchor: "_Slot | None" = None
    placed: bool = False

    def planned(self) -> PlannedCell:
        before = self.origin
        return PlannedCell(
            origin=before.index if before else None,
            cell_id=self.cell_id,
            cell_type=self.cell_type,
            source=self.source,
            source_changed=before is not None and before.source != self.source,
            type_changed=before is not None and before.cell_type != self.cell_type,
        )


@dataclass(slots=True)
class _Draft:
    notebook: Notebook
    new_id: Callable[[], str]
    slots: list[_Slot] = field(init=False)
    originals: list[_Slot] = field(init=False)
    names: CellNames = field(init=False)
    made: set[str] = field(init=False, default_factory=set)

    def __post_init__(self) -> None:
        self.originals = [_Slot(cell, cell.cell_id, cell.cell_type, cell.source) for cell in self.notebook.cells]
        self.slots = list(self.originals)
        self.names = CellNames(self.notebook.cells)

    def apply(self, edit: CellEdit, where: str) -> _Slot:
        match edit:
            case Insert() | Append():
                return self._insert(edit, where)
            case Delete():
                return self._delete(self._find(edit.cell, where))
            case Move():
                return self._move(edit, where)
            case SetType():
                slot = self._find(edit.cell, where)
                slot.cell_type = _known_type(edit.cell_type, where)
                return slot
            case Replace():
                slot = self._find(edit.cell, where)
                slot.source = edit.source
                return slot
            case ReplaceText():
                return self._replace_text(edit, where)

    def place(self, slot: _Slot) -> EditedPlace:
        return EditedPlace(slot.cell_id, None if slot.deleted else self._index(slot))

    def _replace_text(self, edit: ReplaceText, where: str) -> _Slot:
        if edit.cell is None:
            raise InvalidEditError(f'{where}: "cell" is missing: a notebook is edited cell by cell')
        slot = self._find(edit.cell, where)
        slot.source = replace_once(slot.source, edit.old, edit.new, f"{where} in cell {edit.cell}")
        return slot

    def _insert(self, edit: Insert | Append, where: str) -> _Slot:
        slot = _Slot(None, self._id_for_new_cell(), _known_type(edit.cell_type, where), edit.source)
        if isinstance(edit, Append):
            self.slots.append(slot)
        else:
            self._put(slot, edit.after, where)
        return slot

    def _delete(self, slot: _Slot) -> _Slot:
        slot.deleted = True
        del self.slots[self._index(slot)]
        return slot

    def _move(self, edit: Move, where: str) -> _Slot:
        slot = self._find(edit.cell, where)
        if edit.after is not None and self._find(edit.after, where) is slot:
            raise InvalidEditError(f"{where}: cell {edit.cell} cannot be put after itself: name another cell")
        del self.slots[self._index(slot)]
        self._put(slot, edit.after, where)
        return slot

    def _put(self, slot: _Slot, after: CellRef | None, where: str) -> None:
        anchor = None if after is None else self._find(after, where)
        at = 0 if anchor is None else self._index(anchor) + 1
        while at < len(self.slots) and self.slots[at].placed and self.slots[at].anchor is anchor:
            at += 1
        slot.anchor, slot.placed = anchor, True
        self.slots.insert(at, slot)

    def _index(self, slot: _Slot) -> int:
        return next(index for index, other in enumerate(self.slots) if other is slot)

    def _find(self, ref: CellRef, where: str) -> _Slot:
        slot = self.originals[self.names.find(ref, where)]
        if slot.deleted:
            raise InvalidEditError(f"{where}: cell {ref} was deleted by an earlier edit of this batch: leave it out")
        return slot

    def _id_for_new_cell(self) -> CellId | None:
        if (self.notebook.nbformat, self.notebook.nbformat_minor) < (4, 5):
            return None
        while (made := self.new_id()) in self.names or made in self.made:
            pass
        self.made.add(made)
        return CellId(made)


def _known_type(cell_type: str, where: str) -> str:
    if cell_type in EDITABLE_TYPES:
        return cell_type
    raise InvalidEditError(f"{where}: nbformat has no cell type {cell_type!r}: use one of {', '.join(EDITABLE_TYPES)}")


def _random_id() -> str:
    return uuid4().hex[:8]
