"""Edits over REST: what is written, what is refused, what a save does besides."""

import json
import os
import stat

import pytest

from tests.support.jupyter_server import jupyter_server
from tests.support.small_notebooks import notebook_object, sources_of, write_notebook


def _path(folder, name="n.ipynb") -> str:
    return f"{folder.name}/{name}"


def test_the_cells_that_were_not_edited_keep_every_byte(server, folder):
    text = (
        '{"cells": [ {"cell_type":"code","source":"a = 1", "zz": 1.50,\r\n"metadata":{},"outputs":[ ],'
        '"execution_count":3},\n{"cell_type":"code","source":["print(a)"],"metadata":{},"outputs":[],'
        '"execution_count":null,"execution_count":NaN}],"nbformat":4,"nbformat_minor":4,'
        '"metadata":{"kernelspec":{"language":"python"}}}'
    )
    (folder / "n.ipynb").write_bytes(text.encode())
    answer = server.edit(_path(folder), {"op": "replace", "cell": 1, "source": "print(a, 'é')"})
    assert answer["written"] is True
    assert answer["write"] == "bytes"
    assert answer["detail"] is None
    assert (folder / "n.ipynb").read_bytes() == text.replace('"print(a)"', "\"print(a, 'é')\"").encode()


@pytest.mark.parametrize(
    "cells",
    [
        [{"cell_type": "code", "source": "a = 1"}],
        [{"cell_type": "code", "source": "a = 1", "metadata": None, "outputs": 5}],
        [{"source": "a = 1"}],
    ],
)
def test_less_than_nbformat_takes_for_granted_is_edited_too(server, folder, cells):
    (folder / "n.ipynb").write_text(json.dumps({"nbformat": 4, "nbformat_minor": 5, "cells": cells}))
    answer = server.edit(_path(folder), {"op": "replace", "cell": 0, "source": "a = 2"}, check=False)
    assert answer["write"] == "bytes"
    assert json.loads((folder / "n.ipynb").read_text())["cells"] == [cells[0] | {"source": "a = 2"}]


def test_half_a_surrogate_pair_of_which_no_signature_can_be_made_is_no_hindrance(server, folder):
    notebook = notebook_object(["a = 1", "b = '\ud83d'"])
    (folder / "n.ipynb").write_text(json.dumps(notebook))
    answer = server.edit(_path(folder), {"op": "replace", "cell": 0, "source": "a = 2"})
    assert answer["write"] == "bytes"
    assert sources_of(folder / "n.ipynb") == ["a = 2", "b = '\ud83d'"]


def test_a_batch_says_where_its_cells_are_now(server, folder):
    write_notebook(folder / "n.ipynb", "a = 1", "b = 2", "c = 3")
    answer = server.edit(
        _path(folder),
        {"op": "insert", "after": None, "cell_type": "markdown", "source": "# x"},
        {"op": "delete", "cell": "c1"},
        {"op": "replace_text", "cell": 2, "old": "3", "new": "4"},
        {"op": "append", "cell_type": "code", "source": ["d = 5\n", "e = 6"]},
        {"op": "set_type", "cell": 0, "cell_type": "raw"},
    )
    assert sources_of(folder / "n.ipynb") == ["# x", "a = 1", "c = 4", "d = 5\ne = 6"]
    places = [(place["cell_id"], place["cell_index"]) for place in answer["edits"]]
    stored = json.loads((folder / "n.ipynb").read_text())["cells"]
    assert places == [(stored[0]["id"], 0), ("c1", None), ("c2", 2), (stored[3]["id"], 3), ("c0", 1)]
    cells = server.get("cells", path=_path(folder)).json
    assert cells["content_hash"] == answer["content_hash"]
    assert [cell["cell_type"] for cell in cells["cells"]] == ["markdown", "raw", "code", "code"]


def test_a_dry_run_checks_and_writes_nothing(server, folder):
    before = write_notebook(folder / "n.ipynb", "a = 1")
    answer = server.edit(_path(folder), {"op": "replace", "cell": 0, "source": "print(b)"}, dry_run=True)
    assert (answer["written"], answer["write"]) == (False, None)
    assert answer["report"]["verdict"] == "errors"
    assert answer["report"]["content_hash"] == answer["content_hash"]
    assert (folder / "n.ipynb").read_bytes() == before
    assert server.check(_path(folder))["verdict"] == "clean"


