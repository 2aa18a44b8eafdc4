"""How a verdict on an open document is had: by pull where there is one, else from what is pushed, or from both.

Which it is cannot always be known beforehand. Several servers say nothing of pull in their answer to `initialize` and
register it a moment later, and stop pushing because they were offered it. So while a registration may still come,
the first of the two decides: the registration, or pushes that have settled.
"""

import asyncio
from dataclasses import dataclass

from jupyter_lsp_agent.core.behaviour import Freshness
from jupyter_lsp_agent.lsp.documents import OpenDocument
from jupyter_lsp_agent.lsp.pull import Puller
from jupyter_lsp_agent.lsp.state import ServerState
from jupyter_lsp_agent.lsp.wire.diagnostics import Findings

_MAX_REFRESHED_PULLS = 3
"""A pull that a refresh overtook is made again, but a server that refreshes at every pull does not keep us for ever."""


@dataclass(frozen=True, slots=True)
class Verdict:
    """Findings on the text that the server has, and how they are known to be about it."""

    findings: Findings
    freshness: Freshness
    is_ready: bool


class VerdictSeeker:
    """Waits for one server's verdicts."""

    def __init__(self, state: ServerState, puller: Puller) -> None:
        self._behaviour = state.behaviour
        self._capabilities = state.capabilities
        self._store = state.store
        self._readiness = state.readiness
        self._clock = state.clock
        self._puller = puller

    async def seek(self, document: OpenDocument) -> Verdict:
        """Wait for the verdict on the text that the server has, however long that is.

        Raises:
            RequestError: the server refuses a pull, or its answer cannot be used.
        """
        await self._readiness.wait()
        verdict = await self._seek(document)
        while not verdict.is_ready and not verdict.findings.diagnostics:
            # Nothing was found by a server that has perhaps not looked yet: its signal decides, or the caller's limit.
            await self._readiness.wait_for_signal()
            verdict = await self._seek(document)
        self._store.mark_settled(document.uri)
        return verdict

    async def _seek(self, document: OpenDocument) -> Verdict:
        verdict = await self._pulled(document)
        if verdict is not None:
            return verdict
        if self._capabilities.pull_may_come:
            return await self._whichever_comes_first(document)
        return await self._pushed(document)

    async def _whichever_comes_first(self, document: OpenDocument) -> Verdict:
        pushed = asyncio.create_task(self._pushed(document))
        registered = asyncio.create_task(self._capabilities.wait_for_pull(document.language_id))
        try:
            await asyncio.wait([pushed, registered], return_when=asyncio.FIRST_COMPLETED)
            if pushed.done():
                return pushed.result()
            verdict = await self._pulled(document)
            # A source that was taken back at once, or does not answer after all, leaves the pushes.
            return verdict or await pushed
        finally:
            pushed.cancel()
            registered.cancel()
            await asyncio.wait([pushed, registered])

    async def _pushed(self, document: OpenDocument) -> Verdict:
        settled = await self._store.wait_for_push(document.uri, self._readiness.ready_seconds)
        return Verdict(settled.findings, settled.freshness, self._readiness.is_ready)

    async def _pulled(self, document: OpenDocument) -> Verdict | None:
        result = await self._pull(document)
        if result is None:
            return None
        if self._behaviour.merge_push_with_pull:
            await self._wait_until_quiet(document)
        beside = self._store.pushed_beside_pull(document.uri)
        findings = Findings(result.diagnostics + beside.diagnostics, result.dropped + beside.dropped)
        return Verdict(findings, Freshness.PULL, self._readiness.is_ready)

    async def _pull(self, document: OpenDocument) -> Findings | None:
        for _ in range(_MAX_REFRESHED_PULLS):
            n_refreshes = self._store.n_refreshes
            result = await self._puller.pull(document)
            if n_refreshes == self._store.n_refreshes:
                break
        return result

    async def _wait_until_quiet(self, document: OpenDocument) -> None:
        """Until the checker that runs beside the pull (a compiler, say) has had its say."""
        since = self._clock.monotonic_seconds()
        while True:
            await self._readiness.wait_until_idle()
            await self._store.wait_for_quiet(document.uri, since)
            if not self._readiness.is_working:
                return
