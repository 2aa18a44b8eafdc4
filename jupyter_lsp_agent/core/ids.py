"""Scalar identities, so that one kind of string is never passed for another."""

from typing import NewType

CellId = NewType("CellId", str)
"""A cell's id as stored in the file (nbformat ≥ 4.5). Not trusted as a key."""

DocumentUri = NewType("DocumentUri", str)
"""A `file:` URI as we send it to a server."""

LanguageId = NewType("LanguageId", str)
"""A language as LSP's `languageId` names it: `python`, `shellscript`, `typescript`, …"""

ServerId = NewType("ServerId", str)
"""A server's key in the catalogue: `ty`, `basedpyright`, …"""

DocumentVersion = NewType("DocumentVersion", int)
"""The version of an open document, counted by us, growing with each change."""
