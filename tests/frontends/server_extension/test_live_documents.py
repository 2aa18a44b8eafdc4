"""Open shared documents: checked as they are, edited without losing what a person types meanwhile.

Runs where jupyter-collaboration is installed, which is no dependency of this package: an environment of its own.
"""

import asyncio
import json

import pytest

pytest.importorskip("jupyter_server_ydoc", reason="jupyter-collaboration has an environment of its own")

from tests.support.jupyter_events import next_result, subscribed
from tests.support.jupyter_server import jupyter_server
from tests.support.shared_document import SharedDocument, SharedNotebook
from tests.support.small_notebooks import sources_of, write_notebook

_NEVER_SAVED = "--YDocExtension.document_save_delay=None"


async def _call(function, *args, **options):
    return await asyncio.to_thread(lambda: function(*args, **options))


@pytest.fixture
def server(tmp_path):
    write_notebook(tmp_path / "n.ipynb", "a = 1", "b = 2", "print(a, b)")
    with jupyter_server(tmp_path, _NEVER_SAVED) as running:
        yield running


async def test_a_question_is_about_what_is_typed_and_not_saved(server):
    asked = {"path": "n.ipynb", "method": "references", "cell": 2, "line": 1, "column": 7, "wait_ms": 60_000}
    stored = await _call(server.ok, "query", **asked)
    assert stored["content_source"] == "contents"
    async with SharedNotebook(server, "n.ipynb") as person:
        person.notebook.set_cell(0, source="# typed\na = 1")
        await _until(server, lambda report: report["content_hash"] != stored["content_hash"])
        answer = await _call(server.ok, "query", **asked)
    assert answer["content_source"] == "live"
    assert [(one["cell_index"], one["line"]) for one in answer["results"]] == [(0, 2), (2, 1)]


async def test_a_check_reads_what_is_typed_and_not_saved(server):
    assert (await _call(server.check, "n.ipynb"))["content_source"] == "contents"
    async with SharedNotebook(server, "n.ipynb") as person:
        person.notebook.set_cell(0, source="aa = 1")
        report = await _until(server, lambda report: report["verdict"] == "errors")
        assert report["content_source"] == "live"
        assert [cell["cell_index"] for cell in report["cells"]] == [2]
        cells = (await _call(server.get, "cells", path="n.ipynb")).json
        assert [cell["source"] for cell in cells["cells"]] == ["aa = 1", "b = 2", "print(a, b)"]
        assert cells["content_hash"] == report["content_hash"]
    assert sources_of(server.root / "n.ipynb") == ["a = 1", "b = 2", "print(a, b)"]


async def test_looking_opens_nothing(server):
    await _call(server.check, "n.ipynb")
    await _call(server.get, "cells", path="n.ipynb")
    assert "json:notebook:" not in server.log.text
    async with SharedNotebook(server, "n.ipynb"):
        assert "json:notebook:" in server.log.text


async def _next_with(socket, verdict: str):
    while True:
        event = await next_result(socket, "n.ipynb")
        if event["verdict"] == verdict:
            return event


async def test_what_is_typed_and_not_saved_is_told_where_a_session_follows(server):
    async with SharedNotebook(server, "n.ipynb") as person, subscribed(server) as socket:
        report = await _call(server.check, "n.ipynb", session="follower")
        assert (report["verdict"], report["content_source"]) == ("clean", "live")
        for letters in ("aa", "aaa", "aaaa"):
            person.notebook.set_cell(0, source=f"{letters} = 1")
        event = await _next_with(socket, "errors")
        assert event["counts"]["present"] == 1
        assert event["content_hash"] == (await _call(server.get, "cells", path="n.ipynb")).json["content_hash"]
        person.notebook.set_cell(0, source="a = 1")
        assert (await _next_with(socket, "clean"))["counts"]["present"] == 0
        # What is only taken out is a change too, and what is edited through us is told once.
        del person.notebook.ycells[0]
        assert (await _next_with(socket, "errors"))["counts"]["present"] == 1
        edit = {"op": "insert", "after": None, "cell_type": "code", "source": "a = 2"}
        answer = await _call(server.edit, "n.ipynb", edit)
        event = await next_result(socket, "n.ipynb")
        assert event["content_hash"] == answer["content_hash"]
        await person.wait_for(lambda: person.sources[0] == "a = 2")
        person.notebook.set_cell(0, source="a = 3")
        newest = await next_result(socket, "n.ipynb")
        assert newest["content_hash"] not in {event["content_hash"], None}
    assert sources_of(server.root / "n.ipynb") == ["a = 1", "b = 2", "print(a, b)"]


