"""The word on a whole document, from what is known of it.

The one rule above all: an answer that could not be had is never `clean`. A graver word wins over a missing one, since
an error that was found is true whatever another server would have said.
"""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from jupyter_lsp_agent.core.diagnostic import Diagnostic, DiagnosticSeverity
from jupyter_lsp_agent.core.positions import split_lines
from jupyter_lsp_agent.diagnostics.cleaning import clean_message, headline_of
from jupyter_lsp_agent.diagnostics.facts import ReportFacts
from jupyter_lsp_agent.diagnostics.report import NoVerdictReason, Status, Unchecked, Verdict
from jupyter_lsp_agent.diagnostics.wording import cell_list
from jupyter_lsp_agent.notebook.model import Cell, CellKind

_MAX_NAME_CHARACTERS = 60
_MAX_QUOTED_CHARACTERS = 300
_BLAMED = frozenset({Status.INTRODUCED, Status.OUTSTANDING, Status.PRESENT})


@dataclass(frozen=True, slots=True)
class Judgement:
    """A verdict; with `no_verdict` also why, and what to do about it."""

    verdict: Verdict
    reason: NoVerdictReason | None = None
    detail: str | None = None


def judge(facts: ReportFacts, statuses: Iterable[Status], ignore: frozenset[str] = frozenset()) -> Judgement:
    """The verdict on a document.

    Args:
        facts: what the check found out.
        statuses: of every finding at or above the asked severity that is not ignored.
        ignore: codes whose findings are left out of everything.
    """
    held = set(statuses)
    if held & _BLAMED or any(True for other in facts.other_files.values() for _ in other):
        return Judgement(Verdict.ERRORS)
    if facts.failures:
        failure = facts.failures[0]
        return Judgement(Verdict.NO_VERDICT, failure.reason, failure.detail)
    homeless = next((one for one in facts.unmapped if _is_error(one) and one.code not in ignore), None)
    if homeless is not None:
        return Judgement(Verdict.NO_VERDICT, NoVerdictReason.BROKEN, _tell_homeless(homeless))
    unseen = _cause_of_nothing_seen(facts)
    if unseen is not None:
        reason = unseen.cause or NoVerdictReason.UNSUPPORTED_LANGUAGE
        where = cell_list([unseen.cell.cell_index])
        return Judgement(Verdict.NO_VERDICT, reason, f"No server could look at any cell; {where}: {unseen.reason}.")
    return Judgement(Verdict.NOTHING_NEW if held else Verdict.CLEAN)


def _is_error(diagnostic: Diagnostic) -> bool:
    return diagnostic.severity is DiagnosticSeverity.ERROR


def _tell_homeless(diagnostic: Diagnostic) -> str:
    """An error about the whole: no cell can be blamed for it, and none can be called clean."""
    name = clean_message(diagnostic.source, _MAX_NAME_CHARACTERS) or "the server"
    code = "" if diagnostic.code is None else clean_message(diagnostic.code, _MAX_NAME_CHARACTERS)
    said = headline_of(clean_message(diagnostic.message, _MAX_QUOTED_CHARACTERS)).rstrip(".")
    mend = f", or leave it out with `--ignore {code}`" if code else ""
    return f"{name} reports an error that belongs to no cell: {said}; mend what it speaks of{mend}"


def _cause_of_nothing_seen(facts: ReportFacts) -> Unchecked | None:
    """The first reason, where there is code and no server could look at any of it."""
    blind = [unchecked for unchecked in facts.unchecked if not unchecked.partial]
    code = [cell for cell in facts.cells if cell.defect or (cell.kind is CellKind.CODE and cell.source.strip())]
    if not blind or not code:
        return None
    lines: dict[int, set[int]] = defaultdict(set)
    for unchecked in blind:
        lines[unchecked.cell.cell_index].update(range(unchecked.first_line, unchecked.last_line + 1))
    return blind[0] if all(_is_unseen(cell, lines[cell.index]) for cell in code) else None


def _is_unseen(cell: Cell, unchecked_lines: set[int]) -> bool:
    """No line of the cell was looked at but blank ones and the name of a cell magic, which no server is shown."""
    return bool(unchecked_lines) and all(
        number in unchecked_lines or not line.strip() or line.lstrip().startswith("%%")
        for number, line in enumerate(split_lines(cell.source))
    )
