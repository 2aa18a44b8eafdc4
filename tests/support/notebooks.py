"""Small notebooks for tests, from their cells' sources."""

import json
from collections.abc import Mapping
from typing import Any

from jupyter_lsp_agent.notebook.model import Notebook
from jupyter_lsp_agent.notebook.reader import notebook_from_json, read_notebook

PYTHON_METADATA = {
    "kernelspec": {"name": "python3", "display_name": "Python 3", "language": "python"},
    "language_info": {"name": "python"},
}


def notebook_json(*sources: str, metadata: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """An nbformat 4.5 object whose code cells have these sources."""
    return {
        "cells": [
            {
                "cell_type": "code",
                "id": f"c{number:03}",
                "metadata": {},
                "source": source,
                "execution_count": None,
                "outputs": [],
            }
            for number, source in enumerate(sources)
        ],
        "metadata": PYTHON_METADATA if metadata is None else dict(metadata),
        "nbformat": 4,
        "nbformat_minor": 5,
    }


def python_notebook(*sources: str) -> Notebook:
    """A Python notebook with these code cells."""
    return notebook_from_json(notebook_json(*sources), "test.ipynb")


def notebook_with(metadata: Mapping[str, Any], *sources: str) -> Notebook:
    """A notebook with this metadata and these code cells, through its bytes."""
    return read_notebook(json.dumps(notebook_json(*sources, metadata=metadata)).encode(), "test.ipynb")
