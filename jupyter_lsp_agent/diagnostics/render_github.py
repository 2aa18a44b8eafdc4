"""Reports as workflow commands, which GitHub shows as annotations.

A cell has no line of its own in the file that a review shows, so a notebook's annotation stands at the file and names
cell and line in its title and message; a plain text file's stands at its line. What may end a command or a property is
escaped as the runner's own toolkit does it.
"""

from collections.abc import Iterator

from jupyter_lsp_agent.core.diagnostic import DiagnosticSeverity
from jupyter_lsp_agent.diagnostics.cleaning import headline_of
from jupyter_lsp_agent.diagnostics.render_parts import not_judged
from jupyter_lsp_agent.diagnostics.report import Report, ReportedDiagnostic, Verdict

_COMMANDS = {
    DiagnosticSeverity.ERROR: "error",
    DiagnosticSeverity.WARNING: "warning",
    DiagnosticSeverity.INFORMATION: "notice",
    DiagnosticSeverity.HINT: "notice",
}


def render_github(report: Report) -> str:
    """One workflow command for each finding, and one where there is no verdict or none on a part; empty where all is
    well."""
    return "\n".join(_commands(report))


def _commands(report: Report) -> Iterator[str]:
    path = report.path or ""
    if report.verdict is Verdict.NO_VERDICT:
        reason = report.reason.value if report.reason else "unknown"
        yield _command("error", {"title": f"no verdict ({reason})", "file": path}, report.detail or "")
    for diagnostic in report:
        yield _annotation(path, diagnostic)
    for other_path, other in report.other_files.items():
        for diagnostic in other:
            yield _annotation(other_path, diagnostic)
    omitted = report.counts.omitted if report.counts else 0
    if omitted:
        yield _command("notice", {"title": "not shown", "file": path}, f"{omitted} more in {path}")
    if report.verdict is not Verdict.NO_VERDICT:
        for phrase in not_judged(report):
            yield _command("notice", {"title": "not checked", "file": path}, phrase)


def _annotation(path: str, diagnostic: ReportedDiagnostic) -> str:
    name = f"{diagnostic.source} ({diagnostic.code})" if diagnostic.code else diagnostic.source
    start, end = diagnostic.range.start, diagnostic.range.end
    command = _COMMANDS[diagnostic.severity]
    if diagnostic.cell is not None:
        place = f"cell {diagnostic.cell.cell_index}, {start.line + 1}:{start.column + 1}"
        return _command(
            command, {"title": f"{name} {place}", "file": path}, f"{place}: {headline_of(diagnostic.message)}"
        )
    lines = {"line": str(start.line + 1), "endLine": str(end.line + 1)}
    # Columns mean something to GitHub only within one line.
    columns = {"col": str(start.column + 1), "endColumn": str(end.column + 1)} if start.line == end.line else {}
    return _command(command, {"title": name, "file": path, **lines, **columns}, headline_of(diagnostic.message))


def _command(name: str, properties: dict[str, str], message: str) -> str:
    written = ",".join(f"{key}={_escape_property(value)}" for key, value in properties.items() if value)
    return f"::{name} {written}::{_escape_data(message)}"


def _escape_data(text: str) -> str:
    return text.replace("%", "%25").replace("\r", "%0D").replace("\n", "%0A")


def _escape_property(text: str) -> str:
    return _escape_data(text).replace(":", "%3A").replace(",", "%2C")
