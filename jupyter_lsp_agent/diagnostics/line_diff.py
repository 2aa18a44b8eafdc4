"""The lines of one cell before and after: which stayed, and which stretches were replaced.

difflib does the search (`autojunk` off: it would call a frequent line junk), but only where nothing simpler decides:
the common ends and the lines that occur once are taken first. What is left of texts that repeat few lines often would
cost difflib the square or the cube of their length; there, equal lines at the same distance from the stretch's start
are taken, and the rest counts as replaced.
"""

from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from jupyter_lsp_agent.notebook.sequence_anchors import Gap, find_anchors

_MAX_EQUAL_PAIRS = 20_000
"""How many pairs of equal lines a stretch may have for difflib to be asked."""


@dataclass(frozen=True, slots=True)
class LineDiff:
    """Lines are 0-based.

    Attributes:
        kept: pairs (old line, new line) that are the same line, in order.
        hunks: what lies between them, in order: replaced, deleted (empty on the new side) or inserted.
    """

    kept: tuple[tuple[int, int], ...]
    hunks: tuple[Gap, ...]


def diff_lines(old: Sequence[str], new: Sequence[str]) -> LineDiff:
    """Compare the lines of two texts (`core.positions.split_lines`)."""
    anchors = find_anchors(old, new)
    kept = list(anchors.pairs)
    for gap in anchors.gaps:
        kept += _equal_lines(old, new, gap)
    kept.sort()
    return LineDiff(tuple(kept), tuple(_between(kept, len(old), len(new))))


def _equal_lines(old: Sequence[str], new: Sequence[str], gap: Gap) -> Iterator[tuple[int, int]]:
    old_lines, new_lines = old[gap.old_start : gap.old_end], new[gap.new_start : gap.new_end]
    counts = Counter(new_lines)
    if sum(counts[line] for line in old_lines) > _MAX_EQUAL_PAIRS:
        places = ((place, place) for place in range(min(len(old_lines), len(new_lines))))
        same = [(a, b) for a, b in places if old_lines[a] == new_lines[b]]
    else:
        blocks = SequenceMatcher(None, old_lines, new_lines, autojunk=False).get_matching_blocks()
        same = [(block.a + line, block.b + line) for block in blocks for line in range(block.size)]
    return ((gap.old_start + a, gap.new_start + b) for a, b in same)


def _between(kept: Sequence[tuple[int, int]], n_old: int, n_new: int) -> Iterator[Gap]:
    old_start = new_start = 0
    for old_end, new_end in [*kept, (n_old, n_new)]:
        if old_start < old_end or new_start < new_end:
            yield Gap(old_start, old_end, new_start, new_end)
        old_start, new_start = old_end + 1, new_end + 1
