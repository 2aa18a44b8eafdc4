"""What must hold of a notebook file after an edit, told without the code that edits."""

import copy
import json

from jupyter_lsp_agent.notebook.edits import EditPlan, PlannedCell
from tests.support.json_regions import cells_regions, children


def check_bytes_stay(old: bytes, new: bytes, plan: EditPlan) -> None:
    """Every byte outside the edited cells is where it was: around `cells`, between old neighbours, in other cells."""
    before, after = old.decode(), new.decode()
    old_start, old_end, old_cells = cells_regions(before)
    new_start, new_end, new_cells = cells_regions(after)
    assert after[:new_start] == before[:old_start]
    assert after[new_end:] == before[old_end:]
    assert len(new_cells) == len(plan.cells)
    for planned, (start, end) in zip(plan.cells, new_cells, strict=True):
        if not planned.changed:
            assert after[start:end] == before[slice(*old_cells[planned.origin])]
        elif planned.origin is not None:
            _check_other_members_stay(before, old_cells[planned.origin][0], after, start, planned)
    _check_gaps_stay(before, old_cells, after, new_cells, plan)
    if plan.cells and old_cells:
        assert after[new_start : new_cells[0][0]] == before[old_start : old_cells[0][0]]
        assert after[new_cells[-1][1] : new_end] == before[old_cells[-1][1] : old_end]


def _check_gaps_stay(before, old_cells, after, new_cells, plan) -> None:
    for index in range(1, len(plan.cells)):
        left, right = plan.cells[index - 1].origin, plan.cells[index].origin
        if left is not None and right == left + 1:
            gap = after[new_cells[index - 1][1] : new_cells[index][0]]
            assert gap == before[old_cells[left][1] : old_cells[right][0]]


def _check_other_members_stay(before, old_start, after, new_start, planned: PlannedCell) -> None:
    touched = {"source"} if planned.source_changed else set()
    if planned.type_changed:
        touched |= {"cell_type", "outputs", "execution_count", "attachments"}

    def kept(text, start):
        return [(key, text[begin:end]) for key, begin, end in children(text, start) if key not in touched]

    assert kept(before, old_start) == kept(after, new_start)


def model_after(old: bytes, plan: EditPlan, *, clear: bool = False) -> dict:
    """The notebook as `json` reads it, edited as a model: what the edited bytes must mean."""
    notebook = json.loads(old.decode("utf-8-sig"))
    cells = notebook["cells"]
    notebook["cells"] = [_model_cell(cells, planned, clear) for planned in plan.cells]
    return notebook


def _model_cell(cells: list, planned: PlannedCell, clear: bool) -> dict:
    if planned.origin is None:
        cell = {"cell_type": planned.cell_type, "metadata": {}, "source": planned.source}
        if planned.cell_type == "code":
            cell |= {"outputs": [], "execution_count": None}
        return cell | ({"id": planned.cell_id} if planned.cell_id else {})
    cell = copy.deepcopy(cells[planned.origin])
    if planned.source_changed:
        cell["source"] = planned.source
        if clear and planned.cell_type == "code" and not planned.type_changed:
            cell |= {"outputs": [], "execution_count": None}
    if planned.type_changed:
        cell["cell_type"] = planned.cell_type
        _fit_to_type(cell)
    return cell


def _fit_to_type(cell: dict) -> None:
    if cell["cell_type"] == "code":
        cell.setdefault("outputs", [])
        cell.setdefault("execution_count", None)
        cell.pop("attachments", None)
    else:
        cell.pop("outputs", None)
        cell.pop("execution_count", None)


def joined(notebook: dict) -> str:
    """A notebook with every source joined, as text that compares NaN with itself."""
    copied = copy.deepcopy(notebook)
    for cell in copied["cells"]:
        if isinstance(cell.get("source"), list):
            cell["source"] = "".join(cell["source"])
    return json.dumps(copied, sort_keys=True)


def source_form(text: str, index: int) -> str:
    """`list` or `str`: how the source of a cell is stored."""
    return type(json.loads(text)["cells"][index]["source"]).__name__
