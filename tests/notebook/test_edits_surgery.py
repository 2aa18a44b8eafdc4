"""Surgery on a notebook's text: every style, every operation; the edited bytes mean what the edited model means."""

import json

import nbformat
import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_lsp_agent.core.errors import InvalidEditError, InvalidNotebookError
from jupyter_lsp_agent.notebook.edits import Append, Delete, Insert, Move, Replace, ReplaceText, SetType, plan_edits
from jupyter_lsp_agent.notebook.reader import read_notebook
from jupyter_lsp_agent.notebook.surgery import EditedOutputs, apply_plan, edit_plain_text
from tests.support.edit_checks import check_bytes_stay, joined, model_after, source_form
from tests.support.json_regions import cells_regions

_OUTPUT = {"name": "stdout", "output_type": "stream", "text": ["é\n", "\u2028"]}
_CELLS = [
    {"cell_type": "markdown", "id": "m0", "metadata": {"z": 1, "a": [1.50, {}]}, "source": ["# Größe\n", "text"],
     "attachments": {"a.png": {"image/png": "AAAA"}}},
    {"cell_type": "code", "execution_count": 3, "id": "c1", "metadata": {}, "outputs": [_OUTPUT],
     "source": ["a = 1\n", "b = 'ü'\n", "print(a)"]},
    {"cell_type": "code", "execution_count": None, "id": "c2", "metadata": {}, "outputs": [], "source": []},
    {"cell_type": "raw", "id": "r3", "metadata": {}, "source": ["raw"]},
    {"cell_type": "code", "execution_count": 9, "id": "c4", "metadata": {"tags": ["x"]}, "outputs": [_OUTPUT],
     "source": ["x"]},
]  # fmt: skip


def _notebook(*, strings=False, cells=_CELLS) -> dict:
    cells = json.loads(json.dumps(cells))
    if strings:
        for cell in cells:
            cell["source"] = "".join(cell["source"])
    return {"cells": cells, "metadata": {"unknown": {"b": 1, "a": 2}}, "nbformat": 4, "nbformat_minor": 5}


def _dump(**options) -> str:
    strings = options.pop("strings", False)
    options = {"indent": 1, "ensure_ascii": False, **options}
    return json.dumps(_notebook(strings=strings), **options) + "\n"


def _one_cell_a_line() -> str:
    notebook = _notebook()
    cells = ",\n".join(json.dumps(cell) for cell in notebook.pop("cells"))
    return '{"cells": [\n' + cells + "\n], " + json.dumps(notebook)[1:]


_DUPLICATES = _dump().replace('"id": "c1",', '"id": "zz",\n   "source": "not this",\n   "id": "c1",')

_STYLES = {
    "as nbformat writes": _dump(),
    "strings": _dump(strings=True),
    "escapes": _dump(ensure_ascii=True),
    "four spaces": _dump(indent=4),
    "tabs": _dump(indent="\t"),
    "no indentation": _dump(indent=0),
    "one line": _dump(indent=None),
    "one line, tight": _dump(indent=None, separators=(",", ":")),
    "one cell a line": _one_cell_a_line(),
    "spaced colons": _dump(separators=(",", " : ")),
    "no final newline": _dump().rstrip("\n"),
    "CRLF": _dump().replace("\n", "\r\n"),
    "CR": _dump().replace("\n", "\r"),
    "byte order mark": "\ufeff" + _dump(),
    "duplicate keys": _DUPLICATES,
    "NaN": _dump().replace("1.5", "NaN"),
    "blank lines": "\n\n" + _dump().replace("\n  },", "\n\n  } ,\n\n") + "\n\n",
    "uneven gaps": _dump().replace('  {\n   "cell_type": "raw"', '\n\n  {\n   "cell_type": "raw"'),
    "other order of keys": _dump().replace('"cell_type": "code",\n', '"unknown": 1.00,\n   "cell_type": "code",\n'),
    "CRLF in sources": _dump().replace("a = 1\\n", "a = 1\\r\\n"),
}

