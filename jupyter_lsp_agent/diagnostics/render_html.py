"""The report as HTML, for a notebook's output: a table by cell, each finding with its source line.

It is made to be read in light and dark themes, without colour, by a screen reader, and after JupyterLab's sanitizer has
been at it (an output that is not trusted): no colour and no background of its own, elements that mean what they show,
and only attributes and style values that the sanitizer keeps (`aria-*`, `role` and `currentColor` are none). What is
meant of a source line is a `<u>`, HTML's own element for such a mark; a `<mark>` would be black on dark where the
sanitizer takes away its `color: inherit`.

MathJax looks for formulas in outputs; each `$` and `\\` stands in an element of its own, where none can begin.
"""

import html
import re
from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby

from jupyter_lsp_agent.diagnostics.render_parts import (
    cell_id_of,
    excerpt_of,
    head_of,
    message_of,
    omitted_line,
    other_file_head,
    place_of,
    severity_of,
    title_of,
)
from jupyter_lsp_agent.diagnostics.report import CellReference, OtherFile, Report, ReportedDiagnostic
from jupyter_lsp_agent.diagnostics.wording import counted

_MATH = re.compile(r"[$\\]")
_CELL = "text-align:left;vertical-align:top;padding:2px 8px;border-top:1px solid"
_LINE = "white-space:pre-wrap;word-break:break-all"
_MARK = "font-weight:bold;text-decoration:underline"
_MAX_FIXED = 20


def render_html(report: Report) -> str:
    """The report as one `<div>`; no scripts, nothing from elsewhere, all text escaped."""
    return "".join(_parts(report))


def _parts(report: Report) -> Iterator[str]:
    yield '<div class="jp-lsp-agent-report mathjax_ignore tex2jax_ignore">'
    head = f"<strong>{_text(title_of(report))}</strong>: {_text(head_of(report))}"
    findings = list(report)
    if findings:
        yield from _table(head, findings)
    else:
        yield f"<p>{head}</p>"
    omitted = omitted_line(report)
    if omitted is not None:
        yield f"<p>{_text(omitted)}</p>"
    for path, other in report.other_files.items() if report.counts else ():
        yield from _other_file(path, other)
    yield from _fixed(report.fixed)
    yield "</div>"


def _table(caption: str, findings: Sequence[ReportedDiagnostic]) -> Iterator[str]:
    in_cells = any(item.cell is not None for item in findings)
    yield '<table style="border-collapse:collapse;text-align:left">'
    yield f'<caption style="caption-side:top;text-align:left;padding:4px 0">{caption}</caption>'
    columns = [*(["Cell"] if in_cells else []), "Line", "Severity", "Finding"]
    yield "<thead><tr>" + "".join(f'<th scope="col" style="{_CELL}">{column}</th>' for column in columns)
    yield "</tr></thead>"
    for cell, group in groupby(findings, key=lambda item: item.cell):
        yield "<tbody>" + "".join(_rows(cell, list(group))) + "</tbody>"
    yield "</table>"


def _rows(cell: CellReference | None, findings: Sequence[ReportedDiagnostic]) -> Iterator[str]:
    for number, item in enumerate(findings):
        yield "<tr>"
        if cell is not None and number == 0:
            yield f'<th scope="rowgroup" rowspan="{len(findings)}" style="{_CELL}">{_cell_name(cell)}</th>'
        yield f'<td style="{_CELL}">{place_of(item)}</td><td style="{_CELL}">{severity_of(item)}</td>'
        yield f'<td style="{_CELL}">{_finding(item)}</td></tr>'


def _cell_name(cell: CellReference) -> str:
    cell_id = cell_id_of(cell)
    return str(cell.cell_index) + (f" <small>{_text(cell_id)}</small>" if cell_id else "")


def _finding(item: ReportedDiagnostic) -> str:
    code = f" <small>[{_text(item.code)}]</small>" if item.code else ""
    cause = f" (through the change of cell {item.caused_by.cell_index})" if item.caused_by else ""
    return f"<bdi>{_text(message_of(item))}</bdi>{code}{cause}{_source_line(item)}"


def _source_line(item: ReportedDiagnostic) -> str:
    excerpt = excerpt_of(item)
    if excerpt is None:
        return ""
    # What stands at the end of a line, or between two characters, is marked by a blank.
    marked = f'<u style="{_MARK}">{_text(excerpt.marked) or "&nbsp;"}</u>'
    line = f"{_text(excerpt.before)}{marked}{_text(excerpt.after)}"
    return f'<br><code dir="ltr" style="{_LINE}">{line}</code>'


def _other_file(path: str, other: OtherFile) -> Iterator[str]:
    head = f"<strong>{_text(path)}</strong>: {_text(other_file_head(other))}"
    findings = list(other)
    if findings:
        yield from _table(head, findings)
    else:
        yield f"<p>{head}</p>"


def _fixed(fixed: Sequence[ReportedDiagnostic]) -> Iterator[str]:
    if fixed:
        yield f"<details><summary>{counted(len(fixed), 'finding')} fixed</summary><ul>"
        yield from (f"<li>{_was(item)}</li>" for item in fixed[:_MAX_FIXED])
        if len(fixed) > _MAX_FIXED:
            yield f"<li>… {len(fixed) - _MAX_FIXED} more</li>"
        yield "</ul></details>"


def _was(item: ReportedDiagnostic) -> str:
    cell = "" if item.cell is None else f"cell {item.cell.cell_index} "
    return f"{cell}{place_of(item)} {item.severity.name.lower()}: <s>{_text(message_of(item))}</s>"


def _text(text: str) -> str:
    """Text for an element's content or a quoted attribute."""
    return "".join(_escaped(_MATH.split(text), _MATH.findall(text)))


def _escaped(parts: Iterable[str], signs: Sequence[str]) -> Iterator[str]:
    for number, part in enumerate(parts):
        yield html.escape(part)
        if number < len(signs):
            yield f"<span>{signs[number]}</span>"
