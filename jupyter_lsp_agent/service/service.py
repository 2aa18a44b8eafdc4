"""The use cases: check a document, say what runs, stop everything.

`check` is the recipe that every front end calls. Whatever goes wrong on the way ends as a report without a verdict and
with its reason; only a mistake of ours, or a setting that cannot be, is raised.
"""

import asyncio
from collections.abc import Callable
from dataclasses import replace
from datetime import UTC, datetime
from itertools import count
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Self

from jupyter_lsp_agent.core.clock import Clock, SystemClock
from jupyter_lsp_agent.core.ids import DocumentUri
from jupyter_lsp_agent.core.uris import uri_from_path
from jupyter_lsp_agent.diagnostics.baseline import StateVerdict
from jupyter_lsp_agent.diagnostics.build import build_report, no_verdict_report
from jupyter_lsp_agent.diagnostics.facts import ReportFacts, ViewOptions
from jupyter_lsp_agent.diagnostics.report import (
    Counts,
    DocumentKind,
    Report,
)
from jupyter_lsp_agent.notebook.model import Cell
from jupyter_lsp_agent.pool.keys import PoolLimits
from jupyter_lsp_agent.pool.pool import ClientPool
from jupyter_lsp_agent.pool.starting import starter
from jupyter_lsp_agent.servers.installed import own_servers_folder
from jupyter_lsp_agent.service.asking import Asker
from jupyter_lsp_agent.service.chain_calls import ChainCaller
from jupyter_lsp_agent.service.compared import Compared, facts_of, is_news, rolls
from jupyter_lsp_agent.service.comparing import Comparer, list_sessions, read_cells
from jupyter_lsp_agent.service.documents import (
    UncheckableError,
    decode_text,
    document_kind,
    read_document,
)
from jupyter_lsp_agent.service.judging import Content, DocumentJudge, Judged, notebook_content, text_content
from jupyter_lsp_agent.service.other_files import CheckedDocument, Effects, OtherFiles
from jupyter_lsp_agent.service.places import Place, PlaceFinder
from jupyter_lsp_agent.service.probe import probe_servers
from jupyter_lsp_agent.service.querying import Navigator
from jupyter_lsp_agent.service.reading import parse_notebook, require_allowed
from jupyter_lsp_agent.service.requests import CheckRequest, SessionKey
from jupyter_lsp_agent.service.sessions import SessionStore, session_path
from jupyter_lsp_agent.service.settings import Settings
from jupyter_lsp_agent.service.status import build_status, running_status, with_probe
from jupyter_lsp_agent.service.stores import OpenedDocument

if TYPE_CHECKING:
    from jupyter_lsp_agent.service.background_installs import BackgroundInstalls

_SETTLE_SECONDS = 300.0
"""How long a process that was to check once waits for servers that it began to install."""