_OPERATIONS = {
    "replace": [Replace("c1", "a = 2\nb = 'ü'\nnew = 'é\u2028'\n")],
    "replace with nothing": [Replace(1, "")],
    "replace nothing": [Replace(2, "x = 1\ny = 2")],
    "replace one line": [Replace(4, "one\ntwo\n")],
    "replace markdown": [Replace("m0", "# Größe\nother")],
    "replace by the same": [Replace(3, "raw")],
    "replace text": [ReplaceText(1, "print", "display")],
    "insert first": [Insert(None, "code", "first\nü")],
    "insert": [Insert("c1", "markdown", "")],
    "append": [Append("raw", "a\r\nb\rc")],
    "delete": [Delete(2)],
    "delete first": [Delete(0)],
    "delete last": [Delete(4)],
    "delete all": [Delete(index) for index in range(5)],
    "delete all and append": [*[Delete(index) for index in range(5)], Append("code", "x")],
    "move": [Move(0, 3)],
    "move first": [Move("c4", None)],
    "to code": [SetType(0, "code"), SetType(3, "code")],
    "to markdown": [SetType(1, "markdown")],
    "to raw and changed": [SetType(4, "raw"), Replace(4, "y")],
    "five": [Replace(1, "x"), Insert(1, "code", "y\nz"), Move(4, 0), Delete(2), SetType(3, "markdown")],
    "half a surrogate pair": [Replace(1, "x = '\ud83d'"), Append("code", "\ude00")],
}


@pytest.mark.parametrize("style", _STYLES)
@pytest.mark.parametrize("operation", _OPERATIONS)
@pytest.mark.parametrize("outputs", EditedOutputs)
def test_what_was_not_edited_keeps_every_byte(style, operation, outputs):
    old = _STYLES[style].encode()
    plan = plan_edits(read_notebook(old, "n.ipynb"), _OPERATIONS[operation])
    new = apply_plan(old, plan, "n.ipynb", outputs)
    clear = outputs is EditedOutputs.CLEAR
    if not clear:
        check_bytes_stay(old, new, plan)
    assert joined(json.loads(new.decode("utf-8-sig"))) == joined(model_after(old, plan, clear=clear))
    if style not in {"duplicate keys", "NaN", "other order of keys"} and operation != "half a surrogate pair":
        nbformat.validate(nbformat.reads(new.decode("utf-8-sig"), as_version=nbformat.NO_CONVERT))


# nbformat splits lines at U+2028 and at lone carriage returns too, and it cannot write half a surrogate pair.
_NOT_AS_NBFORMAT = {"replace", "append", "half a surrogate pair"}


@pytest.mark.parametrize("style", ["as nbformat writes", "no final newline"])
@pytest.mark.parametrize("operation", sorted(set(_OPERATIONS) - _NOT_AS_NBFORMAT))
def test_a_file_in_nbformats_own_style_is_still_in_it(style, operation):
    # nbformat sorts the keys, so the style to compare with is its own writing of the same notebook.
    old = nbformat.writes(nbformat.reads(_STYLES[style], as_version=4)).encode()
    plan = plan_edits(read_notebook(old, "n.ipynb"), _OPERATIONS[operation])
    new = apply_plan(old, plan, "n.ipynb").decode()
    written = nbformat.writes(nbformat.reads(new, as_version=4))
    assert new == written


_ESCAPES = [("escapes", "\\u00e9", "é"), ("as nbformat writes", "é", "\\u00e9")]


@pytest.mark.parametrize(("style", "expected", "other"), _ESCAPES)
@pytest.mark.parametrize("edit", [Replace(2, "é"), Append("code", "é"), Replace(0, "é")])
def test_what_is_not_ascii_is_spelled_as_in_the_file(style, expected, other, edit):
    old = _STYLES[style].encode()
    plan = plan_edits(read_notebook(old, "n.ipynb"), [edit])
    (index,) = plan.touched
    new = apply_plan(old, plan, "n.ipynb").decode()
    written = new[slice(*cells_regions(new)[2][index])]
    assert expected in written
    assert other not in written


@pytest.mark.parametrize(("style", "form"), [("strings", "str"), ("as nbformat writes", "list")])
@pytest.mark.parametrize("edit", [Replace(2, "a\nb"), Append("code", "a\nb"), Replace(1, "")])
def test_a_source_keeps_its_form(style, form, edit):
    old = _STYLES[style].encode()
    plan = plan_edits(read_notebook(old, "n.ipynb"), [edit])
    (index,) = plan.touched
    assert source_form(apply_plan(old, plan, "n.ipynb").decode(), index) == form


def test_lines_that_stay_keep_their_spelling():
    old = _dump().replace("b = 'ü'", "b = \\u0027\\u00FC\\u0027").encode()
    plan = plan_edits(read_notebook(old, "n.ipynb"), [ReplaceText(1, "print(a)", "print(b)")])
    assert b"\\u0027\\u00FC\\u0027" in apply_plan(old, plan, "n.ipynb")


