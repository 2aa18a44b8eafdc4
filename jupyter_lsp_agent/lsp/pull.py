"""`textDocument/diagnostic`: asked once at a time for a document, again where the server says so, never for ever."""

from collections.abc import Awaitable, Callable, Iterable
from typing import Any, TypeAlias

from jupyter_lsp_agent.core.clock import pause
from jupyter_lsp_agent.core.errors import InvalidResponseError, ResponseError
from jupyter_lsp_agent.jsonrpc.messages import ErrorCode
from jupyter_lsp_agent.lsp.documents import OpenDocument
from jupyter_lsp_agent.lsp.methods import DOCUMENT_DIAGNOSTIC
from jupyter_lsp_agent.lsp.state import ServerState
from jupyter_lsp_agent.lsp.wire.diagnostics import (
    DocumentDiagnosticReport,
    Findings,
    FullReport,
    decode_document_diagnostic_report,
    decode_retrigger_request,
)
from jupyter_lsp_agent.lsp.wire.server import PullProvider

Request: TypeAlias = Callable[[str, Any], Awaitable[Any]]
"""Sends a request (method and parameters) and gives its result."""

_CONTENT_MODIFIED_PAUSES_SECONDS = (0.5, 1.0, 2.0)
_SERVER_CANCELLED_PAUSES_SECONDS = (0.0, 0.1)
_UNDISTURBED_PAUSES_SECONDS = (0.2, 0.5, 1.0, 2.0)
"""After these, while no document is changed."""


class Puller:
    """Pulls diagnostics. The caller holds the document's lock, so there is never a second pull for it."""

    def __init__(self, request: Request, state: ServerState) -> None:
        self._request = request
        self._capabilities = state.capabilities
        self._store = state.store
        self._clock = state.clock
        self._change_gate = state.change_gate

    async def pull(self, document: OpenDocument) -> Findings | None:
        """Ask every source for a document; `None` where the server turned out not to pull at all.

        Raises:
            ResponseError: it answers with an error, also when asked again.
            InvalidResponseError: its answer is no report.
            TransportError: it is gone.
        """
        findings: list[Findings] = []
        for provider in self._capabilities.pull_providers(document.language_id):
            try:
                report = await self._pull_source(document, provider)
            except ResponseError as error:
                if error.code != ErrorCode.METHOD_NOT_FOUND:
                    raise
                self._capabilities.refuse_pull()
                return None
            findings.append(self._file(document, provider, report))
        if not findings:
            return None
        diagnostics = tuple(diagnostic for found in findings for diagnostic in found.diagnostics)
        return Findings(diagnostics, sum(found.dropped for found in findings))

    async def _pull_source(self, document: OpenDocument, provider: PullProvider) -> DocumentDiagnosticReport:
        known = self._store.pull_of(document.uri, provider.identifier)
        result_id = None if known is None else known.result_id
        report = await self._ask(document, provider, result_id)
        if not isinstance(report.main, FullReport) and known is None:
            # As in a report that was never had: the whole one is asked for.
            report = await self._ask(document, provider, None)
        return report

    async def _ask(
        self, document: OpenDocument, provider: PullProvider, previous_result_id: str | None
    ) -> DocumentDiagnosticReport:
        params: dict[str, Any] = {"textDocument": {"uri": document.uri}}
        if provider.identifier is not None:
            params["identifier"] = provider.identifier
        if previous_result_id is not None:
            params["previousResultId"] = previous_result_id
        report = decode_document_diagnostic_report(await self._request_patiently(params))
        if report is None:
            raise InvalidResponseError(DOCUMENT_DIAGNOSTIC, "the result is no diagnostic report")
        return report

    async def _request_patiently(self, params: dict[str, Any]) -> Any:
        """Ask, and ask again a few times where the server says that its answer was overtaken by a change.

        Each change of any document may cancel what is pulled for all; where that happens again and again, the changes
        wait until this pull is answered, or a long answer would never come while many documents are checked.
        """
        try:
            return await self._request_again(params, _SERVER_CANCELLED_PAUSES_SECONDS)
        except ResponseError as error:
            if error.code != ErrorCode.SERVER_CANCELLED or not _is_passing(error):
                raise
        first, *others = _UNDISTURBED_PAUSES_SECONDS
        async with self._change_gate:
            await pause(self._clock, first)
            return await self._request_again(params, others)

    async def _request_again(self, params: dict[str, Any], cancelled_pauses_seconds: Iterable[float]) -> Any:
        pauses = {
            ErrorCode.CONTENT_MODIFIED: iter(_CONTENT_MODIFIED_PAUSES_SECONDS),
            ErrorCode.SERVER_CANCELLED: iter(cancelled_pauses_seconds),
        }
        while True:
            try:
                return await self._request(DOCUMENT_DIAGNOSTIC, params)
            except ResponseError as error:
                seconds = next(pauses.get(ErrorCode(error.code), iter(())), None) if _is_passing(error) else None
                if seconds is None:
                    raise
                await pause(self._clock, seconds)

    def _file(self, document: OpenDocument, provider: PullProvider, report: DocumentDiagnosticReport) -> Findings:
        for uri, other in report.related.items():
            if isinstance(other, FullReport) and not other.findings.is_unreadable:
                self._store.record_pull(uri, provider.identifier, other)
        main = report.main
        if not isinstance(main, FullReport):
            known = self._store.pull_of(document.uri, provider.identifier)
            if known is None:
                raise InvalidResponseError(DOCUMENT_DIAGNOSTIC, "it says `unchanged` of a report that it never gave")
            return known.findings
        if main.findings.is_unreadable:
            raise InvalidResponseError(DOCUMENT_DIAGNOSTIC, f"none of its {main.findings.dropped} items can be read")
        self._store.record_pull(document.uri, provider.identifier, main)
        return main.findings


def _is_passing(error: ResponseError) -> bool:
    if error.code == ErrorCode.CONTENT_MODIFIED:
        return True
    return error.code == ErrorCode.SERVER_CANCELLED and decode_retrigger_request(error.data)