def test_without_a_check_there_is_no_report(server, folder):
    write_notebook(folder / "n.ipynb", "a = 1")
    answer = server.edit(_path(folder), {"op": "replace", "cell": 0, "source": "print(b)"}, check=False)
    assert answer["report"] is None
    assert sources_of(folder / "n.ipynb") == ["print(b)"]


def test_what_was_written_is_said_although_there_is_nothing_to_compare_it_with(server, folder):
    before = write_notebook(folder / "n.ipynb", "a = 1")
    edit = {"op": "replace", "cell": 0, "source": "a = 2"}
    refused = server.post("edits", path=_path(folder), edits=[edit], baseline="git:HEAD", dry_run=True)
    assert (refused.status, (folder / "n.ipynb").read_bytes()) == (400, before)
    answer = server.edit(_path(folder), edit, baseline="git:HEAD")
    assert (answer["written"], sources_of(folder / "n.ipynb")) == (True, ["a = 2"])
    assert (answer["report"]["verdict"], answer["report"]["reason"]) == ("no_verdict", "unreadable")
    assert answer["report"]["detail"] == refused.json["message"]


def test_a_stale_hash_is_refused_and_told_the_current_one(server, folder):
    write_notebook(folder / "n.ipynb", "a = 1")
    first = server.get("cells", path=_path(folder)).json["content_hash"]
    edit = {"op": "replace", "cell": 0, "source": "a = 2"}
    second = server.edit(_path(folder), edit, if_hash=first)["content_hash"]
    before = (folder / "n.ipynb").read_bytes()
    answer = server.post("edits", path=_path(folder), edits=[edit], if_hash=first)
    assert answer.status == 409
    assert answer.json["reason"] == "stale"
    assert answer.json["content_hash"] == second
    assert answer.json["message"]
    assert (folder / "n.ipynb").read_bytes() == before


_REFUSED = [
    ({"edits": [{"op": "replace", "cell": 7, "source": ""}]}, 404, "no cell 7"),
    ({"edits": [{"op": "replace", "cell": "zz", "source": ""}]}, 404, "'zz'"),
    ({"edits": [{"op": "delete", "cell": 0}, {"op": "delete", "cell": 0}]}, 400, "deleted"),
    ({"edits": [{"op": "replace", "cell": 0}]}, 400, '"source" must be a string'),
    ({"edits": [{"op": "insert", "cell_type": "code", "source": ""}]}, 400, '"after"'),
    ({"edits": [{"op": "move", "cell": 0}]}, 400, '"after"'),
    ({"edits": [{"op": "explode"}]}, 400, '"op"'),
    ({"edits": [{"op": ["replace"]}]}, 400, '"op"'),
    ({"edits": [{"op": "delete", "cell": True}]}, 400, '"cell"'),
    ({"edits": [{"op": "delete", "cell": 0, "sell": 1}]}, 400, 'no field "sell"'),
    ({"edits": [{"op": "replace_text", "old": "a", "new": "b"}]}, 400, '"cell" is missing'),
    ({"edits": [{"op": "delete", "cell": 0}] * 1001}, 400, "at most 1000"),
    ({"edits": {}}, 400, '"edits" must be a list'),
    ({}, 400, '"edits" must be a list'),
    ({"edits": [], "sesion": "x"}, 400, '"session" is one'),
    ({"edits": [], "session": "ü"}, 400, "printable ASCII"),
    ({"edits": [], "session": "x" * 129}, 400, "printable ASCII"),
    ({"edits": [], "wait_ms": 120_001}, 400, '"wait_ms"'),
    ({"edits": [], "wait_ms": -1}, 400, '"wait_ms"'),
    ({"edits": [], "wait_ms": True}, 400, '"wait_ms"'),
    ({"edits": [], "severity": "fatal"}, 400, '"severity"'),
    ({"edits": [], "baseline": "git:--upload-pack"}, 400, '"baseline"'),
    ({"edits": [], "cells": [9]}, 404, "no cell 9"),
]


@pytest.mark.parametrize(("body", "status", "word"), _REFUSED)
def test_a_bad_batch_is_refused_in_one_sentence_and_nothing_is_written(server, folder, body, status, word):
    before = write_notebook(folder / "n.ipynb", "a = 1", "b = 2")
    answer = server.post("edits", path=_path(folder), **body)
    assert answer.status == status, answer.text
    assert set(answer.json) >= {"message", "reason"}
    assert word in answer.json["message"]
    assert (folder / "n.ipynb").read_bytes() == before


