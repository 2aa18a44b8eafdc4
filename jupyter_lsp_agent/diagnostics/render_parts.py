"""What the renderings for a reader share: the head, how a finding is named, the line that it stands on, the caps.

The words are those of the text rendering; each format only puts them into its own marks.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

from jupyter_lsp_agent.core.diagnostic import DiagnosticSeverity
from jupyter_lsp_agent.diagnostics.cleaning import clean_message, headline_of, shorten, shorten_at_word
from jupyter_lsp_agent.diagnostics.finding_kinds import PYTHON_IMPORT_CODES
from jupyter_lsp_agent.diagnostics.render_delta import is_flood
from jupyter_lsp_agent.diagnostics.wording import cell_list, counted, counted_findings

if TYPE_CHECKING:  # the report renders itself through `render_text`, which uses this module
    from jupyter_lsp_agent.diagnostics.report import CellReference, Counts, OtherFile, Report, ReportedDiagnostic

MAX_LINE_CHARACTERS = 200
"""The length of a source line, and of what a server gives as a reason."""

_MAX_MESSAGE_CHARACTERS = 300
_MAX_ID_CHARACTERS = 64
_MAX_REASONS = 3
_LEAST_OF_A_REASON = 80
_MOST_OF_A_MEND = 120
_MAX_PATH_CHARACTERS = 80
_STATUS_NOTES = {"outstanding": " (still there)", "preexisting": " (older)"}


@dataclass(frozen=True, slots=True)
class Excerpt:
    """A source line, or the part of a long one around a finding: what is marked of it, and what stands beside."""

    before: str
    marked: str
    after: str


def title_of(report: "Report") -> str:
    """The document, as a reader knows it."""
    return report.path or "executed cells"


def head_of(report: "Report") -> str:
    """What was found, what is not shown, what was not looked at, and by whom: all of the head line but the title."""
    hidden = _hidden_state(report)
    if report.counts is None:
        reason = report.reason.value if report.reason else "unknown"
        return "; ".join([f"no verdict ({reason}): {report.detail}", *hidden])
    return f"{'; '.join([*_head(report, report.counts), *hidden])}{_servers(report)}"


def omitted_line(report: "Report") -> str | None:
    """What the caps cut; `None` where that is nothing."""
    cells = [cell for cell in report.cells if cell.omitted]
    number = report.counts.omitted if report.counts else sum(cell.omitted for cell in cells)
    if not number or is_flood(report):
        return None
    return f"… {number} more" + (f" in {cell_list([cell.cell_index for cell in cells])}" if cells else "")


def environment_line(report: "Report") -> str | None:
    """Which Python was asked for modules, where an import that it cannot resolve is shown; else `None`."""
    asked = report.environment
    if asked is None or not any(item.code in PYTHON_IMPORT_CODES for item in report):
        return None
    python = asked.python
    if len(python) > _MAX_PATH_CHARACTERS:
        python = "…" + python[1 - _MAX_PATH_CHARACTERS :]
    kernel = " or the notebook's kernel" if report.kind.value == "notebook" else ""
    return (
        f"imports were looked for in {python} ({shorten(asked.origin, _MAX_ID_CHARACTERS)}); "
        f"`--python` on the command line{kernel} names another"
    )


def other_file_head(other: "OtherFile") -> str:
    """What changed in another file."""
    if list(other):
        return counted_findings(list(other), "new ")
    return counted_findings(other.fixed) + " gone" if other.fixed else "no errors any more"


def cell_id_of(cell: "CellReference") -> str | None:
    """A cell's id, fit to be shown."""
    return clean_message(cell.cell_id, _MAX_ID_CHARACTERS) if cell.cell_id else None


def place_of(diagnostic: "ReportedDiagnostic") -> str:
    """`2:7`: where a finding begins in its cell or text."""
    return f"{diagnostic.range.start.line + 1}:{diagnostic.range.start.column + 1}"


