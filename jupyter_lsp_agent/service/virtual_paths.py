"""Where a virtual document pretends to lie: beside the notebook, under a name that no file has and no import means."""

import os
import re
from dataclasses import replace
from pathlib import Path

from jupyter_lsp_agent.core.diagnostic import CellDiagnostic
from jupyter_lsp_agent.core.positions import TextPosition
from jupyter_lsp_agent.notebook.line_map import LineMap

_MARK = "jla"
_VIRTUAL = re.compile(rf"\.ipynb(?:\.\d+)?\.{_MARK}\d*\.\w+$", re.IGNORECASE)


def virtual_path(notebook: Path, extension: str, cell_index: int | None = None) -> Path:
    """The path of a virtual document of `notebook`.

    The stem holds dots, so it is no identifier and enters no import system; nothing is ever written there.

    Args:
        notebook: the notebook's path.
        extension: of a file in the document's language, with the dot.
        cell_index: of the cell whose body it is; `None` for the document of the whole notebook.
    """
    cell = "" if cell_index is None else f".{cell_index}"
    path = notebook.with_name(f"{notebook.name}{cell}.{_MARK}{extension}")
    number = 1
    while os.path.lexists(path):  # unlike Path.exists, says no where the name is too long for a file
        path = notebook.with_name(f"{notebook.name}{cell}.{_MARK}{number}{extension}")
        number += 1
    return path


def is_virtual(path: Path) -> bool:
    """Whether a path is one of ours, of whatever notebook."""
    return _VIRTUAL.search(path.name) is not None


def speak_of_notebook(found: CellDiagnostic, notebook: Path, line_map: LineMap) -> CellDiagnostic:
    """The finding with cells and the notebook's name wherever a server's message speaks of the virtual document.

    Args:
        found: the finding.
        notebook: the notebook's path.
        line_map: of the virtual document.
    """
    message = speak_of_cells(found.diagnostic.message, notebook, line_map)
    if message == found.diagnostic.message:
        return found
    return replace(found, diagnostic=replace(found.diagnostic, message=message))


def speak_of_cells(text: str, notebook: Path, line_map: LineMap) -> str:
    """A server's text with cells and the notebook's name wherever it speaks of the virtual document."""
    if f"{notebook.name}.{_MARK}" not in text:
        return text

    def place(match: re.Match[str]) -> str:
        location = line_map.to_cell(TextPosition(int(match["line"]) - 1, 0)) if match["line"] else None
        return notebook.name if location is None else f"{notebook.name} cell {location.cell_index}"

    name = re.escape(f"{notebook.name}.{_MARK}")
    return re.sub(rf"[^\s`'\"]*{name}\d*\.\w+(?::(?P<line>\d+)(?::\d+)?)?", place, text)
