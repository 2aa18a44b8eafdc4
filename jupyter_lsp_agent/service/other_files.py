"""What an edit of one document did to others: those that were checked lately are judged again, as they were.

Candidates are chosen by the names that they import (`dependents`), below the same boundary. Each is judged with the
content that it had at its own check, so that what differs is this edit's doing; the new verdict takes the old one's
place once it is told, so a change is told once, and one in a report that comes too late is told by the next. What is
not had in time is owed: the session's next check of the edited document looks again.
"""

import asyncio
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path, PurePath

from jupyter_lsp_agent.core.clock import Clock, time_limit
from jupyter_lsp_agent.core.files import is_file, read_regular_file
from jupyter_lsp_agent.core.positions import split_lines
from jupyter_lsp_agent.diagnostics.baseline import FileBaseline, LastVerdict, StateVerdict
from jupyter_lsp_agent.diagnostics.build import build_report
from jupyter_lsp_agent.diagnostics.delta import DiagnosticDelta, compute_delta, first_verdict
from jupyter_lsp_agent.diagnostics.facts import ReportFacts, ViewOptions
from jupyter_lsp_agent.diagnostics.report import DocumentKind, NoVerdictReason, OtherFile, Status
from jupyter_lsp_agent.service.compared import SESSION, Compared, facts_of
from jupyter_lsp_agent.service.dependents import RecentDocuments, Reference, affected_documents, find_references
from jupyter_lsp_agent.service.documents import UncheckableError
from jupyter_lsp_agent.service.judging import Content, DocumentJudge
from jupyter_lsp_agent.service.places import Place
from jupyter_lsp_agent.service.requests import CheckRequest, SessionKey
from jupyter_lsp_agent.service.sessions import SessionStore, session_path
from jupyter_lsp_agent.service.telling import NOT_YET

MAX_FILES = 5
"""Files that one report tells of."""

MAX_FINDINGS = 5
"""Findings of one of them."""

_NOT_YET = NOT_YET | {NoVerdictReason.BUSY}
_MAX_MODULES_BETWEEN = 200
_MAX_MODULE_BYTES = 1_000_000


@dataclass(frozen=True, slots=True)
class CheckedDocument:
    """A document as it was checked.

    Attributes:
        request: that check.
        place: where it lies.
        content: what was checked.
        verdict: what was said of it.
        check_number: of that check; they are numbered as they begin.
    """

    request: CheckRequest
    place: Place
    content: Content
    verdict: StateVerdict
    check_number: int

    def references(self) -> frozenset[Reference]:
        """The modules and files that it names."""
        return find_references(cell.source for cell in self.content.cells)


@dataclass(frozen=True, slots=True)
class Effects:
    """What an edit did to others.

    Attributes:
        files: to be told, by the names that the documents were asked about.
        judged: the documents that were judged again, with their new verdicts.
        owed: those that were not, for want of time or of room in the report.
    """

    files: dict[str, OtherFile] = field(default_factory=dict)
    judged: tuple[tuple[CheckedDocument, StateVerdict], ...] = ()
    owed: frozenset[PurePath] = frozenset()


