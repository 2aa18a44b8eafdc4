"""Documents of a Jupyter server's contents manager, as the service wants them.

They are read as text: as type `notebook` a manager renames damaged files, makes up ids and refuses a byte order mark.
Below a manager of files the edited bytes are written by us, since jupyter_server's own writing truncates the file first
and a kill can tear it; what a save does besides (hooks, event, signature) is done here in its place. Any other manager
saves itself: one whose `save` is its own may keep a second file in step.
"""

import asyncio
import base64
import json
import logging
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from http import HTTPStatus
from pathlib import Path
from typing import Any

from jupyter_core.utils import ensure_async
from jupyter_server.services.contents.filemanager import FileContentsManager
from jupyter_server.services.contents.manager import ContentsManager
from jupyter_server.utils import ApiPath, to_os_path
from tornado.web import HTTPError

from jupyter_lsp_agent.core.errors import ContentChangedError
from jupyter_lsp_agent.diagnostics.report import ContentSource
from jupyter_lsp_agent.frontends.server_extension.errors import refused_by_system
from jupyter_lsp_agent.service.documents import UncheckableError, require_moderate_size
from jupyter_lsp_agent.service.neighbours import relative_to
from jupyter_lsp_agent.service.stores import DocumentChange, OpenedDocument, PlanChange, WriteKind, WrittenDocument
from jupyter_lsp_agent.service.threads import beside_the_loop
from jupyter_lsp_agent.service.writing import write_file

_OWN_MODULES = "jupyter_server.services.contents."
_CREATE = "create it first, with Jupyter's own `PUT api/contents/PATH`, or check it with `content`"
_LOGGER = logging.getLogger("jupyter_lsp_agent")


