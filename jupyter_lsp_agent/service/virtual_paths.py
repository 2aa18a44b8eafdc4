"""Where a virtual document pretends to lie: beside the notebook, under a name that no file has and no import means."""

import os
from dataclasses import replace
from pathlib import Path

from jupyter_lsp_agent.core.diagnostic import CellDiagnostic

_MARK = "jla"


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


def speak_of_notebook(found: CellDiagnostic, notebook: Path) -> CellDiagnostic:
    """The finding with the notebook's name wherever a server put the virtual document's."""
    mark = f"{notebook.name}.{_MARK}"
    message = found.diagnostic.message
    if mark not in message:
        return found
    message = message.replace(f"{mark}.py", notebook.name).replace(mark, notebook.name)
    return replace(found, diagnostic=replace(found.diagnostic, message=message))
