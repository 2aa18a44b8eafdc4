"""Small pieces of sentences that hints and text renderings share."""

from collections.abc import Sequence
from typing import Protocol

from jupyter_lsp_agent.core.diagnostic import DiagnosticSeverity

_MAX_CELLS_NAMED = 10


class _HasSeverity(Protocol):
    @property
    def severity(self) -> DiagnosticSeverity: ...


def counted(number: int, noun: str) -> str:
    """`1 error`, `3 errors`."""
    return f"{number} {noun}{'' if number == 1 else 's'}"


def counted_findings(findings: Sequence[_HasSeverity], adjective: str = "") -> str:
    """`1 new error`, `3 errors`; `findings` where some are no errors."""
    is_error = all(item.severity is DiagnosticSeverity.ERROR for item in findings)
    return counted(len(findings), adjective + ("error" if is_error else "finding"))


def cell_list(indexes: Sequence[int]) -> str:
    """`cell 4`, `cells 3, 9, 12`; a long list is cut and says by how much."""
    named = ", ".join(str(index) for index in indexes[:_MAX_CELLS_NAMED])
    more = len(indexes) - _MAX_CELLS_NAMED
    return f"cell{'' if len(indexes) == 1 else 's'} {named}" + (f" and {more} more" if more > 0 else "")