@pytest.mark.parametrize(
    "content",
    [b"{", b"", b"\xff\xfe{}", b'{"nbformat": 3, "nbformat_minor": 0, "metadata": {}, "worksheets": [{"cells": []}]}'],
)
def test_what_is_no_notebook_of_nbformat_4_is_not_edited(server, folder, content):
    (folder / "n.ipynb").write_bytes(content)
    answer = server.post("edits", path=_path(folder), edits=[{"op": "append", "cell_type": "code", "source": "x"}])
    assert answer.status == 400
    assert "n.ipynb" in answer.json["message"] or "nbformat 4" in answer.json["message"]
    assert str(server.root) not in answer.text
    assert (folder / "n.ipynb").read_bytes() == content


def test_permissions_and_links_stay(server, folder):
    write_notebook(folder / "real.ipynb", "a = 1")
    (folder / "real.ipynb").chmod(0o640)
    (folder / "n.ipynb").symlink_to("real.ipynb")
    assert server.edit(_path(folder), {"op": "replace", "cell": 0, "source": "a = 2"})["write"] == "bytes"
    assert (folder / "n.ipynb").is_symlink()
    assert sources_of(folder / "real.ipynb") == ["a = 2"]
    assert stat.S_IMODE((folder / "real.ipynb").stat().st_mode) == 0o640


def test_writing_in_place_is_said(server, folder):
    write_notebook(folder / "n.ipynb", "a = 1")
    os.link(folder / "n.ipynb", folder / "other.ipynb")
    answer = server.edit(_path(folder), {"op": "replace", "cell": 0, "source": "a = 2"})
    assert answer["detail"] == "written in place, since it has 2 names"
    assert sources_of(folder / "other.ipynb") == ["a = 2"]


def test_trust_stays(server, folder):
    content = notebook_object(["a = 1", "b = 2"])
    for cell in content["cells"]:
        cell["metadata"]["trusted"] = True
        cell["outputs"] = [{"output_type": "display_data", "data": {"text/html": "<b>x</b>"}, "metadata": {}}]
    saved = server.contents("PUT", _path(folder), {"type": "notebook", "format": "json", "content": content})
    assert saved.status == 201
    assert _is_trusted(server, folder)
    server.edit(_path(folder), {"op": "replace", "cell": 0, "source": "a = 2"})
    assert _is_trusted(server, folder)
    (folder / "n.ipynb").write_text((folder / "n.ipynb").read_text().replace("a = 2", "a = 3"))
    assert not _is_trusted(server, folder)
    server.edit(_path(folder), {"op": "replace", "cell": 1, "source": "b = 3"})
    assert not _is_trusted(server, folder)


def _is_trusted(server, folder) -> bool:
    cells = server.contents("GET", _path(folder)).json["content"]["cells"]
    trusted = {cell["metadata"]["trusted"] for cell in cells}
    assert len(trusted) == 1
    return trusted.pop()


def test_plain_files_are_edited_and_checked(server, folder):
    (folder / "helpers.py").write_bytes(b"def f():\r\n    return 1\r\n")
    answer = server.edit(_path(folder, "helpers.py"), {"op": "replace_text", "old": "return 1", "new": "return one"})
    assert (folder / "helpers.py").read_bytes() == b"def f():\r\n    return one\r\n"
    assert answer["write"] == "bytes"
    assert answer["report"]["kind"] == "text"
    assert [(found["line"], found["column"]) for found in answer["report"]["diagnostics"]] == [(2, 12)]
    refused = server.post("edits", path=_path(folder, "helpers.py"), edits=[{"op": "delete", "cell": 0}])
    assert (refused.status, "has no cells" in refused.json["message"]) == (400, True)


def test_text_is_answered_to_those_who_ask_for_it(server, folder):
    write_notebook(folder / "n.ipynb", "a = 1")
    body = {"path": _path(folder), "edits": [{"op": "replace", "cell": 0, "source": "print(b)"}], "wait_ms": 60_000}
    answer = server.send("POST", "jupyter-lsp-agent/edits", body, headers={"Accept": "text/plain"})
    assert answer.headers["Content-Type"] == "text/plain; charset=UTF-8"
    first, *rest = answer.text.splitlines()
    assert first.startswith("Written (bytes). content_hash sha256:")
    assert "cell 0 (c0) 1:7 error: Name `b` used when not defined [unresolved-reference]" in rest


