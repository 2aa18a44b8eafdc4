"""What a check is compared with, and what came of it: the session's last verdict, a revision, a baseline file, nothing.

Findings are compared within one set of servers, versions, environment and settings only. Where the last verdict comes
from another set, the older contents are judged again by the present one first; until that is had, the baseline is
`unknown`, everything is `present`, nothing is `fixed`, and the session keeps what it had.
"""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import replace
from pathlib import Path, PurePath
from typing import Any

from jupyter_lsp_agent.core.errors import NotebookError
from jupyter_lsp_agent.core.positions import split_lines
from jupyter_lsp_agent.diagnostics.baseline import FileBaseline, LastVerdict, StateVerdict, contents_to_judge
from jupyter_lsp_agent.diagnostics.baseline_file import BaselineEntry, find_known
from jupyter_lsp_agent.diagnostics.delta import (
    DiagnosticDelta,
    StatedFinding,
    compute_delta,
    delta_without_baseline,
    first_verdict,
    replay,
)
from jupyter_lsp_agent.diagnostics.fingerprint import Located
from jupyter_lsp_agent.diagnostics.render_json import counts_to_dict, timestamp
from jupyter_lsp_agent.diagnostics.report import DocumentKind, Report, Status
from jupyter_lsp_agent.notebook.model import Cell, CellKind
from jupyter_lsp_agent.notebook.reader import read_notebook
from jupyter_lsp_agent.servers.commands import CommandSearch
from jupyter_lsp_agent.service.compared import FILE, NONE, REVISION, SESSION, UNKNOWN, Compared, seen_of
from jupyter_lsp_agent.service.documents import UncheckableError, decode_text, document_kind
from jupyter_lsp_agent.service.history import find_git, read_at_revision
from jupyter_lsp_agent.service.requests import CheckRequest, Comparison, SessionKey
from jupyter_lsp_agent.service.sessions import SessionFile, SessionStore, session_path
from jupyter_lsp_agent.service.threads import beside_the_loop

JudgeOlder = Callable[[tuple[Cell, ...]], Awaitable[StateVerdict | None]]
"""Has an older content of the document judged by those who judge now; `None` where nobody answers."""


class Comparer:
    """Compares verdicts, and keeps the sessions'.

    Args:
        sessions: what sessions know.
    """

    def __init__(self, sessions: SessionStore) -> None:
        self._sessions = sessions

    async def meet(self, request: CheckRequest, cells: tuple[Cell, ...], check_number: int) -> None:
        """Have the session of a request meet the document, where it has not.

        Args:
            request: the request.
            cells: the checked content; the baseline is what was stored before it, where the request says so.
            check_number: of this check.
        """
        asked = request.comparison
        if asked.session is None or self._sessions.find(asked.session, session_path(request.path)) is not None:
            return
        before: tuple[Cell, ...] | None = cells
        if (stored := asked.before_bytes) is not None:
            before = await beside_the_loop(len(stored), lambda: read_cells(request.path, stored))
        if before is not None:
            name = request.display_path or str(request.path)
            path = session_path(request.path)
            self._sessions.meet(asked.session, path, before, name=name, check_number=check_number)

    async def compare(
        self, request: CheckRequest, current: StateVerdict, judge_older: JudgeOlder, search: CommandSearch
    ) -> Compared:
        """Compare a verdict with what the request asks for.

        Args:
            request: the request.
            current: the verdict.
            judge_older: has older contents judged.
            search: where git may be taken from.

        Raises:
            InvalidRequestError: a revision that is none, or that cannot be read.
        """
        asked = request.comparison
        if asked.known is not None:
            return _compare_with_file(current, asked.known)
        if asked.baseline.startswith(REVISION):
            return await _compare_with_revision(request, current, judge_older, search)
        if asked.baseline == SESSION and asked.session is not None:
            return await self._compare_with_session(request.path, asked, asked.session, current, judge_older)
        return Compared(NONE, delta_without_baseline(current))

    def keep(self, request: CheckRequest, compared: Compared, report: Report, check_number: int) -> bool:
        """Let the session's last verdict become this one; false where it must be compared again first.

        What nobody waits for any more is dropped, and what a later check of another content has overtaken.
        """
        asked, last = request.comparison, compared.delta.last
        if compared.keep_over is None or asked.session is None or last is None or not request.is_awaited():
            return True
        path = session_path(request.path)
        if self._is_overtaken(asked.session, path, last, check_number):
            return True
        file = SessionFile(
            FileBaseline(compared.keep_over.cells, last),
            name=request.display_path or str(request.path),
            counts=report.counts,
            checked_at=report.checked_at,
            check_number=check_number,
        )
        return self._sessions.keep(asked.session, path, compared.keep_over, file)

    def _is_overtaken(self, key: SessionKey, path: PurePath, last: LastVerdict, check_number: int) -> bool:
        known = self._sessions.peek(key, path)
        if known is None or known.baseline.last is None:
            return False
        return known.check_number > check_number and known.baseline.last.cells != last.cells

    async def _compare_with_session(
        self, location: Path, asked: Comparison, key: SessionKey, current: StateVerdict, judge_older: JudgeOlder
    ) -> Compared:
        path = session_path(location)
        known = self._sessions.find(key, path)
        if known is None:
            return Compared(UNKNOWN, delta_without_baseline(current))
        last = await _last_verdict(known.baseline, current, judge_older)
        if last is None:
            return Compared(UNKNOWN, delta_without_baseline(current))
        baseline = known.baseline
        if last is not baseline.last:
            # What the present servers say of the older contents is worth keeping, whatever becomes of this check.
            file = replace(known, baseline=FileBaseline(baseline.cells, last))
            if self._sessions.keep(key, path, baseline, file):
                baseline = file.baseline
        delta = await asyncio.to_thread(compute_delta, last, current)
        return Compared(SESSION, delta, last, baseline if asked.keeps else None)


