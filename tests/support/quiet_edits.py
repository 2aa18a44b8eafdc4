"""Edits of a notebook that change nothing a server could object to: what a delta must say nothing of.

Each takes the cells and a source of randomness and returns the new cells, or `None` where the notebook has no place for
it. Edits of code keep to cells that are plain Python and to the borders between their statements.
"""

import ast
import builtins
import re
import warnings
from collections.abc import Callable, Sequence
from dataclasses import replace
from random import Random

from jupyter_lsp_agent.core.ids import CellId
from jupyter_lsp_agent.notebook.edits import SetType, plan_edits
from jupyter_lsp_agent.notebook.model import Cell, CellKind, Notebook
from tests.support.corpus import is_plain
from tests.support.states import renumbered

Cells = tuple[Cell, ...]
QuietEdit = Callable[[Cells, Random], Cells | None]

_NOTES = ["# A note\nwith text.", "", "Some *words*.", "# x = 1\nprint(x)"]
_EVERYWHERE = frozenset(dir(builtins)) | {"print", "display"}


def insert_text_or_empty_cell(cells: Cells, random: Random) -> Cells:
    kind, source = random.choice([(CellKind.MARKDOWN, random.choice(_NOTES)), (CellKind.CODE, ""), (CellKind.RAW, "r")])
    place = random.randint(0, len(cells))
    with_ids = any(cell.cell_id for cell in cells)
    made = Cell(place, CellId(f"new{random.randrange(10**9)}") if with_ids else None, kind, source)
    return renumbered([*cells[:place], made, *cells[place:]])


def move_text_cell(cells: Cells, random: Random) -> Cells | None:
    movable = [cell for cell in cells if cell.kind is not CellKind.CODE or not cell.source.strip()]
    if not movable:
        return None
    chosen = random.choice(movable)
    rest = [cell for cell in cells if cell is not chosen]
    place = random.randint(0, len(rest))
    return renumbered([*rest[:place], chosen, *rest[place:]])


def delete_text_cell(cells: Cells, random: Random) -> Cells | None:
    deletable = [cell for cell in cells if cell.kind is not CellKind.CODE or not cell.source.strip()]
    if not deletable:
        return None
    chosen = random.choice(deletable)
    return renumbered(cell for cell in cells if cell is not chosen)


def split_text_cell(cells: Cells, random: Random) -> Cells | None:
    return _split(cells, random, [cell for cell in cells if cell.kind is CellKind.MARKDOWN], _line_borders)


def split_code_cell(cells: Cells, random: Random) -> Cells | None:
    return _split(cells, random, _plain(cells), _statement_borders)


def merge_code_cells(cells: Cells, random: Random) -> Cells | None:
    plain = {cell.index for cell in _plain(cells)}
    pairs = [index for index in plain if index + 1 in plain and "__future__" not in cells[index + 1].source]
    if not pairs:
        return None
    first = random.choice(sorted(pairs))
    joined = cells[first].source.rstrip("\n") + random.choice(["\n", "\n\n"]) + cells[first + 1].source
    kept = replace(cells[random.choice([first, first + 1])], source=joined)
    return renumbered([*cells[:first], kept, *cells[first + 2 :]])


def add_comment_or_blank_line(cells: Cells, random: Random) -> Cells | None:
    plain = _plain(cells)
    if not plain:
        return None
    cell = random.choice(plain)
    lines = cell.source.split("\n")
    place = random.choice([0, len(lines), *_statement_borders(cell.source)])
    lines[place:place] = [random.choice(["", "# a comment", "   ", "# print(undefined)"])]
    return _with(cells, replace(cell, source="\n".join(lines)))


def swap_neighbours(cells: Cells, random: Random) -> Cells | None:
    plain = {cell.index for cell in _plain(cells)}
    places = [
        place for place in sorted(plain) if place + 1 in plain and not _share_names(cells[place], cells[place + 1])
    ]
    if not places:
        return None
    place = random.choice(places)
    return renumbered([*cells[:place], cells[place + 1], cells[place], *cells[place + 2 :]])


def remove_ids(cells: Cells, random: Random) -> Cells | None:
    if not any(cell.cell_id for cell in cells):
        return None
    return tuple(replace(cell, cell_id=None) for cell in cells)


