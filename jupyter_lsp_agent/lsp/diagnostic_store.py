"""What the server said of each open document, pushed and pulled kept apart, and the wait for its last word.

A closed document has a *farewell*: most servers push an empty list for it, to clear a screen, and some do so late and
under whatever version the document has by then. Taken for an answer on a text that was opened meanwhile, it would be a
false "clean". So a document is not opened again before its farewell has come, or it is known not to come.

Nothing here is ever wiped in the hope of something newer: a result is filed with the version it is about, and a version
that got no result has none. The store is the server process's own: a new process starts with an empty one.
"""

import asyncio
from dataclasses import dataclass, field, replace
from typing import Final

from jupyter_lsp_agent.core.behaviour import ServerBehaviour
from jupyter_lsp_agent.core.clock import Clock, time_limit
from jupyter_lsp_agent.core.ids import DocumentVersion
from jupyter_lsp_agent.core.uris import uri_key
from jupyter_lsp_agent.lsp.freshness import PushHistory, Settled, after_push, judge, quiet_in_seconds
from jupyter_lsp_agent.lsp.wire.diagnostics import Findings, FullReport, PublishedDiagnostics

FAREWELL_SECONDS: Final = 2.0
"""How long a farewell is waited for. If it comes later still, it is told apart by being the first, and empty."""

_MAX_WITHOUT_FAREWELL: Final = 3
"""So many times without any: this server has no such custom."""

_MAX_FAREWELLS: Final = 256


@dataclass(slots=True)
class _Record:
    pushes: PushHistory
    pulls: dict[str | None, FullReport] = field(default_factory=dict)
    """The last full report of each source, by its identifier."""
    is_settled: bool = False
    pushed: asyncio.Event = field(default_factory=asyncio.Event)