class OtherFiles:
    """Looks after the documents that were checked last.

    Args:
        judge: judges them again.
        sessions: those of the asker roll on with what it is told.
        clock: the time.
    """

    def __init__(self, judge: DocumentJudge, sessions: SessionStore, clock: Clock) -> None:
        self._judge = judge
        self._sessions = sessions
        self._clock = clock
        self._recent: RecentDocuments[PurePath, CheckedDocument] = RecentDocuments()
        self._owed: RecentDocuments[tuple[SessionKey | None, PurePath], frozenset[PurePath]] = RecentDocuments()

    def remember(self, document: CheckedDocument) -> None:
        """A document was checked as it is stored."""
        path = session_path(document.request.path)
        known = self._recent.get(path)
        if known is None or known.check_number < document.check_number:
            self._recent.remember(path, document)

    def forget(self, path: Path) -> None:
        """A file or folder is gone, or has another name."""
        gone = session_path(path)
        for known in self._recent.keys():  # noqa: SIM118 - no dict: a list, which may be walked while it shrinks
            if known == gone or gone in known.parents:
                self._recent.forget(known)

    def owes(self, request: CheckRequest) -> bool:
        """Whether an earlier report of the session on this document could not tell all."""
        return self._owed.get(_debt(request)) is not None

    async def changed_by(
        self, request: CheckRequest, place: Place, view: ViewOptions, wait_seconds: float, *, is_news: bool
    ) -> Effects:
        """The documents whose verdict an edit changed; nothing is taken for told before `tell` is called.

        Args:
            request: the check of the edited document.
            place: where it lies.
            view: which severities and codes count.
            wait_seconds: how long others may be waited for.
            is_news: this is the first check after the edit; else only what is owed is looked at.
        """
        documents = await asyncio.to_thread(self._affected, session_path(request.path), place)
        if not is_news:
            owed = self._owed.get(_debt(request)) or frozenset()
            documents = [document for document in documents if session_path(document.request.path) in owed]
        left = {session_path(document.request.path): None for document in documents}
        files: dict[str, OtherFile] = {}
        judged: list[tuple[CheckedDocument, StateVerdict]] = []
        with suppress(TimeoutError):
            async with time_limit(self._clock, wait_seconds):
                for document in documents:
                    if len(files) == MAX_FILES:
                        break
                    looked = await self._look_again(document, request, view)
                    if looked.owed:
                        continue
                    del left[session_path(document.request.path)]
                    files |= looked.files
                    judged += looked.judged
        return Effects(files, tuple(judged), frozenset(left))

    def tell(self, request: CheckRequest, effects: Effects) -> None:
        """The effects are told in a report that somebody waits for: they are no news from now on."""
        for document, verdict in effects.judged:
            path = session_path(document.request.path)
            if self._recent.get(path) is document:
                self._recent.replace(path, replace(document, verdict=verdict))
                self._roll_session(document, request, verdict)
        self._owed.forget(_debt(request))
        if effects.owed:
            self._owed.remember(_debt(request), effects.owed)

    def _affected(self, edited: PurePath, place: Place) -> list[CheckedDocument]:
        known = dict(self._recent.items())
        references = {path: document.references() for path, document in known.items()}
        boundary = session_path(place.boundary)
        between = _modules_between(references, boundary)
        reached = affected_documents(edited, {**between, **references})
        return [known[path] for path in reached if path in known and boundary in path.parents]

    async def _look_again(self, document: CheckedDocument, request: CheckRequest, view: ViewOptions) -> Effects:
        # A module may be another text on the disk by now; the server is not to go on believing the one of its check.
        is_stored = document.content.notebook is not None
        path = session_path(document.request.path)
        try:
            judged = await self._judge.judge(
                document.place, document.content, _without_waits(document, request), is_stored=is_stored
            )
        except UncheckableError:
            return Effects()
        if not judged.was_answered:
            is_late = any(failure.reason in _NOT_YET for failure in judged.failures)
            return Effects(owed=frozenset({path} if is_late else ()))
        # What is not the same set of servers is not told as this edit's doing.
        if not document.verdict.judges.agree_with(judged.verdict.judges):
            return Effects()
        before = first_verdict(document.verdict)
        delta = compute_delta(before, judged.verdict)
        if self._recent.get(path) is not document:
            return Effects()  # it was checked meanwhile, and its own report has said it
        other = _report_on(document, delta, before, view)
        name = document.request.display_path or str(document.request.path)
        return Effects({} if other is None else {name: other}, ((document, judged.verdict),))

    def _roll_session(self, document: CheckedDocument, request: CheckRequest, verdict: StateVerdict) -> None:
        """What the asker has been told of another file is no news to it when it checks that file."""
        key, path = request.comparison.session, session_path(document.request.path)
        known = None if key is None else self._sessions.peek(key, path)
        if key is None or known is None or known.baseline.last is None:
            return
        last = known.baseline.last
        if last.cells == verdict.cells and last.judges.agree_with(verdict.judges):
            rolled = FileBaseline(known.baseline.cells, compute_delta(last, verdict).last)
            self._sessions.keep(key, path, known.baseline, replace(known, baseline=rolled))


def _debt(request: CheckRequest) -> tuple[SessionKey | None, PurePath]:
    return request.comparison.session, session_path(request.path)


def _without_waits(document: CheckedDocument, request: CheckRequest) -> CheckRequest:
    """The document's own request, as patient as the one that is being answered."""
    return replace(document.request, wait_seconds=request.wait_seconds, timeout_seconds=request.timeout_seconds)


def _report_on(
    document: CheckedDocument, delta: DiagnosticDelta, before: LastVerdict, view: ViewOptions
) -> OtherFile | None:
    content = document.content
    is_text = content.notebook is None
    facts = ReportFacts(
        path=document.request.display_path,
        kind=DocumentKind.TEXT if is_text else DocumentKind.NOTEBOOK,
        cells=() if is_text else content.cells,
        text=content.text if is_text else "",
        checked_at=datetime.now(UTC),
    )
    shown = replace(
        view,
        statuses=frozenset({Status.INTRODUCED}),
        cells=None,
        edited_cells=frozenset(),
        max_per_cell=MAX_FINDINGS,
        max_total=MAX_FINDINGS,
    )
    report = build_report(replace(facts, **facts_of(Compared(SESSION, delta, before), facts, shown)), shown)
    if not report.fixed and not any(True for _ in report):
        return None
    return OtherFile(report.kind, report.cells, report.diagnostics, report.fixed[:MAX_FINDINGS])


# ── modules that nobody checked, and through which an edit may work ─────────────────────────────────────────────────


def _modules_between(
    documents: Mapping[PurePath, frozenset[Reference]], boundary: PurePath
) -> dict[PurePath, frozenset[Reference]]:
    """What the local modules name that the documents import, and those that these import."""
    found: dict[PurePath, frozenset[Reference]] = {}
    waiting = list(documents.items())
    while waiting and len(found) < _MAX_MODULES_BETWEEN:
        importer, references = waiting.pop()
        for module in _local_files(importer, references, boundary):
            if module not in found and module not in documents:
                found[module] = _read_references(Path(module))
                waiting.append((module, found[module]))
    return found


def _local_files(importer: PurePath, references: Iterable[Reference], boundary: PurePath) -> set[PurePath]:
    folders = [folder for folder in importer.parents if folder == boundary or boundary in folder.parents]
    files = set()
    for reference in references:
        starts = folders[reference.level - 1 : reference.level] if reference.level else [*folders[:1], *folders[-1:]]
        for start in starts:
            for length in range(1, len(reference.parts) + 1):
                base = start.joinpath(*reference.parts[:length])
                files |= {PurePath(f"{base}.py"), base / "__init__.py"}
    return {file for file in files if is_file(Path(file))}


def _read_references(path: Path) -> frozenset[Reference]:
    try:
        text = read_regular_file(path, _MAX_MODULE_BYTES).decode("utf-8", "replace")
    except OSError:
        return frozenset()
    return find_references(["\n".join(split_lines(text))])
