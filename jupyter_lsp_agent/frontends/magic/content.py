"""Which content of a found notebook is checked: the shared document, the saved file, or what the kernel ran."""

import asyncio
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jupyter_lsp_agent.core.errors import NotebookError
from jupyter_lsp_agent.diagnostics.report import ContentSource, DocumentKind
from jupyter_lsp_agent.frontends.magic.jupyter_servers import KernelSession, ServerAnswerError, ServerClient
from jupyter_lsp_agent.frontends.magic.locate import FoundNotebook
from jupyter_lsp_agent.frontends.magic.question import KernelQuestion
from jupyter_lsp_agent.service.documents import UncheckableError, document_kind, read_document
from jupyter_lsp_agent.service.kernel_view import (
    KernelDocument,
    history_document,
    listed_document,
    open_document,
)

HISTORY_NAME = "inputs-of-this-kernel.ipynb"
"""What a kernel's history is called where a language server wants a name."""


@dataclass(frozen=True, slots=True)
class KernelContent:
    """A content, and how one comes to it.

    Attributes:
        document: the notebook; `None`: a plain file, or one that cannot be read, which the engine will say.
        source: where it came from.
        written_seconds: when it was written, as file times count; infinite for what is never behind.
        session: the Jupyter server that has it and our extension.
    """

    document: KernelDocument | None
    source: ContentSource
    written_seconds: float = math.inf
    session: KernelSession | None = None

    @property
    def is_history(self) -> bool:
        """It is what the kernel ran, since no notebook is known."""
        return self.source is ContentSource.HISTORY


class ContentFinder:
    """Reads documents.

    Args:
        client: asks Jupyter servers.
    """

    def __init__(self, client: ServerClient) -> None:
        self._client = client
        self._with_extension: set[str] = set()

    async def read(self, found: FoundNotebook, question: KernelQuestion) -> KernelContent:
        """The content of a found document, by the first way that leads there."""
        stored = None if found.path is None else await _read_file(found.path)
        session = await self._session_with_extension(found)
        if found.path is not None and document_kind(found.path) is DocumentKind.TEXT:
            return KernelContent(None, ContentSource.FILE, session=session)
        if session is not None and found.path is not None:
            try:
                return await self._listed(session, found.path, stored)
            except ServerAnswerError:
                session = None
        if found.path is not None and (stored is not None or not found.is_own):
            return KernelContent(
                _open(stored, found.path), ContentSource.FILE, await asyncio.to_thread(_written_seconds, found.path)
            )
        history = history_document(question.executed, question.unjudged, is_asking=question.body is not None)
        return KernelContent(history, ContentSource.HISTORY)

    async def _listed(self, session: KernelSession, path: Path, stored: bytes | None) -> KernelContent:
        """The server's word: the file, if that holds the same, else a newer shared document."""
        answer = await self._client.get(session.server, "jupyter-lsp-agent/cells", path=session.name)
        document = _open(stored, path)
        content_hash, listed = _read_listing(answer, stored, path, session)
        if document is not None and document.content_hash == content_hash:
            written = await asyncio.to_thread(_written_seconds, path)
            return KernelContent(document, ContentSource.CONTENTS, written, session)
        source = ContentSource.CONTENTS if stored is None else ContentSource.LIVE
        return KernelContent(listed, source, session=session)

    async def _session_with_extension(self, found: FoundNotebook) -> KernelSession | None:
        if found.session is None:
            return None
        url = found.session.server.url
        if url not in self._with_extension and not await self._client.has_extension(found.session.server):
            return None
        self._with_extension.add(url)
        return found.session


def _read_listing(
    answer: Any, stored: bytes | None, path: Path, session: KernelSession
) -> tuple[object, KernelDocument]:
    """The content's hash and the notebook that a server lists.

    Raises:
        ServerAnswerError: it lists none.
    """
    try:
        return answer["content_hash"], listed_document(answer["cells"], stored, path.name, session.kernel_name)
    except (AttributeError, KeyError, TypeError, NotebookError):
        raise ServerAnswerError("the Jupyter server's answer is no list of cells") from None


def _open(data: bytes | None, path: Path) -> KernelDocument | None:
    try:
        return None if data is None else open_document(data, path.name)
    except NotebookError:
        return None


async def _read_file(path: Path) -> bytes | None:
    """`None` for what cannot be read: whoever checks it says why."""
    try:
        return (await read_document(path, None)).data
    except UncheckableError:
        return None


def _written_seconds(path: Path) -> float:
    try:
        return path.stat().st_mtime
    except OSError:
        return math.inf
