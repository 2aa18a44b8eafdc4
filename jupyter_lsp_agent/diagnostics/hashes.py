"""The hashes by which a report names the content it speaks of.

They cover what a server can see (cell types and sources), so outputs, counts and metadata may change without a new
name. Lone surrogates, which JSON can carry and UTF-8 cannot, are passed through.
"""

import hashlib
import json
from collections.abc import Iterable

from jupyter_lsp_agent.notebook.model import Cell, CellKind


def notebook_hash(cells: Iterable[Cell]) -> str:
    """`sha256:` and the hex digest of a notebook's cell types and sources."""
    pairs = [[cell.cell_type if cell.kind is CellKind.UNKNOWN else cell.kind.value, cell.source] for cell in cells]
    return text_hash(json.dumps(pairs, ensure_ascii=True, separators=(",", ":")))


def text_hash(text: str) -> str:
    """`sha256:` and the hex digest of a text, or of one cell's source."""
    return "sha256:" + hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
