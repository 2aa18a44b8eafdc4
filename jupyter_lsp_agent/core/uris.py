"""Paths and `file:` URIs.

Servers send URIs back in spellings of their own (`%28` for `(`, `C%3A`, a decoded `#`), so two URIs are compared by
`uri_key`, never as strings. What servers send is taken apart without any demand on its form: a text that is no URI
names no path, and is its own key.
"""

import os
import re
from pathlib import Path, PurePosixPath
from urllib.parse import quote, unquote

from jupyter_lsp_agent.core.ids import DocumentUri

_SAFE = "/:@!$&'()*+,;=~-._"
"""What RFC 3986 lets stand in a path segment, the slash too."""

_FILE = re.compile(r"file:(?://[^/?#]*)?(?P<path>.*)", re.IGNORECASE | re.DOTALL)
"""A `file:` URI (RFC 8089). A decoded `#` or `?` belongs to the path: a fragment or a query has no meaning there."""


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
    """The path that a `file:` URI names; `None` where `uri`, which may be any text, names none.

    Percent-encoding of any spelling is undone.
    """
    match = _FILE.fullmatch(uri)
    if match is None:
        return None
    decoded = unquote(match["path"], errors="surrogateescape")
    if "\0" in decoded:  # no system has such a path
        return None
    if os.name == "nt" and decoded[:1] == "/" and decoded[2:3] == ":":
        decoded = decoded[1:]
    return Path(decoded)


def uri_key(uri: str) -> str:
    """The one spelling under which a document is filed: decoded and normalised. Equal for URIs of the same document.

    Any text has a key.
    """
    path = path_from_uri(uri)
    if path is None:
        return unquote(uri)
    key = os.path.normpath(path)
    if PurePosixPath(key).is_absolute() or os.name != "nt":
        return os.path.normcase(key)
    return os.path.normcase(key[:1].lower() + key[1:])
