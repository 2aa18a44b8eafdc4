"""Which servers are stopped, from what is known of them and the time: pure."""

from collections.abc import Iterable
from dataclasses import dataclass

from jupyter_lsp_agent.pool.keys import ClientKey


@dataclass(frozen=True, slots=True)
class Occupant:
    """One place of the pool: whose it is, whether it may be taken away, and since when nobody has used it."""

    key: ClientKey
    is_free: bool
    last_used_seconds: float


def choose_evictions(occupants: Iterable[Occupant], max_servers: int) -> tuple[ClientKey, ...] | None:
    """Whom to stop so that one more fits: the least recently used ones. `None` where too few may be taken away."""
    occupants = tuple(occupants)
    surplus = len(occupants) + 1 - max_servers
    if surplus <= 0:
        return ()
    free = sorted((occupant for occupant in occupants if occupant.is_free), key=lambda one: one.last_used_seconds)
    return tuple(occupant.key for occupant in free[:surplus]) if len(free) >= surplus else None


def choose_idle(
    occupants: Iterable[Occupant], now_seconds: float, idle_timeout_seconds: float
) -> tuple[ClientKey, ...]:
    """Who has been unused for `idle_timeout_seconds`; nobody where that is 0."""
    if idle_timeout_seconds <= 0:
        return ()
    deadline = now_seconds - idle_timeout_seconds
    return tuple(one.key for one in occupants if one.is_free and one.last_used_seconds <= deadline)


def next_idle_check_seconds(
    occupants: Iterable[Occupant], now_seconds: float, idle_timeout_seconds: float
) -> float | None:
    """How long until `choose_idle` may name somebody; `None` where nobody is on the way there."""
    times = [one.last_used_seconds for one in occupants if one.is_free]
    if not times or idle_timeout_seconds <= 0:
        return None
    return max(0.0, min(times) + idle_timeout_seconds - now_seconds)
