"""The report as text, for a model or a terminal: one head line, then each finding with its source line below it."""

import unicodedata
from collections.abc import Iterator
from typing import TYPE_CHECKING

from jupyter_lsp_agent.core.diagnostic import DiagnosticSeverity
from jupyter_lsp_agent.diagnostics.cleaning import clean_message, clean_path, headline_of, shorten
from jupyter_lsp_agent.diagnostics.render_delta import finding_lines, is_flood
from jupyter_lsp_agent.diagnostics.wording import cell_list, counted, counted_findings

if TYPE_CHECKING:  # the report renders itself through this module
    from jupyter_lsp_agent.diagnostics.report import CellReference, Counts, OtherFile, Report, ReportedDiagnostic

_MAX_MESSAGE_CHARACTERS = 300
_MAX_LINE_CHARACTERS = 200
_MAX_ID_CHARACTERS = 64
_INDENT = "    "
_STATUS_NOTES = {"outstanding": " (still there)", "preexisting": " (older)"}


def render_text(report: "Report") -> str:
    """The report as text, without a final line end."""
    if report.counts is None:
        reason = report.reason.value if report.reason else "unknown"
        return f"{_title(report)}: no verdict ({reason}): {report.detail}"
    return "\n".join(_lines(report, report.counts))


def _lines(report: "Report", counts: "Counts") -> Iterator[str]:
    yield f"{_title(report)}: {'; '.join(_head(report, counts))}{_servers(report)}"
    yield from finding_lines(report, _finding, _cell)
    for path, other in report.other_files.items():
        yield f"{clean_path(path)}: " + _other_file(other)
        for diagnostic in other:
            yield from _finding(diagnostic)
    if counts.omitted and not is_flood(report):
        cells = [cell.cell_index for cell in report.cells if cell.omitted]
        yield f"… {counts.omitted} more" + (f" in {cell_list(cells)}" if cells else "")


def _other_file(other: "OtherFile") -> str:
    if list(other):
        return counted_findings(list(other), "new ")
    return counted_findings(other.fixed) + " gone" if other.fixed else "no errors any more"


def _title(report: "Report") -> str:
    return report.path or "executed cells"


def _head(report: "Report", counts: "Counts") -> Iterator[str]:
    """What was found, what is not shown, what was not looked at."""
    yield _found(report, counts)
    shown = list(report)
    hidden = counts.preexisting - sum(item.status.value == "preexisting" for item in shown)
    if hidden > 0:
        yield f"{counted(hidden, f'older {_noun(report)}')} not shown"
    yield from _not_judged(report)


def _not_judged(report: "Report") -> Iterator[str]:
    cells = sorted({unchecked.cell.cell_index for unchecked in report.unchecked})
    if cells:
        reasons = dict.fromkeys(clean_message(unchecked.reason) for unchecked in report.unchecked)
        why = shorten("; ".join(reasons), _MAX_LINE_CHARACTERS)
        yield f"{counted(len(cells), 'cell')} not wholly checked ({cell_list(cells)}: {why})"
    if report.unmapped:
        yield f"{counted(len(report.unmapped), 'diagnostic')} of no cell line"
    for server in report.servers:
        if server.reason and server.freshness is None:
            yield f"{server.id} gave no answer ({shorten(clean_message(server.reason), _MAX_LINE_CHARACTERS)})"


def _found(report: "Report", counts: "Counts") -> str:
    noun = _noun(report)
    parts = [
        counted(number, word + noun) + after
        for number, word, after in (
            (counts.introduced, "new ", ""),
            (counts.present, "", ""),
            (counts.outstanding, "", " still there"),
        )
        if number
    ]
    if report.baseline in {"none", "unknown"}:
        return ", ".join(parts) or f"no {noun}s"
    return ", ".join([*(parts or [f"no new {noun}s"]), f"{counts.fixed} fixed"])


def _servers(report: "Report") -> str:
    answered = [server for server in report.servers if server.freshness is not None]
    names = [
        str(server.id) + (f" {server.version}" if server.version else "") + (" as fallback" if server.fallback else "")
        for server in answered
    ]
    names += [f"{report.elapsed_seconds * 1000:.0f} ms"] if names else []
    return f" ({', '.join(dict.fromkeys(names))})" if names else ""


def _finding(diagnostic: "ReportedDiagnostic") -> Iterator[str]:
    start = diagnostic.range.start
    place = f"{_cell(diagnostic.cell)}{start.line + 1}:{start.column + 1}"
    severity = diagnostic.severity.name.lower() + _STATUS_NOTES.get(diagnostic.status.value, "")
    code = f" [{diagnostic.code}]" if diagnostic.code else ""
    headline = shorten(headline_of(diagnostic.message), _MAX_MESSAGE_CHARACTERS)
    yield f"{place} {severity}: {headline}{code}"
    if diagnostic.source_line.strip():
        yield from _excerpt(diagnostic)


def _cell(cell: "CellReference | None") -> str:
    if cell is None:
        return ""
    identity = f" ({clean_message(cell.cell_id, _MAX_ID_CHARACTERS)})" if cell.cell_id else ""
    return f"cell {cell.cell_index}{identity} "


def _excerpt(diagnostic: "ReportedDiagnostic") -> Iterator[str]:
    """The source line, or the part of a long one around the finding, and a line of carets under what is meant."""
    line, text_range = diagnostic.source_line, diagnostic.range
    start = min(text_range.start.column, len(line))
    end = min(text_range.end.column, len(line)) if text_range.end.line == text_range.start.line else len(line)
    width = _MAX_LINE_CHARACTERS - len(_INDENT)
    # A long line is cut before the finding so that a third of what is shown stands before it.
    left = max(0, min(start - width // 3, len(line) - width))
    before = ("…" if left else "") + line[left + bool(left) : start]
    marked = line[start:end]
    text = shorten(before + line[start:], width)
    carets = "^" * max(1, _columns(marked[: max(0, width - len(before))]))
    yield f"{_INDENT}{text}".rstrip()
    yield f"{_INDENT}{' ' * _columns(before)}{carets}"


def _columns(text: str) -> int:
    """How many columns of a terminal `text` takes."""
    return sum(_character_columns(character) for character in text)


def _character_columns(character: str) -> int:
    if unicodedata.combining(character) or unicodedata.category(character) in {"Mn", "Me", "Cf"}:
        return 0
    return 2 if unicodedata.east_asian_width(character) in {"W", "F"} else 1


def _noun(report: "Report") -> str:
    return "error" if report.severity is DiagnosticSeverity.ERROR else "finding"
