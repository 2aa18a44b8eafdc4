"""The report as text, for a model or a terminal: one head line, then each finding with its source line below it."""

import unicodedata
from collections.abc import Iterator
from typing import TYPE_CHECKING

from jupyter_lsp_agent.diagnostics.cleaning import clean_path
from jupyter_lsp_agent.diagnostics.render_delta import finding_lines
from jupyter_lsp_agent.diagnostics.render_parts import (
    MAX_LINE_CHARACTERS,
    cell_id_of,
    environment_line,
    excerpt_of,
    head_of,
    message_of,
    omitted_line,
    other_file_head,
    place_of,
    severity_of,
    title_of,
)

if TYPE_CHECKING:  # the report renders itself through this module
    from jupyter_lsp_agent.diagnostics.report import CellReference, Report, ReportedDiagnostic

MAX_FIXED = 5
"""Findings that are gone, named."""

_INDENT = "    "


def render_text(report: "Report") -> str:
    """The report as text, without a final line end."""
    return "\n".join(_lines(report))


def excerpt_lines(diagnostic: "ReportedDiagnostic", width: int = MAX_LINE_CHARACTERS) -> tuple[str, str] | None:
    """The source line and a line of carets under what is meant; `None` where there is no line to show."""
    excerpt = excerpt_of(diagnostic, width)
    if excerpt is None:
        return None
    text = excerpt.before + excerpt.marked + excerpt.after
    carets = "^" * max(1, _columns(excerpt.marked))
    return text.rstrip(), f"{' ' * _columns(excerpt.before)}{carets}"


def _lines(report: "Report") -> Iterator[str]:
    yield f"{title_of(report)}: {head_of(report)}"
    yield from finding_lines(report, _finding, _cell)
    yield from _fixed(report)
    for path, other in report.other_files.items() if report.counts else ():
        yield f"{clean_path(path)}: " + other_file_head(other)
        for diagnostic in other:
            yield from _finding(diagnostic)
    yield from filter(None, (environment_line(report), omitted_line(report)))


def _fixed(report: "Report") -> Iterator[str]:
    for diagnostic in report.fixed[:MAX_FIXED]:
        yield f"fixed: {_headline(diagnostic)}"
    if len(report.fixed) > MAX_FIXED:
        yield f"fixed: {len(report.fixed) - MAX_FIXED} more"


def _finding(diagnostic: "ReportedDiagnostic") -> Iterator[str]:
    yield _headline(diagnostic, f" {severity_of(diagnostic)}:")
    for line in excerpt_lines(diagnostic, MAX_LINE_CHARACTERS - len(_INDENT)) or ():
        yield _INDENT + line


def _headline(diagnostic: "ReportedDiagnostic", severity: str = "") -> str:
    code = f" [{diagnostic.code}]" if diagnostic.code else ""
    return f"{_cell(diagnostic.cell)}{place_of(diagnostic)}{severity} {message_of(diagnostic)}{code}"


def _cell(cell: "CellReference | None") -> str:
    if cell is None:
        return ""
    cell_id = cell_id_of(cell)
    return f"cell {cell.cell_index}{f' ({cell_id})' if cell_id else ''} "


def _columns(text: str) -> int:
    """How many columns of a terminal `text` takes."""
    return sum(_character_columns(character) for character in text)


def _character_columns(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1
