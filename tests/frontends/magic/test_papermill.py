"""The magic in a notebook that papermill runs; in an environment of its own (own_environments.sh)."""

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import nbformat
import pytest

from tests.support.jupyter_server import PACKAGE_ROOT
from tests.support.kernels import JSON_TYPE, notebook

pytest.importorskip("papermill", reason="papermill has an environment of its own (own_environments.sh)")
pytestmark = pytest.mark.timeout(180)

CELLS = (
    "price = 1",
    "%load_ext jupyter_lsp_agent",
    "%lsp_check",
    "%lsp_check --auto on",
    "other = price",
    "%%lsp_check\nother.bar\ngone",
    "assert price == 3",
)


def papermill(folder: Path, *arguments: str, **environment: str) -> Any:
    """The notebook that papermill made of `CELLS`, with a cell of its parameters put in behind the first."""
    text = json.loads(notebook(*CELLS))
    text["cells"][0]["metadata"]["tags"] = ["parameters"]
    (folder / "in.ipynb").write_text(json.dumps(text))
    inherited = {name: value for name, value in os.environ.items() if name != "JPY_SESSION_NAME"}
    run = subprocess.run(
        [sys.executable, "-m", "papermill", "in.ipynb", "out.ipynb", "-p", "price", "3", *arguments],
        cwd=folder,
        env=inherited | {"IPYTHONDIR": str(folder / "ipython"), "PYTHONPATH": str(PACKAGE_ROOT)} | environment,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    return nbformat.read(folder / "out.ipynb", as_version=4).cells


def text_of(cell: Any) -> str:
    return "\n".join(str(output.get("text") or output.get("data", {}).get("text/plain")) for output in cell.outputs)


def report_of(cell: Any) -> Any:
    (output,) = cell.outputs
    return output.data[JSON_TYPE]


@pytest.mark.parametrize("name", ["", "other.ipynb"])
def test_it_answers_as_in_any_kernel(tmp_path: Path, name: str) -> None:
    """Papermill names no notebook, and may run in a kernel's shell that names another one."""
    (tmp_path / "elsewhere").mkdir()
    hint = tmp_path / "elsewhere" / name
    if name:
        hint.write_text(notebook("another = 1"))
    cells = papermill(tmp_path, **({"JPY_SESSION_NAME": str(hint)} if name else {}))
    assert [cell.source for cell in cells][1].startswith("# Parameters")
    checked = report_of(cells[3])
    assert (checked["verdict"], checked["path"], checked["content_source"]) == ("clean", None, "history")
    assert ("does not hold what ran here" in checked["notes"][0]) is bool(name)
    assert "no new errors" in text_of(cells[4])
    assert "no new errors" in text_of(cells[5])
    below = report_of(cells[6])
    assert [one["line"] for cell in below["cells"] for one in cell["diagnostics"]] == [2, 3]