async def test_every_operation_goes_into_the_shared_document(server):
    before = (server.root / "n.ipynb").read_bytes()
    async with SharedNotebook(server, "n.ipynb") as person:
        third = person.notebook.ycells[2]
        edits = [
            {"op": "replace", "cell": "c0", "source": "a = 10"},
            {"op": "insert", "after": "c0", "cell_type": "markdown", "source": "# two"},
            {"op": "move", "cell": "c1", "after": None},
            {"op": "replace_text", "cell": "c2", "old": "a, b", "new": "a, b, c"},
            {"op": "append", "cell_type": "code", "source": "c = 3"},
            {"op": "set_type", "cell": "c1", "cell_type": "raw"},
        ]
        answer = await _call(server.edit, "n.ipynb", *edits)
        assert answer["write"] == "live"
        expected = ["b = 2", "a = 10", "# two", "print(a, b, c)", "c = 3"]
        await person.wait_for(lambda: person.sources == expected)
        kinds = [cell["cell_type"] for cell in person.notebook.get()["cells"]]
        assert kinds == ["raw", "code", "markdown", "code", "code"]
        # The cell that was only changed is the same shared cell still.
        assert str(third["source"]) == "print(a, b, c)"
        cells = (await _call(server.get, "cells", path="n.ipynb")).json
        assert cells["content_hash"] == answer["content_hash"]
        assert [place["cell_index"] for place in answer["edits"]] == [1, 2, 0, 3, 4, 0]
        assert [cell["cell_id"] for cell in cells["cells"]][:2] == ["c1", "c0"]
        stale = await _call(server.post, "edits", path="n.ipynb", edits=edits[:1], if_hash="sha256:0")
        assert (stale.status, stale.json["content_hash"]) == (409, answer["content_hash"])
    assert (server.root / "n.ipynb").read_bytes() == before


async def test_nothing_is_lost_of_what_is_typed_at_the_same_time(server):
    async with SharedNotebook(server, "n.ipynb") as person:

        async def type_letters() -> None:
            for number in range(200):
                shared_text = person.notebook.ycells[1]["source"]
                shared_text += f"\n# {number}"
                await asyncio.sleep(0)

        async def edit() -> None:
            for number in range(25):
                answer = await _call(server.edit, "n.ipynb", {"op": "replace", "cell": "c0", "source": f"a = {number}"})
                assert answer["write"] == "live"

        await asyncio.gather(type_letters(), edit())
        typed = "b = 2" + "".join(f"\n# {number}" for number in range(200))
        await person.wait_for(lambda: person.sources == ["a = 24", typed, "print(a, b)"])
        async with SharedNotebook(server, "n.ipynb") as other:
            assert other.sources == ["a = 24", typed, "print(a, b)"]


async def test_an_open_plain_file_too(server):
    (server.root / "a.py").write_text("x: int = 1\n")
    async with SharedDocument(server, "a.py") as person:
        person.document.set("x: int = 1\ny = x\n")
        answer = None
        while answer is None or answer.status != 200:  # until what was typed has arrived
            answer = await _call(server.post, "edits", path="a.py", edits=[_one_to_text("1\ny")], wait_ms=60_000)
        assert answer.json["write"] == "live"
        assert answer.json["report"]["verdict"] == "errors"
        await person.wait_for(lambda: person.document.get() == "x: int = '1'\ny = x\n")
    assert (server.root / "a.py").read_text() == "x: int = 1\n"


def _one_to_text(old: str):
    return {"op": "replace_text", "old": old, "new": old.replace("1", "'1'")}


async def test_an_edited_shared_document_is_saved_by_its_own_engine(tmp_path):
    write_notebook(tmp_path / "n.ipynb", "a = 1", "print(a)")
    with jupyter_server(tmp_path, "--YDocExtension.document_save_delay=0.05") as server:
        async with SharedNotebook(server, "n.ipynb"):
            await _call(server.edit, "n.ipynb", {"op": "replace", "cell": 0, "source": "a = 2"})
            await asyncio.to_thread(_wait_until, lambda: sources_of(tmp_path / "n.ipynb")[0] == "a = 2")
    assert json.loads((tmp_path / "n.ipynb").read_text())["cells"][1]["source"] == ["print(a)"]


def _wait_until(condition):
    while not condition():
        pass


async def _until(server, condition):
    while True:
        report = await _call(server.check, "n.ipynb")
        if condition(report):
            return report
