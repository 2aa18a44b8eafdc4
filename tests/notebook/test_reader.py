"""What opens, what does not, and what is said of it. The judge of what opens is nbformat itself."""

import copy
import io
import json
from collections.abc import Callable
from typing import Any

import nbformat
import pytest

from jupyter_lsp_agent.core.errors import InvalidNotebookError, NotebookError, UnsupportedNotebookFormatError
from jupyter_lsp_agent.notebook.model import CellKind
from jupyter_lsp_agent.notebook.reader import read_notebook
from tests.support.notebooks import notebook_json

SOURCE = "x = 1\nzz_rob"


def sound() -> dict[str, Any]:
    return copy.deepcopy(notebook_json(SOURCE))


def changed(change: Callable[[dict[str, Any]], object]) -> bytes:
    content = sound()
    change(content)
    return json.dumps(content).encode()


def in_cell(**changes: Any) -> bytes:
    return changed(lambda content: content["cells"][0].update(changes))


def without(*path: str | int) -> bytes:
    content = sound()
    owner: Any = content
    for key in path[:-1]:
        owner = owner[key]
    del owner[path[-1]]
    return json.dumps(content).encode()


V3 = {
    "metadata": {"name": ""},
    "nbformat": 3,
    "nbformat_minor": 0,
    "worksheets": [
        {
            "metadata": {},
            "cells": [
                {"cell_type": "heading", "level": 1, "metadata": {}, "source": ["T"]},
                {
                    "cell_type": "code",
                    "collapsed": False,
                    "input": ["x = 1\n", "zz_rob"],
                    "language": "python",
                    "metadata": {},
                    "outputs": [],
                    "prompt_number": 3,
                },
                {"cell_type": "html", "metadata": {}, "source": "<b>"},
            ],
        }
    ],
}
V2 = {
    "metadata": {"name": "t"},
    "nbformat": 2,
    "worksheets": [
        {"cells": [{"cell_type": "code", "input": ["x = 1", "zz_rob"], "language": "python", "outputs": []}]}
    ],
}

OPENED_BY_JUPYTER = {
    "sound": json.dumps(sound()).encode(),
    "source list": in_cell(source=["x = 1\n", "zz_rob"]),
    "CRLF file": json.dumps(sound(), indent=1).replace("\n", "\r\n").encode(),
    "NaN": json.dumps(sound()).replace('"metadata": {}', '"metadata": {"a": NaN}').encode(),
    "no id": without("cells", 0, "id"),
    "duplicate ids": changed(lambda content: content["cells"].append(dict(content["cells"][0]))),
    "no execution count": without("cells", 0, "execution_count"),
    "negative count": in_cell(execution_count=-1),
    "huge count": in_cell(execution_count=10**20),
    "unknown keys": changed(lambda content: (content.update(extra=1), content["cells"][0].update(extra={"a": 1}))),
    "newer minor": changed(lambda content: content.update(nbformat_minor=99)),
    "nbformat 4.0": changed(lambda content: content.update(nbformat_minor=0)),
    "nbformat 3": json.dumps(V3).encode(),
    "nbformat 2": json.dumps(V2).encode(),
    "lone surrogate": json.dumps(sound()).replace("zz_rob", "zz_rob\\ud800").encode(),
}


def nbformat_code(data: bytes) -> list[str]:
    read = nbformat.read(io.StringIO(data.decode()), as_version=4)  # type: ignore[no-untyped-call]
    return [cell.source for cell in read.cells if cell.cell_type == "code"]


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("name", OPENED_BY_JUPYTER)
def test_what_jupyter_opens_is_read_with_the_same_code(name: str) -> None:
    data = OPENED_BY_JUPYTER[name]
    read = [cell.source for cell in read_notebook(data, "a.ipynb").cells if cell.kind is CellKind.CODE]
    assert read == nbformat_code(data)
    assert any("zz_rob" in source for source in read)


READ_BEYOND_JUPYTER = {
    "byte order mark": b"\xef\xbb\xbf" + json.dumps(sound()).encode(),
    "no metadata": without("metadata"),
    "no cell metadata": without("cells", 0, "metadata"),
    "metadata is a list": changed(lambda content: content.update(metadata=[])),
    "cell metadata is null": in_cell(metadata=None),
    "kernelspec is a string": changed(lambda content: content["metadata"].update(kernelspec="python3")),
    "tags are a string": in_cell(metadata={"tags": "a", "vscode": 3}),
    "version as text": changed(lambda content: content.update(nbformat="4")),
    "version as float": changed(lambda content: content.update(nbformat=4.0)),
}


@pytest.mark.parametrize("name", READ_BEYOND_JUPYTER)
def test_small_defects_do_not_keep_a_notebook_from_being_read(name: str) -> None:
    (cell,) = read_notebook(READ_BEYOND_JUPYTER[name], "a.ipynb").cells
    assert (cell.source, cell.kind, cell.tags, cell.defect) == (SOURCE, CellKind.CODE, (), None)


