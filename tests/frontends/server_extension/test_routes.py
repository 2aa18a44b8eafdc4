"""The routes that read: cells, checks, status; what they refuse; who may call them."""

import json

import pytest

from tests.support.jupyter_server import jupyter_server
from tests.support.small_notebooks import notebook_object, write_notebook

_ROUTES = {
    "status": "GET",
    "cells?path=n.ipynb": "GET",
    "check": "POST",
    "edits": "POST",
    "baseline": "POST",
    "sessions": "GET",
    "query": "POST",
    "servers/ty/restart": "POST",
    "openapi.yaml": "GET",
    "nothing/here": "GET",
}


@pytest.mark.parametrize("verb", ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"])
@pytest.mark.parametrize("route", _ROUTES)
@pytest.mark.parametrize("token", [None, "not-the-token"])
def test_without_the_token_everything_is_forbidden(server, verb, route, token):
    body = b"{}" if verb in {"POST", "PUT", "PATCH"} else None
    answer = server.send(verb, f"jupyter-lsp-agent/{route}", body, token=token)
    assert answer.status == 403
    if verb != "HEAD":
        assert answer.json["message"]


@pytest.mark.parametrize(("route", "verb"), _ROUTES.items())
def test_other_verbs_of_a_route_are_told_apart(server, route, verb):
    other = "POST" if verb == "GET" else "GET"
    if route == "nothing/here":
        return
    answer = server.send(other, f"jupyter-lsp-agent/{route}", b"{}" if other == "POST" else None)
    assert answer.status == 405
    assert answer.json["message"]


def test_a_misspelt_route_is_told_in_json(server):
    answer = server.get("nothing/here")
    assert answer.status == 404
    assert "openapi.yaml" in answer.json["message"]


def test_the_cells_of_a_notebook(server, folder):
    content = notebook_object(["a = 1\nb = 2", "%%bash\nls", "%%time\nprint(a)"])
    content["cells"].append({"cell_type": "markdown", "id": "m", "metadata": {}, "source": "# x"})
    content["cells"].append({"cell_type": "raw", "metadata": {}, "source": "x"})
    content["cells"][0]["execution_count"] = 5
    (folder / "n.ipynb").write_text("\ufeff" + json.dumps(content))
    answer = server.get("cells", path=f"{folder.name}/n.ipynb")
    assert answer.status == 200
    assert answer.json["path"] == f"{folder.name}/n.ipynb"
    cells = answer.json["cells"]
    assert [cell["cell_index"] for cell in cells] == [0, 1, 2, 3, 4]
    assert [cell["cell_id"] for cell in cells] == ["c0", "c1", "c2", "m", None]
    assert [cell["language"] for cell in cells] == ["python", "shellscript", "python", "markdown", None]
    assert [cell["source"] for cell in cells][:2] == ["a = 1\nb = 2", "%%bash\nls"]
    assert [cell["execution_count"] for cell in cells] == [5, None, None, None, None]
    assert all(cell["source_hash"].startswith("sha256:") for cell in cells)


def test_a_check_of_proposed_content_leaves_the_stored_one(server, folder):
    before = write_notebook(folder / "n.ipynb", "a = 1")
    path = f"{folder.name}/n.ipynb"
    proposed = {"cells": [{"cell_type": "code", "source": "print(b)"}], "nbformat": 4, "nbformat_minor": 5}
    proposed["metadata"] = notebook_object([])["metadata"]
    report = server.check(path, content=proposed)
    assert (report["verdict"], report["content_source"]) == ("errors", "request")
    assert [cell["cell_index"] for cell in report["cells"]] == [0]
    assert server.check(path)["verdict"] == "clean"
    assert (folder / "n.ipynb").read_bytes() == before


def test_names_that_a_kernel_has_are_there_for_the_check_that_gives_them(server, folder):
    write_notebook(folder / "n.ipynb", "print(given)", "given.odd", "given = 1", "given.odd")
    path = f"{folder.name}/n.ipynb"

    def found(**asked) -> list[tuple[int, int]]:
        cells = server.check(path, **asked)["cells"]
        return [(cell["cell_index"], len(cell["diagnostics"])) for cell in cells if cell["diagnostics"]]

    assert found() == [(0, 1), (1, 1), (3, 1)]
    assert found(given_names=["given", "class"]) == [(3, 1)]
    assert found() == [(0, 1), (1, 1), (3, 1)]


def test_content_is_checked_before_its_document_exists(server, folder):
    path, wrong = f"{folder.name}/new.ipynb", notebook_object(["a = 1", "print(dff)"])
    for session in (None, "s"):
        report = server.check(path, content=wrong, **({} if session is None else {"session": session}))
        status = "present" if session is None else "introduced"
        found = [(cell["cell_index"], item["status"]) for cell in report["cells"] for item in cell["diagnostics"]]
        assert (report["verdict"], report["content_source"], found) == ("errors", "request", [(1, status)])
    assert server.check(f"{folder.name}/new.py", content="print(dff)\n")["verdict"] == "errors"
    assert not any(folder.iterdir())
    missing = server.post("edits", path=path, edits=[{"op": "append", "cell_type": "code", "source": "a"}])
    assert (missing.status, "PUT api/contents" in missing.json["message"]) == (404, True)
    assert server.contents("PUT", path, {"type": "notebook", "content": wrong}).status == 201
    # The session met the document when nothing was stored.
    report = server.check(path, session="s")
    assert (report["baseline"], report["counts"]["preexisting"], report["counts"]["introduced"]) == ("session", 0, 1)


def test_content_that_is_remembered_is_what_the_next_check_is_compared_with(server, folder):
    """An editor holds what is not saved: its errors are new once, and mended once."""
    before = write_notebook(folder / "n.ipynb", "a = 1", "a")
    name = f"{folder.name}/n.ipynb"

    def held(*sources: str):
        content = {"nbformat": 4, "nbformat_minor": 5, "metadata": {}, "cells": []}
        content["cells"] = [{"cell_type": "code", "source": source} for source in sources]
        counts = server.check(name, session="editor", content=content, remember=True)["counts"]
        return {name: count for name, count in counts.items() if count}

    assert held("a = 1", "old") == {"preexisting": 1}  # what the editor holds at first is its baseline
    assert held("a = 1", "old", "new") == {"preexisting": 1, "introduced": 1}
    assert held("a = 1", "old", "new") == {"preexisting": 1, "outstanding": 1}
    assert held("a = 1", "old") == {"preexisting": 1, "fixed": 1}
    assert (folder / "n.ipynb").read_bytes() == before


def test_a_plain_file_is_checked_as_text(server, folder):
    (folder / "helpers.py").write_text("def f() -> int:\n    return 'x'\n")
    report = server.check(f"{folder.name}/helpers.py")
    assert (report["kind"], report["verdict"]) == ("text", "errors")
    assert [found["line"] for found in report["diagnostics"]] == [2]
    assert server.check(f"{folder.name}/helpers.py", content="x = 1\n")["verdict"] == "clean"
    assert server.get("cells", path=f"{folder.name}/helpers.py").status == 400


def test_a_notebook_sees_its_neighbours(server, folder):
    (folder / "helpers.py").write_text("def f() -> int:\n    return 1\n")
    write_notebook(folder / "n.ipynb", "import helpers", "helpers.f(1)\nhelpers.g()")
    report = server.check(f"{folder.name}/n.ipynb")
    assert [(cell["cell_index"], len(cell["diagnostics"])) for cell in report["cells"]] == [(1, 2)]


def test_what_is_shown_is_the_askers_choice(server, folder):
    write_notebook(folder / "n.ipynb", "print(a)\nprint(b)", "print(c)")
    path = f"{folder.name}/n.ipynb"
    assert _shown(server.check(path)) == {0: 2, 1: 1}
    assert _shown(server.check(path, cells=["c1"])) == {1: 1}
    assert _shown(server.check(path, cells=[0], max_per_cell=1)) == {0: 1}
    assert _shown(server.check(path, max_total=1, max_per_cell=0))[0] == 1
    assert _shown(server.check(path, statuses=["introduced"])) == {}
    assert server.check(path, statuses=["introduced"])["counts"]["present"] == 3


def _shown(report) -> dict[int, int]:
    return {cell["cell_index"]: len(cell["diagnostics"]) for cell in report["cells"] if cell["diagnostics"]}


_REFUSED = [
    (b"", 400, "JSON"),
    (b"[]", 400, "JSON object"),
    (b"{", 400, "JSON"),
    (b"\xff", 400, "UTF-8"),
    (b'{"path": 1}', 400, '"path"'),
    (b"{}", 400, '"path"'),
    (b'{"path": "/"}', 400, '"path"'),
    (b'{"path": "a\\u0000.ipynb"}', 400, '"path"'),
    (b'{"path": "a\\ud800.ipynb"}', 400, '"path"'),
    (b'{"path": "n.ipynb", "content": 5}', 400, '"content"'),
    (b'{"path": "n.ipynb", "remember": true, "session": "s"}', 400, '"remember"'),
    (b'{"path": "n.ipynb", "remember": true, "content": "x"}', 400, '"remember"'),
    (b'{"path": "n.ipynb", "statuses": ["odd"]}', 400, '"statuses"'),
    (b'{"path": "n.ipynb", "given_names": ["a b"]}', 400, '"given_names"'),
    (b'{"path": "n.ipynb", "given_names": "a"}', 400, '"given_names"'),
    (b'{"path": "n.ipynb", "cells": [1.5]}', 400, '"cells"'),
    (b'{"path": "n.ipynb", "max_total": 123456789012345678901234567890}', 400, '"max_total"'),
    (b'{"path": "n.ipynb", "max_total": ' + b"9" * 5000 + b"}", 400, "JSON"),
    (b'{"path": ' + b"[" * 101 + b"]" * 101 + b"}", 400, "deeper than 100"),
    (b'{"path": ' + b"[" * 100_000 + b"]" * 100_000 + b"}", 400, "deeper than 100"),
    (b'{"path": "' + b"a" * (16 * 1024 * 1024) + b'"}', 413, "16 MiB"),
    (b'{"path": "missing.ipynb"}', 404, "missing.ipynb"),
    (b'{"path": "../n.ipynb"}', 404, ""),
    (b'{"path": "..%2fn.ipynb"}', 404, ""),
    (b'{"path": ".hidden.ipynb"}', 404, ""),
    (b'{"path": ".hidden/n.ipynb"}', 404, ""),
    (b'{"path": "folder"}', 400, "directory"),
]


@pytest.mark.parametrize(("body", "status", "word"), _REFUSED)
def test_a_bad_check_is_refused_in_one_sentence(server, body, status, word):
    (server.root / "folder").mkdir(exist_ok=True)
    (server.root / ".hidden").mkdir(exist_ok=True)
    for name in (".hidden.ipynb", ".hidden/n.ipynb", "../n.ipynb"):
        write_notebook(server.root / name, "a = 1")
    answer = server.send("POST", "jupyter-lsp-agent/check", body)
    assert answer.status == status, answer.text
    assert set(answer.json) >= {"message", "reason"}
    assert word in answer.json["message"]
    assert "Traceback" not in answer.text
    assert str(server.root) not in answer.text


def test_a_notebook_of_10_000_cells_is_the_largest_that_is_proposed(server, folder):
    write_notebook(folder / "n.ipynb", "a = 1")
    cells = [{"cell_type": "markdown", "source": ""}] * 10_001
    proposed = {"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5}
    answer = server.post("check", path=f"{folder.name}/n.ipynb", content=proposed)
    assert (answer.status, "10000 cells" in answer.json["message"]) == (400, True)


@pytest.mark.parametrize("content", [b"{", b"\xff\xfe", b""])
def test_what_cannot_be_read_has_no_verdict(server, folder, content):
    (folder / "n.ipynb").write_bytes(content)
    report = server.check(f"{folder.name}/n.ipynb")
    assert (report["verdict"], report["reason"]) == ("no_verdict", "unreadable")
    assert set(report["counts"].values()) == {None}
    assert str(server.root) not in json.dumps(report)


def test_the_status_says_what_runs(server, folder):
    write_notebook(folder / "n.ipynb", "a = 1")
    server.check(f"{folder.name}/n.ipynb")
    status = server.get("status").json
    assert set(status) >= {"enabled", "wait_ms", "servers", "running", "broken"}
    assert "ty" in [running["id"] for running in status["running"]]
    text = server.send("GET", "jupyter-lsp-agent/status", headers={"Accept": "text/plain"})
    assert text.headers["Content-Type"].startswith("text/plain")
    assert "ty" in text.text


def test_a_server_is_restarted(server, folder):
    write_notebook(folder / "n.ipynb", "print(a)")
    server.check(f"{folder.name}/n.ipynb")
    before = {one["pid"] for one in server.get("status").json["running"] if one["id"] == "ty"}
    after = server.ok("servers/ty/restart")["running"]
    assert {one["id"] for one in after} == {"ty"}
    assert before.isdisjoint(one["pid"] for one in after)
    assert server.check(f"{folder.name}/n.ipynb")["verdict"] == "errors"
    assert server.post("servers/unheard-of/restart").status == 400


def test_a_touch_starts_the_server_and_says_what_it_lacks(server, folder):
    write_notebook(folder / "n.ipynb", "print(a)")
    path = f"{folder.name}/n.ipynb"
    assert server.ok("check", path=path, touch=True) == {"touched": True, "reason": None, "detail": None}
    content = notebook_object(["x"])
    content["metadata"] = {"kernelspec": {"name": "x", "display_name": "x", "language": "cobol"}}
    (folder / "c.ipynb").write_text(json.dumps(content))
    answer = server.ok("check", path=f"{folder.name}/c.ipynb", touch=True)
    assert (answer["touched"], answer["reason"]) == (False, "unsupported_language")
    assert answer["detail"]


def test_the_server_ends_and_leaves_no_process(tmp_path):
    import psutil

    write_notebook(tmp_path / "n.ipynb", "a = 1")
    with jupyter_server(tmp_path) as server:
        server.check("n.ipynb")
        children = psutil.Process(server.process.pid).children(recursive=True)
        assert children
    assert not [child for child in children if child.is_running() and child.status() != psutil.STATUS_ZOMBIE]
    assert server.process.returncode == 0
    assert "Traceback" not in server.log.text


def test_nothing_is_started_before_the_first_request(tmp_path):
    import psutil

    with jupyter_server(tmp_path) as server:
        assert psutil.Process(server.process.pid).children(recursive=True) == []
