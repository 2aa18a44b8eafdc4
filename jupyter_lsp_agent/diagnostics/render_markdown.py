"""The report as Markdown that GitHub and JupyterLab show alike: a head, then a list of findings with fenced lines.

Texts of others are data. What begins emphasis, links, HTML, mentions or formulas is escaped; a `$`, `@` or `#` that
one of the two would make something of stands in an element of its own. A fence is longer than any in its line.
"""

import re
from collections.abc import Iterator, Sequence

from jupyter_lsp_agent.diagnostics.render_parts import (
    cell_id_of,
    head_of,
    message_of,
    omitted_line,
    other_file_head,
    place_of,
    severity_of,
    title_of,
)
from jupyter_lsp_agent.diagnostics.render_text import excerpt_lines
from jupyter_lsp_agent.diagnostics.report import CellReference, Report, ReportedDiagnostic
from jupyter_lsp_agent.diagnostics.wording import counted

_SIGN = re.compile(r"(?P<markup>[\\`*\[\]<>|~]|&(?=#?\w)|(?<!\w)_|_(?!\w))|(?P<formula>\$)|@(?=\w)|#(?=\d)")
_RUN_OF_BACKTICKS = re.compile(r"`+")
_MAX_FIXED = 20


def render_markdown(report: Report) -> str:
    """The report as Markdown, without a final line end."""
    return "\n".join(_lines(report))


def _lines(report: Report) -> Iterator[str]:
    yield f"**{_text(title_of(report))}**: {_text(head_of(report))}"
    yield from _list(list(report))
    omitted = omitted_line(report)
    if omitted is not None:
        yield from ("", _text(omitted))
    for path, other in report.other_files.items() if report.counts else ():
        yield from ("", f"**{_text(path)}**: {other_file_head(other)}")
        yield from _list(list(other))
    yield from _fixed(report.fixed)


def _list(findings: Sequence[ReportedDiagnostic]) -> Iterator[str]:
    for item in findings:
        yield ""
        code = f" \\[{_text(item.code)}\\]" if item.code else ""
        cause = f" (through the change of cell {item.caused_by.cell_index})" if item.caused_by else ""
        yield f"- {_cell(item.cell)}{place_of(item)} {severity_of(item)}: {_text(message_of(item))}{code}{cause}"
        yield from _fenced(excerpt_lines(item) or ())


def _fenced(lines: Sequence[str]) -> Iterator[str]:
    if lines:
        longest = max((len(run) for line in lines for run in _RUN_OF_BACKTICKS.findall(line)), default=0)
        fence = "`" * max(3, longest + 1)
        yield ""
        yield from (f"  {line}" for line in (f"{fence}text", *lines, fence))


def _cell(cell: CellReference | None) -> str:
    if cell is None:
        return ""
    cell_id = cell_id_of(cell)
    return f"**cell {cell.cell_index}**{f' ({_text(cell_id)})' if cell_id else ''} "


def _fixed(fixed: Sequence[ReportedDiagnostic]) -> Iterator[str]:
    if not fixed:
        return
    yield from ("", f"{counted(len(fixed), 'finding')} fixed:", "")
    for item in fixed[:_MAX_FIXED]:
        yield f"- {_cell(item.cell)}{place_of(item)} {item.severity.name.lower()}: {_text(message_of(item))}"
    if len(fixed) > _MAX_FIXED:
        yield f"- … {len(fixed) - _MAX_FIXED} more"


def _text(text: str) -> str:
    """Text that stays text inside a line of Markdown."""
    return _SIGN.sub(_harmless, text)


def _harmless(match: re.Match[str]) -> str:
    sign = match.group()
    if match["markup"]:
        return f"\\{sign}"
    # JupyterLab looks for formulas before Markdown is read, and MathJax after.
    return f"<span>{chr(92) if match['formula'] else ''}{sign}</span>"
