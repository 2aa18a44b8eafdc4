"""Questions about code through the whole service, with servers that behave as a test says."""

import json
from pathlib import Path

import pytest

from jupyter_lsp_agent.core.errors import InvalidRequestError, JupyterLspAgentError, UnknownCellError
from jupyter_lsp_agent.core.printable import HIDDEN
from jupyter_lsp_agent.core.uris import uri_from_path
from jupyter_lsp_agent.service.query_requests import code_question, decode_query
from tests.support.queries import lines, navigating, query, servers
from tests.support.services import write_notebook

SYMBOLS = [("document_symbols", {}), ("workspace_symbols", {"query": "load"})]
PLACED = ["hover", "definition", "references", "signature_help"]
AT_LOAD = {"cell": 1, "line": 1, "column": 8}


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return write_notebook(tmp_path / "n.ipynb", "def load(path):\n    return path", "'😀', load(1)")


async def test_each_method_answers_in_the_cells_own_places(path):
    async with navigating(["knows"], path.parent) as service:
        answers = {method: lines(await query(service, path, method, **AT_LOAD)) for method in PLACED}
        answers |= {method: lines(await query(service, path, method, **asked)) for method, asked in SYMBOLS}
    assert answers == {
        "hover": ["the word load"],
        "definition": ["n.ipynb:cell 0 (c0):1:5: def load(path):"],
        "references": ["n.ipynb:cell 0 (c0):1:5: def load(path):", "n.ipynb:cell 1 (c1):1:6: '😀', load(1)"],
        "signature_help": ["> load(a, b)"],
        "document_symbols": ["n.ipynb:cell 0 (c0):1:5: function load"],
        "workspace_symbols": ["n.ipynb:cell 0 (c0):1:5: function load"],
    }


async def test_both_ways_of_writing_a_place_are_right_behind_an_emoji(path):
    async with navigating(["knows"], path.parent) as service:
        answer = (await query(service, path, "references", **AT_LOAD)).to_dict()
    found = answer["results"][1]
    assert [found[name] for name in ("line", "column", "end_line", "end_column")] == [1, 6, 1, 10]
    assert found["range"] == {"start": {"line": 0, "character": 6}, "end": {"line": 0, "character": 10}}


@pytest.mark.parametrize(("method", "asked"), SYMBOLS)
@pytest.mark.parametrize(
    ("chain", "spoke", "fallback"),
    [
        (["knows", "knows"], [("ty", True, False)], False),
        (["empty", "knows"], [("ty", False, False), ("basedpyright", True, True)], True),
        (["lacks", "knows"], [("ty", False, False), ("basedpyright", True, True)], True),
        (["refuses", "knows"], [("ty", False, False), ("basedpyright", True, True)], True),
        (["missing", "knows"], [("ty", False, False), ("basedpyright", True, True)], True),
        (["dies", "knows"], [("ty", False, False), ("basedpyright", True, True)], True),
        (
            ["missing", "empty", "knows"],
            [("ty", False, False), ("basedpyright", False, False), ("pyright", True, True)],
            True,
        ),
    ],
)
async def test_a_server_without_symbols_makes_room_for_the_next(path, method, asked, chain, spoke, fallback):
    async with navigating(chain, path.parent) as service:
        answer = await query(service, path, method, **asked)
    assert lines(answer) == ["n.ipynb:cell 0 (c0):1:5: function load"]
    assert servers(answer) == spoke
    assert answer.fallback_used is answer.to_dict()["fallback_used"] is fallback


@pytest.mark.parametrize(("method", "asked"), SYMBOLS)
async def test_where_two_have_no_symbols_there_are_none_and_no_third_is_started(path, method, asked):
    async with navigating(["empty", "empty", "knows"], path.parent) as service:
        answer = await query(service, path, method, **asked)
        running = {one["id"] for one in (await service.status())["running"]}
    assert (answer.was_answered, answer.results, answer.fallback_used) == (True, (), False)
    assert servers(answer) == [("ty", True, False), ("basedpyright", False, False)]
    assert running == {"ty", "basedpyright"}