_HOOKS = """
import json
from pathlib import Path

def pre(path, model, contents_manager):
    with Path(r"{log}").open("a") as log:
        print("pre", path, model["type"], file=log)
    if "scrub" in path:
        for cell in model["content"]["cells"]:
            cell["metadata"]["scrubbed"] = True
    if "forbidden" in path:
        from tornado.web import HTTPError
        raise HTTPError(403, "this one is not saved")

def post(os_path, model, contents_manager):
    with Path(r"{log}").open("a") as log:
        print("post", os_path, model["type"], file=log)
    if "clumsy" in os_path:
        raise RuntimeError("a hook's mistake")

c.FileContentsManager.pre_save_hook = pre
c.FileContentsManager.post_save_hook = post
"""


def test_save_hooks_run(tmp_path):
    log, root = tmp_path / "log.txt", tmp_path / "root"
    root.mkdir()
    for name in ("plain", "scrub", "forbidden", "clumsy"):
        write_notebook(root / f"{name}.ipynb", "a = 1")
    edit = {"op": "replace", "cell": 0, "source": "a = 2"}
    with jupyter_server(root, config=_HOOKS.format(log=log)) as server:
        assert server.edit("plain.ipynb", edit)["write"] == "bytes"
        assert log.read_text().splitlines() == ["pre plain.ipynb notebook", f"post {root}/plain.ipynb notebook"]
        # What a hook changes is saved by the manager, since only that knows how.
        assert server.edit("scrub.ipynb", edit)["write"] == "contents"
        assert json.loads((root / "scrub.ipynb").read_text())["cells"][0]["metadata"] == {"scrubbed": True}
        refused = server.post("edits", path="forbidden.ipynb", edits=[edit])
        assert (refused.status, refused.json["message"]) == (403, "this one is not saved")
        assert sources_of(root / "forbidden.ipynb") == ["a = 1"]
        assert "post-save hook" in server.edit("clumsy.ipynb", edit)["detail"]
        assert sources_of(root / "clumsy.ipynb") == ["a = 2"]


def test_with_edits_switched_off_only_dry_runs_are_done(tmp_path):
    before = write_notebook(tmp_path / "n.ipynb", "a = 1")
    edit = {"op": "replace", "cell": 0, "source": "print(b)"}
    with jupyter_server(tmp_path, "--LspAgent.allow_edits=False") as server:
        refused = server.post("edits", path="n.ipynb", edits=[edit])
        assert (refused.status, "allow_edits" in refused.json["message"]) == (403, True)
        assert server.edit("n.ipynb", edit, dry_run=True)["report"]["verdict"] == "errors"
    assert (tmp_path / "n.ipynb").read_bytes() == before


def test_with_checks_switched_off_edits_still_work(tmp_path):
    write_notebook(tmp_path / "n.ipynb", "a = 1")
    with jupyter_server(tmp_path, environment={"JUPYTER_LSP_AGENT_ENABLED": "false"}) as server:
        answer = server.edit("n.ipynb", {"op": "replace", "cell": 0, "source": "print(b)"})
        assert answer["write"] == "bytes"
        assert (answer["report"]["verdict"], answer["report"]["reason"]) == ("no_verdict", "disabled")
        assert server.get("status").json["running"] == []


def test_outputs_are_cleared_where_that_is_set(tmp_path):
    content = notebook_object(["a = 1", "b = 2"])
    for cell in content["cells"]:
        cell |= {"execution_count": 3, "outputs": [{"output_type": "stream", "name": "stdout", "text": ["x"]}]}
    (tmp_path / "n.ipynb").write_text(json.dumps(content))
    with jupyter_server(tmp_path, "--LspAgent.edited_outputs=clear") as server:
        server.edit("n.ipynb", {"op": "replace", "cell": 0, "source": "a = 2"})
    first, second = json.loads((tmp_path / "n.ipynb").read_text())["cells"]
    assert (first["outputs"], first["execution_count"]) == ([], None)
    assert (second["outputs"], second["execution_count"]) == (content["cells"][1]["outputs"], 3)
