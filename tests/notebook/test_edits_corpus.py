"""Byte identity over public notebooks: every operation, and a batch of five."""

import json
import random

import pytest

from jupyter_lsp_agent.core.errors import InvalidEditError, NotebookError
from jupyter_lsp_agent.notebook.edits import Append, Delete, Insert, Move, Replace, ReplaceText, SetType, plan_edits
from jupyter_lsp_agent.notebook.reader import read_notebook
from jupyter_lsp_agent.notebook.surgery import apply_plan
from tests.support.corpus import corpus_files, needs_corpus
from tests.support.edit_checks import check_bytes_stay, joined, model_after
from tests.support.full import FULL, SEEDS

_ALL = corpus_files()
_SAMPLE = _ALL if FULL else sorted(random.Random(SEEDS["edits"]).sample(_ALL, min(215, len(_ALL))))

pytestmark = [pytest.mark.shared, needs_corpus]


def _operations(cells) -> list[list]:
    last, middle = len(cells) - 1, len(cells) // 2
    some = [
        [Replace(middle, "a = 1\nb = 'é'\n")],
        [Insert(middle, "code", "x\ny")],
        [Insert(None, "markdown", "# é")],
        [Append("code", "z")],
        [Delete(middle)],
        [Delete(0)],
        [Delete(last)],
        [SetType(middle, "raw")],
        [SetType(middle, "code")],
        [Move(last, None)],
    ]
    unique = next((cell for cell in cells if cell.source and cell.source.count(cell.source[:40]) == 1), None)
    if unique is not None:
        some.append([ReplaceText(unique.index, unique.source[:40], "changed\n")])
    if len(cells) > 3:
        some.append([Replace(0, "é"), Insert(0, "code", "y"), Move(last, 1), Delete(2), SetType(1, "markdown")])
    return some


def _edit_and_check(old: bytes, edits: list, name: str) -> None:
    plan = plan_edits(read_notebook(old, name), edits)
    new = apply_plan(old, plan, name)
    check_bytes_stay(old, new, plan)
    assert joined(json.loads(new.decode("utf-8-sig"))) == joined(model_after(old, plan))


@pytest.mark.parametrize("path", _SAMPLE, ids=lambda path: path.name)
def test_every_operation_keeps_the_other_bytes(path):
    old = path.read_bytes()
    try:
        notebook = read_notebook(old, path.name)
    except NotebookError:
        pytest.skip("no notebook that can be read")
    if notebook.nbformat < 4:
        with pytest.raises(InvalidEditError, match="nbformat 4"):
            plan_edits(notebook, [Append("code", "x")])
        return
    for edits in _operations(notebook.cells) if notebook.cells else [[Append("code", "x")]]:
        _edit_and_check(old, edits, path.name)