class ContentsStore:
    """Reads and writes through one contents manager."""

    def __init__(self, manager: ContentsManager) -> None:
        self._manager = manager
        self._nowhere: Path | None = None

    @property
    def has_files(self) -> bool:
        """Documents are files below the manager's root, so servers can see their neighbours."""
        return isinstance(self._manager, FileContentsManager)

    @property
    def boundary(self) -> Path | None:
        """The folder that bounds documents without files; `None`: the server's root does."""
        return None if self.has_files else self._own_folder()

    def location(self, name: str) -> Path:
        """The document's file, or a place of its own below an empty folder."""
        if self.has_files:
            return Path(to_os_path(ApiPath(name.strip("/")), str(Path(self._manager.root_dir).absolute())))
        return self._own_folder() / name.strip("/")

    def name_of(self, location: Path) -> str | None:
        """The contents path of a file below the root, or of what has its place below the empty folder."""
        root = Path(str(self._manager.root_dir)).absolute() if self.has_files else self._own_folder()
        relative = relative_to(location, root)
        return None if relative is None or not relative.parts else relative.as_posix()

    async def read_if_allowed(self, name: str) -> OpenedDocument | None:
        """The stored document; `None` where the manager does not give it."""
        try:
            return await self.read(name)
        except (HTTPError, UncheckableError):
            return None

    async def read(self, name: str) -> OpenedDocument:
        """The stored document.

        Raises:
            HTTPError: as the manager raises it: there is none, it is hidden, outside the root, a folder, …
            UncheckableError: it is too large.
        """
        await self._refuse_hidden(name)
        try:
            data = await self._read_bytes(name)
        except HTTPError as error:
            if error.status_code == HTTPStatus.NOT_FOUND and await self._may_be_created(name):
                raise HTTPError(error.status_code, f"{name} does not exist: {_CREATE}") from None
            raise
        return OpenedDocument(name, self.location(name), data, ContentSource.CONTENTS, self.boundary)

    async def read_or_empty(self, name: str) -> OpenedDocument:
        """As `read`, or an empty document where nothing is stored and something may be."""
        if await self._may_be_created(name):
            return OpenedDocument(name, self.location(name), b"", ContentSource.CONTENTS, self.boundary)
        return await self.read(name)

    async def write(self, document: OpenedDocument, change: DocumentChange, plan: PlanChange) -> WrittenDocument:
        """Write an edited document.

        Raises:
            ContentChangedError: it is not what it was.
            HTTPError: the manager, one of its hooks, or the file system refuses it.
        """
        if self.has_files and type(self._manager).save.__module__.startswith(_OWN_MODULES):
            if await self._hooks_agree(document, change):
                return await self._write_file(document, change)
        elif await self._read_bytes(document.name) != document.data:
            raise ContentChangedError(f"{document.name} was written by somebody else in this moment: read it again")
        model = await beside_the_loop(len(change.data), lambda: _model(document, change))
        with self._told_as_http(document.name, "written"):
            await ensure_async(self._manager.save(model, document.name))
        return WrittenDocument(WriteKind.CONTENTS, document, change)

    def close(self) -> None:
        """Remove the empty folder that stood for a root."""
        if self._nowhere is not None:
            shutil.rmtree(self._nowhere, ignore_errors=True)

    async def _refuse_hidden(self, name: str) -> None:
        # As the contents service does. File managers refuse what is hidden when they are asked for it.
        if self.has_files or self._manager.allow_hidden:
            return
        if await ensure_async(self._manager.is_hidden(name)):
            raise HTTPError(404, f"file or directory does not exist: {name!r}")

    async def _may_be_created(self, name: str) -> bool:
        """Whether a name is free, in a folder that the manager serves. A link that leads nowhere is not free."""
        try:
            if await self._is_taken(name):
                return False
            is_hidden = not self._manager.allow_hidden and await ensure_async(self._manager.is_hidden(name))
            folder = name.rpartition("/")[0]
            return not is_hidden and await self._is_folder(folder)
        except HTTPError:
            return False

    async def _is_folder(self, name: str) -> bool:
        if not self.has_files:
            return bool(await ensure_async(self._manager.dir_exists(name)))
        return bool((await self._get(name, content=False))["type"] == "directory")

    async def _is_taken(self, name: str) -> bool:
        if not self.has_files:
            return bool(await ensure_async(self._manager.exists(name)))
        try:
            self.location(name).lstat()
        except FileNotFoundError:
            return False
        except (OSError, ValueError):
            pass  # what is wrong with the name is told when it is read
        return True

    async def _read_bytes(self, name: str) -> bytes:
        require_moderate_size(name, self._file_size(name) if self.has_files else await self._size(name))
        for options in ({"type": "file", "format": "text"}, {"type": "file", "format": "base64"}, {"type": "notebook"}):
            try:
                return _bytes_of(await self._get(name, **options))
            except (HTTPError, _NoTextError) as error:
                refused: Exception = error
                if isinstance(error, HTTPError) and error.status_code != 400:
                    break
        raise refused

    def _file_size(self, name: str) -> int:
        """Zero for what is no file: the manager says what is wrong with it when it is read."""
        try:
            return self.location(name).stat().st_size
        except (OSError, ValueError):
            return 0

    async def _size(self, name: str) -> int:
        return (await self._get(name, content=False)).get("size") or 0

    async def _get(self, name: str, **options: Any) -> Any:
        with self._told_as_http(name, "read"):
            return await ensure_async(self._manager.get(name, **options))

    @contextmanager
    def _told_as_http(self, name: str, done: str) -> Iterator[None]:
        try:
            yield
        except HTTPError as error:
            raise _without(str(getattr(self._manager, "root_dir", "")), error) from None
        except OSError as error:
            raise refused_by_system(name, done, error) from None

    async def _hooks_agree(self, document: OpenedDocument, change: DocumentChange) -> bool:
        """Run the pre-save hooks; whether they leave the content as it is. One that forbids the save raises."""
        size = len(change.data)
        model = await beside_the_loop(size, lambda: _model(document, change))
        before = await beside_the_loop(size, lambda: json.dumps(model))
        self._manager.run_pre_save_hooks(model=model, path=document.name)
        return await beside_the_loop(size, lambda: json.dumps(model)) == before

    async def _write_file(self, document: OpenedDocument, change: DocumentChange) -> WrittenDocument:
        trusted = change.plan is not None and await self._is_trusted(document.data)
        try:
            written = await asyncio.to_thread(write_file, document.location, change.data, expected=document.data)
        except FileNotFoundError:
            raise ContentChangedError(f"{document.name} was moved or deleted in this moment") from None
        except OSError as error:
            raise refused_by_system(document.name, "written", error) from None
        notes = [f"written in place, since {written.in_place_because}"] if written.in_place_because else []
        notes += await self._sign(change) if trusted else ()
        notes += await self._after_save(document)
        return WrittenDocument(WriteKind.BYTES, document, change, "; ".join(notes) or None)

    async def _sign(self, change: DocumentChange) -> Sequence[str]:
        notebook = await beside_the_loop(len(change.data), lambda: _as_nbformat_reads(change.data))
        try:
            self._manager.notary.sign(notebook)
        except sqlite3.Error as error:
            return (f"written, but not marked as trusted any more ({error})",)
        return ()

    async def _after_save(self, document: OpenedDocument) -> Sequence[str]:
        """What a save does after the writing; a hook that fails does not undo it, so it is told and not raised."""
        notes = []
        try:
            model = await self._get(document.name, content=False)
            self._manager.run_post_save_hooks(model=model, os_path=str(document.location))
        except HTTPError as error:
            _LOGGER.warning("a post-save hook failed for %s: %s", document.name, error)
            notes.append("written, but a post-save hook of the server failed; its log tells more")
        self._manager.emit(data={"action": "save", "path": document.name})
        return notes

    async def _is_trusted(self, data: bytes) -> bool:
        notebook = await beside_the_loop(len(data), lambda: _as_nbformat_reads(data))
        try:
            return notebook is not None and bool(self._manager.notary.check_signature(notebook))
        except UnicodeEncodeError:
            # Half a surrogate pair, which JSON can hold and a signature cannot be made of: nobody ever signed it.
            return False

    def _own_folder(self) -> Path:
        if self._nowhere is None:
            self._nowhere = Path(tempfile.mkdtemp(prefix="jupyter-lsp-agent-"))
        return self._nowhere