class NotebookDiagnosticsService:
    """Checks documents with servers that it starts, shares and stops.

    Args:
        settings: of this process; a workspace may narrow them.
        server_root: the server's root over REST, the current folder elsewhere.
        clock: the time.

    Attributes:
        query: answers a question about code (`Navigator.query`).
    """

    def __init__(self, settings: Settings, *, server_root: Path, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._places = PlaceFinder(settings, server_root)
        limits = _limits(settings)
        self._start_client = starter(limits, clock)
        self._pool = ClientPool(limits, clock, self._start_client)
        self._installs = self._places.installs = self._background_installs()
        self._caller = ChainCaller(self._pool, clock)
        self._judge = DocumentJudge(Asker(self._caller))
        self.query: Final = Navigator(self._caller, self._judge, self._places.find, settings, clock).query
        self._sessions = SessionStore(clock.monotonic_seconds)
        self._comparer = Comparer(self._sessions)
        self._others = OtherFiles(self._judge, self._sessions, clock)
        self._check_numbers = count(1)

    @classmethod
    async def open(cls, settings: Settings, *, server_root: Path | None = None, clock: Clock | None = None) -> Self:
        """A service on the running loop; it starts nothing before the first check."""
        return cls(settings, server_root=server_root or Path.cwd(), clock=clock or SystemClock())

    def _background_installs(self) -> "BackgroundInstalls | None":
        if self._settings.install_strategy != "auto":
            return None
        from jupyter_lsp_agent.service.background_installs import BackgroundInstalls

        places, pool = self._places, self._pool
        return BackgroundInstalls(
            places.registry, own_servers_folder(), places.search, self._clock, on_installed=pool.choices.clear
        )

    async def check(self, request: CheckRequest) -> Report:
        """The report on one document.

        Raises:
            InvalidRequestError: the request names a revision that is none, or that cannot be read.
            SettingsError: the request names an interpreter that is none.
        """
        case = _Case(request, self._clock.monotonic_seconds(), next(self._check_numbers))
        try:
            place = await asyncio.to_thread(self._places.find, request.path, named=request.named)
            content = await self._read(case, place)
            judged = await self._judge.judge(place, content, request, is_stored=not request.is_proposed)
        except UncheckableError as error:
            return no_verdict_report(self._timed(case), error.reason, str(error))
        case.learn(
            servers=judged.servers,
            failures=judged.failures,
            unchecked=judged.unchecked,
            unmapped=judged.unmapped,
            environment=judged.environment,
        )
        return await self._compare(case, place, content, judged)

    async def meet(self, request: CheckRequest) -> None:
        """Have the session of a request meet what was stored before it, where it has not, without a check."""
        await self._comparer.meet(request, (), next(self._check_numbers))

    async def status(self) -> dict[str, Any]:
        """What servers there are, what runs and what failed, as the object of `GET status`."""
        pool = await self._pool.status()
        attempts = self._installs.attempts if self._installs else ()
        return build_status(self._settings, self._places.registry, self._places.search, pool, attempts)

    async def probe(self) -> dict[str, Any]:
        """The status, after a handshake with every server that is installed: their versions, or what is wrong."""
        results = await probe_servers(self._places.registry, self._places.search, self._start_client)
        return with_probe(await self.status(), ((one.server_id, one.version, one.problem) for one in results))

    async def restart(self, server_id: str, root: str | None = None) -> dict[str, Any]:
        """Stop and start again what runs of a server, in one root or in all, and forget its failures: `{running}`.

        Raises:
            SettingsError: no server has this id.
        """
        spec = self._places.registry.get(server_id)
        if self._installs is not None:
            self._installs.forget(spec.server_id)
        pool = await self._pool.restart(spec.server_id, _root_uri(root))
        return {"running": [running_status(one) for one in pool.running]}

    async def settle_installs(self, tell: Callable[[str], None] = lambda _sentence: None) -> bool:
        """Wait, a bounded time, for servers that checks missed and that are being installed.

        For callers whose service ends with their check, and would take the installs along.

        Args:
            tell: is told what is waited for, and what became of each server.

        Returns:
            Whether any was installed, so that a check that had no server may have one now.
        """
        if self._installs is None:
            return False
        if names := self._installs.under_way:
            tell(f"installing {', '.join(names)}; waiting for its end, at most {_SETTLE_SECONDS:.0f} s")
        await self._installs.settle(_SETTLE_SECONDS)
        for attempt in self._installs.attempts:
            tell(attempt.sentence())
        return self._installs.has_installed

    async def aclose(self) -> None:
        """Give up what is under way and stop every server."""
        try:
            if self._installs is not None:
                await self._installs.aclose()
            await self._caller.aclose()
        finally:
            await self._pool.aclose()

    async def accept(self, key: SessionKey, document: OpenedDocument) -> Counts | None:
        """Let a session's last verdict on a document be its baseline; the counts are those of that verdict.

        A session that has not met the document meets it.
        """
        path = session_path(document.location)
        known = self._sessions.accept(key, path)
        if known is None:
            cells = await asyncio.to_thread(read_cells, document.location, document.data)
            known = None if cells is None else self._sessions.meet(key, path, cells, name=document.name)
        return None if known is None else known.counts

    async def forget(self, key: SessionKey, document: OpenedDocument) -> None:
        """Let a session forget a document."""
        self._sessions.reset(key, session_path(document.location))

    def sessions(self, user: str, name: str | None = None) -> list[dict[str, Any]]:
        """The sessions of a user, on one document or on all, as `GET sessions` gives them."""
        return list_sessions(self._sessions, user, name)

    def followed(self, path: Path | None = None) -> tuple[str, ...]:
        """The documents, or the one at `path`, that a session of whatever user knows, as their users name them.

        Those of the sessions used last are at the end.
        """
        return self._sessions.followed(None if path is None else session_path(path))

    def renamed(self, old: Path, new: Path) -> None:
        """A file or folder has another name: sessions follow."""
        self._sessions.rename(session_path(old), session_path(new))
        self._others.forget(old)

    def deleted(self, path: Path) -> None:
        """A file or folder is gone: sessions forget it."""
        self._sessions.delete(session_path(path))
        self._others.forget(path)

    async def _read(self, case: "_Case", place: Place) -> Content:
        """The content to be judged; the session of the request meets it."""
        require_allowed(place, is_enabled_elsewhere=self._settings.enabled)
        stored = await read_document(place.path, case.request.content_bytes, source=case.request.content_source)
        case.learn(content_source=stored.source)
        if case.facts.kind is DocumentKind.TEXT:
            text = decode_text(place.path, stored.data)
            case.learn(text=text)
            content = text_content(place, text)
        else:
            content = notebook_content(await asyncio.to_thread(parse_notebook, stored))
            case.learn(text="", cells=content.cells)
        case.learn(language=content.language)
        await self._comparer.meet(case.request, content.cells, case.number)
        return content

    async def _compare(self, case: "_Case", place: Place, content: Content, judged: Judged) -> Report:
        """The report, compared with what was asked for; again where the session had another verdict meanwhile."""
        view = case.request.view_under(place.settings)

        async def judge_older(cells: tuple[Cell, ...]) -> StateVerdict | None:
            return await self._judge_older(case.request, place, content.with_cells(cells))

        while True:
            compared = await self._comparer.compare(case.request, judged.verdict, judge_older, place.search)
            case.learn(**facts_of(compared, case.facts, view))
            effects = await self._effects(case, place, view, compared, judged)
            case.learn(other_files={} if effects is None else effects.files)
            report = build_report(self._timed(case), view)
            if report.counts is None:
                return replace(report, other_files={})  # what is told is told with a verdict
            if self._comparer.keep(case.request, compared, report, case.number):
                if effects is not None and case.request.is_awaited():
                    self._others.tell(case.request, effects)
                break
        if judged.was_answered and not case.request.is_proposed:
            self._others.remember(CheckedDocument(case.request, place, content, judged.verdict, case.number))
        return report

    async def _effects(
        self, case: "_Case", place: Place, view: ViewOptions, compared: Compared, judged: Judged
    ) -> Effects | None:
        """What an edit that the session is told of did to other files; `None` where there is none to be told of."""
        if not rolls(case.request, compared):
            return None
        news = is_news(compared, judged.verdict)
        if not news and not self._others.owes(case.request):
            return None
        return await self._others.changed_by(case.request, place, view, self._left(case, place), is_news=news)

    async def _judge_older(self, request: CheckRequest, place: Place, content: Content) -> StateVerdict | None:
        try:
            judged = await self._judge.judge(place, content, request, is_stored=False)
        except UncheckableError:
            return None
        return judged.verdict if judged.was_answered else None

    def _left(self, case: "_Case", place: Place) -> float:
        """How long the answer may still take, in seconds."""
        asked = case.request.wait_seconds
        whole = place.settings.wait_ms / 1000 if asked is None else asked
        return max(0.0, whole - (self._clock.monotonic_seconds() - case.began_seconds))

    def _timed(self, case: "_Case") -> ReportFacts:
        return replace(case.facts, elapsed_seconds=self._clock.monotonic_seconds() - case.began_seconds)


class _Case:
    """One check under way: what is known so far, so that a report without a verdict says all of it too."""

    def __init__(self, request: CheckRequest, began_seconds: float, number: int) -> None:
        self.request = request
        self.began_seconds = began_seconds
        self.number = number
        self.facts = ReportFacts(
            path=request.display_path or str(request.path),
            kind=document_kind(request.path),
            text=None,
            content_source=None,
            checked_at=datetime.now(UTC),
        )

    def learn(self, **facts: Any) -> None:
        """Add to what is known."""
        self.facts = replace(self.facts, **facts)


def _root_uri(root: str | None) -> DocumentUri | None:
    """A root as the status names it; symbolic links in it are names too."""
    return None if root is None else uri_from_path(Path(root).absolute())


def _limits(settings: Settings) -> PoolLimits:
    return PoolLimits(
        max_servers=settings.max_servers,
        max_open_documents=settings.max_open_documents,
        max_server_rss_bytes=settings.max_server_rss_mb * 1024 * 1024,
        idle_timeout_seconds=settings.idle_timeout_s,
        broken_retry_seconds=settings.broken_retry_s,
        startup_timeout_seconds=settings.startup_timeout_s,
    )
