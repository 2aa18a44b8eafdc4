"""An edit plan, carried out on a shared notebook cell by cell.

A cell whose source changes keeps its place and its shared text, so whoever types in another cell, or in this one,
goes on typing. A move, and a change of type, is taking the cell out and putting it in again: shared arrays know
nothing else, and editors expect it so.
"""

from typing import Any

from jupyter_lsp_agent.service.stores import EditedOutputs, EditPlan, PlannedCell


def apply_to_shared_notebook(shared: Any, plan: EditPlan, outputs: EditedOutputs) -> None:
    """Change `shared`, a `jupyter_ydoc.YNotebook`, as `plan` says; the caller holds the transaction."""
    kept = plan.kept
    values = {cell.origin: shared.get_cell(cell.origin) for cell in plan.cells if cell.origin is not None}
    for cell in plan.cells:
        if cell.origin in kept and cell.source_changed:
            _set_source(shared, cell, outputs)
    for index in reversed(range(len(shared.ycells))):
        if index not in kept:
            del shared.ycells[index]
    for index, cell in enumerate(plan.cells):
        if cell.origin not in kept:
            before = values.get(cell.origin) if cell.origin is not None else None
            shared.ycells.insert(index, shared.create_ycell(_value(cell, before, outputs)))


def _set_source(shared: Any, cell: PlannedCell, outputs: EditedOutputs) -> None:
    ycell = shared.ycells[cell.origin]
    try:
        shared.set_cell(cell.origin, source=cell.source)
    except TypeError:
        # Before jupyter_ydoc 4.2 `set_cell` replaced the whole cell; its text alone is what changes.
        ycell["source"].clear()
        ycell["source"] += cell.source
    if outputs is EditedOutputs.CLEAR and cell.cell_type == "code":
        ycell["outputs"].clear()
        ycell["execution_count"] = None


def _value(cell: PlannedCell, before: dict[str, Any] | None, outputs: EditedOutputs) -> dict[str, Any]:
    """A cell that is put in, as nbformat has it."""
    value = dict(before or {"metadata": {}})
    value |= {"cell_type": cell.cell_type, "source": cell.source}
    if before is None and cell.cell_id is not None:
        value["id"] = cell.cell_id
    if cell.cell_type != "code":
        value.pop("outputs", None)
        value.pop("execution_count", None)
        return value
    value.pop("attachments", None)
    clear = cell.source_changed and not cell.type_changed and outputs is EditedOutputs.CLEAR
    return value | (
        {"outputs": [], "execution_count": None}
        if clear
        else {"outputs": value.get("outputs", []), "execution_count": value.get("execution_count")}
    )
