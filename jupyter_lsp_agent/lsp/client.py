"""One language server: started, greeted, asked, stopped.

`diagnose` is the verb that all hangs on: it brings the server to exactly the text that is given, and waits for what the
server says of it. It has no time limit of its own. The caller bounds it and may cancel it; then there is no verdict,
which is something else than an empty one. When the server dies, everything that waits for it fails at once, with the
same cause.

Reading order of this package: `client`, `session` (life), `documents` (texts), `verdict` with `pull`, `freshness` and
`diagnostic_store` (answers), `server_requests` (the other direction), `wire` (raw JSON). Not here: which server for
which file (`servers/`), how many and for how long (`pool/`).
"""

from collections.abc import Iterable
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from enum import IntEnum
from typing import Final

from jupyter_lsp_agent.core.behaviour import ChangedFilesReaction
from jupyter_lsp_agent.core.clock import Clock, time_limit
from jupyter_lsp_agent.core.errors import TransportError
from jupyter_lsp_agent.core.ids import DocumentUri
from jupyter_lsp_agent.core.launch import ServerLaunch, TextDocument
from jupyter_lsp_agent.jsonrpc.transport import StdioTransport
from jupyter_lsp_agent.lsp import methods
from jupyter_lsp_agent.lsp.capabilities import ServerCapabilities
from jupyter_lsp_agent.lsp.documents import DocumentSync, OpenDocument
from jupyter_lsp_agent.lsp.navigation import Navigation
from jupyter_lsp_agent.lsp.pull import Puller
from jupyter_lsp_agent.lsp.report import DiagnosticReport, place_findings
from jupyter_lsp_agent.lsp.server_requests import ServerRequests
from jupyter_lsp_agent.lsp.session import ClientState, Connect, ServerSession
from jupyter_lsp_agent.lsp.state import new_server_state
from jupyter_lsp_agent.lsp.turns import TURN_SECONDS, Turns
from jupyter_lsp_agent.lsp.verdict import VerdictSeeker
from jupyter_lsp_agent.lsp.wire.server import InitializeResult

__all__ = ["ClientState", "Connect", "DiagnosticReport", "FileChange", "FileChangeKind", "LanguageClient"]


class FileChangeKind(IntEnum):
    """LSP's `FileChangeType`."""

    CREATED = 1
    CHANGED = 2
    DELETED = 3


@dataclass(frozen=True, slots=True)
class FileChange:
    """A file that changed on disk."""

    uri: DocumentUri
    kind: FileChangeKind


