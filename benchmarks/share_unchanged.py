"""How much of real code cells reaches a server unchanged, by what the line is.

Run with `python -m benchmarks.share_unchanged FOLDER`: every Python notebook below FOLDER is built, and each character
of its code cells that stands in a virtual document as it stands in the cell is counted.
"""

import sys
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path

from jupyter_lsp_agent.core.errors import NotebookError
from jupyter_lsp_agent.core.positions import TextPosition, split_lines
from jupyter_lsp_agent.notebook.cell_cleanup import clean_lines, source_lines
from jupyter_lsp_agent.notebook.cell_translation import CellScope, CellTranslation, MagicOptions
from jupyter_lsp_agent.notebook.ipython_syntax import find_constructs
from jupyter_lsp_agent.notebook.magics import translate_cell
from jupyter_lsp_agent.notebook.model import CellKind, Notebook
from jupyter_lsp_agent.notebook.python_syntax import compiles
from jupyter_lsp_agent.notebook.reader import read_notebook
from jupyter_lsp_agent.notebook.virtual_document import (
    BuildOptions,
    VirtualDocument,
    VirtualNotebook,
    build_virtual_documents,
)


def kinds_of_lines(source: str) -> list[str]:
    """What each line of a cell is."""
    translation = translate_cell(source, MagicOptions())
    n_lines = len(split_lines(source))
    if not compiles(translation.text):
        return ["in a cell that does not parse"] * n_lines
    if translation.is_identity:
        return ["in a cell without magics"] * n_lines
    _, rest = clean_lines(source_lines(split_lines(source)))
    kinds = ["beside magics"] * n_lines
    if rest and rest[0].text.startswith("%%"):
        kinds = [_body(translation)] * n_lines
        kinds[rest[0].cell_line] = "line of a cell magic"
        rest = rest[1:]
    if translation.scope is not CellScope.NONE:
        for form in find_constructs([line.text for line in rest]):
            for line in rest[form.first_line : form.last_line + 1]:
                kinds[line.cell_line] = f"form {form.kind.value}"
    return kinds


def _body(translation: CellTranslation) -> str:
    if translation.unchecked:
        return "body of text, or of an unknown magic"
    return f"body of {translation.foreign[0].language}" if translation.foreign else "body of a Python cell magic"


def unchanged(document: VirtualDocument, lines: Sequence[str], index: int) -> Iterator[tuple[int, int]]:
    """(line, characters that stand in the document as they stand in the cell)."""
    virtual = document.text.split("\n")
    for number, text in enumerate(lines):
        count = 0
        for column, character in enumerate(text):
            place = document.line_map.to_virtual(index, TextPosition(number, column))
            if place is not None and virtual[place.line][place.column : place.column + 1] == character:
                count += 1
        yield number, count


def count(notebook: Notebook, built: VirtualNotebook, sent: Counter[str], total: Counter[str]) -> None:
    for index, cell in enumerate(notebook.cells):
        if cell.kind is not CellKind.CODE:
            continue
        lines, kinds = split_lines(cell.source), kinds_of_lines(cell.source)
        for kind, line in zip(kinds, lines, strict=True):
            total[kind] += len(line)
        best = [0] * len(lines)
        for document in built.documents:
            for number, found in unchanged(document, lines, index):
                best[number] = max(best[number], found)
        for kind, found in zip(kinds, best, strict=True):
            sent[kind] += found


def main(folder: Path) -> None:
    sent: Counter[str] = Counter()
    total: Counter[str] = Counter()
    n_notebooks = 0
    for path in sorted(folder.rglob("*.ipynb")):
        try:
            notebook = read_notebook(path.read_bytes(), path.name)
        except (NotebookError, OSError):
            continue
        built = build_virtual_documents(notebook, BuildOptions())
        if built.language != "python":
            continue
        n_notebooks += 1
        count(notebook, built, sent, total)
    print(f"{n_notebooks} Python notebooks")
    print(f"{'what the line is':38} {'characters':>10} {'unchanged':>9}")
    for kind, n_characters in total.most_common():
        if n_characters:
            print(f"{kind:38} {n_characters:10} {sent[kind] / n_characters:9.2%}")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
