"""`notebooks/magic.ipynb`: what it shows is what comes.

Run as `python -m tests.frontends.magic.test_magic_notebook` it executes the notebook and stores what came.
"""

import os
import re
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest
from nbclient import NotebookClient

from tests.support.jupyter_server import PACKAGE_ROOT

NOTEBOOK = Path(__file__).parents[3] / "notebooks" / "magic.ipynb"

pytestmark = pytest.mark.timeout(120)


def execute(folder: Path) -> Any:
    """The notebook, run from the top in a folder of its own, as a server would run it."""
    folder.joinpath(NOTEBOOK.name).write_bytes(NOTEBOOK.read_bytes())
    notebook = nbformat.read(folder / NOTEBOOK.name, as_version=4)
    environment = {
        **os.environ,
        "JPY_SESSION_NAME": str(folder / NOTEBOOK.name),
        "JUPYTER_RUNTIME_DIR": str(folder),
        "IPYTHONDIR": str(folder / "ipython"),
        "PYTHONPATH": str(PACKAGE_ROOT),
    }
    NotebookClient(notebook, resources={"metadata": {"path": str(folder)}}, timeout=100).execute(env=environment)
    return notebook


def shown(cell: Any) -> list[str]:
    """What a cell shows, as text, without what differs from run to run."""
    texts = [output.get("text") or output.get("data", {}).get("text/plain", "") for output in cell.get("outputs", [])]
    return [re.sub(r"\d+ ms", "N ms", re.sub(r"ty [\d.]+", "ty VERSION", text)) for text in texts]


def test_what_it_shows_is_what_comes(tmp_path: Path) -> None:
    stored = nbformat.read(NOTEBOOK, as_version=4)
    for cell, executed in zip(stored.cells, execute(tmp_path).cells, strict=True):
        assert shown(executed) == shown(cell), cell.source


def store() -> None:
    """Keep what comes."""
    import tempfile

    with tempfile.TemporaryDirectory() as folder:
        notebook = execute(Path(folder).resolve())
    for cell in notebook.cells:
        cell.metadata.pop("execution", None)
        for output in cell.get("outputs", []):
            for kind in [kind for kind in output.get("data", {}) if kind.endswith("+json")]:
                # It names this machine's interpreter, and is for programs, which ask for their own.
                del output["data"][kind]
    notebook.metadata.pop("language_info", None)
    nbformat.write(notebook, NOTEBOOK)


if __name__ == "__main__":
    sys.exit(store())
