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
"""Places looked at for one line; a line that is found more often starts no run, but may be part of one."""
_WORD = re.compile(r"\w")
_Spot = tuple[int, int]
"""A block's number and a line's offset in it."""


def find_moved_lines(old: Sequence[LineBlock], new: Sequence[LineBlock]) -> dict[CellPlace, CellPlace]:
    """Where lines of `old` blocks stand in `new` blocks, one to one."""
    search = _Search(new)
    moved: dict[CellPlace, CellPlace] = {}
    for block in old:
        offset = free_from = 0
        while offset < len(block.lines):
            run = search.take_longest_run(block.lines, offset, free_from)
            moved |= {block.places[old_offset]: place for old_offset, place in run}
            offset = run[-1][0] + 1 if run else offset + 1
            free_from = offset if run else free_from
    return moved


class _Search:
    """The new lines that nobody has claimed yet."""

    def __init__(self, new: Sequence[LineBlock]) -> None:
        self._blocks = new
        self._spots: dict[str, list[_Spot]] = defaultdict(list)
        for number, block in enumerate(new):
            for offset, line in enumerate(block.lines):
                if _WORD.search(line):
                    self._spots[line].append((number, offset))
        self._taken: set[_Spot] = set()
        self._last: _Spot = (-1, -1)

    def take_longest_run(self, lines: Sequence[str], start: int, free_from: int) -> list[tuple[int, CellPlace]]:
        """Claim the best run through `lines[start]`, as pairs (old offset, new place); empty where there is none.

        A run may begin before `start`, with lines that are found too often to begin one, but not before `free_from`.
        """
        spots = self._spots.get(lines[start], ())
        if len(spots) > _MAX_CANDIDATES:
            return []
        runs = [(self._length(lines, start, spot, 1), spot) for spot in spots if spot not in self._taken]
        if not runs:
            return []
        length, (number, offset) = max(runs, key=lambda run: (run[0], run[1] > self._last, *_reversed(run[1])))
        before = self._length(lines, start - 1, (number, offset - 1), -1, free_from)
        steps = range(-before, length)
        self._taken.update((number, offset + step) for step in steps)
        self._last = (number, offset + length - 1)
        block = self._blocks[number]
        return [(start + step, block.places[offset + step]) for step in steps]

    def _length(self, lines: Sequence[str], start: int, spot: _Spot, step: int, first: int = 0) -> int:
        """For how many lines `lines` and a block agree, from a place on, in one direction."""
        number, offset = spot
        there = self._blocks[number].lines
        place = start
        while (
            first <= place < len(lines)
            and 0 <= offset < len(there)
            and lines[place] == there[offset]
            and (number, offset) not in self._taken
        ):
            place, offset = place + step, offset + step
        return abs(place - start)


def _reversed(spot: _Spot) -> tuple[int, int]:
    return -spot[0], -spot[1]


def hunks_between_runs(
    old: Sequence[LineBlock], new: Sequence[LineBlock], moved: dict[CellPlace, CellPlace]
) -> Iterator[tuple[list[CellPlace], list[CellPlace]]]:
    """What was replaced inside a block that moved: the lines next to or between its runs, old and new."""
    new_block_of = {place: block for block in new for place in block.places}
    claimed = set(moved.values())
    for block in old:
        for gap in _stretches(block.places, moved):
            there = _opposite(gap, moved, new_block_of, claimed)
            if there:
                yield [place for place in gap if place not in moved], there


def _stretches(places: Sequence[CellPlace], moved: dict[CellPlace, CellPlace]) -> Iterator[list[CellPlace]]:
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
