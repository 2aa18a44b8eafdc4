"""The texts that the server has: which are open, with which version, and how a new text gets there.

Two rules make every later answer attributable. A text is sent only where it differs from what was sent last, so that a
version stands for one text; and version and text are noted *before* the write begins, so that an answer which comes
while the write is under way is never filed under the text before. (A write that is given up half-way is made all the
same: `Transport.send` queues whole messages.) Versions are counted over all documents of a server: a document
that is closed and opened again never repeats one.

A text is replaced whole. Edits by range bring nothing with the servers measured, and some mis-handle them.

A lone surrogate (half of a UTF-16 pair, which JSON can carry and UTF-8 cannot) is sent as U+FFFD, which is as wide in
all three encodings: positions stay, and servers that read strict UTF-8 do not die.
"""

import asyncio
import itertools
import re
from collections import OrderedDict
from collections.abc import Awaitable, Callable, Iterable
from dataclasses import dataclass, field
from typing import Any, TypeAlias

from jupyter_lsp_agent.core.behaviour import FullChange
from jupyter_lsp_agent.core.ids import DocumentUri, DocumentVersion
from jupyter_lsp_agent.core.launch import TextDocument
from jupyter_lsp_agent.core.positions import character_from_column, split_lines
from jupyter_lsp_agent.core.uris import uri_key
from jupyter_lsp_agent.lsp.methods import DID_CHANGE, DID_CLOSE, DID_OPEN, DID_SAVE, SyncKind
from jupyter_lsp_agent.lsp.state import ServerState

Notify: TypeAlias = Callable[[str, Any], Awaitable[None]]
"""Sends a notification (method and parameters); it is queued before the call first gives way."""

_LONE_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(slots=True)
class OpenDocument:
    """A document as the server has it: `text` under `version`. Version 0: it does not have it."""

    uri: DocumentUri
    language_id: str
    version: DocumentVersion
    text: str = ""
    saved_version: int = 0
    lock: asyncio.Lock = field(default_factory=asyncio.Lock)
    users: int = 0
    is_module: bool = False
    """Other documents may speak of it, so that a change of its text is one of theirs."""
    is_outdated: bool = False
    """Something beside its text changed, so that what was pushed for it may be old: it is to be sent once more."""
    is_pending: bool = False
    """Its verdict is being waited for. Where nobody waits any more it was given up, perhaps by the server too."""
    is_silent: bool = False
    """The server had time enough to say something on it, and did not."""

    @property
    def lines(self) -> list[str]:
        """The lines of the text that the server has."""
        return split_lines(self.text)


