"""Deaths of servers: how long to wait before the next start, and when to give up."""

from dataclasses import dataclass

from jupyter_lsp_agent.core.ids import DocumentUri, ServerId
from jupyter_lsp_agent.pool.broken import matches
from jupyter_lsp_agent.pool.keys import ClientKey, PoolLimits

_FIRST_BACK_OFF_SECONDS = 0.5


@dataclass(slots=True)
class _Record:
    deaths_in_a_row: int = 0
    restarts: int = 0


class CrashHistory:
    """Counts the deaths of each key. A long life, or a clear, forgives those before it."""

    def __init__(self, limits: PoolLimits) -> None:
        self._limits = limits
        self._records: dict[ClientKey, _Record] = {}

    def record_death(self, key: ClientKey, lifetime_seconds: float) -> bool:
        """Count a death; true where there were too many in a row."""
        record = self._records.setdefault(key, _Record())
        if lifetime_seconds >= self._limits.crash_window_seconds:
            record.deaths_in_a_row = 0
        record.deaths_in_a_row += 1
        if record.deaths_in_a_row < self._limits.max_crashes:
            return False
        record.deaths_in_a_row = 0
        return True

    def record_start(self, key: ClientKey) -> None:
        """Count a start after a death as a restart."""
        if key in self._records:
            self._records[key].restarts += 1

    def back_off_seconds(self, key: ClientKey) -> float:
        """How long the next start is to wait: not after the first death, then longer each time."""
        deaths = self._records[key].deaths_in_a_row if key in self._records else 0
        return 0.0 if deaths < 2 else _FIRST_BACK_OFF_SECONDS * 2.0 ** (deaths - 2)

    def record_answer(self, key: ClientKey) -> None:
        """It did what it is for: the deaths before that are not in a row with those after it."""
        if key in self._records:
            self._records[key].deaths_in_a_row = 0

    def restarts(self, key: ClientKey) -> int:
        """How often `key` was started again after a death."""
        return self._records[key].restarts if key in self._records else 0

    def forgive(self, key: ClientKey) -> None:
        """It ended well: forget its deaths."""
        self._records.pop(key, None)

    def clear(self, server_id: ServerId, root_uri: DocumentUri | None) -> None:
        """Forget the deaths of a server, in one root or in all."""
        self._records = {key: one for key, one in self._records.items() if not matches(key, server_id, root_uri)}
