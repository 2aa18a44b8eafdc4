"""Public notebooks: read as nbformat reads them, built without an exception, sent as they are where they are Python."""

import ast
import logging
import sys
import warnings
from collections import Counter
from pathlib import Path

import nbformat
import pytest

from jupyter_lsp_agent.core.errors import NotebookError
from jupyter_lsp_agent.core.positions import split_lines
from jupyter_lsp_agent.notebook.line_map import ChunkPlace
from jupyter_lsp_agent.notebook.magics import MagicOptions, translate_cell
from jupyter_lsp_agent.notebook.model import CellKind, Notebook
from jupyter_lsp_agent.notebook.reader import read_notebook
from jupyter_lsp_agent.notebook.virtual_document import (
    BuildOptions,
    VirtualNotebook,
    build_virtual_documents,
)
from tests.support.corpus import corpus_files, needs_corpus
from tests.support.full import sample

pytestmark = [pytest.mark.shared, needs_corpus, pytest.mark.timeout(300)]

REFUSED_BY_NBFORMAT_ALONE = {
    "bom.ipynb",
    "cells_missing_keys.ipynb",
    "metadata_key_absent.ipynb",
    "databricks_notebook.ipynb",
    "test3_no_metadata.ipynb",
    "ChartExamples-Notebook1.ipynb",
}
"""A byte order mark, no metadata, `"nbformat": "4"`: small defects that we read over."""

OURS = BuildOptions(python_version=sys.version_info[:2])
"""As if every kernel were of the Python that runs the tests, which is the judge of what parses."""


def files() -> list[Path]:
    return corpus_files()[:: sample(1, 4)]


def read(path: Path) -> Notebook | None:
    try:
        return read_notebook(path.read_bytes(), path.name)
    except NotebookError:
        return None


def nbformat_code(path: Path) -> list[str] | None:
    logging.getLogger("traitlets").disabled = True
    try:
        opened = nbformat.read(path, as_version=4)  # type: ignore[no-untyped-call]
    except Exception:  # noqa: BLE001 # nbformat lets all kinds of errors through: AttributeError, KeyError, …
        return None
    return [cell.source for cell in opened.cells if cell.get("cell_type") == "code"]


@pytest.mark.filterwarnings("ignore")
def test_what_nbformat_opens_is_read_and_with_the_same_code() -> None:
    for path in files():
        ours, theirs = read(path), nbformat_code(path)
        if theirs is None:
            assert ours is None or path.name in REFUSED_BY_NBFORMAT_ALONE, path
            continue
        assert ours is not None, path
        assert [cell.source for cell in ours.cells if cell.kind is CellKind.CODE] == theirs, path


def python_builds() -> list[tuple[Notebook, VirtualNotebook]]:
    notebooks = [notebook for path in files() if (notebook := read(path)) is not None]
    built = [(notebook, build_virtual_documents(notebook, OURS)) for notebook in notebooks]
    return [(notebook, result) for notebook, result in built if result.language == "python" and result.documents]


def test_every_python_document_parses_whatever_its_cells_are() -> None:
    for _, built in python_builds():
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            compile(built.documents[0].text, "virtual", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)


def test_python_cells_without_magics_are_sent_as_they_are() -> None:
    sent: Counter[str] = Counter()
    written: Counter[str] = Counter()
    for notebook, built in python_builds():
        broken = {finding.cell_index for finding in built.findings}
        for place in built.documents[0].line_map.places:
            source = notebook.cells[place.cell_index].source
            kind = "broken" if place.cell_index in broken else _kind(source)
            written[kind] += sum(map(len, split_lines(source)))
            sent[kind] += _copied(place)
    for kind, characters in written.items():
        print(f"{kind}: {characters} characters, {100 * sent[kind] / characters:.2f} % unchanged")
    assert sent["plain Python"] >= 0.999 * written["plain Python"]
    assert sent.total() >= 0.95 * written.total()


def _kind(source: str) -> str:
    translation = translate_cell(source, MagicOptions())
    if translation.is_identity:
        return "plain Python"
    if translation.foreign or translation.unchecked:
        return "other languages, unknown magics"
    return "Python with magics, shell, help"


def _copied(place: ChunkPlace) -> int:
    return sum(
        len(line.text) if line.spans is None else sum(span.length for span in line.spans)
        for line in place.chunk.lines
        if line.cell_line is not None
    )