def give_new_ids(cells: Cells, random: Random) -> Cells:
    return tuple(replace(cell, cell_id=CellId(f"id{random.randrange(10**9)}")) for cell in cells)


def clear_counts(cells: Cells, random: Random) -> Cells:
    return tuple(replace(cell, execution_count=None) for cell in cells)


def change_type_and_back(cells: Cells, random: Random) -> Cells:
    """A batch of two edits of the middle cell, planned as an agent's batch is."""
    sound = [cell for cell in cells if cell.defect is None]
    if not sound:
        return cells
    cell = sound[len(sound) // 2]
    other = CellKind.MARKDOWN if cell.kind is CellKind.CODE else CellKind.CODE
    edits = [SetType(0, other.value), SetType(0, cell.kind.value)]
    [planned] = plan_edits(Notebook((replace(cell, index=0, cell_type=cell.kind.value),)), edits).cells
    back = replace(cell, source=planned.source, kind=CellKind(planned.cell_type))
    return (*cells[: cell.index], back, *cells[cell.index + 1 :])


def write_other_line_ends(cells: Cells, random: Random) -> Cells | None:
    plain = [cell for cell in _plain(cells) if "\n" in cell.source]
    if not plain:
        return None
    cell = random.choice(plain)
    return _with(cells, replace(cell, source=cell.source.replace("\n", "\r\n")))


QUIET_EDITS: tuple[QuietEdit, ...] = (
    insert_text_or_empty_cell,
    move_text_cell,
    delete_text_cell,
    split_text_cell,
    split_code_cell,
    merge_code_cells,
    add_comment_or_blank_line,
    swap_neighbours,
    remove_ids,
    give_new_ids,
    clear_counts,
    change_type_and_back,
    write_other_line_ends,
)


def quiet_edit(cells: Cells, random: Random) -> tuple[str, Cells]:
    """Some quiet edit that this notebook has a place for: its name, and the new cells."""
    while True:
        edit = random.choice(QUIET_EDITS)
        edited = edit(cells, random)
        if edited is not None:
            return edit.__name__, edited


def _plain(cells: Cells) -> list[Cell]:
    return [cell for cell in cells if is_plain(cell) and cell.source.strip() and "\r" not in cell.source]


def _with(cells: Cells, changed: Cell) -> Cells:
    return (*cells[: changed.index], changed, *cells[changed.index + 1 :])


def _split(
    cells: Cells, random: Random, candidates: Sequence[Cell], borders: Callable[[str], list[int]]
) -> Cells | None:
    places = [(cell, border) for cell in candidates for border in borders(cell.source)]
    if not places:
        return None
    cell, border = random.choice(places)
    lines = cell.source.split("\n")
    parts = [replace(cell, source="\n".join(part)) for part in (lines[:border], lines[border:])]
    new = random.choice([0, 1])
    parts[new] = replace(parts[new], cell_id=CellId(f"new{random.randrange(10**9)}") if cell.cell_id else None)
    return renumbered([*cells[: cell.index], *parts, *cells[cell.index + 1 :]])


def _line_borders(source: str) -> list[int]:
    return list(range(1, source.count("\n") + 1))


def _statement_borders(source: str) -> list[int]:
    """The lines on which a statement at module level begins, where nothing of another stands, the first excepted."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        body = ast.parse(source).body
    starts = {min([node.lineno, *(item.lineno for item in getattr(node, "decorator_list", []))]) - 1 for node in body}
    ends = {(node.end_lineno or 0) - 1 for node in body}
    return sorted(starts - ends - {0} | {start for start in starts & ends if _alone(body, start)} - {0})


def _alone(body: list[ast.stmt], line: int) -> bool:
    touching = [node for node in body if node.lineno - 1 <= line <= (node.end_lineno or 0) - 1]
    return len(touching) == 1 and touching[0].lineno - 1 == line


def _share_names(one: Cell, other: Cell) -> bool:
    """Whether one may bind what the other uses; what `import *` binds is not told."""
    if any("import *" in cell.source for cell in (one, other)):
        return True
    words = [set(re.findall(r"[^\W\d]\w*", cell.source)) - _EVERYWHERE for cell in (one, other)]
    return bool(words[0] & words[1])
