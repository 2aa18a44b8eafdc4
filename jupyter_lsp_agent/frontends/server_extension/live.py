"""Shared documents that are open at this moment, in front of the stored ones.

With jupyter-collaboration a check reads the shared document, and edits go into it in one transaction, so what a
person has typed and not saved survives. With jupyter_server_documents it is only read. Looking must not change
anything: no room is opened and no file is indexed by it, ids that occur twice stay, and nothing is observed, since a
second observer of a shared document silences the first.
"""

import inspect
import json
from collections.abc import Mapping, Sequence
from typing import Any

from tornado.web import HTTPError

from jupyter_lsp_agent.core.errors import ContentChangedError
from jupyter_lsp_agent.diagnostics.report import ContentSource, DocumentKind
from jupyter_lsp_agent.frontends.server_extension.contents import ContentsStore
from jupyter_lsp_agent.frontends.server_extension.shared_notebook import apply_to_shared_notebook
from jupyter_lsp_agent.service.documents import document_kind
from jupyter_lsp_agent.service.stores import DocumentChange, OpenedDocument, WriteKind, WrittenDocument

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

    async def read(self, name: str) -> OpenedDocument:
        """The shared document where it is open, else the stored one. Raises as the store behind it does."""
        shared = await self._shared(name, copy=True)
        if shared is None:
            return await self._stored.read(name)
        content = _content(shared)
        text = content if isinstance(content, str) else json.dumps(content, indent=1, ensure_ascii=False) + "\n"
        data = text.encode("utf-8", "surrogatepass")
        return OpenedDocument(name, self.location(name), data, ContentSource.LIVE, self._stored.boundary)

    async def write(self, document: OpenedDocument, change: DocumentChange) -> WrittenDocument:
        """Write to where it was read from.

        Raises:
            ContentChangedError: it is not what it was, or it was opened or closed since.
            HTTPError: as the store behind it raises it, or because this kind of shared document is only read.
        """
        shared = await self._shared(document.name, copy=False)
        if (shared is None) == (document.source is ContentSource.LIVE):
            raise ContentChangedError(f"{document.name} was opened or closed in this moment: read it again")
        if shared is None:
            return await self._stored.write(document, change)
        if self._manager_of_read_only_rooms() is not None:
            raise HTTPError(
                409, f"{document.name} is open in an editor whose document is only read: edit it there", reason="live"
            )
        _apply(shared, document, change)
        return WrittenDocument(WriteKind.LIVE)

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


def _apply(shared: Any, document: OpenedDocument, change: DocumentChange) -> None:
    """One transaction, and not one step of the loop between the comparison and the change."""
    with shared.ydoc.transaction():
        now = _content(shared)
        if change.plan is None:
            _require(document, now == document.data.decode("utf-8", "surrogatepass"))
            shared.set(change.data.decode("utf-8"))
            return
        _require(document, _sources(now["cells"]) == _sources(json.loads(document.data)["cells"]))
        apply_to_shared_notebook(shared, change.plan, change.outputs)


def _require(document: OpenedDocument, same: bool) -> None:  # noqa: FBT001 - what is required is the argument
    if not same:
        raise ContentChangedError(f"{document.name} was edited by somebody else in this moment: read it again")


def _sources(cells: Sequence[Mapping[str, Any]]) -> list[tuple[Any, Any, Any]]:
    return [(cell.get("id"), cell["cell_type"], cell["source"]) for cell in cells]