@pytest.mark.parametrize("method", PLACED)
async def test_nothing_at_a_place_is_an_answer_and_starts_nobody(path, method):
    async with navigating(["empty", "knows"], path.parent) as service:
        answer = await query(service, path, method, **AT_LOAD)
        running = [one["id"] for one in (await service.status())["running"]]
    assert (answer.was_answered, answer.results, bool(answer)) == (True, (), False)
    assert running == ["ty"]


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        ("lacks", "unsupported_language"),
        ("refuses", "broken"),
        ("dies", "broken"),
        ("missing", "not_installed"),
        ("mute", "timeout"),
    ],
)
@pytest.mark.parametrize("method", [*PLACED, *dict(SYMBOLS)])
async def test_no_way_to_fail_is_an_empty_list(path, behaviour, reason, method):
    asked = dict(SYMBOLS).get(method, AT_LOAD)
    async with navigating([behaviour], path.parent) as service:
        wait = 1.0 if behaviour == "mute" else 60.0
        answer = await query(service, path, method, wait_seconds=wait, **asked)
    told = answer.to_dict()
    assert (told["results"], told["reason"]) == (None, reason)
    assert told["detail"]
    assert not HIDDEN.search(json.dumps(told, ensure_ascii=False))
    assert f"no answer ({reason})" in answer.to_text()


async def test_a_server_that_died_is_had_again(path):
    import os
    import signal

    async with navigating(["knows"], path.parent) as service:
        first = await query(service, path, "definition", **AT_LOAD)
        [running] = (await service.status())["running"]
        os.kill(running["pid"], signal.SIGKILL)
        second = await query(service, path, "definition", **AT_LOAD)
    assert lines(first) == lines(second) != []


async def test_an_edit_is_seen_by_the_next_question(path):
    async with navigating(["knows"], path.parent) as service:
        await query(service, path, "definition", **AT_LOAD)
        write_notebook(path, "x = 1", "def load(path):\n    return path", "load(1)")
        answer = await query(service, path, "definition", cell="c2", line=1, column=1)
    assert lines(answer) == ["n.ipynb:cell 1 (c1):1:5: def load(path):"]


async def test_what_is_open_and_changed_on_disk_is_read_anew(tmp_path):
    path = write_notebook(tmp_path / "n.ipynb", "load(1)")
    module = tmp_path / "helpers.py"
    module.write_text("def load(path): ...\n")
    async with navigating(["knows"], tmp_path) as service:
        await query(service, module, "document_symbols")
        same = await query(service, path, "references", cell=0, line=1, column=1)
        module.write_text("# moved\n\ndef load(path): ...\n")
        other = await query(service, path, "references", cell=0, line=1, column=1)
    assert lines(same) == ["n.ipynb:cell 0 (c0):1:1: load(1)", "helpers.py:1:5: def load(path): ..."]
    assert lines(other) == ["n.ipynb:cell 0 (c0):1:1: load(1)"]  # closed: this server knows open texts alone


async def test_other_notebooks_with_the_name_are_shown_too(tmp_path):
    path = write_notebook(tmp_path / "n.ipynb", "def load(path): ...")
    write_notebook(tmp_path / "below.ipynb", "x = 1", "from n import load\nload(2)")
    write_notebook(tmp_path / "without.ipynb", "x = 1")
    for name in (".hidden", "sub"):
        (tmp_path / name).mkdir()
        write_notebook(tmp_path / name / "n.ipynb", "load(3)")
    (tmp_path / "broken.ipynb").write_text("load")
    async with navigating(["knows"], tmp_path) as service:
        answer = await query(service, path, "references", cell=0, line=1, column=5)
        symbols = await query(service, path, "workspace_symbols", query="load")
    assert lines(answer) == [
        "n.ipynb:cell 0 (c0):1:5: def load(path): ...",
        "below.ipynb:cell 1 (c1):1:15: from n import load",
        "below.ipynb:cell 1 (c1):2:1: load(2)",
        "sub/n.ipynb:cell 0 (c0):1:1: load(3)",
    ]
    assert lines(symbols) == ["n.ipynb:cell 0 (c0):1:5: function load"]


async def test_the_exact_name_in_the_asked_notebook_comes_before_any_cap(tmp_path):
    likes = "\n".join(f"def a_load_{number}(): ..." for number in range(60))
    write_notebook(tmp_path / "a.ipynb", likes + "\ndef load(): ...")
    path = write_notebook(tmp_path / "n.ipynb", likes, "def load(path): ...")
    async with navigating(["knows"], tmp_path) as service:
        answer = await query(service, path, "workspace_symbols", query="load", max_results=2)
    assert lines(answer) == [
        "n.ipynb:cell 1 (c1):1:5: function load",
        "a.ipynb:cell 0 (c0):61:5: function load",
        "… 120 more",
    ]


