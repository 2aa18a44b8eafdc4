"""The public notebooks beside the checkout, and which of their cells an undefined name can be put into.

The data is not part of this project; tests that use it are marked `shared` and skip, counted, where it is absent.
"""

import ast
import csv
import functools
import os
import re
import warnings
from pathlib import Path

import pytest

from jupyter_lsp_agent.notebook.model import Cell, CellKind, Notebook
from jupyter_lsp_agent.notebook.reader import read_notebook

SHARED = Path(os.environ.get("JUPYTER_LSP_AGENT_SHARED") or Path(__file__).parents[2] / ".." / "shared").resolve()
CORPUS = SHARED / "corpus"
needs_corpus = pytest.mark.skipif(
    not (CORPUS / "manifest.csv").is_file(), reason="the corpus is not beside the checkout"
)

_MAGIC = re.compile(r"(?:^|\n)[ \t]*[%!?,;/]|=[ \t]*[%!]|\?[ \t]*(?:\n|$)")
_LEAVES = re.compile(r"\b(?:raise|return|exit|quit|assert|while|sys\.exit)\b|import \*")
_OPEN_NAMESPACE = re.compile(r"import \*|%\s*(?:run|pylab|store|load_ext|reload_ext)|globals\(\)|exec\(")


def manifest() -> list[dict[str, str]]:
    """What is written down of each notebook of the corpus; nothing where it is absent."""
    table = CORPUS / "manifest.csv"
    if not table.is_file():
        return []
    with table.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def corpus_files() -> list[Path]:
    """All notebooks of the corpus, sorted."""
    return [CORPUS / name for name in sorted(row["file"] for row in manifest())]


@functools.cache
def python_notebooks(max_cells: int = 200) -> tuple[tuple[str, Notebook], ...]:
    """(name, notebook) of the corpus's Python notebooks of moderate size that hold plain Python, sorted by name."""
    rows = [row for row in manifest() if row["language"] == "python" and row["kind"] != "derived"]
    chosen = (row["file"] for row in rows if int(row["code_cells"] or 0) > 1 and int(row["cells"] or 0) <= max_cells)
    read = ((name, read_notebook((CORPUS / name).read_bytes(), name)) for name in sorted(chosen))
    return tuple((name, notebook) for name, notebook in read if any(map(_is_looked_at, notebook.cells)))


def _is_looked_at(cell: Cell) -> bool:
    return bool(cell.source.strip()) and is_plain(cell)


@functools.lru_cache(maxsize=50_000)
def parses(source: str) -> bool:
    """Whether CPython compiles a source as a cell, without a warning being printed."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            compile(source, "<cell>", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT, dont_inherit=True)
        except (SyntaxError, ValueError, RecursionError):
            return False
    return True


def is_plain(cell: Cell) -> bool:
    """Whether a cell is Python without anything that is IPython's."""
    return cell.kind is CellKind.CODE and not _MAGIC.search(cell.source) and parses(cell.source)


def takes_an_error(notebook: Notebook, cell: Cell) -> bool:
    """Whether an undefined name appended to a cell is an error: nothing leaves it or hides what is bound."""
    if not is_plain(cell) or not cell.source.strip() or _LEAVES.search(cell.source):
        return False
    code = (other.source for other in notebook.cells if other.kind is CellKind.CODE)
    return not any(_OPEN_NAMESPACE.search(source) for source in code)
