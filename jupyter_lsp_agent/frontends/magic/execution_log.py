"""What a shell knows of what it ran: sources from its history, and from listening since we were loaded the cells' ids,
which inputs failed, and when each was done. Names are told without their values."""

import time
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from jupyter_lsp_agent.frontends.magic.question import AskingCell
from jupyter_lsp_agent.service.execution import Execution


@dataclass(frozen=True, slots=True)
class _Listened:
    """What is known of a run beside its text."""

    cell_id: str | None
    failed: bool | None = None
    ended_seconds: float | None = None


_NOBODY_LISTENED = _Listened(None)


class ExecutionLog:
    """Listens to the runs of one shell.

    Args:
        shell: an `InteractiveShell`.
    """

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._listened: dict[int, _Listened] = {}

    def start(self) -> None:
        """Listen from now on."""
        self._shell.events.register("post_run_cell", self.after_run)

    def stop(self) -> None:
        """Listen no more."""
        with suppress(ValueError):  # whoever cleared the shell's callbacks took ours too
            self._shell.events.unregister("post_run_cell", self.after_run)

    def after_run(self, result: Any) -> None:
        """A cell has run; after a reset of the history the numbers begin anew."""
        number = result.execution_count
        if number is None or not result.info.store_history:
            return
        for later in [known for known in self._listened if known >= number]:
            del self._listened[later]
        self._listened[number] = _Listened(getattr(result.info, "cell_id", None), not result.success, time.time())

    def executions(self) -> tuple[Execution, ...]:
        """What ran, in order; the cell that runs now is the last."""
        sources = self._shell.history_manager.input_hist_raw
        now = _Listened(self.asking_cell().cell_id)
        last = len(sources) - 1
        return tuple(
            _execution(number, source, self._listened.get(number, now if number == last else _NOBODY_LISTENED))
            for number, source in enumerate(sources)
            if number
        )

    def asking_cell(self) -> AskingCell:
        """The cell that runs now."""
        request = self._shell.get_parent() if hasattr(self._shell, "get_parent") else {}
        cell_id = request.get("metadata", {}).get("cellId") if request else None
        source = request.get("content", {}).get("code") if request else None
        sources = self._shell.history_manager.input_hist_raw
        return AskingCell(cell_id, source if isinstance(source, str) else sources[-1] if sources else "")

    def names(self) -> frozenset[str]:
        """The names that live in the user's namespace and did not come with the shell."""
        return frozenset(self._shell.user_ns).difference(self._shell.user_ns_hidden)

    def known_names(self) -> frozenset[str]:
        """All names that an input finds, however they came there."""
        return frozenset(self._shell.user_ns).union(self._shell.user_global_ns)


def _execution(number: int, source: str, listened: _Listened) -> Execution:
    return Execution(source, number, listened.cell_id, listened.failed, listened.ended_seconds)
