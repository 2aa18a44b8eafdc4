"""Asking again once a server that was missing has come, for callers that wait for its install anyway."""

from collections.abc import Awaitable, Callable
from typing import Protocol, TypeVar

from jupyter_lsp_agent.diagnostics.report import NoVerdictReason


class _Answer(Protocol):
    @property
    def reason(self) -> NoVerdictReason | None:
        """Why it says nothing."""
        ...


A = TypeVar("A", bound=_Answer)


async def ask_once_installed(ask: Callable[[], Awaitable[A]], settle: Callable[[], Awaitable[bool]]) -> A:
    """The answer; where it is missing for want of a server that is installed meanwhile, that server's.

    Args:
        ask: asks.
        settle: waits for installs that were begun unasked, whatever the answer is, since the service ends with its
            caller; whether any server came.
    """
    answer = await ask()
    installed = await settle()
    return await ask() if installed and answer.reason is NoVerdictReason.NOT_INSTALLED else answer