class DiagnosticStore:
    """The results for one server's open documents, found by URI in whatever spelling."""

    def __init__(self, behaviour: ServerBehaviour, clock: Clock) -> None:
        self._behaviour = behaviour
        self._clock = clock
        self._records: dict[str, _Record] = {}
        self._farewells: dict[str, asyncio.Event] = {}
        self._n_without_farewell = 0
        self._n_refreshes = 0

    @property
    def n_refreshes(self) -> int:
        """How often the server said that what was pulled is to be pulled again."""
        return self._n_refreshes

    def note_refresh(self) -> None:
        """Take note of `workspace/diagnostic/refresh`."""
        self._n_refreshes += 1

    def begin_version(self, uri: str, version: DocumentVersion, *, opened: bool) -> None:
        """Expect results on a new version, before it is sent. `opened`: the document is new to the server."""
        now = self._clock.monotonic_seconds()
        known = self._records.get(uri_key(uri))
        if known is None or opened:
            owes_farewell = self._farewells.pop(uri_key(uri), None) is not None
            self._records[uri_key(uri)] = _Record(PushHistory(version, now, owes_farewell=owes_farewell))
            return
        before = known.pushes
        known.pushes = PushHistory(
            version,
            now,
            is_first_text=False,
            was_settled=known.is_settled,
            had_verdict=before.had_verdict,
            n_since_open=before.n_since_open,
            last_word=before.last_word,
        )
        known.is_settled = False

    def age_seconds(self, uri: str) -> float:
        """How long ago the version that an open document has was sent."""
        return self._clock.monotonic_seconds() - self._records[uri_key(uri)].pushes.began_seconds

    def forget(self, uri: str) -> None:
        """Drop all results on a document, before it is closed."""
        if self._records.pop(uri_key(uri), None) is None or self._n_without_farewell >= _MAX_WITHOUT_FAREWELL:
            return
        self._farewells[uri_key(uri)] = asyncio.Event()
        while len(self._farewells) > _MAX_FAREWELLS:
            del self._farewells[next(iter(self._farewells))]

    async def wait_for_farewell(self, uri: str) -> None:
        """Wait until what was pushed at the closing of a document is here, or most likely does not come."""
        farewell = self._farewells.get(uri_key(uri))
        if farewell is None:
            return
        try:
            async with time_limit(self._clock, FAREWELL_SECONDS):
                await farewell.wait()
        except TimeoutError:
            self._n_without_farewell += 1

    def record_push(self, push: PublishedDiagnostics) -> None:
        """File a push. One for a document that is not open is nobody's answer, but may be a farewell."""
        record = self._records.get(uri_key(push.uri))
        if record is None:
            self._take_farewell(push)
            return
        now = self._clock.monotonic_seconds()
        record.pushes = after_push(record.pushes, push, now, self._behaviour)
        _announce(record)

    def record_pull(self, uri: str, identifier: str | None, report: FullReport) -> None:
        """File what one source answered."""
        record = self._records.get(uri_key(uri))
        if record is not None:
            record.pulls[identifier] = report

    def pull_of(self, uri: str, identifier: str | None) -> FullReport | None:
        """The last full report of one source on a document."""
        record = self._records.get(uri_key(uri))
        return None if record is None else record.pulls.get(identifier)

    def pushed_beside_pull(self, uri: str) -> Findings:
        """What was pushed on the version that the server has and belongs beside a pull of it.

        An unversioned push may be about an older text, so it belongs there only where the server is known to push
        what it does not answer.
        """
        record = self._records.get(uri_key(uri))
        if record is None or record.pushes.last is None:
            return Findings()
        if record.pushes.last_has_version or self._behaviour.merge_push_with_pull:
            return record.pushes.last
        return Findings()

    def may_be_clean(self, uri: str) -> bool:
        """Whether the last that was pushed on a document, if anything was, had no finding in it."""
        record = self._records.get(uri_key(uri))
        word = None if record is None else record.pushes.last_word
        return word is None or not word.diagnostics

    def mark_settled(self, uri: str) -> None:
        """Note that the version got its verdict."""
        record = self._records.get(uri_key(uri))
        if record is not None:
            record.is_settled = True
            record.pushes = replace(record.pushes, had_verdict=True)

    async def wait_for_push(self, uri: str, not_before_seconds: float = 0.0) -> Settled:
        """Wait until the pushes are the verdict on the version that the server has, however long that is.

        Args:
            uri: an open document's; it is not closed while somebody waits.
            not_before_seconds: when the server was ready.
        """
        record = self._records[uri_key(uri)]
        while True:
            verdict = judge(record.pushes, self._behaviour, self._clock.monotonic_seconds(), not_before_seconds)
            if isinstance(verdict, Settled):
                return verdict
            await self._wait(record, verdict.wait_seconds)

    async def wait_for_quiet(self, uri: str, since_seconds: float) -> None:
        """Wait until the server has pushed nothing for its quiet period, counted from `since_seconds` at the earliest.

        For what is pushed beside a pull: there may be nothing to push, so silence is no reason to wait on.
        """
        record = self._records[uri_key(uri)]
        while True:
            now = self._clock.monotonic_seconds()
            seconds = quiet_in_seconds(record.pushes, self._behaviour, now, since_seconds)
            if seconds == 0:
                return
            await self._wait(record, seconds)

    def _take_farewell(self, push: PublishedDiagnostics) -> None:
        if uri_key(push.uri) in self._farewells and not push.findings.diagnostics:
            self._n_without_farewell = 0
            self._farewells.pop(uri_key(push.uri)).set()

    async def _wait(self, record: _Record, seconds: float | None) -> None:
        """Wait for the next push, or until `seconds` have passed."""
        pushed = record.pushed
        timer = None if seconds is None else self._clock.call_later(seconds, pushed.set)
        try:
            await pushed.wait()
        finally:
            if timer is not None:
                timer.cancel()
            if record.pushed is pushed and pushed.is_set():
                record.pushed = asyncio.Event()


def _announce(record: _Record) -> None:
    record.pushed.set()
    record.pushed = asyncio.Event()
