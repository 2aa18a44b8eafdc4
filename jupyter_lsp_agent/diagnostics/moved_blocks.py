"""Runs of lines that are now somewhere else: in another cell after a split, a merge or a cut and paste, or elsewhere
in their own.

What comes in has been left over by the diffs of single cells. A run starts with a line that has a word in it and goes
on as long as the lines are equal; of several places the one with the longest run is taken, then the first behind the
run found before, so that equal runs keep their order.
"""

import re
from collections import defaultdict
from collections.abc import Iterator, Sequence

from jupyter_lsp_agent.diagnostics.places import CellPlace, LineBlock

_MAX_CANDIDATES = 16
"""Places looked at for one line; a line that is found more often starts no run that could be told from others."""
_WORD = re.compile(r"\w")


def find_moved_lines(old: Sequence[LineBlock], new: Sequence[LineBlock]) -> dict[CellPlace, CellPlace]:
    """Where lines of `old` blocks stand in `new` blocks, one to one."""
    search = _Search(new)
    moved: dict[CellPlace, CellPlace] = {}
    for block in old:
        offset = 0
        while offset < len(block.lines):
            run = search.take_longest_run(block.lines, offset)
            places = [block.start.moved_by(offset + step) for step in range(len(run))]
            moved |= dict(zip(places, run, strict=True))
            offset += max(1, len(run))
    return moved


class _Search:
    """The new lines that nobody has claimed yet."""

    def __init__(self, new: Sequence[LineBlock]) -> None:
        self._blocks = new
        self._spots: dict[str, list[tuple[int, int]]] = defaultdict(list)
        for number, block in enumerate(new):
            for offset, line in enumerate(block.lines):
                if _WORD.search(line):
                    self._spots[line].append((number, offset))
        self._taken: set[tuple[int, int]] = set()
        self._last = (-1, -1)

    def take_longest_run(self, lines: Sequence[str], start: int) -> list[CellPlace]:
        """Claim the best run that begins with `lines[start]`; empty where there is none."""
        candidates = [spot for spot in self._spots.get(lines[start], ()) if spot not in self._taken]
        if not candidates or len(candidates) > _MAX_CANDIDATES:
            return []
        runs = [(self._run_length(lines, start, spot), spot) for spot in candidates]
        length, (number, offset) = max(runs, key=lambda run: (run[0], run[1] > self._last, *_reversed(run[1])))
        claimed = [(number, offset + step) for step in range(length)]
        self._taken.update(claimed)
        self._last = claimed[-1]
        return [self._blocks[number].start.moved_by(offset + step) for step in range(length)]

    def _run_length(self, lines: Sequence[str], start: int, spot: tuple[int, int]) -> int:
        number, offset = spot
        there = self._blocks[number].lines
        length = 0
        while (
            start + length < len(lines)
            and offset + length < len(there)
            and lines[start + length] == there[offset + length]
            and (number, offset + length) not in self._taken
        ):
            length += 1
        return length


def _reversed(spot: tuple[int, int]) -> tuple[int, int]:
    return -spot[0], -spot[1]


def hunks_between_runs(
    old: Sequence[LineBlock], new: Sequence[LineBlock], moved: dict[CellPlace, CellPlace]
) -> Iterator[tuple[list[CellPlace], list[CellPlace]]]:
    """What was replaced inside a block that moved: the lines next to or between its runs, old and new."""
    new_block_of = {place: block for block in new for place in block.places()}
    claimed = set(moved.values())
    for block in old:
        for gap in _stretches(block.places(), moved):
            there = _opposite(gap, moved, new_block_of, claimed)
            if there:
                yield [place for place in gap if place not in moved], there


def _stretches(places: list[CellPlace], moved: dict[CellPlace, CellPlace]) -> Iterator[list[CellPlace]]:
    """Each stretch of lines that did not move, with the moved line before and after it where there is one."""
    stretch: list[CellPlace] = []
    for place in places:
        stretch.append(place)
        if place in moved:
            if len(stretch) > 1 and stretch[-2] not in moved:
                yield stretch
            stretch = [place]
    if len(stretch) > 1:
        yield stretch


def _opposite(
    stretch: list[CellPlace],
    moved: dict[CellPlace, CellPlace],
    new_block_of: dict[CellPlace, LineBlock],
    claimed: set[CellPlace],
) -> list[CellPlace]:
    before, after = moved.get(stretch[0]), moved.get(stretch[-1])
    if before is not None:
        return _unclaimed(before, 1, new_block_of, claimed)
    return _unclaimed(after, -1, new_block_of, claimed)[::-1] if after is not None else []


def _unclaimed(
    start: CellPlace, step: int, new_block_of: dict[CellPlace, LineBlock], claimed: set[CellPlace]
) -> list[CellPlace]:
    """The lines from `start` on, in one direction, up to the block's end or a line that something moved to."""
    found: list[CellPlace] = []
    place = start.moved_by(step)
    while place in new_block_of and place not in claimed:
        found.append(place)
        place = place.moved_by(step)
    return found
