"""Which cell of an older state of a notebook is which cell of a newer one.

Ids are believed only where both states have them, they are unique, and the contents bear them out: most notebooks have
none, some have duplicates, and tools hand out new ones or leave old ones on other cells. So the order is

1. same id and same content,
2. same content: what stands around equal cells decides which is which, then the order they come in (moves),
3. same id and similar content,
4. similar content between the same neighbours, in order; then anywhere,
5. position: a cell rewritten in its place, unless the ids say that it is another cell.

Content is the source with its line ends made equal, so that a file saved in another format has not changed. A cell
that changed its type is still that cell. Pairs are one to one; a copy is a new cell. What a split or a merge does with
lines is seen where lines are mapped (`diagnostics.line_shift`), not here.
"""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

from jupyter_lsp_agent.notebook.cell_pairing import CellPairing, CellsOfOneState, ContentKey
from jupyter_lsp_agent.notebook.model import Cell
from jupyter_lsp_agent.notebook.sequence_anchors import find_anchors
from jupyter_lsp_agent.notebook.similarity import ALIKE, align_in_order

_MAX_TABLE = 2_500
"""Pairs of one gap that are compared each with each; of a larger gap, only cells that share an uncommon line."""
_MAX_SHARING = 8
"""A line that more cells than this have tells nothing about which is which."""
_SAME_ID_LIKENESS = 0.2
"""How much must be left of a cell for its id to be believed wherever it stands."""


@dataclass(frozen=True, slots=True)
class CellMatching:
    """Pairs of cells, one to one; all numbers are positions in the two sequences.

    Attributes:
        new_of_old: for each old cell its new position, `None` where it is gone.
        old_of_new: for each new cell its old position, `None` where it is new.
        changed: the old positions of matched cells whose content is not the same.
    """

    new_of_old: tuple[int | None, ...]
    old_of_new: tuple[int | None, ...]
    changed: frozenset[int]

    def pairs(self) -> Iterator[tuple[int, int]]:
        """All pairs (old, new), in old order."""
        return ((old, new) for old, new in enumerate(self.new_of_old) if new is not None)


def match_cells(old: Sequence[Cell], new: Sequence[Cell]) -> CellMatching:
    """Match the cells of two states of a notebook."""
    pairing = CellPairing(old, new)
    _pair_same_content(pairing)
    if not pairing.is_finished():
        _pair_similar_content(pairing)
        _pair_by_position(pairing)
    pairs = pairing.new_of_old
    changed = frozenset(place for place in pairs if pairing.old.content(place) != pairing.new.content(pairs[place]))
    return CellMatching(
        tuple(pairs.get(place) for place in range(len(old))),
        tuple(pairing.old_of_new.get(place) for place in range(len(new))),
        changed,
    )


def _pair_same_content(pairing: CellPairing) -> None:
    for old, new in pairing.same_ids():
        if pairing.old.kind_and_content(old) == pairing.new.kind_and_content(new):
            pairing.add(old, new)
    for old_left, new_left in pairing.gaps():
        _pair_equal_in_order(pairing, old_left, new_left)
    _pair_equal_anywhere(pairing, CellsOfOneState.kind_and_content)
    _pair_equal_anywhere(pairing, CellsOfOneState.content)


def _pair_equal_in_order(pairing: CellPairing, old_left: list[int], new_left: list[int]) -> None:
    old_keys = [pairing.old.kind_and_content(place) for place in old_left]
    new_keys = [pairing.new.kind_and_content(place) for place in new_left]
    anchors = find_anchors(old_keys, new_keys)
    found = list(anchors.pairs)
    for gap in anchors.gaps:
        if (gap.old_end - gap.old_start) * (gap.new_end - gap.new_start) <= _MAX_TABLE:
            columns = new_keys[gap.new_start : gap.new_end]
            table = [[float(row == column) for column in columns] for row in old_keys[gap.old_start : gap.old_end]]
            found += [(gap.old_start + row, gap.new_start + column) for row, column in align_in_order(table)]
    for old, new in found:
        pairing.add(old_left[old], new_left[new])


def _pair_equal_anywhere(pairing: CellPairing, key: ContentKey) -> None:
    """Pair what moved: the first of several equal cells with the first, and so on."""
    old_left, new_left = pairing.left()
    places: dict[object, list[int]] = defaultdict(list)
    for new in reversed(new_left):
        places[key(pairing.new, new)].append(new)
    for old in old_left:
        candidates = places.get(key(pairing.old, old))
        if candidates:
            pairing.add(old, candidates.pop())


def _pair_similar_content(pairing: CellPairing) -> None:
    for old, new in list(pairing.same_ids()):
        if pairing.likeness(old, new) >= _SAME_ID_LIKENESS:
            pairing.add(old, new)
    for old_left, new_left in pairing.gaps():
        if len(old_left) * len(new_left) <= _MAX_TABLE:
            table = [[pairing.likeness(old, new) for new in new_left] for old in old_left]
            for row, column in align_in_order(table):
                pairing.add(old_left[row], new_left[column])
    ranked = sorted((-pairing.likeness(*pair), abs(pair[0] - pair[1]), pair) for pair in _sharing_a_line(pairing))
    for negative_likeness, _, (old, new) in ranked:
        if -negative_likeness >= ALIKE:
            pairing.add(old, new)


def _sharing_a_line(pairing: CellPairing) -> set[tuple[int, int]]:
    """The cells left that have a line in common which few of them have."""
    old_left, new_left = pairing.left()
    old_places = _cells_by_line(pairing.old, old_left)
    new_places = _cells_by_line(pairing.new, new_left)
    return {
        (old, new)
        for line, places in old_places.items()
        if len(places) <= _MAX_SHARING and len(new_places.get(line, ())) <= _MAX_SHARING
        for old in places
        for new in new_places.get(line, ())
    }


def _cells_by_line(state: CellsOfOneState, places: Iterable[int]) -> dict[str, list[int]]:
    cells: dict[str, list[int]] = defaultdict(list)
    for place in places:
        for line in {line.strip() for line in state.contents[place].split("\n")} - {""}:
            cells[line].append(place)
    return cells


def _pair_by_position(pairing: CellPairing) -> None:
    for old_left, new_left in pairing.gaps():
        place_of = {pairing.new.ids[new]: new for new in new_left}
        for old in old_left:
            if pairing.old.ids[old] is not None and pairing.old.ids[old] in place_of:
                pairing.add(old, place_of[pairing.old.ids[old]])
    for old_left, new_left in pairing.gaps():
        # Nothing can be said of an empty cell that would have to be followed to another content.
        old_filled = [old for old in old_left if pairing.old.contents[old].strip()]
        new_filled = [new for new in new_left if pairing.new.contents[new].strip()]
        for old, new in zip(old_filled, new_filled, strict=False):
            if pairing.old.kinds[old] is pairing.new.kinds[new] and not pairing.ids_differ(old, new):
                pairing.add(old, new)
