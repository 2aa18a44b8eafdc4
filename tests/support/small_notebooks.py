"""Small notebooks for tests, as nbformat writes them."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

PYTHON_METADATA = {
    "kernelspec": {"display_name": "Python 3", "language": "python", "name": "python3"},
    "language_info": {"name": "python"},
}


def notebook_object(sources: Sequence[str], *, ids: bool = True) -> dict[str, Any]:
    """A Python notebook of code cells; their ids are `c0`, `c1`, …"""
    cells = []
    for index, source in enumerate(sources):
        cell = {"cell_type": "code", "execution_count": None, "metadata": {}, "outputs": [], "source": _lines(source)}
        cells.append({**cell, "id": f"c{index}"} if ids else cell)
    return {"cells": cells, "metadata": PYTHON_METADATA, "nbformat": 4, "nbformat_minor": 5 if ids else 4}


def write_notebook(path: Path, *sources: str, ids: bool = True) -> bytes:
    """Write such a notebook; what was written."""
    text = json.dumps(notebook_object(sources, ids=ids), indent=1, sort_keys=True, ensure_ascii=False) + "\n"
    path.write_bytes(text.encode())
    return text.encode()


def sources_of(path: Path) -> list[str]:
    """The sources of a notebook's cells, as `json` reads them."""
    return ["".join(cell["source"]) for cell in json.loads(path.read_bytes().decode("utf-8-sig"))["cells"]]


def _lines(source: str) -> list[str]:
    return [line for line in source.splitlines(keepends=True) if line]