def severity_of(diagnostic: "ReportedDiagnostic") -> str:
    """`error`, `warning (older)`."""
    return diagnostic.severity.name.lower() + _STATUS_NOTES.get(diagnostic.status.value, "")


def message_of(diagnostic: "ReportedDiagnostic") -> str:
    """The message, short."""
    return shorten(headline_of(diagnostic.message), _MAX_MESSAGE_CHARACTERS)


def excerpt_of(diagnostic: "ReportedDiagnostic", width: int = MAX_LINE_CHARACTERS) -> Excerpt | None:
    """At most `width` characters of the source line, with what is meant; `None` where the line is blank."""
    line, text_range = diagnostic.source_line, diagnostic.range
    if not line.strip():
        return None
    start = min(text_range.start.column, len(line))
    end = min(text_range.end.column, len(line)) if text_range.end.line == text_range.start.line else len(line)
    # A long line is cut before the finding so that a third of what is shown stands before it.
    left = max(0, min(start - width // 3, len(line) - width))
    before = ("…" if left else "") + line[left + bool(left) : start]
    text = shorten(before + line[start:], width)
    # The ellipsis of a line that is cut is part of what is marked, where the end of that is cut.
    marked = text[len(before) : len(before) + end - start]
    return Excerpt(before, marked, text[len(before) + len(marked) :])


def _head(report: "Report", counts: "Counts") -> Iterator[str]:
    yield _found(report, counts)
    shown = list(report)
    hidden = counts.preexisting - sum(item.status.value == "preexisting" for item in shown)
    if hidden > 0:
        yield f"{counted(hidden, f'older {_noun(report)}')} not shown"
    yield from not_judged(report)


def _hidden_state(report: "Report") -> Iterator[str]:
    """Uses of names that the kernel serves and the file does not, where they are shown and do not count."""
    own = sum(
        item.code == "hidden-state" and item.source == "jupyter-lsp-agent" and item.severity > report.severity
        for item in report
    )
    if own:
        yield f"{counted(own, 'use')} of what only this kernel knows"


def not_judged(report: "Report") -> Iterator[str]:
    """What of the document nobody has looked at, and who gave no answer, in a phrase each."""
    cells = sorted({unchecked.cell.cell_index for unchecked in report.unchecked})
    if cells:
        yield f"{counted(len(cells), 'cell')} not wholly checked ({_why_not(report)})"
    if report.unmapped:
        yield f"{counted(len(report.unmapped), 'diagnostic')} of no cell line"
    for server in report.servers:
        if server.reason and server.freshness is None:
            yield f"{server.id} gave no answer ({shorten(clean_message(server.reason), MAX_LINE_CHARACTERS)})"


def _why_not(report: "Report") -> str:
    """The reasons, each behind the cells that it is true of; a mend that several of them share is told once."""
    cells: dict[str, set[int]] = {}
    for unchecked in report.unchecked:
        cells.setdefault(clean_message(unchecked.reason), set()).add(unchecked.cell.cell_index)
    told = list(cells.items())[:_MAX_REASONS]
    each = max(_LEAST_OF_A_REASON, MAX_LINE_CHARACTERS // len(told))
    facts: dict[str, list[str]] = {}
    for reason, where in told:
        fact, _, mend = reason.partition("; ")
        facts.setdefault(mend, []).append(f"{cell_list(sorted(where))}: {shorten_at_word(fact, each)}")
    parts = [part for mend, group in facts.items() for part in (*group, shorten_at_word(mend, _MOST_OF_A_MEND))]
    named = set[int]().union(*(where for _, where in told))
    others = sorted(set[int]().union(*cells.values()) - named)
    more = ["… also " + cell_list(others)] if others else ["…"] if len(cells) > len(told) else []
    return "; ".join([*filter(None, parts), *more])


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


def _noun(report: "Report") -> str:
    return "error" if report.severity is DiagnosticSeverity.ERROR else "finding"
