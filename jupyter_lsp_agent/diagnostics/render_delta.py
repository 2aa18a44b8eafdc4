"""What a change brought, as text, where a line for each finding would say less: consequences under their cause, floods.

A definition that is gone may break ten cells; that is one thing to know, so it is one line. And when more is new than
anybody reads, what helps is which kinds of findings there are and where. JSON is not touched by either.
"""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from jupyter_lsp_agent.diagnostics.cleaning import shorten
from jupyter_lsp_agent.diagnostics.wording import counted

if TYPE_CHECKING:  # the report renders itself through `render_text`, which uses this module
    from jupyter_lsp_agent.diagnostics.report import CellReference, Report, ReportedDiagnostic

FLOOD = 40
"""More new findings than this are summed up."""

_MAX_KINDS = 20
_MAX_CELLS = 12
_MAX_PLACES = 10
_MAX_MESSAGE_CHARACTERS = 120
_MAX_LINE_CHARACTERS = 500

RenderFinding = Callable[["ReportedDiagnostic"], Iterator[str]]
NameCell = Callable[["CellReference | None"], str]


def finding_lines(report: "Report", render_finding: RenderFinding, name_cell: NameCell) -> Iterator[str]:
    """The lines for the findings of a report: a summary of a flood, else the findings, each group under its cause.

    Args:
        report: the report.
        render_finding: the lines of one finding.
        name_cell: how a cell is named before a place, with a blank behind it.
    """
    new = [item for item in report.counted if item.status.value == "introduced"]
    if len(new) > FLOOD:
        yield from _flood(new, name_cell)
        shown = [item for item in report if item.status.value != "introduced"]
    else:
        shown = list(report)
    told: set[CellReference] = set()
    for item in shown:
        if item.caused_by is None:
            yield from render_finding(item)
        elif item.caused_by not in told:
            told.add(item.caused_by)
            yield _consequences([other for other in shown if other.caused_by == item.caused_by], name_cell)


def is_flood(report: "Report") -> bool:
    """Whether the new findings are summed up, those too that the caps cut."""
    return sum(item.status.value == "introduced" for item in report.counted) > FLOOD


def _consequences(group: Sequence["ReportedDiagnostic"], name_cell: NameCell) -> str:
    places = [f"{name_cell(item.cell)}{_place(item)}" for item in group[:_MAX_PLACES]]
    more = f" and {len(group) - _MAX_PLACES} more places" if len(group) > _MAX_PLACES else ""
    said = dict.fromkeys(_said(item) for item in group)
    cause = name_cell(group[0].caused_by).rstrip()
    new = "new " if group[0].status.value == "introduced" else ""
    number = counted(len(group), f"{new}{group[0].severity.name.lower()}")
    line = f"{number} through the change of {cause}, in {', '.join(places)}{more}: {'; '.join(said)}"
    return shorten(line, _MAX_LINE_CHARACTERS)


def _flood(new: Sequence["ReportedDiagnostic"], name_cell: NameCell) -> Iterator[str]:
    kinds = Counter((item.source, item.code) for item in new)
    for kind, number in kinds.most_common(_MAX_KINDS):
        group = [item for item in new if (item.source, item.code) == kind]
        first = group[0]
        yield (
            f"{number} × {kind[1] or kind[0] or 'without a code'}{_cells(group)}; the first: "
            f"{name_cell(first.cell)}{_place(first)} {shorten(first.message, _MAX_MESSAGE_CHARACTERS)}"
        )
    if len(kinds) > _MAX_KINDS:
        rest = kinds.total() - sum(number for _, number in kinds.most_common(_MAX_KINDS))
        yield f"… {rest} more of {counted(len(kinds) - _MAX_KINDS, 'other kind')}"


def _cells(group: Sequence["ReportedDiagnostic"]) -> str:
    cells = Counter(item.cell.cell_index for item in group if item.cell is not None)
    named = [f"{index} ({number})" for index, number in sorted(cells.items())]
    if not named:
        return ""
    more = f" and {len(named) - _MAX_CELLS} more" if len(named) > _MAX_CELLS else ""
    return f" in cell{'' if len(named) == 1 else 's'} {', '.join(named[:_MAX_CELLS])}{more}"


def _place(item: "ReportedDiagnostic") -> str:
    return f"{item.range.start.line + 1}:{item.range.start.column + 1}"


def _said(item: "ReportedDiagnostic") -> str:
    code = f" [{item.code}]" if item.code else ""
    return shorten(item.message, _MAX_MESSAGE_CHARACTERS) + code
