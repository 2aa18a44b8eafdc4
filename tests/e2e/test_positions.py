"""An undefined name at the end of every cell of real notebooks is found in its cell, line and column.

What stands before it is what moves places: astral characters, tabs, CRLF, form feeds, U+2028 and magics. Left out are
cells for which it would be no error, or that may never come to their last line; how many those are is printed.
"""

import ast
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from jupyter_lsp_agent.notebook.model import Cell, CellKind, Notebook
from tests.support.command_line import run_command
from tests.support.corpus import is_plain, needs_corpus, python_notebooks
from tests.support.full import sample

pytestmark = [pytest.mark.shared, needs_corpus, pytest.mark.timeout(600)]

N_NOTEBOOKS = sample(200, 40)
_HIDES_NAMES = re.compile(r"import\s+\*|%\s*(?:run|pylab|store)\b")
_EXITS = {"exit", "quit", "_exit", "abort"}
BEFORE = (
    "",
    "face = '😀𝒳'; ",
    "tab = '\t\u2028'; ",
    "\x0cfeed = 1; ",
    "\n%time timed = 1\n",
    "\r\nfiles = !ls\r\nsecond = 2; ",
    "\nos?\n!echo a \\\n  b\n",
)


def takes_the_name(notebook: Notebook, cell: Cell) -> bool:
    """Whether an undefined name at the end of a cell is an error that a kernel comes to."""
    sources = [other.source for other in notebook.cells if other.kind is CellKind.CODE]
    if any(_HIDES_NAMES.search(source) for source in sources):
        return False
    return is_plain(cell) and re.fullmatch(r"\s*\w*\s*", cell.source) is None and not may_leave(ast.parse(cell.source))


def may_leave(tree: ast.AST) -> bool:
    """Whether a statement outside functions raises, exits or loops for ever, or could."""
    return any(
        isinstance(node, (ast.Raise, ast.Assert, ast.While))
        or (isinstance(node, (ast.Name, ast.Attribute)) and _last_name(node) in _EXITS)
        for node in _outside_functions(tree)
    )


def _last_name(node: ast.Name | ast.Attribute) -> str:
    return node.id if isinstance(node, ast.Name) else node.attr


def _outside_functions(tree: ast.AST) -> Iterator[ast.AST]:
    for node in ast.iter_child_nodes(tree):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            yield node
            yield from _outside_functions(node)


def with_name(source: str, number: int) -> tuple[str, int, int]:
    """The source with an undefined name at its end, and the name's line and column, from 1."""
    text = f"{source}\n{BEFORE[number % len(BEFORE)]}"
    lines = re.split(r"\r\n|\r|\n", text)
    return f"{text}zz_undefined_{number}", len(lines), len(lines[-1]) + 1


@pytest.mark.filterwarnings("ignore::SyntaxWarning", "ignore::DeprecationWarning")
def test_every_name_is_found_where_it_stands(tmp_path: Path) -> None:
    expected: dict[str, set[tuple[int, int, int, str]]] = {}
    n_cells = n_left_out = 0
    notebooks = python_notebooks()
    for name, notebook in notebooks[:: max(1, len(notebooks) // N_NOTEBOOKS)][:N_NOTEBOOKS]:
        cells: list[dict[str, Any]] = []
        path = name.replace("/", "__")
        expected[path] = set()
        for cell in notebook.cells:
            source, is_code = cell.source, cell.kind is CellKind.CODE
            if is_code and source.strip():
                n_cells += 1
                if takes_the_name(notebook, cell):
                    source, line, column = with_name(source, cell.index)
                    expected[path].add((cell.index, line, column, f"zz_undefined_{cell.index}"))
                else:
                    n_left_out += 1
            cells.append({"cell_type": str(cell.kind), "metadata": {}, "source": source})
        metadata = {"language_info": {"name": "python"}}
        (tmp_path / path).write_text(
            json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 4})
        )
    print(f"{len(expected)} notebooks; {n_left_out} of {n_cells} code cells left out")
    done = run_command(
        "check", "--format", "json", "--server", "ty", "--max-per-cell", "0", "--max-total", "0", ".", cwd=tmp_path
    )
    found = {Path(report["path"]).name: _names(report) for report in done.reports}
    assert {path: places - found[path] for path, places in expected.items() if places - found[path]} == {}
    assert {path: found[path] - places for path, places in expected.items() if found[path] - places} == {}
    assert n_left_out < n_cells / 2


def _names(report: dict[str, Any]) -> set[tuple[int, int, int, str]]:
    return {
        (cell["cell_index"], diagnostic["line"], diagnostic["column"], name[0])
        for cell in report["cells"]
        for diagnostic in cell["diagnostics"]
        if (name := re.search(r"zz_undefined_\d+", diagnostic["message"])) is not None
    }
