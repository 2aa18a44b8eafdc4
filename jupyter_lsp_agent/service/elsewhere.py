"""Imports that cannot be judged, because the kernel's packages are not on this machine.

An import of a module that we cannot see is no error then, and no clean line either: it is set aside as unchecked.
What the standard library or the notebook's own folder would have to give stays an error.
"""

import sys
from collections.abc import Iterable, Mapping

from jupyter_lsp_agent.core.diagnostic import CellDiagnostic
from jupyter_lsp_agent.core.positions import CellLine, TextRange, split_lines
from jupyter_lsp_agent.diagnostics.finding_kinds import FindingKind, kind_of
from jupyter_lsp_agent.diagnostics.report import CellReference, Unchecked
from jupyter_lsp_agent.notebook.model import Cell


def set_aside_imports(
    findings: Iterable[CellDiagnostic], cells: Mapping[int, Cell], elsewhere: str
) -> tuple[tuple[CellDiagnostic, ...], tuple[Unchecked, ...]]:
    """The findings that stand, and what is unchecked in place of the others.

    Args:
        findings: of all servers.
        cells: of the notebook, by index.
        elsewhere: why the kernel's packages cannot be seen, as a sentence's end.
    """
    kept: list[CellDiagnostic] = []
    unchecked: dict[tuple[int, int], Unchecked] = {}
    for finding in findings:
        cell, place = cells[finding.cell_index], finding.diagnostic.range
        if kind_of(finding.diagnostic) is not FindingKind.IMPORT or not _is_third_party(cell, place):
            kept.append(finding)
            continue
        line = CellLine(place.start.line)
        unchecked[cell.index, line] = Unchecked(
            cell=CellReference(cell.index, cell.cell_id),
            first_line=line,
            last_line=CellLine(place.end.line),
            reason=f"an import that cannot be judged here: {elsewhere}",
            partial=True,
        )
    return tuple(kept), tuple(unchecked.values())


def _is_third_party(cell: Cell, place: TextRange) -> bool:
    line = split_lines(cell.source)[place.start.line]
    words = line[place.start.column :].split()
    module = words[0].strip(",;()") if words else ""
    is_relative = module.startswith(".") or line[: place.start.column].rstrip().endswith(("from .", "from .."))
    return not is_relative and module.partition(".")[0] not in sys.stdlib_module_names