def test_a_cell_is_read_as_stored() -> None:
    data = in_cell(
        id="9f2c", execution_count=7, metadata={"tags": ["a", 3, "b"], "vscode": {"languageId": "sql"}}, source="a\r\nb"
    )
    (cell,) = read_notebook(data, "a.ipynb").cells
    assert (cell.index, cell.cell_id, cell.execution_count) == (0, "9f2c", 7)
    assert (cell.tags, cell.language, cell.source) == (("a", "b"), "sql", "a\r\nb")


def test_an_old_notebook_keeps_its_indexes_and_kinds() -> None:
    cells = read_notebook(json.dumps(V3).encode(), "a.ipynb").cells
    assert [cell.kind for cell in cells] == [CellKind.MARKDOWN, CellKind.CODE, CellKind.MARKDOWN]
    assert [(cell.index, cell.cell_id, cell.execution_count) for cell in cells] == [
        (0, None, None),
        (1, None, 3),
        (2, None, None),
    ]


@pytest.mark.parametrize(
    ("data", "defect"),
    [
        (in_cell(source=None), "null"),
        (in_cell(source=5), "a number"),
        (in_cell(source={}), "an object"),
        (in_cell(cell_type="fancy"), '"fancy"'),
        (without("cells", 0, "cell_type"), "null"),
    ],
)
def test_a_cell_that_nobody_can_look_at_says_so(data: bytes, defect: str) -> None:
    (cell,) = read_notebook(data, "a.ipynb").cells
    assert cell.defect is not None
    assert defect in cell.defect


UNREADABLE = {
    "empty": (b"", ["is empty", "restore it"]),
    "blank": (b" \n", ["is empty"]),
    "UTF-16": (json.dumps(sound()).encode("utf-16"), ["UTF-16", "save it as UTF-8"]),
    "UTF-32": (json.dumps(sound()).encode("utf-32"), ["UTF-32", "save it as UTF-8"]),
    "UTF-32, the other way round": (b"\0\0\xfe\xff" + "{}".encode("utf-32-be"), ["UTF-32"]),
    "latin-1": (b'{\n"a": "caf\xe9"}', ["0xe9", "offset 11", "line 2, byte 10", "save it as UTF-8"]),
    "conflict": (b'{\n<<<<<<< HEAD\n "a": 1\n=======\n "a": 2\n>>>>>>> x\n}', ["merge conflict", "line 2", "resolve"]),
    "LFS pointer": (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n", ["Git LFS", "git lfs pull"]),
    "Python": (b"x = 1\n", ["not JSON", "line 1, column 1"]),
    "truncated": (b'{"cells": [\n{"a":', ["not JSON", "line 2, column 6"]),
    "list": (b"[]", ["a list", "not a notebook object"]),
    "null": (b"null", ["null"]),
    "no version": (b"{}", ['no "nbformat"', '"nbformat": 4']),
    "version word": (b'{"nbformat": "four"}', ['"four"', "write 4"]),
    "no cells": (b'{"nbformat": 4}', ['"cells"', "missing"]),
    "cells are a number": (b'{"nbformat": 4, "cells": 3}', ['"cells"', "a number"]),
    "cell is a number": (b'{"nbformat": 4, "cells": [3]}', ["cell 0", "a number"]),
    "line is a number": (in_cell(source=["a", 3]), ["cell 0", "a number", "string"]),
    "no worksheets": (b'{"nbformat": 3}', ['"worksheets"']),
    "deep": (b"[" * 100_000, ["nested too deeply"]),
    "long number": (b'{"nbformat": ' + b"9" * 5000 + b"}", ["too long"]),
}


@pytest.mark.parametrize("name", UNREADABLE)
def test_what_cannot_be_read_is_told_with_file_place_and_mend(name: str) -> None:
    data, said = UNREADABLE[name]
    with pytest.raises(InvalidNotebookError) as caught:
        read_notebook(data, "sub/a.ipynb")
    assert str(caught.value).startswith("sub/a.ipynb")
    for words in said:
        assert words in str(caught.value)


def test_a_format_of_the_future_is_not_guessed_at() -> None:
    with pytest.raises(UnsupportedNotebookFormatError, match=r"nbformat 5.*save it as nbformat 4"):
        read_notebook(changed(lambda content: content.update(nbformat=5)), "a.ipynb")


@pytest.mark.parametrize("data", [b"{", b"\xff", b"[]", b'{"nbformat": 9}'])
def test_every_refusal_is_a_notebook_error(data: bytes) -> None:
    with pytest.raises(NotebookError):
        read_notebook(data, "a.ipynb")
