"""Where the children of a JSON container stand, found by tokens alone: a second opinion on `notebook.json_spans`."""

import json
import re
from collections.abc import Iterator

_TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[\[\]{}:,]|[^\s"\[\]{}:,]+', re.DOTALL)

Region = tuple[str | None, int, int]
"""Key (`None` in an array), start and end of a value."""


def children(text: str, start: int) -> list[Region]:
    """The values directly in the container whose bracket is at `start`."""
    units = list(_units(text, start))
    found: list[Region] = []
    for index, (token, begin, end) in enumerate(units):
        if token in {",", ":"} or (index + 1 < len(units) and units[index + 1][0] == ":"):
            continue
        keyed = index >= 2 and units[index - 1][0] == ":"
        found.append((json.loads(units[index - 2][0]) if keyed else None, begin, end))
    return found


def cells_regions(text: str) -> tuple[int, int, list[tuple[int, int]]]:
    """Start and end of the notebook's `cells`, brackets included, and those of each cell."""
    _, start, end = [child for child in children(text, text.index("{")) if child[0] == "cells"][-1]
    return start, end, [(begin, stop) for _, begin, stop in children(text, start)]


def _units(text: str, start: int) -> Iterator[tuple[str, int, int]]:
    """The tokens of the container at `start`; each container in it is one unit."""
    depth, begin = 0, start
    for match in _TOKEN.finditer(text, start):
        token = match[0]
        depth += (token in {"[", "{"}) - (token in {"]", "}"})
        if depth == 0:
            return
        if depth == 2 and token in {"[", "{"}:
            begin = match.start()
        elif depth == 1 and match.start() != start:
            yield (token, match.start(), match.end()) if token not in {"]", "}"} else ("", begin, match.end())
    raise AssertionError("the container does not end")
