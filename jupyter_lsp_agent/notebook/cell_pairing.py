"""The pairs of cells found so far, and what is still to be paired: the ground on which `identity` takes its steps."""

from collections import Counter
from collections.abc import Callable, Hashable, Iterator, Sequence

from jupyter_lsp_agent.core.positions import split_lines
from jupyter_lsp_agent.notebook.model import Cell, CellKind
from jupyter_lsp_agent.notebook.sequence_anchors import Gap, longest_growing
from jupyter_lsp_agent.notebook.similarity import count_words, likeness


def cell_content(cell: Cell) -> str:
    """What two states of a cell are compared by: its source with every line end written as LF."""
    return "\n".join(split_lines(cell.source)) if "\r" in cell.source else cell.source


class CellsOfOneState:
    """One state's cells as pairing sees them; `ids` holds `None` where there is no id or it is not unique."""

    __slots__ = ("_words", "contents", "ids", "kinds")

    def __init__(self, cells: Sequence[Cell]) -> None:
        counts = Counter(cell.cell_id for cell in cells)
        self.contents: list[str] = [cell_content(cell) for cell in cells]
        self.kinds: list[CellKind] = [cell.kind for cell in cells]
        self.ids = [cell.cell_id if counts[cell.cell_id] == 1 else None for cell in cells]
        self._words: dict[int, Counter[str]] = {}

    def __len__(self) -> int:
        return len(self.contents)

    def kind_and_content(self, place: int) -> Hashable:
        """Equal for cells of one type with one text."""
        return self.kinds[place], self.contents[place]

    def content(self, place: int) -> Hashable:
        """Equal for cells with one text."""
        return self.contents[place]

    def words(self, place: int) -> Counter[str]:
        """The cell's words, counted once."""
        if place not in self._words:
            self._words[place] = count_words(self.contents[place])
        return self._words[place]


ContentKey = Callable[[CellsOfOneState, int], Hashable]
"""What makes two cells equal: `CellsOfOneState.kind_and_content` or `CellsOfOneState.content`."""


class CellPairing:
    """Pairs found so far, one to one."""

    def __init__(self, old: Sequence[Cell], new: Sequence[Cell]) -> None:
        self.old, self.new = CellsOfOneState(old), CellsOfOneState(new)
        self.new_of_old: dict[int, int] = {}
        self.old_of_new: dict[int, int] = {}

    def add(self, old: int, new: int) -> None:
        """Pair two cells, unless one of them has its partner."""
        if old not in self.new_of_old and new not in self.old_of_new:
            self.new_of_old[old] = new
            self.old_of_new[new] = old

    def is_finished(self) -> bool:
        """Whether one side has no cells left."""
        return len(self.new_of_old) == min(len(self.old), len(self.new))

    def left(self) -> tuple[list[int], list[int]]:
        """The cells without a partner."""
        return self.left_in(Gap(0, len(self.old), 0, len(self.new)))

    def left_in(self, gap: Gap) -> tuple[list[int], list[int]]:
        """The cells of a gap without a partner: those of one that moved across it have theirs."""
        old_left = [place for place in range(gap.old_start, gap.old_end) if place not in self.new_of_old]
        new_left = [place for place in range(gap.new_start, gap.new_end) if place not in self.old_of_new]
        return old_left, new_left

    def gaps(self) -> list[tuple[list[int], list[int]]]:
        """What is left between pairs that kept their order, where both sides have something left."""
        old_start = new_start = 0
        gaps = []
        for old_end, new_end in [*longest_growing(sorted(self.new_of_old.items())), (len(self.old), len(self.new))]:
            left = self.left_in(Gap(old_start, old_end, new_start, new_end))
            if left[0] and left[1]:
                gaps.append(left)
            old_start, new_start = old_end + 1, new_end + 1
        return gaps

    def same_ids(self) -> Iterator[tuple[int, int]]:
        """Cells left on both sides with the same unique id."""
        old_left, new_left = self.left()
        place_of = {self.new.ids[place]: place for place in new_left if self.new.ids[place] is not None}
        for old in old_left:
            if self.old.ids[old] in place_of:
                yield old, place_of[self.old.ids[old]]

    def ids_differ(self, old: int, new: int) -> bool:
        """Whether the ids, unique on both sides, say that these are two cells."""
        return None not in (self.old.ids[old], self.new.ids[new]) and self.old.ids[old] != self.new.ids[new]

    def likeness(self, old: int, new: int) -> float:
        """How alike two cells are, 0 to 1; cells of different types are not."""
        if self.old.kinds[old] is not self.new.kinds[new]:
            return 0.0
        return likeness(self.old.words(old), self.new.words(new))
