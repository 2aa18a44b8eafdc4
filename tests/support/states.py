"""States of a notebook, written short, and what became of their findings."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from jupyter_lsp_agent.core.ids import CellId
from jupyter_lsp_agent.diagnostics.baseline import Finding, LastVerdict
from jupyter_lsp_agent.diagnostics.delta import DiagnosticDelta, compute_delta, first_verdict
from jupyter_lsp_agent.diagnostics.report import Status
from jupyter_lsp_agent.notebook.model import Cell, CellKind
from tests.support.toy_checker import judge

CellSpec = str | tuple[str, str]


def cells(*specs: CellSpec) -> tuple[Cell, ...]:
    """Cells from `source` or `(id, source)`; a source that begins with `#md` is Markdown."""
    made = []
    for index, spec in enumerate(specs):
        cell_id, source = spec if isinstance(spec, tuple) else (None, spec)
        kind = CellKind.MARKDOWN if source.startswith("#md") else CellKind.CODE
        made.append(Cell(index, CellId(cell_id) if cell_id else None, kind, source))
    return tuple(made)


def renumbered(these: Iterable[Cell]) -> tuple[Cell, ...]:
    """The cells in their new order, with the indexes that go with it."""
    return tuple(replace(cell, index=index) for index, cell in enumerate(these))


def run(states: Sequence[Sequence[Cell]]) -> list[DiagnosticDelta]:
    """The toy's deltas of a session that meets the first state and then sees the others, one by one."""
    last: LastVerdict = first_verdict(judge(states[0]))
    deltas = []
    for state in states[1:]:
        delta = compute_delta(last, judge(state))
        assert delta.last is not None
        deltas.append(delta)
        last = delta.last
    return deltas


def short(finding: Finding) -> str:
    """`cell:line:column word`, 0-based, the word being what the message quotes."""
    start = finding.diagnostic.range.start
    message = finding.diagnostic.message
    word = message.split("`")[1] if "`" in message else "syntax"
    return f"{finding.cell_index}:{start.line}:{start.column} {word}"


def with_status(delta: DiagnosticDelta, status: Status) -> list[str]:
    """The findings of one status, short."""
    return [short(stated.finding) for stated in delta.findings if stated.status is status]


def outcome(delta: DiagnosticDelta) -> dict[str, list[str]]:
    """Everything of a delta that is not empty."""
    named = {status.value: with_status(delta, status) for status in Status}
    named["fixed"] = [short(finding) for finding in delta.fixed]
    named["carried"] = [short(tracked.finding) for tracked in delta.carried]
    return {name: found for name, found in named.items() if found}
