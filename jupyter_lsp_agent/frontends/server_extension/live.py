"""Shared documents that are open at this moment, in front of the stored ones.

With jupyter-collaboration a check reads the shared document, and edits go into it in one transaction, so what a
person has typed and not saved survives. With jupyter_server_documents it is only read. Looking must not change
anything: no room is opened and no file is indexed by it, ids that occur twice stay, and nothing is observed, since a
second observer of a shared document silences the first. So a change is seen by looking again (`mark`).
"""

import hashlib
import inspect
import json
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tornado.web import HTTPError

from jupyter_lsp_agent.core.errors import ContentChangedError
from jupyter_lsp_agent.diagnostics.report import ContentSource, DocumentKind
from jupyter_lsp_agent.frontends.server_extension.contents import ContentsStore
from jupyter_lsp_agent.frontends.server_extension.shared_notebook import apply_to_shared_notebook
from jupyter_lsp_agent.service.documents import document_kind
from jupyter_lsp_agent.service.stores import DocumentChange, OpenedDocument, PlanChange, WriteKind, WrittenDocument

_ROOMS = {DocumentKind.NOTEBOOK: ("json", "notebook"), DocumentKind.TEXT: ("text", "file")}


class LiveStore:
    """A store that prefers open shared documents.

    Args:
        stored: the store behind it.
        settings: the web application's, where extensions of whatever name leave themselves; they are looked up at
            each request, since they load after this one.
    """

    def __init__(self, stored: ContentsStore, settings: Mapping[str, Any]) -> None:
        self._stored = stored
        self._settings = settings

    def location(self, name: str) -> Any:
        """As the store behind it says."""
        return self._stored.location(name)

    def name_of(self, location: Path) -> str | None:
        """As the store behind it says."""
        return self._stored.name_of(location)

    async def read_if_allowed(self, name: str) -> OpenedDocument | None:
        """As `read`, where the store behind it would give the stored document."""
        stored = await self._stored.read_if_allowed(name)
        return None if stored is None else await self.read(name)

    async def read(self, name: str) -> OpenedDocument:
        """The shared document where it is open, else the stored one. Raises as the store behind it does."""
        shared = await self._shared(name, copy=True)
        if shared is None:
            return await self._stored.read(name)
        return OpenedDocument(name, self.location(name), _data(shared), ContentSource.LIVE, self._stored.boundary)

    async def read_or_empty(self, name: str) -> OpenedDocument:
        """As `read`, or an empty document where the store behind it has none yet."""
        if await self._shared(name, copy=False) is None:
            return await self._stored.read_or_empty(name)
        return await self.read(name)

    async def write(self, document: OpenedDocument, change: DocumentChange, plan: PlanChange) -> WrittenDocument:
        """Write to where it was read from.

        Raises:
            ContentChangedError: it is not what it was, or it was opened or closed since.
            HTTPError: as the store behind it raises it, or because this kind of shared document is only read.
        """
        shared = await self._shared(document.name, copy=False)
        if (shared is None) == (document.source is ContentSource.LIVE):
            raise ContentChangedError(f"{document.name} was opened or closed in this moment: read it again")
        if shared is None:
            return await self._stored.write(document, change, plan)
        if self._manager_of_read_only_rooms() is not None:
            raise HTTPError(
                409, f"{document.name} is open in an editor whose document is only read: edit it there", reason="live"
            )
        return _apply(shared, document, change, plan)

    @property
    def can_be_watched(self) -> bool:
        """Shared documents may hold changes that nobody has saved yet, and looking at them costs them nothing.

        jupyter_server_documents saves each change at once, which is heard of as a save; and looking at its documents
        would keep those open that nobody uses.
        """
        return self._settings.get("jupyter_server_ydoc") is not None and self._manager_of_read_only_rooms() is None

    async def mark(self, name: str) -> bytes | None:
        """Something that differs whenever an open shared document does; `None` where it is not open."""
        shared = await self._shared(name, copy=False)
        if shared is None:
            return None
        state: bytes = shared.ydoc.get_state()
        # The state counts what was put in. What was taken out is all that is left of an update since this state.
        return hashlib.sha256(state + shared.ydoc.get_update(state)).digest()

    async def _shared(self, name: str, *, copy: bool) -> Any:
        """The shared document if somebody has it open. It is for reading; with `copy=False` for one transaction too."""
        file_id = self._file_id(name)
        if file_id is None:
            return None
        room = ":".join((*_ROOMS[document_kind(self.location(name))], file_id))
        manager = self._manager_of_read_only_rooms()
        if manager is not None:
            return await manager.get_room(room).get_jupyter_ydoc() if manager.has_room(room) else None
        collaboration = self._settings.get("jupyter_server_ydoc")
        if collaboration is None or getattr(collaboration, "disable_rtc", False):
            return None
        return await collaboration.get_document(room_id=room, copy=copy, create=False)

    def _manager_of_read_only_rooms(self) -> Any:
        return self._settings.get("yroom_manager")

    def _file_id(self, name: str) -> str | None:
        ids = self._settings.get("file_id_manager")
        return None if ids is None else ids.get_id(name.strip("/"))


def _content(shared: Any) -> Any:
    if "deduplicate" in inspect.signature(shared.get).parameters:
        return shared.get(deduplicate=False)
    return shared.get()


def _data(shared: Any) -> bytes:
    content = _content(shared)
    text = content if isinstance(content, str) else json.dumps(content, indent=1, ensure_ascii=False) + "\n"
    return text.encode("utf-8", "surrogatepass")


def _apply(shared: Any, document: OpenedDocument, change: DocumentChange, plan: PlanChange) -> WrittenDocument:
    """Look and change in one step of the loop, so that whatever was typed until now is seen, and is kept."""
    with shared.ydoc.transaction():
        data = _data(shared)
        if data != document.data:
            document = replace(document, data=data)
            change = plan(document)
        if change.plan is None:
            shared.set(change.data.decode("utf-8"))
        else:
            apply_to_shared_notebook(shared, change.plan, change.outputs)
    return WrittenDocument(WriteKind.LIVE, document, change)