class _NoTextError(Exception):
    """A manager gave something else than was asked for."""


def _without(root: str, error: HTTPError) -> HTTPError:
    """`error`, its message without the server's own folder, which is no business of the asker's."""
    # Tornado doubles the percent signs of a message that takes no arguments.
    message = error.log_message or ""
    if error.args or not root.strip("/") or root not in message:
        return error
    named = message.replace("%%", "%").replace(root.rstrip("/") + "/", "")
    return HTTPError(error.status_code, named, reason=error.reason)


def _model(document: OpenedDocument, change: DocumentChange) -> dict[str, Any]:
    """The edited document as the contents API has it."""
    text = change.data.decode("utf-8")
    if change.plan is None:
        return {"type": "file", "format": "text", "content": text, "path": document.name}
    content = json.loads(text.removeprefix("\ufeff"))
    return {"type": "notebook", "format": "json", "content": content, "path": document.name}


def _bytes_of(model: Any) -> bytes:
    content = model["content"]
    if isinstance(content, str):
        return (
            base64.b64decode(content) if model.get("format") == "base64" else content.encode("utf-8", "surrogatepass")
        )
    if isinstance(content, dict):
        # A manager without text keeps notebooks as objects, and this is as close to its file as one can come.
        return (json.dumps(content, indent=1, ensure_ascii=False) + "\n").encode("utf-8", "surrogatepass")
    raise _NoTextError(f"the contents manager gave {type(content).__name__}, not text")


def _as_nbformat_reads(data: bytes) -> Any:
    """The notebook as the signature is made of it; `None` where nbformat cannot read it, and so never signed it."""
    import nbformat
    from nbformat import reader

    try:
        # Without the validation that `nbformat.reads` adds, which changes nothing that is signed.
        notebook = reader.reads(data.decode("utf-8-sig"))
        return notebook if isinstance(notebook.get("metadata"), dict) else None
    except (nbformat.ValidationError, AttributeError, KeyError, TypeError, ValueError, RecursionError):
        # What agents write is often less than nbformat takes for granted: no metadata, no outputs.
        return None
