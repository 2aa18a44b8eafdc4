"""Byte identity over REST: public notebooks, every operation and a batch of five, through a real server."""

import json
import random

import pytest

from jupyter_lsp_agent.core.errors import NotebookError
from jupyter_lsp_agent.notebook.edits import plan_edits
from jupyter_lsp_agent.notebook.reader import read_notebook
from jupyter_lsp_agent.service.agent_requests import decode_edit
from tests.support.corpus import corpus_files, needs_corpus
from tests.support.edit_checks import check_bytes_stay, joined, model_after
from tests.support.full import SEEDS, sample

_ALL = corpus_files()
_SAMPLE = random.Random(SEEDS["edits (REST)"]).sample(_ALL, min(sample(250, 24), len(_ALL)))

pytestmark = [pytest.mark.shared, needs_corpus]


_APPEND = {"op": "append", "cell_type": "markdown", "source": "# é"}


def _batches(count: int) -> list[list[dict]]:
    middle, last = count // 2, count - 1
    replace = {"op": "replace", "cell": middle, "source": "a = 1\nb = 'é'\n"}
    insert = {"op": "insert", "after": middle, "cell_type": "code", "source": "x\ny"}
    delete = {"op": "delete", "cell": middle}
    move = {"op": "move", "cell": last, "after": None}
    kind = {"op": "set_type", "cell": 0, "cell_type": "raw"}
    first = {"op": "insert", "after": None, "cell_type": "raw", "source": ""}
    single = [[replace], [insert], [_APPEND], [delete], [move], [kind]]
    return [*single, [replace | {"cell": 0}, insert, move, first, _APPEND]] if count > 1 else [[_APPEND]]


@pytest.mark.parametrize("path", _SAMPLE, ids=lambda path: path.name)
def test_every_operation_keeps_the_other_bytes(server, folder, path):
    old = path.read_bytes()
    stored, name = folder / "n.ipynb", f"{folder.name}/n.ipynb"
    try:
        notebook = read_notebook(old, path.name)
    except NotebookError:
        stored.write_bytes(old)
        answer = server.post("edits", path=name, edits=[_APPEND], check=False)
        assert (answer.status, stored.read_bytes()) == (400, old), "what cannot be read is refused, and stays"
        return
    for edits in _batches(len(notebook.cells)):
        stored.write_bytes(old)
        answer = server.post("edits", path=name, edits=edits, check=False)
        if notebook.nbformat < 4:
            assert (answer.status, stored.read_bytes()) == (400, old)
            continue
        assert answer.status == 200, answer.text
        # The ids of new cells were made by the server; with them the plan can be made again.
        made = iter(
            [place["cell_id"] for edit, place in zip(edits, answer.json["edits"], strict=True) if _is_new(edit)]
        )
        plan = plan_edits(notebook, [decode_edit(edit, "edit") for edit in edits], new_id=made.__next__)
        new = stored.read_bytes()
        if new == old:
            assert not any(cell.changed for cell in plan.cells)
            continue
        assert answer.json["write"] == "bytes"
        check_bytes_stay(old, new, plan)
        assert joined(json.loads(new.decode("utf-8-sig"))) == joined(model_after(old, plan))


def _is_new(edit: dict) -> bool:
    return edit["op"] in {"insert", "append"}