# ── what servers say is not believed, and not shown as it comes ─────────────────────────────────────────────────────


@pytest.fixture
def hostile(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    (root / ".secret").mkdir(parents=True)
    (root / ".secret" / "keys.py").write_text("SECRET = 1\n")
    (tmp_path / "outside.py").write_text("'😀', SECRET\n")
    (root / "inside.py").write_text("PUBLIC = 1\n")
    (root / "link.py").symlink_to(tmp_path / "outside.py")
    named = [root / ".secret" / "keys.py", tmp_path / "outside.py", root / "inside.py", root / "link.py"]
    named += [root / "other.ipynb.jla.py", root / "n.ipynb.9.jla2.sh", root / "not\u202ethere.py", Path("/dev/zero")]
    uris = [*map(uri_from_path, named), "untitled:\x1b[2Jone", "http://[bad", "", "file://", "file:relative"]
    (root / "elsewhere.txt").write_text("\n".join([*uris, f"{uri_from_path(root / 'n.ipynb')}#0"]), encoding="utf-8")
    return write_notebook(root / "n.ipynb", "x = 1\ny = 2", "%time z = 3")


@pytest.mark.parametrize("method", ["definition", "references", "document_symbols", "workspace_symbols"])
async def test_places_are_cells_files_or_nothing_and_hidden_ones_are_not_quoted(hostile, method):
    asked = {"cell": 0, "line": 1, "column": 1} if method in PLACED else {}
    asked |= {"query": "x"} if method == "workspace_symbols" else {}
    async with navigating(["hostile"], hostile.parent) as service:
        answer = (await query(service, hostile, method, max_results=0, **asked)).to_dict()
    text = json.dumps(answer, ensure_ascii=False)
    assert "SECRET" not in text
    assert "jla" not in text
    assert not HIDDEN.search(text)
    own = [one for one in answer["results"] if one["path"] == "n.ipynb"]
    assert own
    lengths = {(0, 1): 5, (0, 2): 5, (1, 1): 11}
    for one in own:
        assert 1 <= one["column"] <= one["end_column"] <= lengths[one["cell_index"], one["line"]] + 1
    quoted = {(one["path"], one["source_line"]) for one in answer["results"] if one["source_line"]}
    assert {path for path, _ in quoted} <= {"n.ipynb", "inside.py"}
    if method != "document_symbols":
        assert ("inside.py", "PUBLIC = 1") in quoted
        others = {Path(one["path"]).name for one in answer["results"] if one["source_line"] is None}
        assert {"keys.py", "outside.py", "link.py"} <= others


@pytest.mark.parametrize(
    ("method", "most"), [("hover", 6_000), ("definition", 40_000), ("references", 40_000), ("signature_help", 200_000)]
)
async def test_an_answer_is_bounded_whatever_a_server_sends(hostile, method, most):
    async with navigating(["hostile"], hostile.parent) as service:
        answer = await query(service, hostile, method, cell=0, line=1, column=1)
    told = json.dumps(answer.to_dict(), ensure_ascii=False)
    assert not HIDDEN.search(told.replace("\\n", " "))
    assert not HIDDEN.search(answer.to_text().replace("\n", " "))
    assert len(told) < most
    assert len(answer.results or ()) <= 50
    if method in {"definition", "references"}:
        assert answer.omitted == 0  # each place once
    if method == "hover":
        assert "red reversed tagged\n    indented\n" in answer.to_dict()["results"][0]["text"]


async def test_symbols_are_capped_and_the_rest_is_counted(hostile):
    async with navigating(["hostile"], hostile.parent) as service:
        few = await query(service, hostile, "document_symbols", max_results=2)
        every = await query(service, hostile, "document_symbols", max_results=0)
    assert (len(few), few.omitted) == (2, len(every) - 2)
    assert f"… {few.omitted} more" in few.to_text()


async def test_names_of_the_kernel_are_told_and_placed_nowhere(tmp_path):
    path = write_notebook(tmp_path / "n.ipynb", "display(1)")
    async with navigating(["knows"], tmp_path) as service:
        answer = await query(service, path, "references", cell=0, line=1, column=1)
    assert lines(answer) == ["n.ipynb:cell 0 (c0):1:1: display(1)"]
    assert answer.unmapped > 0


# ── places that are none ────────────────────────────────────────────────────────────────────────────────────────────

ODD = [
    ({"cell": 0, "line": 3, "column": 1}, "2 lines"),
    ({"cell": 0, "line": 1, "column": 17}, "15 characters"),
    ({"cell": 0, "line": 0, "column": 1}, '"line"'),
    ({"cell": 0, "line": -1, "column": 1}, '"line"'),
    ({"cell": 0, "line": 1, "column": 0}, '"column"'),
    ({"cell": 0, "line": True, "column": 1}, '"line"'),
    ({"cell": 0, "line": 1, "column": 2**40}, '"column"'),
    ({"cell": 0, "line": 10**30, "column": 1}, '"line"'),
    ({"cell": 0, "line": 1.5, "column": 1}, '"line"'),
    ({"cell": 0, "line": "1", "column": 1}, '"line"'),
    ({"cell": 0, "line": 1}, '"column"'),
    ({"cell": 0}, '"line"'),
    ({"line": 1, "column": 1}, '"cell"'),
    ({"cell": True, "line": 1, "column": 1}, '"cell"'),
    ({"cell": 9, "line": 1, "column": 1}, "no cell 9"),
    ({"cell": -1, "line": 1, "column": 1}, "no cell -1"),
    ({"cell": "gone", "line": 1, "column": 1}, "'gone'"),
    ({"cell": [0], "line": 1, "column": 1}, '"cell"'),
    ({"cell": 0, "line": 1, "column": 1, "query": "x"}, '"query"'),
]


@pytest.mark.parametrize(("asked", "word"), ODD)
async def test_a_place_that_is_none_is_refused_by_its_name(path, asked, word):
    async with navigating(["knows"], path.parent) as service:
        with pytest.raises(JupyterLspAgentError) as refused:
            await query(service, path, "hover", **asked)
        assert (await service.status())["running"] == []
    assert word in str(refused.value)
    assert isinstance(refused.value, UnknownCellError) == (word.startswith(("no cell", "'gone")))


async def test_the_end_of_a_line_is_a_place(path):
    async with navigating(["knows"], path.parent) as service:
        assert await query(service, path, "hover", cell=0, line=1, column=9)
        assert (await query(service, path, "hover", cell=0, line=1, column=16)).was_answered


def cells_of_all_kinds(path: Path, *, body: str = "%%bash\nx=1") -> Path:
    write_notebook(path, "x = 1", "%matplotlib inline\nx", "def f(:\n    x", "%%html\n<b>x</b>", body)
    content = json.loads(path.read_text())
    content["cells"] += [
        {"cell_type": "markdown", "id": "m", "metadata": {}, "source": "# x"},
        {"cell_type": "raw", "id": "r", "metadata": {}, "source": "x"},
    ]
    path.write_text(json.dumps(content))
    return path


@pytest.mark.parametrize(
    ("cell", "line", "reason", "word"),
    [
        (1, 1, "unsupported_language", "IPython"),
        (2, 1, "unreadable", "does not parse"),
        ("m", 1, "unsupported_language", "Markdown"),
        ("r", 1, "unsupported_language", "raw"),
    ],
)
async def test_a_place_that_no_server_is_shown_has_no_answer(tmp_path, cell, line, reason, word):
    path = cells_of_all_kinds(tmp_path / "n.ipynb")
    async with navigating(["knows"], tmp_path) as service:
        answer = await query(service, path, "definition", cell=cell, line=line, column=2)
        fine = await query(service, path, "hover", cell=1, line=2, column=1)
        symbols = await query(service, path, "document_symbols")
    assert (answer.results, answer.reason) == (None, reason)
    assert word in (answer.detail or "")
    assert lines(fine) == ["the word x"]
    assert {one.cell.cell_index for one in symbols.unchecked} >= {2}


async def test_no_symbols_are_no_answer_where_code_was_not_looked_at(tmp_path):
    # No body whose server may be on this machine: that would have symbols to give.
    path = cells_of_all_kinds(tmp_path / "n.ipynb", body="%%latex\nx")
    async with navigating(["knows"], tmp_path) as service:
        broken = await query(service, path, "document_symbols", cell=2)
        whole = await query(service, path, "document_symbols")
        fine = await query(service, path, "document_symbols", cell=0)
        write_notebook(path, "x = 1", "%%html\n<b>x</b>")
        text_only = await query(service, path, "document_symbols")
    for answer in (broken, whole):
        assert (answer.results, answer.reason) == (None, "unreadable")
        assert "cell 2" in (answer.detail or "")
    for answer in (fine, text_only):
        assert (answer.was_answered, answer.results) == (True, ())


@pytest.mark.parametrize("cell", [1, 2, "m", "r"])
async def test_for_a_place_that_no_server_is_shown_none_is_started(tmp_path, cell):
    path = cells_of_all_kinds(tmp_path / "n.ipynb")
    async with navigating(["knows"], tmp_path) as service:
        await query(service, path, "hover", cell=cell, line=1, column=1)
        assert (await service.status())["running"] == []


async def test_a_body_of_another_language_is_its_own_servers(tmp_path):
    path = write_notebook(tmp_path / "n.ipynb", "x = 1", "%%bash\nfoo() { :; }\nfoo")
    async with navigating(["knows"], tmp_path) as service:
        answer = await query(service, path, "definition", cell=1, line=3, column=1, wait_seconds=60)
    assert answer.language == "shellscript"
    assert "ty" not in [one.id for one in answer.servers]


@pytest.mark.parametrize(
    ("content", "reason"), [("{", "unreadable"), (json.dumps({"cells": [], "nbformat": 9}), "unreadable")]
)
async def test_what_cannot_be_read_has_no_answer(tmp_path, content, reason):
    path = tmp_path / "n.ipynb"
    path.write_text(content)
    async with navigating(["knows"], tmp_path) as service:
        answer = await query(service, path, "document_symbols")
    assert (answer.results, answer.reason) == (None, reason)


async def test_what_is_switched_off_has_no_answer(path):
    async with navigating(["knows"], path.parent, enabled=False) as service:
        answer = await query(service, path, "document_symbols")
    assert (answer.results, answer.reason) == (None, "disabled")


async def test_a_notebook_without_code_has_no_symbols_and_asks_nobody(tmp_path):
    path = write_notebook(tmp_path / "n.ipynb")
    async with navigating(["missing"], tmp_path) as service:
        answer = await query(service, path, "document_symbols")
    assert (answer.results, answer.servers) == ((), ())


async def test_a_plain_file_is_asked_about_without_a_cell(tmp_path):
    path = tmp_path / "m.py"
    path.write_text("# 😀\r\ndef load(path): ...\r\n'😀', load\r\n")
    async with navigating(["knows"], tmp_path) as service:
        answer = await query(service, path, "references", line=3, column=7)
        with pytest.raises(InvalidRequestError, match="no cells"):
            await query(service, path, "references", cell=0, line=3, column=7)
        with pytest.raises(InvalidRequestError, match="4 lines"):
            await query(service, path, "references", line=9, column=7)
    assert lines(answer) == ["m.py:2:5: def load(path): ...", "m.py:3:6: '😀', load"]


async def test_a_check_and_a_question_show_the_same_text(path):
    from jupyter_lsp_agent.service.requests import CheckRequest

    async with navigating(["knows"], path.parent) as service:
        await query(service, path, "definition", **AT_LOAD)
        report = await service.check(CheckRequest(path=path, wait_seconds=60))
        answer = await query(service, path, "definition", **AT_LOAD)
        [running] = (await service.status())["running"]
    assert report.verdict == "clean"
    assert answer
    assert running["documents"] == 1


BAD = [
    ({}, '"method"'),
    ({"method": "rename"}, '"method"'),
    ({"method": ["hover"]}, '"method"'),
    ({"method": "document_symbols", "line": 1}, '"line"'),
    ({"method": "workspace_symbols"}, '"query"'),
    ({"method": "workspace_symbols", "query": " "}, '"query"'),
    ({"method": "workspace_symbols", "query": "x" * 201}, '"query"'),
    ({"method": "workspace_symbols", "query": "x", "cell": 1}, '"cell"'),
    ({"method": "hover", "line": 1, "column": 1, "max_results": -1}, '"max_results"'),
    ({"method": "hover", "line": 1, "column": 1, "colum": 1}, '"column" is one'),
]


@pytest.mark.parametrize(("body", "word"), BAD)
def test_a_question_that_is_none_is_refused(body, word):
    for decode in (code_question, lambda fields: decode_query({"path": "n.ipynb", **fields})):
        with pytest.raises(InvalidRequestError) as refused:
            decode(body)
        assert word in str(refused.value)
