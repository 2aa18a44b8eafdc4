"""Questions about a place in a document: hover, definition, references, symbols, signature help.

Before a question about a document the server is brought to its text, so that the answer is about what was asked. Places
in documents that the server was sent come back as text ranges; places in other files, whose text we have not read, as
the server's own numbers with the encoding that they count in. A server that still loads its project is waited for, and
that it knows nothing is believed only once it is ready.
"""

from collections.abc import Iterable
from typing import Any

from jupyter_lsp_agent.core.clock import pause
from jupyter_lsp_agent.core.errors import ResponseError
from jupyter_lsp_agent.core.ids import DocumentUri
from jupyter_lsp_agent.core.launch import TextDocument
from jupyter_lsp_agent.core.navigation import Hover, Location, Signature, Symbol
from jupyter_lsp_agent.core.positions import (
    TextPosition,
    TextRange,
    WireRange,
    character_from_column,
    text_range_from_wire,
)
from jupyter_lsp_agent.core.uris import uri_key
from jupyter_lsp_agent.jsonrpc.messages import ErrorCode
from jupyter_lsp_agent.lsp import methods
from jupyter_lsp_agent.lsp.documents import DocumentSync, OpenDocument
from jupyter_lsp_agent.lsp.session import ServerSession
from jupyter_lsp_agent.lsp.state import ServerState
from jupyter_lsp_agent.lsp.wire.navigation import (
    WireSymbol,
    decode_hover,
    decode_locations,
    decode_signatures,
    decode_symbols,
)

_MAX_ATTEMPTS = 4
"""How often a question is asked that the server says was overtaken by a change."""

_PAUSE_SECONDS = 0.1


