"""Paths and `file:` URIs.

Servers send URIs back in spellings of their own (`%28` for `(`, `C%3A`, a decoded `#`), so two URIs are compared by
`uri_key`, never as strings.
"""

import os
from pathlib import Path, PurePosixPath
from urllib.parse import quote, unquote, urlsplit

from jupyter_lsp_agent.core.ids import DocumentUri

_SAFE = "/:@!$&'()*+,;=~-._"
"""What RFC 3986 lets stand in a path segment, the slash too."""


def uri_from_path(path: Path) -> DocumentUri:
    """The `file:` URI of an absolute path; symlinks are not followed.

    Raises:
        ValueError: `path` is relative.
    """
    if not path.is_absolute():
        raise ValueError(f"a file URI needs an absolute path, not {str(path)!r}")
    posix = path.as_posix()
    prefix = "" if posix.startswith("/") else "/"
    return DocumentUri("file://" + prefix + quote(os.fsencode(posix), safe=_SAFE))


def path_from_uri(uri: str) -> Path | None:
    """The path that a `file:` URI names; `None` for other schemes. Percent-encoding of any spelling is undone."""
    parts = urlsplit(uri)
    if parts.scheme.lower() != "file":
        return None
    # A server that decodes `#` or `?` on its way back puts the rest of the name there.
    raw = parts.path + (f"?{parts.query}" if parts.query else "") + (f"#{parts.fragment}" if parts.fragment else "")
    decoded = unquote(raw, errors="surrogateescape")
    if os.name == "nt" and decoded[:1] == "/" and decoded[2:3] == ":":
        decoded = decoded[1:]
    return Path(decoded)


def uri_key(uri: str) -> str:
    """The one spelling under which a document is filed: decoded and normalised. Equal for URIs of the same document."""
    path = path_from_uri(uri)
    if path is None:
        return unquote(uri)
    key = os.path.normpath(path)
    if PurePosixPath(key).is_absolute() or os.name != "nt":
        return os.path.normcase(key)
    return os.path.normcase(key[:1].lower() + key[1:])
