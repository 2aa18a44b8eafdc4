"""Where the bytes of a document come from. Front ends with sources of their own hand the bytes in."""

import asyncio
import re
from dataclasses import dataclass, field
from pathlib import Path

from jupyter_lsp_agent.core.errors import JupyterLspAgentError
from jupyter_lsp_agent.core.files import NotRegularFileError, read_regular_file
from jupyter_lsp_agent.core.printable import escape_hidden, has_surrogate
from jupyter_lsp_agent.diagnostics.report import ContentSource, DocumentKind, NoVerdictReason

MAX_DOCUMENT_BYTES = 100 * 1024 * 1024
"""A larger file is not read. Outputs count, so this is far above what a person writes."""

NOTEBOOK_SUFFIX = ".ipynb"

_URL_SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+:")
"""What the beginning of a URL has become in a path, where two slashes are one."""


class UncheckableError(JupyterLspAgentError):
    """A document on which there can be no verdict. Its text is the report's `detail`, `reason` its reason."""

    def __init__(self, reason: NoVerdictReason, detail: str) -> None:
        super().__init__(detail)
        self.reason = reason


@dataclass(frozen=True, slots=True)
class StoredDocument:
    """A document's bytes, and where they came from."""

    path: Path
    data: bytes = field(repr=False)
    source: ContentSource


def document_kind(path: Path) -> DocumentKind:
    """What a path names, by its extension."""
    return DocumentKind.NOTEBOOK if path.suffix.lower() == NOTEBOOK_SUFFIX else DocumentKind.TEXT


async def read_document(
    path: Path,
    content: bytes | None,
    *,
    source: ContentSource = ContentSource.REQUEST,
) -> StoredDocument:
    """The document at `path`, or `content` in its place, which came from `source`.

    Raises:
        UncheckableError: it cannot be read, is too large, or has a name that no server can be told.
    """
    _require_utf_8(path)
    if content is None:
        data, source = await asyncio.to_thread(_read_file, path), ContentSource.FILE
    else:
        data = content
    require_moderate_size(path.name, len(data))
    return StoredDocument(path, data, source)


def require_moderate_size(name: str, size_bytes: int) -> None:
    """Make sure that the document `name` is not too large to be looked at.

    Raises:
        UncheckableError: it is.
    """
    if size_bytes > MAX_DOCUMENT_BYTES:
        raise UncheckableError(
            NoVerdictReason.TOO_LARGE,
            f"{name} is larger than {MAX_DOCUMENT_BYTES // 2**20} MiB; clear its outputs, or split it",
        )


def _require_utf_8(path: Path) -> None:
    """A URI holds the bytes of a name, and servers take them for UTF-8: some die of others, some miss what is there."""
    wrong = next((part for part in path.parts if has_surrogate(part)), None)
    if wrong is not None:
        raise UncheckableError(
            NoVerdictReason.UNREADABLE,
            f"the name {escape_hidden(wrong)} is no UTF-8, and language servers take names for UTF-8; rename it",
        )


def decode_text(path: Path, data: bytes) -> str:
    """The text of a plain file.

    Raises:
        UncheckableError: it is no UTF-8.
    """
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UncheckableError(
            NoVerdictReason.UNREADABLE, f"{path.name} is no UTF-8 text at byte {error.start}; save it as UTF-8"
        ) from None


def _read_file(path: Path) -> bytes:
    try:
        return read_regular_file(path, MAX_DOCUMENT_BYTES + 1)
    except NotRegularFileError:
        raise UncheckableError(
            NoVerdictReason.UNREADABLE,
            f"{path.name} is a pipe, a socket or a device, not a regular file; "
            "copy what it gives into a file, or pipe it into `check - --stdin-filename NAME`",
        ) from None
    except IsADirectoryError:
        raise UncheckableError(
            NoVerdictReason.UNREADABLE, f"{path.name} is a folder, and one file is needed; name one that is in it"
        ) from None
    except FileNotFoundError:
        raise UncheckableError(NoVerdictReason.UNREADABLE, _why_missing(path)) from None
    except OSError as error:
        raise UncheckableError(
            NoVerdictReason.UNREADABLE, f"{path.name} cannot be read ({error.strerror}); mend its permissions"
        ) from None


def _why_missing(path: Path) -> str:
    if any(map(_URL_SCHEME.fullmatch, path.parts[:-1])):
        return f"{path.name} is named by a URL, and only files of this machine are read; download it first"
    return f"{path.name} does not exist; correct the path"
