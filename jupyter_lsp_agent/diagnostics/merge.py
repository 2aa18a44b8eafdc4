"""Several servers' findings, and our own, as one list.

A finding that two sources give word for word is one finding: the same place, severity, code, source and message.
Anything less is two opinions, and both are kept: nothing is dropped in silence.
"""

from collections.abc import Iterable

from jupyter_lsp_agent.core.diagnostic import CellDiagnostic, Diagnostic
from jupyter_lsp_agent.core.positions import TextRange


def merge_cell_diagnostics(reports: Iterable[Iterable[CellDiagnostic]]) -> tuple[CellDiagnostic, ...]:
    """The findings of several sources about one notebook, each once, in the order of their places."""
    merged: dict[object, CellDiagnostic] = {}
    for report in reports:
        for found in report:
            merged.setdefault((found.cell_index, _key(found.diagnostic)), found)
    return tuple(sorted(merged.values(), key=lambda found: (found.cell_index, _key(found.diagnostic))))


def merge_diagnostics(reports: Iterable[Iterable[Diagnostic]]) -> tuple[Diagnostic, ...]:
    """The findings of several sources about one text, each once, in the order of their places."""
    merged: dict[object, Diagnostic] = {}
    for report in reports:
        for diagnostic in report:
            merged.setdefault(_key(diagnostic), diagnostic)
    return tuple(sorted(merged.values(), key=_key))


def _key(diagnostic: Diagnostic) -> tuple[TextRange, int, str, bool, str, str]:
    return (
        diagnostic.range,
        int(diagnostic.severity),
        diagnostic.source,
        diagnostic.code is not None,
        diagnostic.code or "",
        diagnostic.message,
    )