class DocumentSync:
    """Opens, changes, saves and closes documents at the server; keeps no more than `max_open_documents` open."""

    def __init__(self, notify: Notify, state: ServerState, *, max_open_documents: int) -> None:
        self._notify = notify
        self._capabilities = state.capabilities
        self._behaviour = state.behaviour
        self._store = state.store
        self._change_gate = state.change_gate
        self._max_open_documents = max_open_documents
        self._versions = itertools.count(1)
        # Keyed by `uri_key`, the least recently used first.
        self._documents: OrderedDict[str, OpenDocument] = OrderedDict()

    @property
    def uris(self) -> tuple[DocumentUri, ...]:
        """The open documents."""
        return tuple(document.uri for document in self._documents.values() if document.version > 0)

    @property
    def idle(self) -> tuple[TextDocument, ...]:
        """The open documents that the server is done with, with the texts that it has."""
        idle = (entry for entry in self._documents.values() if entry.version > 0 and not entry.is_pending)
        return tuple(TextDocument(entry.uri, entry.language_id, entry.text, entry.is_module) for entry in idle)

    def find(self, uri: str) -> OpenDocument | None:
        """The open document of this URI, in whatever spelling."""
        return self._documents.get(uri_key(uri))

    def reserve(self, document: TextDocument) -> OpenDocument:
        """The entry of a document, made where there is none; it is the most recently used from now on.

        Its `lock` is to be held while the text is brought up to date and while an answer is waited for.
        """
        key = uri_key(document.uri)
        if key not in self._documents:
            self._documents[key] = OpenDocument(document.uri, document.language_id, DocumentVersion(0))
        self._documents.move_to_end(key)
        self._documents[key].is_module |= document.is_module
        return self._documents[key]

    def given_up(self, entry: OpenDocument) -> list[OpenDocument]:
        """The documents but this one on which the server may still be at work though the wait was given up."""
        others = [other for other in self._documents.values() if other is not entry and other.version > 0]
        return [other for other in others if other.is_pending and not other.is_silent]

    def mark_outdated(self) -> None:
        """Have every open document sent again before the next answer on it is believed."""
        for document in self._documents.values():
            document.is_outdated = True

    def _outdate_others(self, module: OpenDocument) -> None:
        for document in self._documents.values():
            document.is_outdated = document.is_outdated or document is not module

    async def synchronise(self, entry: OpenDocument, text: str, *, resend: bool = False) -> None:
        """Bring the server to `text`: open the document, replace its text, or do nothing where it has it.

        Args:
            entry: from `reserve`, its lock held.
            text: the whole text.
            resend: tell the server even where it has this text already.
        """
        text = _LONE_SURROGATE.sub("\ufffd", text)
        if entry.version == 0:
            await self._wait_for_farewell(entry)
        is_change = entry.version == 0 or entry.text != text
        if is_change and entry.is_module:
            self._outdate_others(entry)
        if is_change or resend:
            # The gate comes first: whoever gives up while he waits at it has noted nothing, and sent nothing.
            async with self._change_gate:
                await (self._open(entry, text) if entry.version == 0 else self._change(entry, text))
        if self._behaviour.save_after_change and entry.saved_version != entry.version:
            await self._save(entry)

    async def _save(self, entry: OpenDocument) -> None:
        """Tell the server that the document was saved as it has it, whether it says that it wants to know or not."""
        entry.saved_version = entry.version
        params: dict[str, Any] = {"textDocument": {"uri": entry.uri}}
        if self._capabilities.wants_text_on_save:
            params["text"] = entry.text
        await self._notify(DID_SAVE, params)

    async def close(self, uri: str) -> None:
        """Close a document and forget what was said of it; one that is not open is none of the server's business."""
        async with self._change_gate:
            await self._close(uri)

    async def close_surplus(self) -> None:
        """Close what was not used for longest until no more than the bound are open; nothing in use is closed."""
        surplus = len(self._documents) - self._max_open_documents
        idle = [entry.uri for entry in self._documents.values() if entry.users == 0]
        await self.close_idle(idle[: max(0, surplus)])

    async def close_idle(self, uris: Iterable[str]) -> None:
        """Close those of these documents that are open and that nobody uses."""
        known = [entry for entry in map(self.find, uris) if entry is not None]
        if known:
            async with self._change_gate:
                for entry in known:
                    if entry.users == 0 and self.find(entry.uri) is entry:  # still
                        await self._close(entry.uri)

    async def _close(self, uri: str) -> None:
        entry = self._documents.get(uri_key(uri))
        if entry is None:
            return
        is_open, entry.version = entry.version > 0, DocumentVersion(0)
        if entry.users == 0:
            del self._documents[uri_key(uri)]
        # Else somebody waits for his turn with it, and will open it again.
        if is_open:
            if entry.is_module:
                self._outdate_others(entry)
            self._store.forget(entry.uri)
            await self._notify(DID_CLOSE, {"textDocument": {"uri": entry.uri}})

    async def _open(self, entry: OpenDocument, text: str) -> None:
        self._begin(entry, text, opened=True)
        item = {"uri": entry.uri, "languageId": entry.language_id, "version": entry.version, "text": text}
        await self._notify(DID_OPEN, {"textDocument": item})

    async def _change(self, entry: OpenDocument, text: str) -> None:
        if self._is_unheard(entry, text) or self._capabilities.sync_kind is SyncKind.NONE:
            await self._reopen(entry, text)
            return
        change = self._content_change(entry, text)
        self._begin(entry, text, opened=False)
        identifier = {"uri": entry.uri, "version": entry.version}
        await self._notify(DID_CHANGE, {"textDocument": identifier, "contentChanges": [change]})

    def _is_unheard(self, entry: OpenDocument, text: str) -> bool:
        """Whether the server may say nothing on a change."""
        if self._behaviour.reopen_when_clean and self._store.may_be_clean(entry.uri):
            return True
        return self._behaviour.reopen_to_recheck and (entry.is_outdated or entry.is_pending or text == entry.text)

    async def _reopen(self, entry: OpenDocument, text: str) -> None:
        """For a server that takes a text, or this text, by didOpen only."""
        entry.version = DocumentVersion(0)
        self._store.forget(entry.uri)
        await self._notify(DID_CLOSE, {"textDocument": {"uri": entry.uri}})
        await self._wait_for_farewell(entry)
        await self._open(entry, text)

    async def _wait_for_farewell(self, entry: OpenDocument) -> None:
        is_pulled = bool(self._capabilities.pull_providers(entry.language_id))
        if not is_pulled or self._behaviour.merge_push_with_pull:
            await self._store.wait_for_farewell(entry.uri)

    def _begin(self, entry: OpenDocument, text: str, *, opened: bool) -> None:
        entry.version = DocumentVersion(next(self._versions))
        entry.text = text
        entry.is_outdated = entry.is_pending = entry.is_silent = False
        self._store.begin_version(entry.uri, entry.version, opened=opened)

    def _content_change(self, entry: OpenDocument, text: str) -> dict[str, Any]:
        by_range = self._behaviour.full_change is FullChange.RANGE
        if not by_range or self._capabilities.sync_kind is not SyncKind.INCREMENTAL:
            return {"text": text}
        *_, last = lines = entry.lines
        end = character_from_column(last, len(last), self._capabilities.position_encoding)
        whole = {"start": {"line": 0, "character": 0}, "end": {"line": len(lines) - 1, "character": end}}
        return {"range": whole, "text": text}
