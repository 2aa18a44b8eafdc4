"""How alike two cells are, and the best pairing of two short runs of cells that keeps their order.

Likeness is the share of common words and signs (Dice's coefficient over multisets), from 0 to 1: it needs no diff,
costs one pass over a cell, and does not care how a cell was re-indented or re-wrapped.
"""

import re
from collections import Counter
from collections.abc import Sequence

ALIKE = 0.5
"""From here on two cells are taken for versions of one another."""

_TOKEN = re.compile(r"\w+|[^\w\s]")
_MAX_TOKENS = 20_000
"""Enough to know a cell by; what follows in a longer one is not counted."""


def count_words(source: str) -> Counter[str]:
    """The words and signs of a text."""
    return Counter(_TOKEN.findall(source)[:_MAX_TOKENS])


def likeness(one: Counter[str], other: Counter[str]) -> float:
    """Dice's coefficient of two texts' words; 1 for two empty ones."""
    total = one.total() + other.total()
    if not total:
        return 1.0
    few, many = sorted((one, other), key=len)
    return 2 * sum(min(count, many[word]) for word, count in few.items()) / total


def align_in_order(table: Sequence[Sequence[float]]) -> list[tuple[int, int]]:
    """The pairs (row, column), both growing, with the largest sum of likeness; only pairs from `ALIKE` on.

    Args:
        table: how alike they are, with a row for each old cell and a column for each new one.
    """
    n_rows, n_columns = len(table), len(table[0]) if table else 0
    best = [[0.0] * (n_columns + 1) for _ in range(n_rows + 1)]
    for row in range(n_rows - 1, -1, -1):
        for column in range(n_columns - 1, -1, -1):
            best[row][column] = max(
                best[row + 1][column], best[row][column + 1], _gain(table[row][column]) + best[row + 1][column + 1]
            )
    return _walk(table, best)


def _gain(value: float) -> float:
    return value if value >= ALIKE else 0.0


def _walk(table: Sequence[Sequence[float]], best: list[list[float]]) -> list[tuple[int, int]]:
    pairs, row, column = [], 0, 0
    while row < len(best) - 1 and column < len(best[0]) - 1:
        gain = _gain(table[row][column])
        if gain and best[row][column] == gain + best[row + 1][column + 1]:
            pairs.append((row, column))
            row, column = row + 1, column + 1
        elif best[row][column] == best[row + 1][column]:
            row += 1
        else:
            column += 1
    return pairs
