"""The parts of two sequences that are plainly the same: what a diff may take for granted before it starts to search.

Used for cells and for lines. Common ends first, then items that occur once on each side and keep their order
("patience"), then again between those. This settles which of several equal items is which by what stands around it,
where a longest-match search takes the first; and it is linear but for a sort.
"""

from bisect import bisect_left
from collections import Counter
from collections.abc import Hashable, Iterator, Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Gap:
    """A stretch of both sequences between anchors: `old_start:old_end` and `new_start:new_end`; one may be empty."""

    old_start: int
    old_end: int
    new_start: int
    new_end: int


@dataclass(frozen=True, slots=True)
class Anchors:
    """What is settled (`pairs`, in order) and what is not (`gaps`, in order)."""

    pairs: tuple[tuple[int, int], ...]
    gaps: tuple[Gap, ...]


def find_anchors(old: Sequence[Hashable], new: Sequence[Hashable]) -> Anchors:
    """Pair equal items of `old` and `new`, in order and without a search."""
    pairs: list[tuple[int, int]] = []
    gaps: list[Gap] = []
    waiting = [Gap(0, len(old), 0, len(new))]
    while waiting:
        gap, before, after = _strip_ends(old, new, waiting.pop())
        pairs += before + after
        inner = list(_unique_in_order(old, new, gap))
        if inner:
            pairs += inner
            waiting += _between(gap, inner)
        elif gap.old_start < gap.old_end or gap.new_start < gap.new_end:
            gaps.append(gap)
    gaps.sort(key=lambda gap: (gap.old_start, gap.new_start))
    return Anchors(tuple(sorted(pairs)), tuple(gaps))


_Pairs = list[tuple[int, int]]


def _strip_ends(old: Sequence[Hashable], new: Sequence[Hashable], gap: Gap) -> tuple[Gap, _Pairs, _Pairs]:
    low, high, shift = gap.old_start, gap.old_end, gap.new_start - gap.old_start
    while low < high and low + shift < gap.new_end and old[low] == new[low + shift]:
        low += 1
    end_shift = gap.new_end - gap.old_end
    while high > low and high + end_shift > low + shift and old[high - 1] == new[high - 1 + end_shift]:
        high -= 1
    before = [(line, line + shift) for line in range(gap.old_start, low)]
    after = [(line, line + end_shift) for line in range(high, gap.old_end)]
    return Gap(low, high, low + shift, high + end_shift), before, after


def _unique_in_order(old: Sequence[Hashable], new: Sequence[Hashable], gap: Gap) -> Iterator[tuple[int, int]]:
    old_counts = Counter(old[gap.old_start : gap.old_end])
    new_places: dict[Hashable, int] = {}
    for place in range(gap.new_start, gap.new_end):
        item = new[place]
        new_places[item] = -1 if item in new_places else place
    candidates = [
        (place, new_places[old[place]])
        for place in range(gap.old_start, gap.old_end)
        if old_counts[old[place]] == 1 and new_places.get(old[place], -1) >= 0
    ]
    return iter(longest_growing(candidates))


def longest_growing(pairs: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    """The longest part of `pairs` (sorted by the first number) whose second numbers grow."""
    tails: list[int] = []
    tail_of: list[int] = []
    previous: list[int] = []
    for position, (_, value) in enumerate(pairs):
        length = bisect_left(tails, value)
        previous.append(tail_of[length - 1] if length else -1)
        if length == len(tails):
            tails.append(value)
            tail_of.append(position)
        else:
            tails[length], tail_of[length] = value, position
    chain, position = [], tail_of[-1] if tail_of else -1
    while position >= 0:
        chain.append(pairs[position])
        position = previous[position]
    return chain[::-1]


def _between(gap: Gap, inner: Sequence[tuple[int, int]]) -> Iterator[Gap]:
    old_start, new_start = gap.old_start, gap.new_start
    for old_place, new_place in inner:
        yield Gap(old_start, old_place, new_start, new_place)
        old_start, new_start = old_place + 1, new_place + 1
    yield Gap(old_start, gap.old_end, new_start, gap.new_end)
