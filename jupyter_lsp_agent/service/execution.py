"""What a kernel ran, as a value; apart from what is made of it, so that taking note of it costs nothing."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import accumulate


@dataclass(frozen=True, slots=True)
class Execution:
    """One input that a kernel ran.

    Attributes:
        source: as it was sent.
        execution_count: its number.
        cell_id: the cell's id, where the client sends it and somebody listened.
        failed: it raised; `None`: nobody listened.
        ended_seconds: when it was done, as file times count; `None`: nobody listened.
    """

    source: str
    execution_count: int
    cell_id: str | None = None
    failed: bool | None = None
    ended_seconds: float | None = None


def latest_ends(executed: Sequence[Execution]) -> list[float]:
    """When each run was done at the latest, as file times count: one that nobody listened to, before the next one was.

    Args:
        executed: what ran, in order.
    """
    return list(accumulate((_end(cell) for cell in reversed(executed)), min))[::-1]


def _end(cell: Execution) -> float:
    return math.inf if cell.ended_seconds is None else cell.ended_seconds
