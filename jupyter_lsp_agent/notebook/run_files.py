"""What running a file binds: for `%run f.py`, `%run f.ipynb`, and the kernel's start-up files. Read, never run."""

from collections.abc import Iterator

from jupyter_lsp_agent.core.errors import NotebookError
from jupyter_lsp_agent.notebook.cell_translation import EffectKind, MagicOptions
from jupyter_lsp_agent.notebook.magics import translate_cell
from jupyter_lsp_agent.notebook.model import CellKind
from jupyter_lsp_agent.notebook.module_names import collect_names
from jupyter_lsp_agent.notebook.python_syntax import parse
from jupyter_lsp_agent.notebook.reader import read_notebook
from jupyter_lsp_agent.notebook.source_text import SourceText

_HARMLESS = frozenset({EffectKind.WRITE_FILE, EffectKind.CHANGE_FOLDER})


def names_bound_by(data: bytes, name: str) -> frozenset[str] | None:
    """The names that a file binds at its top level.

    Args:
        data: the file's bytes.
        name: the file's name; `.ipynb` and `.ipy` say how IPython runs it.

    Returns:
        `None` where that cannot be told: it does not parse, or takes in names from elsewhere (`import *`, `%run`).
    """
    if name.lower().endswith(".ipynb"):
        return _merged(_notebook_cells(data, name))
    text = _decode(data)
    if text is None:
        return None
    return names_bound_by_cell(text) if name.lower().endswith(".ipy") else _names_of_text(text)


def _notebook_cells(data: bytes, name: str) -> Iterator[frozenset[str] | None]:
    try:
        notebook = read_notebook(data, name)
    except NotebookError:
        yield None
        return
    for cell in notebook.cells:
        if cell.kind is CellKind.CODE:
            yield names_bound_by_cell(cell.source)


def _merged(cells: Iterator[frozenset[str] | None]) -> frozenset[str] | None:
    names: frozenset[str] = frozenset()
    for cell in cells:
        if cell is None:
            return None
        names |= cell
    return names


def names_bound_by_cell(source: str) -> frozenset[str] | None:
    """The names that a cell binds; `None` where that cannot be told."""
    translation = translate_cell(source, MagicOptions())
    has_effects = any(effect.kind not in _HARMLESS for effect in translation.effects)
    names = None if has_effects else _names_of_text(translation.text)
    return None if names is None else names | {binding.name for binding in translation.bindings}


def _names_of_text(text: str) -> frozenset[str] | None:
    tree = parse(text)
    if tree is None:
        return None
    names = collect_names(tree, SourceText(text))
    return None if names.star_imports else names.bound


def _decode(data: bytes) -> str | None:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError:
        return None
