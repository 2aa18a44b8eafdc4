"""Notebooks of cells as the bytes of a file."""

import json
from random import Random
from typing import Any

from jupyter_lsp_agent.core.positions import split_lines_keeping_ends
from jupyter_lsp_agent.notebook.model import Cell, CellKind
from tests.support.quiet_edits import Cells


def encode_notebook(
    cells: Cells, *, random: Random | None = None, nbformat_minor: int = 5, kernel: str = "python3"
) -> bytes:
    """The file; with `random` each time in another format. The kernel is a plain Python: others are not here."""
    random = random or Random(0)
    as_lines = random.random() < 0.5
    content: dict[str, Any] = {
        "cells": [_cell(cell, as_lines=as_lines) for cell in cells],
        "metadata": {"kernelspec": {"name": kernel, "language": "python", "display_name": kernel}},
        "nbformat": 4,
        "nbformat_minor": nbformat_minor,
    }
    text = json.dumps(content, indent=random.choice([None, 0, 1, 4]), sort_keys=random.random() < 0.5)
    return (text + random.choice(["", "\n"])).encode()


def _cell(cell: Cell, *, as_lines: bool) -> dict[str, Any]:
    # What ran has an output; clearing the counts clears the outputs too.
    outputs = [] if cell.execution_count is None else [{"output_type": "stream", "name": "stdout", "text": "a b\n"}]
    code = {"outputs": outputs, "execution_count": cell.execution_count} if cell.kind is CellKind.CODE else {}
    named = {} if cell.cell_id is None else {"id": cell.cell_id}
    source = split_lines_keeping_ends(cell.source) if as_lines else cell.source
    return {"cell_type": cell.kind.value, "metadata": {}, "source": source, **code, **named}