@pytest.mark.parametrize("minor", [0, 4, 5])
def test_a_notebook_without_cells_gets_its_first(minor):
    bare = {"cells": [], "metadata": {}, "nbformat": 4, "nbformat_minor": minor}
    for indent in (None, 1, 4):
        old = json.dumps(bare, indent=indent).encode()
        plan = plan_edits(read_notebook(old, "n.ipynb"), [Append("code", "x\ny")])
        new = apply_plan(old, plan, "n.ipynb").decode()
        assert new == json.dumps(json.loads(new), indent=indent)
        nbformat.validate(nbformat.reads(new, as_version=nbformat.NO_CONVERT))


def test_an_output_with_text_like_a_notebook_misleads_nobody():
    trap = json.dumps({"cells": [{"source": "not this"}]})
    notebook = _notebook()
    notebook["metadata"]["cells"] = [{"cell_type": "code", "source": "nor this"}]
    notebook["cells"][1]["outputs"][0]["text"] = [trap, '"source": ["x"]']
    old = json.dumps(notebook).encode()
    plan = plan_edits(read_notebook(old, "n.ipynb"), [Replace(1, "new")])
    new = apply_plan(old, plan, "n.ipynb")
    notebook["cells"][1]["source"] = ["new"]
    assert json.loads(new) == notebook


_TEXT = st.text(alphabet=st.sampled_from('ab\n\r"\\\u00e9\u2028\U0001f600\t'), max_size=12)
_INDEX = st.integers(0, 4)
_TYPE = st.sampled_from(["code", "markdown", "raw"])
_EDIT = st.one_of(
    st.builds(Replace, _INDEX, _TEXT),
    st.builds(Insert, st.none() | _INDEX, _TYPE, _TEXT),
    st.builds(Append, _TYPE, _TEXT),
    st.builds(Delete, _INDEX),
    st.builds(Move, _INDEX, st.none() | _INDEX),
    st.builds(SetType, _INDEX, _TYPE),
)


@given(st.sampled_from(sorted(_STYLES)), st.lists(_EDIT, min_size=1, max_size=6))
def test_any_batch_in_any_style(style, edits):
    old = _STYLES[style].encode()
    try:
        plan = plan_edits(read_notebook(old, "n.ipynb"), edits)
    except InvalidEditError:
        return
    new = apply_plan(old, plan, "n.ipynb")
    check_bytes_stay(old, new, plan)
    assert joined(json.loads(new.decode("utf-8-sig"))) == joined(model_after(old, plan))


@pytest.mark.parametrize("broken", [b"", b"{", b"[]", b'{"nbformat": 4}', b"\xff{}", b'{"cells": {}}'])
def test_what_is_no_notebook_is_refused_in_words(broken):
    plan = plan_edits(read_notebook(_STYLES["as nbformat writes"].encode(), "n.ipynb"), [Append("code", "x")])
    with pytest.raises(InvalidNotebookError, match=r"n\.ipynb"):
        apply_plan(broken, plan, "n.ipynb")


_PLAIN = [
    (b"a = 1\r\nb = 2\r\n", [ReplaceText(None, "b", "c")], b"a = 1\r\nc = 2\r\n"),
    (b"\xef\xbb\xbfa\n", [ReplaceText(None, "a", "\u00e9")], b"\xef\xbb\xbf\xc3\xa9\n"),
    (b"ab", [ReplaceText(None, "a", ""), ReplaceText(None, "b", "c")], b"c"),
]


@pytest.mark.parametrize(("old", "edits", "new"), _PLAIN)
def test_plain_files_are_edited_by_text(old, edits, new):
    assert edit_plain_text(old, edits, "a.py") == new


_PLAIN_REFUSED = [
    (b"aa", ReplaceText(None, "a", "b"), "more than once"),
    (b"aaa", ReplaceText(None, "aa", "b"), "more than once"),
    (b"a", ReplaceText(None, "b", "b"), "does not occur"),
    (b"a", ReplaceText(0, "a", "b"), "has no cells"),
    (b"a", Replace(0, "a"), "has no cells"),
    (b"\xff", ReplaceText(None, "a", "b"), "not UTF-8"),
    (b"a", ReplaceText(None, "a", "\ud83d"), "surrogate"),
]


@pytest.mark.parametrize(("old", "edit", "word"), _PLAIN_REFUSED)
def test_plain_files_are_not_edited_by_guessing(old, edit, word):
    with pytest.raises(InvalidEditError, match=word):
        edit_plain_text(old, [edit], "a.py")
