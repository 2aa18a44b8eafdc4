"""`docs/ARCHITECTURE.md` tells what is: its walk has the real values, and the tests that it names exist."""

import re
from pathlib import Path

from jupyter_lsp_agent.core.positions import TextPosition
from jupyter_lsp_agent.notebook.build_options import BuildOptions
from jupyter_lsp_agent.notebook.line_map import CellLocation
from jupyter_lsp_agent.notebook.reader import read_notebook
from jupyter_lsp_agent.notebook.virtual_document import build_virtual_documents
from tests.test_walkthrough import notebook_bytes

CHECKOUT = Path(__file__).parents[2]
PAGE = (CHECKOUT / "docs" / "ARCHITECTURE.md").read_text(encoding="utf-8")


def test_the_walk_shows_the_lines_of_the_virtual_document() -> None:
    document = build_virtual_documents(read_notebook(notebook_bytes(), "prices.ipynb"), BuildOptions()).documents[0]
    lines = document.text.split("\n")
    shown = re.findall(r"^   (\d+) +(\S.*)$", PAGE, re.MULTILINE)
    assert len(shown) == 3
    for number, text in shown:
        assert lines[int(number)] == text
    place = re.search(r"virtual line (\d+), column (\d+) is cell (\d+), line (\d+), column (\d+)", PAGE)
    assert place is not None
    line, column, cell, cell_line, cell_column = map(int, place.groups())
    there = document.line_map.to_cell(TextPosition(line, column))
    assert there == CellLocation(cell, TextPosition(cell_line, cell_column))


def test_every_test_that_it_names_exists() -> None:
    tests = {name for path in CHECKOUT.glob("tests/**/test_*.py") for name in defined_in(path)}
    named = set(re.findall(r"`(?:tests/[\w/]+\.py::)?(test_\w+)`", PAGE)) - {path.stem for path in modules()}
    assert len(named) >= 8
    assert named <= tests


def modules() -> list[Path]:
    return list(CHECKOUT.glob("tests/**/test_*.py"))


def defined_in(path: Path) -> list[str]:
    return re.findall(r"^(?:async )?def (test_\w+)", path.read_text(encoding="utf-8"), re.MULTILINE)
