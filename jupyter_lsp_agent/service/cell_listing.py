"""The cells of a notebook as an agent reads them before it edits."""

from typing import Any

from jupyter_lsp_agent.diagnostics.hashes import notebook_hash, text_hash
from jupyter_lsp_agent.notebook.languages import PYTHON, detect_language
from jupyter_lsp_agent.notebook.magic_table import CELL_MAGICS, BodyKind
from jupyter_lsp_agent.notebook.model import Cell, CellKind, Notebook


def list_cells(name: str, notebook: Notebook) -> dict[str, Any]:
    """The object of `GET cells`: indexes are 0-based, ids and counts as stored, sources joined.

    Args:
        name: the document, as it was asked for.
        notebook: its content.
    """
    language = detect_language(notebook)
    return {
        "path": name,
        "content_hash": notebook_hash(notebook.cells),
        "cells": [
            {
                "cell_id": cell.cell_id,
                "cell_index": cell.index,
                "cell_type": cell.cell_type,
                "language": _language(cell, language),
                "source": cell.source,
                "source_hash": text_hash(cell.source),
                "execution_count": cell.execution_count,
            }
            for cell in notebook.cells
        ],
    }


def _language(cell: Cell, kernel_language: str | None) -> str | None:
    """What a cell is written in: a code cell in its own language, its magic's, or the kernel's."""
    if cell.kind is CellKind.MARKDOWN:
        return "markdown"
    if cell.kind is not CellKind.CODE:
        return None
    if cell.language is not None or kernel_language != PYTHON or not cell.source.startswith("%%"):
        return cell.language or kernel_language
    name = cell.source[2:].split(maxsplit=1)
    magic = CELL_MAGICS.get(name[0]) if name else None
    return magic.language if magic is not None and magic.body is BodyKind.LANGUAGE else kernel_language
