"""A second client of a shared document, as an editor is one: it speaks the collaboration websocket's own protocol.

Needs jupyter-collaboration, so it is imported by tests that run where that is installed.
"""

import asyncio
from types import TracebackType
from typing import Any, Self
from urllib.parse import quote

from jupyter_ydoc import YNotebook, YUnicode
from pycrdt import Doc, YMessageType, YSyncMessageType, create_sync_message, create_update_message, handle_sync_message
from tornado.websocket import WebSocketClientConnection, websocket_connect

from tests.support.jupyter_server import TOKEN, JupyterServer


class SharedDocument:
    """An open document. `document` is this client's own copy; what is done to it goes to the server at once."""

    format, kind = "text", "file"

    def __init__(self, server: JupyterServer, path: str) -> None:
        self._server = server
        self._path = path
        self.document = self.make_document()
        self._changed = asyncio.Event()
        self._synced = False
        self._applying = False
        self._socket: WebSocketClientConnection
        self._reader: asyncio.Task[None]

    def make_document(self) -> Any:
        return YUnicode(Doc())

    async def __aenter__(self) -> Self:
        room = await asyncio.to_thread(self._room)
        self._socket = await websocket_connect(self._server.url.replace("http", "ws", 1) + room)
        self._subscription = self.document.ydoc.observe(self._send_own)
        await self._socket.write_message(create_sync_message(self.document.ydoc), binary=True)
        self._reader = asyncio.create_task(self._read())
        await self.wait_for(lambda: self._synced)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._socket.close()
        await self._reader

    async def wait_for(self, condition: Any) -> None:
        """Until the document is as `condition` says."""
        while not condition():
            self._changed.clear()
            await self._changed.wait()

    def _room(self) -> str:
        """The room's address, as jupyter-collaboration gives it, else as jupyter_server_documents does."""
        body = {"format": self.format, "type": self.kind}
        session = self._server.send("PUT", f"api/collaboration/session/{quote(self._path)}", body)
        if session.status in {200, 201}:
            query = f"sessionId={session.json['sessionId']}&token={TOKEN}"
            return f"api/collaboration/room/{self.format}:{self.kind}:{session.json['fileId']}?{query}"
        file_id = self._server.send("POST", f"api/fileid/index?path={quote(self._path)}", b"").json["id"]
        return f"api/collaboration/room/{self.format}:{self.kind}:{file_id}?token={TOKEN}"

    async def _read(self) -> None:
        while (message := await self._socket.read_message()) is not None:
            if isinstance(message, bytes) and message[0] == YMessageType.SYNC:
                self._applying = True
                reply = handle_sync_message(message[1:], self.document.ydoc)
                self._applying = False
                if reply is not None:
                    await self._socket.write_message(reply, binary=True)
                self._synced = self._synced or message[1] == YSyncMessageType.SYNC_STEP2
                self._changed.set()

    def _send_own(self, event: Any) -> None:
        if not self._applying and event.update != b"\x00\x00":
            self._socket.write_message(create_update_message(event.update), binary=True)


class SharedNotebook(SharedDocument):
    """An open notebook."""

    format, kind = "json", "notebook"

    def make_document(self) -> Any:
        return YNotebook(Doc())

    @property
    def notebook(self) -> YNotebook:
        return self.document

    @property
    def sources(self) -> list[str]:
        return [str(cell["source"]) for cell in self.notebook.ycells]
