"""What a kernel ran, as a value; apart from what is made of it, so that taking note of it costs nothing."""

from dataclasses import dataclass


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