class Navigation:
    """The questions, for one running server.

    Every call raises `ResponseError` where the server answers with an error (-32601 where it does not know the
    question), `TransportError` where it is gone, `ClosedError` where the client is not running. None has a time limit
    of its own.
    """

    def __init__(self, session: ServerSession, documents: DocumentSync, state: ServerState) -> None:
        self._session = session
        self._documents = documents
        self._state = state

    async def hover(self, document: TextDocument, position: TextPosition) -> Hover | None:
        """What the server knows of a place; `None` where it knows nothing."""
        entry, result = await self._ask(methods.HOVER, document, position)
        hover = decode_hover(result)
        if hover is None:
            return None
        return Hover(hover.text, None if hover.range is None else self._text_range(entry, hover.range))

    async def definition(self, document: TextDocument, position: TextPosition) -> tuple[Location, ...]:
        """Where the thing at a place is defined."""
        entry, result = await self._ask(methods.DEFINITION, document, position)
        return tuple(self._location(entry, found.uri, found.range) for found in decode_locations(result))

    async def references(self, document: TextDocument, position: TextPosition) -> tuple[Location, ...]:
        """Where the thing at a place is used, its definition included."""
        context = {"context": {"includeDeclaration": True}}
        entry, result = await self._ask(methods.REFERENCES, document, position, context)
        return tuple(self._location(entry, found.uri, found.range) for found in decode_locations(result))

    async def signature_help(self, document: TextDocument, position: TextPosition) -> tuple[Signature, ...]:
        """The signatures of the call around a place."""
        _, result = await self._ask(methods.SIGNATURE_HELP, document, position)
        return tuple(decode_signatures(result))

    async def document_symbols(self, document: TextDocument) -> tuple[Symbol, ...]:
        """What a document defines, as a tree where the server has one."""
        entry, result = await self._ask(methods.DOCUMENT_SYMBOL, document, None)
        return tuple(self._symbol(entry, found) for found in decode_symbols(result))

    async def workspace_symbols(self, query: str) -> tuple[Symbol, ...]:
        """Symbols of the workspace whose names match `query`, as the server understands that."""
        work = self._ask_when_ready(methods.WORKSPACE_SYMBOL, {"query": query})
        result = await self._session.until_closed(work)
        return tuple(self._symbol(None, found) for found in decode_symbols(result))

    async def show(self, documents: Iterable[TextDocument]) -> None:
        """Open documents beside the one that is asked about: some servers know of those alone that they were sent."""
        for document in documents:
            entry = self._documents.reserve(document)
            entry.users += 1
            try:
                async with entry.lock:
                    await self._bring_up(entry, document.text)
            finally:
                entry.users -= 1

    async def _bring_up(self, entry: OpenDocument, text: str) -> None:
        """Bring the server to a text. Nobody waits for its verdict, so whoever does later must not take it for given:
        a server that pushes may have dropped it for a document that came after."""
        before = entry.version
        await self._documents.synchronise(entry, text)
        entry.is_pending = entry.is_pending or entry.version != before

    async def _ask(
        self, method: str, document: TextDocument, position: TextPosition | None, more: dict[str, Any] | None = None
    ) -> tuple[OpenDocument, Any]:
        entry = self._documents.reserve(document)
        entry.users += 1
        try:
            return entry, await self._session.until_closed(self._synchronised(method, entry, document, position, more))
        finally:
            entry.users -= 1

    async def _synchronised(
        self,
        method: str,
        entry: OpenDocument,
        document: TextDocument,
        position: TextPosition | None,
        more: dict[str, Any] | None,
    ) -> Any:
        async with entry.lock:
            await self._documents.close_surplus()
            await self._bring_up(entry, document.text)
            params: dict[str, Any] = {"textDocument": {"uri": entry.uri}, **(more or {})}
            if position is not None:
                params["position"] = self._wire_position(entry, position)
            return await self._ask_when_ready(method, params)

    async def _ask_when_ready(self, method: str, params: dict[str, Any]) -> Any:
        readiness = self._state.readiness
        await readiness.wait()
        result = await self._ask_again(method, params)
        while not result and not readiness.is_ready:
            await readiness.wait_for_signal()
            result = await self._ask_again(method, params)
        return result

    async def _ask_again(self, method: str, params: dict[str, Any]) -> Any:
        """The answer; asked for again where the server says that a change overtook it."""
        for attempt in range(1, _MAX_ATTEMPTS + 1):
            try:
                return await self._session.request(method, params)
            except ResponseError as error:
                if error.code != ErrorCode.CONTENT_MODIFIED or attempt == _MAX_ATTEMPTS:
                    raise
                await pause(self._state.clock, _PAUSE_SECONDS)
        return None

    def _wire_position(self, entry: OpenDocument, position: TextPosition) -> dict[str, int]:
        lines = entry.lines
        line = max(0, min(position.line, len(lines) - 1))
        encoding = self._state.capabilities.position_encoding
        return {"line": line, "character": character_from_column(lines[line], position.column, encoding)}

    def _text_range(self, entry: OpenDocument, wire: WireRange) -> TextRange:
        return text_range_from_wire(entry.lines, wire, self._state.capabilities.position_encoding)

    def _location(self, entry: OpenDocument | None, uri: DocumentUri, wire: WireRange) -> Location:
        is_own = entry is not None and uri_key(uri) == uri_key(entry.uri)
        known = entry if is_own else self._documents.find(uri)
        encoding = self._state.capabilities.position_encoding
        if known is None or known.version == 0:
            return Location(uri, wire, encoding, None)
        return Location(uri, wire, encoding, self._text_range(known, wire), known.text)

    def _symbol(self, entry: OpenDocument | None, found: WireSymbol) -> Symbol:
        uri = found.uri or (entry.uri if entry is not None else None)
        location = None if uri is None or found.range is None else self._location(entry, uri, found.range)
        selection = None
        if location is not None and location.range is not None and found.selection_range is not None:
            selection = self._location(entry, location.uri, found.selection_range).range
        children = tuple(self._symbol(entry, child) for child in found.children)
        return Symbol(found.name, found.kind, found.detail, found.container_name, location, selection, children)
