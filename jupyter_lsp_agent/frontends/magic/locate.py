"""Which notebook runs in this kernel, and how that is known.

A named path comes first; then what the editor says; then the Jupyter server that runs the kernel, which knows of
renames; then where the notebook was when the kernel started, believed only if it is there and holds what ran. Else
nothing is known, and the kernel's own history is the document.
"""

import asyncio
import os
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import unquote

from jupyter_lsp_agent.core.errors import JupyterLspAgentError
from jupyter_lsp_agent.core.files import is_file, read_regular_file
from jupyter_lsp_agent.frontends.magic.jupyter_servers import (
    KernelSession,
    RunningServer,
    ServerAnswerError,
    ServerClient,
    running_servers,
)
from jupyter_lsp_agent.frontends.magic.surroundings import KernelSurroundings
from jupyter_lsp_agent.service.documents import MAX_DOCUMENT_BYTES
from jupyter_lsp_agent.service.execution import Execution
from jupyter_lsp_agent.service.kernel_view import open_document, resembles

_NOT_LET_IN = frozenset({401, 403})


@dataclass(frozen=True, slots=True)
class FoundNotebook:
    """A document to check.

    Attributes:
        path: its file, absolute; `None`: no notebook is known, or its content is no file.
        how: how it was found, for a reader, as the end of a sentence.
        session: the server that runs it, or else one that has it: it may be open in a shared document there, and the
            language servers are warm.
        is_own: it is the notebook of this kernel.
    """

    path: Path | None
    how: str
    session: KernelSession | None = None
    is_own: bool = True

    def gone(self) -> "FoundNotebook":
        """What is known where nobody has the document: nothing but who named it."""
        if self.path is None:
            return self
        return replace(self, path=None, how=f"{self.path.name}, {self.how}, is not there")


class NotebookFinder:
    """Finds documents.

    Args:
        client: asks Jupyter servers.
    """

    def __init__(self, client: ServerClient) -> None:
        self._client = client

    async def named(self, name: str, around: KernelSurroundings, executed: Sequence[Execution]) -> FoundNotebook:
        """The document that the user names; where it is this kernel's own notebook, all that is known of that."""
        path = _absolute(name, around.folder)
        own = await self.own(around, executed)
        if own.path is not None and await asyncio.to_thread(_is_same, own.path, path):
            return FoundNotebook(own.path, "named", own.session)
        session = await asyncio.to_thread(_session_of, path, around)
        return FoundNotebook(path, "named", session, is_own=False)

    async def own(self, around: KernelSurroundings, executed: Sequence[Execution]) -> FoundNotebook:
        """The notebook of this kernel."""
        editor = await asyncio.to_thread(_by_editor, around)
        if editor is not None:
            return FoundNotebook(editor, "named by the editor", await asyncio.to_thread(_session_of, editor, around))
        session, silent = await self._by_server(around, executed)
        if session is not None:
            return FoundNotebook(session.path, "named by its Jupyter server", session)
        hinted, doubt = await asyncio.to_thread(_by_hint, around, executed)
        if hinted is not None:
            return FoundNotebook(hinted, "named by JPY_SESSION_NAME")
        return FoundNotebook(None, "; ".join(filter(None, (silent, doubt))) or "nothing names its notebook")

    async def _by_server(
        self, around: KernelSurroundings, executed: Sequence[Execution]
    ) -> tuple[KernelSession | None, str | None]:
        """The session of this kernel, or why no server tells."""
        if around.kernel_id is None:
            return None, None
        servers = await asyncio.to_thread(running_servers, around.hub)
        # All at once: one that hangs is waited for, and there may be several.
        answers = await asyncio.gather(*(self._ask(server, around.kernel_id) for server in servers))
        found = next((sessions for sessions, _ in answers if sessions), None)
        if found is not None:
            return await asyncio.to_thread(_most_like, found, executed), None
        return None, next((silent for _, silent in reversed(answers) if silent), None)

    async def _ask(self, server: RunningServer, kernel_id: str) -> tuple[tuple[KernelSession, ...], str | None]:
        """A server's sessions of a kernel, or why it does not tell."""
        try:
            return await self._client.sessions_of(server, kernel_id), None
        except ServerAnswerError as error:
            wants_password = not server.token and error.status in _NOT_LET_IN
            reason = "it wants a password and has no token" if wants_password else error
            return (), f"a Jupyter server does not tell its sessions ({reason})"


def _by_editor(around: KernelSurroundings) -> Path | None:
    """The notebook that the editor names. VS Code's interactive window names the script that it belongs to, of which
    nobody knows what ran; and a name is not told anew when the file gets another one."""
    path = None if around.editor_file is None else Path(around.editor_file)
    return path if path is not None and _is_notebook_file(path) else None


def _is_notebook_file(path: Path) -> bool:
    return path.suffix.lower() == ".ipynb" and is_file(path)


def _session_of(path: Path, around: KernelSurroundings) -> KernelSession | None:
    """The server below whose root a document lies: the one whose root is nearest."""
    servers = [server for server in running_servers(around.hub) if path.is_relative_to(server.root)]
    nearest: RunningServer | None = max(servers, key=lambda server: len(server.root.parts), default=None)
    return None if nearest is None else KernelSession(nearest, path.relative_to(nearest.root).as_posix(), "")


def _most_like(sessions: Sequence[KernelSession], executed: Sequence[Execution]) -> KernelSession:
    """Of several notebooks that share a kernel, the one that holds the latest of what ran."""
    for cell in reversed(executed):
        for session in sessions:
            if len(sessions) > 1 and _holds(session.path, [cell]):
                return session
    return sessions[0]


def _by_hint(around: KernelSurroundings, executed: Sequence[Execution]) -> tuple[Path | None, str | None]:
    """The file that `JPY_SESSION_NAME` means, or what speaks against it.

    It is an absolute path, or one relative to some folder above: servers write it in several ways, and never again
    when the notebook is renamed.
    """
    hint = around.session_name
    if not hint:
        return None, None
    candidates = [Path(text) for text in dict.fromkeys((hint, unquote(hint))) if Path(text).is_absolute()]
    candidates += [folder / hint for folder in (around.folder, *around.folder.parents)]
    candidates += [around.folder / Path(hint).name]
    files = [path for path in dict.fromkeys(candidates) if _is_notebook_file(path)]
    for path in files:
        if _holds(path, executed):
            return path, None
    return None, (
        f"JPY_SESSION_NAME names {Path(hint).name}, which does not hold what ran here"
        if files
        else f"JPY_SESSION_NAME names {Path(hint).name}, which is not there"
    )


def _holds(path: Path, executed: Sequence[Execution]) -> bool:
    try:
        return resembles(open_document(read_regular_file(path, MAX_DOCUMENT_BYTES), path.name), executed)
    except (OSError, JupyterLspAgentError):
        return False


def _absolute(name: str, folder: Path) -> Path:
    """What a user means by a path; links are names too, and `~NAME` is a file's name where nobody is called so."""
    path = Path(name)
    with suppress(RuntimeError):
        path = path.expanduser()
    return Path(os.path.normpath(folder / path))


def _is_same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False
