"""Marks of a merge that nobody finished, inside a cell: Python finds only that they are no Python.

A notebook whose JSON holds them is not read at all (`unreadable`); a tool that merges cells leaves them in a source.
"""

import re
from collections.abc import Sequence

_MARKS = (re.compile(r"<{7}(?: |$)"), re.compile(r"={7}$"), re.compile(r">{7}(?: |$)"))


def find_conflict(lines: Sequence[str]) -> range | None:
    """The lines, 0-based, of the first conflict that has all three marks in order; `None` where there is none."""
    places: list[int] = []
    for number, line in enumerate(lines):
        if _MARKS[0].match(line):
            places = [number]
        elif places and _MARKS[len(places)].match(line):
            places.append(number)
        if len(places) == len(_MARKS):
            return range(places[0], number + 1)
    return None