async def _compare_with_revision(
    request: CheckRequest, current: StateVerdict, judge_older: JudgeOlder, search: CommandSearch
) -> Compared:
    label = request.comparison.baseline
    git = find_git(search.environ, search.safe_path)
    data = await asyncio.to_thread(read_at_revision, request.path, label.removeprefix(REVISION), git)
    cells = () if data is None else read_cells(request.path, data)
    if cells is None:
        return Compared(UNKNOWN, delta_without_baseline(current))
    last = await _last_verdict(FileBaseline(cells), current, judge_older)
    if last is None:
        return Compared(UNKNOWN, delta_without_baseline(current))
    return Compared(label, await asyncio.to_thread(compute_delta, last, current), last)


async def _last_verdict(baseline: FileBaseline, current: StateVerdict, judge_older: JudgeOlder) -> LastVerdict | None:
    """The last verdict, by judges that the current one may be compared with; `None` where that cannot be had."""
    contents = contents_to_judge(baseline, current.judges)
    if not contents:
        return baseline.last
    verdicts: dict[tuple[Cell, ...], StateVerdict] = {}
    for cells in dict.fromkeys(contents):
        verdict = await _verdict_on(cells, current, judge_older)
        if verdict is None or not verdict.judges.agree_with(current.judges):
            return None
        verdicts[cells] = verdict
    last = await asyncio.to_thread(replay, [verdicts[cells] for cells in contents])
    return last.accepted() if baseline.is_all_old() else last


async def _verdict_on(cells: tuple[Cell, ...], current: StateVerdict, judge_older: JudgeOlder) -> StateVerdict | None:
    if seen_of(cells) == seen_of(current.cells):
        return current
    if not any(cell.kind is CellKind.CODE for cell in cells):
        return StateVerdict(cells, (), current.judges)
    return await judge_older(cells)


def _compare_with_file(current: StateVerdict, entries: Sequence[BaselineEntry]) -> Compared:
    findings = first_verdict(current).findings
    located = [
        Located(
            tracked.finding.diagnostic,
            _line(current.cells[tracked.finding.cell_index], tracked.finding.start.line),
            current.cells[tracked.finding.cell_index],
        )
        for tracked in findings
    ]
    found = find_known(located, entries)
    stated = tuple(
        StatedFinding(tracked.finding, Status.PREEXISTING if known else Status.INTRODUCED)
        for tracked, known in zip(findings, found.known, strict=True)
    )
    return Compared(FILE, DiagnosticDelta(stated), gone_entries=found.gone)


def _line(cell: Cell, line: int) -> str:
    lines = split_lines(cell.source)
    return lines[min(line, len(lines) - 1)]


def read_cells(path: Path, data: bytes) -> tuple[Cell, ...] | None:
    """The cells of a document's bytes, a plain file as one cell; `None` where they cannot be read. None are none."""
    try:
        if document_kind(path) is DocumentKind.TEXT:
            return (Cell(0, None, CellKind.CODE, decode_text(path, data)),)
        return read_notebook(data, path.name).cells if data else ()
    except (NotebookError, UncheckableError):
        return None


def list_sessions(sessions: SessionStore, user: str, name: str | None) -> list[dict[str, Any]]:
    """The files of a user's sessions, as `GET sessions` gives them."""
    return [
        {
            "session": entry.session,
            "path": entry.file.name,
            "baseline": UNKNOWN if entry.file.baseline.last is None else SESSION,
            "counts": None if entry.file.counts is None else counts_to_dict(entry.file.counts),
            "checked_at": None if entry.file.checked_at is None else timestamp(entry.file.checked_at),
        }
        for entry in sessions.entries(user)
        if name in (None, entry.file.name)
    ]
