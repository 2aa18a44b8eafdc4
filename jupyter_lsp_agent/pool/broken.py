"""Servers that failed, why, and when they may be tried again."""

from dataclasses import dataclass

from jupyter_lsp_agent.core.clock import Clock
from jupyter_lsp_agent.core.errors import JupyterLspAgentError, MarkedBrokenError
from jupyter_lsp_agent.core.ids import DocumentUri, ServerId
from jupyter_lsp_agent.pool.keys import ClientKey


@dataclass(frozen=True, slots=True)
class BrokenServer:
    """One failed server. `retry_at_seconds` is on the pool's clock, `None` where only a restart clears it."""

    key: ClientKey
    cause: JupyterLspAgentError
    retry_at_seconds: float | None


class BrokenServers:
    """The failed keys. A mark that has run out is as good as none.

    Args:
        clock: the time.
        retry_seconds: how long a mark lasts; 0 for until it is cleared.
    """

    def __init__(self, clock: Clock, retry_seconds: float) -> None:
        self._clock = clock
        self._retry_seconds = retry_seconds
        self._marks: dict[ClientKey, BrokenServer] = {}

    def mark(self, key: ClientKey, cause: JupyterLspAgentError) -> None:
        """Say that `key` failed."""
        now = self._clock.monotonic_seconds()
        retry_at = now + self._retry_seconds if self._retry_seconds > 0 else None
        self._marks[key] = BrokenServer(key, cause, retry_at)

    def error_for(self, key: ClientKey) -> MarkedBrokenError | None:
        """Why `key` is not to be tried now; `None` where it may be."""
        self._drop_expired()
        mark = self._marks.get(key)
        if mark is None:
            return None
        when = "after a restart" if mark.retry_at_seconds is None else f"in {self.retry_in_seconds(mark):.0f} s"
        error = MarkedBrokenError(
            f"{key.server_id} failed: {str(mark.cause).rstrip('.')}; it is tried again {when}, "
            f"or at once after a restart of {key.server_id}"
        )
        error.__cause__ = mark.cause
        return error

    def retry_in_seconds(self, mark: BrokenServer) -> float | None:
        """How long a mark still lasts; `None` for until a restart."""
        if mark.retry_at_seconds is None:
            return None
        return max(0.0, mark.retry_at_seconds - self._clock.monotonic_seconds())

    def clear(self, server_id: ServerId, root_uri: DocumentUri | None = None) -> None:
        """Forget that a server failed, in one root or in all."""
        self._marks = {key: mark for key, mark in self._marks.items() if not matches(key, server_id, root_uri)}

    def marks(self) -> tuple[BrokenServer, ...]:
        """The marks that still hold, in the order of their making."""
        self._drop_expired()
        return tuple(self._marks.values())

    def _drop_expired(self) -> None:
        now = self._clock.monotonic_seconds()
        self._marks = {
            key: mark
            for key, mark in self._marks.items()
            if mark.retry_at_seconds is None or now < mark.retry_at_seconds
        }


def matches(key: ClientKey, server_id: ServerId, root_uri: DocumentUri | None) -> bool:
    """Whether `key` is of that server, and of that root where one is named."""
    return key.server_id == server_id and root_uri in {None, key.root_uri}