class LanguageClient:
    """A client for one server process. A server that died is never started again by the same client.

    Args:
        launch: what to start and how to greet it.
        clock: for every wait.
        connect: how to start it; its process by default.
        max_open_documents: how many are kept open; the ones that were not used for longest are closed.

    Attributes:
        navigation: questions about places: hover, definition, references, symbols, signature help.
    """

    def __init__(
        self,
        launch: ServerLaunch,
        *,
        clock: Clock,
        connect: Connect | None = None,
        max_open_documents: int = 64,
    ) -> None:
        self._launch = launch
        self._clock = clock
        self._server = new_server_state(launch.behaviour, clock)
        handler = ServerRequests(launch, self._server)
        self._session = ServerSession(launch, clock, connect or StdioTransport.spawn, handler)
        self._documents = DocumentSync(self._session.notify, self._server, max_open_documents=max_open_documents)
        self._verdicts = VerdictSeeker(self._server, Puller(self._session.request, self._server))
        self.navigation: Final = Navigation(self._session, self._documents, self._server)
        self._turns = Turns(clock, None if launch.behaviour.one_at_a_time else TURN_SECONDS)
        self._initialize_result: InitializeResult | None = None

    @property
    def state(self) -> ClientState:
        """Where the client is in its life."""
        return self._session.state

    @property
    def server_version(self) -> str | None:
        """The version that the server gives itself."""
        return None if self._initialize_result is None else self._initialize_result.server_version

    @property
    def pid(self) -> int | None:
        """The server's process; `None` before it is started, and for a server in memory."""
        transport = self._session.transport
        return transport.pid if isinstance(transport, StdioTransport) else None

    @property
    def capabilities(self) -> ServerCapabilities:
        """What the server can do."""
        return self._server.capabilities

    @property
    def open_documents(self) -> tuple[DocumentUri, ...]:
        """What is open at the server, the least recently used first."""
        return self._documents.uris

    @property
    def idle_documents(self) -> tuple[TextDocument, ...]:
        """What is open at the server and has its verdict, with the texts that it has."""
        return self._documents.idle

    async def reopen(self, documents: Iterable[TextDocument]) -> None:
        """Open documents that another process of the same server had open; nothing is asked about them.

        Raises:
            TransportError: the server is gone.
        """
        for document in documents:
            entry = self._documents.reserve(document)
            async with entry.lock:
                await self._documents.synchronise(entry, document.text)

    async def start(self) -> None:
        """Start the server and do the handshake; whatever was started is ended where that fails or is given up.

        Raises:
            SpawnFailedError: its program cannot be started.
            InitializeFailedError: it did not complete the handshake in time, refused it, or died.
            ClosedError: called a second time.
        """
        await self._session.start(self._take_over)

    async def diagnose(self, document: TextDocument) -> DiagnosticReport:
        """Bring the server to this text, and wait for its verdict on exactly this text, however long that is.

        Calls for one document are served one after the other. A caller that is cancelled has its request cancelled.

        Args:
            document: the text.

        Raises:
            TransportError: the server is gone, or dies meanwhile.
            RequestError: it refuses to answer, or its answer cannot be used.
            ClosedError: the client is not running.
        """
        entry = self._documents.reserve(document)
        entry.users += 1
        try:
            return await self._session.until_closed(self._diagnose(entry, document))
        finally:
            entry.users -= 1

    async def close_document(self, uri: str) -> None:
        """Close a document at the server, after whoever waits for a verdict on it; one that is not open is ignored.

        Raises:
            TransportError: the server is gone.
        """
        entry = self._documents.find(uri)
        if entry is not None:
            async with entry.lock:
                await self._documents.close(uri)

    async def did_change_watched_files(self, changes: Iterable[FileChange]) -> None:
        """Tell the server of files that changed on disk. What it pushed before is not believed any more.

        Those of them that are open are closed first: a server believes an open document, whatever the disk says.

        Raises:
            TransportError: the server is gone.
        """
        told = tuple(changes)
        items = [{"uri": change.uri, "type": int(change.kind)} for change in told]
        if items:
            self._documents.mark_outdated()
            await self._documents.close_idle(change.uri for change in told)
            await self._session.notify(methods.DID_CHANGE_WATCHED_FILES, {"changes": items})

    async def wait_closed(self) -> TransportError:
        """Wait until the server is gone, and tell why.

        Raises:
            ClosedError: it was never started.
        """
        return await self._session.wait_closed()

    async def aclose(self) -> None:
        """Stop the server: `shutdown`, `exit`, the end of its process. May be called again and by several tasks;
        finishes even when the caller is cancelled."""
        self._server.readiness.aclose()
        await self._session.aclose()

    def _take_over(self, result: InitializeResult) -> None:
        self._initialize_result = result
        self._server.capabilities.initialized(result.capabilities)
        self._server.readiness.begin()

    async def _diagnose(self, entry: OpenDocument, document: TextDocument) -> DiagnosticReport:
        began_seconds = self._clock.monotonic_seconds()
        async with entry.lock, self._turn(entry) as has_turn:
            if has_turn and not self._launch.behaviour.one_at_a_time:
                await self._let_finish(entry)
            await self._documents.close_surplus()
            await self._documents.synchronise(entry, document.text, resend=self._must_resend(entry))
            entry.is_pending = True
            verdict = await self._verdicts.seek(entry)
            entry.is_pending = False
            return DiagnosticReport(
                entry.uri,
                entry.version,
                place_findings(verdict.findings, entry, self.capabilities.position_encoding),
                verdict.freshness,
                self._clock.monotonic_seconds() - began_seconds,
                verdict.is_ready,
                verdict.findings.dropped,
            )

    def _turn(self, entry: OpenDocument) -> AbstractAsyncContextManager[object]:
        """Its turn, where the verdict on a document is pushed; nothing where it is pulled."""
        behaviour = self._launch.behaviour
        is_pulled = bool(self.capabilities.pull_providers(entry.language_id))
        needs_turn = not is_pulled or behaviour.merge_push_with_pull or behaviour.one_at_a_time
        return self._turns.turn() if needs_turn else nullcontext()

    async def _let_finish(self, entry: OpenDocument) -> None:
        """Let the server finish what was given up: until then its quiet says nothing about the next document."""
        store = self._server.store
        for other in self._documents.given_up(entry):
            try:
                async with time_limit(self._clock, max(0.0, TURN_SECONDS - store.age_seconds(other.uri))):
                    await store.wait_for_push(other.uri)
            except TimeoutError:
                other.is_silent = True
            else:
                other.is_pending = False

    def _must_resend(self, entry: OpenDocument) -> bool:
        """Whether a text that the server has is to be sent again: what was pushed for it may be outdated or was given
        up, or the server looks at its neighbours only when it changes. A pull needs no such nudge."""
        if not (entry.is_outdated or entry.is_pending):
            return False
        is_pulled = bool(self.capabilities.pull_providers(entry.language_id))
        return not is_pulled or self._launch.behaviour.changed_files is ChangedFilesReaction.NUDGE
