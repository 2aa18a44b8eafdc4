"""`POST query` on a real Jupyter server with a real ty: places, permissions, and what is never quoted."""

import json
from pathlib import Path

import pytest

from tests.support.jupyter_server import jupyter_server
from tests.support.small_notebooks import notebook_object, write_notebook

_MEMORY = "c.ServerApp.contents_manager_class = 'tests.support.server_config.MemoryContents'"
_USERS = """
c.ServerApp.identity_provider_class = 'tests.support.server_config.NamedUsers'
c.ServerApp.authorizer_class = 'tests.support.server_config.Permissions'
"""


def ask(server, path, method, **asked):
    return server.ok("query", **{"path": path, "method": method, "wait_ms": 60_000, **asked})


def places(answer):
    return [(one["path"], one["cell_index"], one["line"], one["column"]) for one in answer["results"]]


def test_a_place_in_a_cell_leads_into_a_module_and_back(server, folder):
    (folder / "helpers.py").write_text("x = '😀'; y = 1\n\n\ndef clean(price): ...\n")
    write_notebook(folder / "n.ipynb", "from helpers import clean, y", "'😀', clean(y)")
    write_notebook(folder / "other.ipynb", "import helpers\nhelpers.clean(1)")
    n, helpers = f"{folder.name}/n.ipynb", f"{folder.name}/helpers.py"
    definition = ask(server, n, "definition", cell=1, line=1, column=6)
    assert places(definition) == [(helpers, None, 4, 5)]
    assert definition["results"][0]["source_line"] == "def clean(price): ..."
    assert (definition["content_source"], definition["language"]) == ("contents", "python")
    assert places(ask(server, n, "definition", cell="c1", line=1, column=12)) == [(helpers, None, 1, 10)]
    back = ask(server, helpers, "references", line=4, column=5)
    assert places(back) == [
        (helpers, None, 4, 5),
        (n, 0, 1, 21),
        (n, 1, 1, 6),
        (f"{folder.name}/other.ipynb", 0, 2, 9),
    ]
    assert back["results"][2]["range"] == {"start": {"line": 0, "character": 6}, "end": {"line": 0, "character": 11}}
    [hover] = ask(server, n, "hover", cell=1, line=1, column=7)["results"]
    assert "clean" in hover["text"]
    [call] = ask(server, n, "signature_help", cell=1, line=1, column=12)["results"]
    assert (call["active_parameter"], call["parameters"][0]["label"]) == (0, "price")
    found = ask(server, n, "workspace_symbols", query="clean")["results"]
    assert (helpers, "clean", "function", 5) in {
        (one["path"], one["name"], one["kind"], one["column"]) for one in found
    }


def test_as_text_it_is_a_line_a_result(server, folder):
    write_notebook(folder / "n.ipynb", "df = 1", "print(df)")
    body = {"path": f"{folder.name}/n.ipynb", "method": "references", "cell": 1, "line": 1, "column": 7}
    answer = server.send("POST", "jupyter-lsp-agent/query", body, headers={"Accept": "text/plain"})
    assert answer.headers["Content-Type"].startswith("text/plain")
    assert answer.text.splitlines() == [
        f"{folder.name}/n.ipynb:cell 0 (c0):1:1: df = 1",
        f"{folder.name}/n.ipynb:cell 1 (c1):1:7: print(df)",
    ]


def test_what_is_outside_or_hidden_is_named_and_never_quoted(tmp_path):
    root = tmp_path / "root"
    (root / ".lib").mkdir(parents=True)
    (root / ".lib" / "hidden_module.py").write_text("def secret_one(a): return 'hidden'\n")
    (tmp_path / "beside").mkdir()
    (tmp_path / "beside" / "outer_module.py").write_text("'😀'; secret_two = 'outside'\n")
    (root / "ty.toml").write_text('[environment]\nextra-paths = [".lib", "../beside"]\n')
    cells = [
        "import json, hidden_module, outer_module",
        "hidden_module.secret_one, outer_module.secret_two, json.dumps",
    ]
    write_notebook(root / "n.ipynb", *cells)
    write_notebook(root / ".hidden.ipynb", "secret_one = 3  # in a hidden notebook", "secret_one")
    with jupyter_server(root) as server:
        columns = {"hidden": 15, "outer": 40, "json": 57}
        answers = {
            name: ask(server, "n.ipynb", "definition", cell=1, line=1, column=at) for name, at in columns.items()
        }
        references = ask(server, "n.ipynb", "references", cell=1, line=1, column=15)
        symbols = ask(server, "n.ipynb", "workspace_symbols", query="secret")
    [hidden], [outer], [library] = (answer["results"] for answer in answers.values())
    assert (Path(hidden["path"]).name, hidden["line"], hidden["column"]) == ("hidden_module.py", 1, 5)
    assert (Path(outer["path"]).name, outer["line"], outer["column"]) == ("outer_module.py", 1, 6)
    assert outer["range"]["start"] == {"line": 0, "character": 6}
    assert Path(library["path"]).is_absolute()
    assert library["source_line"] is hidden["source_line"] is outer["source_line"] is None
    told = json.dumps([*answers.values(), references, symbols])
    assert "def secret_one" not in told
    assert "'outside'" not in told
    assert "hidden notebook" not in told
    assert ".hidden.ipynb" not in told
    assert ("n.ipynb", 1, 1, 15) in places(references)


_REFUSED = [
    ({"path": "n.ipynb", "method": "hover", "cell": 9, "line": 1, "column": 1}, 404, "no cell 9"),
    ({"path": "n.ipynb", "method": "hover", "cell": "gone", "line": 1, "column": 1}, 404, "gone"),
    ({"path": "n.ipynb", "method": "hover", "cell": 0, "line": 2, "column": 1}, 400, "1 line"),
    ({"path": "n.ipynb", "method": "hover", "cell": 0, "line": 1, "column": 99}, 400, "5 characters"),
    ({"path": "n.ipynb", "method": "hover", "cell": 0, "line": True, "column": 1}, 400, '"line"'),
    ({"path": "n.ipynb", "method": "hover", "line": 1, "column": 1}, 400, '"cell"'),
    ({"path": "n.ipynb", "method": "hover", "cell": 0}, 400, '"line"'),
    ({"path": "n.ipynb", "method": "rename"}, 400, '"method"'),
    ({"path": "n.ipynb"}, 400, '"method"'),
    ({"path": "n.ipynb", "method": "workspace_symbols"}, 400, '"query"'),
    ({"path": "n.ipynb", "method": "document_symbols", "wait_ms": 120_001}, 400, '"wait_ms"'),
    ({"path": "n.ipynb", "method": "document_symbols", "content": {}}, 400, '"content"'),
    ({"method": "document_symbols"}, 400, '"path"'),
    ({"path": "missing.ipynb", "method": "document_symbols"}, 404, "missing.ipynb"),
    ({"path": "../outside.ipynb", "method": "document_symbols"}, 404, ""),
    ({"path": ".hidden/n.ipynb", "method": "document_symbols"}, 404, ""),
    ([], 400, "JSON object"),
]


@pytest.mark.parametrize(("body", "status", "word"), _REFUSED)
def test_a_bad_question_is_refused_in_one_sentence(server, body, status, word):
    (server.root / ".hidden").mkdir(exist_ok=True)
    for name in ("n.ipynb", ".hidden/n.ipynb", "../outside.ipynb"):
        write_notebook(server.root / name, "x = 1")
    answer = server.send("POST", "jupyter-lsp-agent/query", body)
    assert answer.status == status, answer.text
    assert set(answer.json) >= {"message", "reason"}
    assert word in answer.json["message"]
    assert "Traceback" not in answer.text
    assert str(server.root) not in answer.text


def test_the_same_id_twice_names_no_cell(server, folder):
    content = notebook_object(["x = 1", "x"])
    for cell in content["cells"]:
        cell["id"] = "same"
    (folder / "n.ipynb").write_text(json.dumps(content))
    asked = {"path": f"{folder.name}/n.ipynb", "method": "hover", "line": 1, "column": 1}
    assert server.post("query", cell="same", **asked).status == 400
    assert server.post("query", cell=1, **asked).status == 200


@pytest.mark.parametrize(
    ("content", "cell", "reason"),
    [
        (["# text"], 0, "unsupported_language"),
        (["%matplotlib inline"], 0, "unsupported_language"),
        (["def f(:\n  x"], 0, "unreadable"),
    ],
)
def test_where_nobody_looks_there_is_no_answer_and_no_empty_list(server, folder, content, cell, reason):
    stored = notebook_object(content)
    if content == ["# text"]:
        stored["cells"] = [{"cell_type": "markdown", "id": "m", "metadata": {}, "source": "# text"}]
    (folder / "n.ipynb").write_text(json.dumps(stored))
    answer = ask(server, f"{folder.name}/n.ipynb", "definition", cell=cell, line=1, column=3)
    assert (answer["results"], answer["reason"]) == (None, reason)
    assert answer["detail"]


def test_a_server_that_never_answers_is_told_in_time(tmp_path):
    import sys

    deaf = [sys.executable, "-c", "import sys; sys.stdin.read()"]
    config = (
        f"c.LspAgent.servers = {{'python': ['ty']}}\nc.LspAgent.server_settings = {{'ty': {{'command': {deaf!r}}}}}"
    )
    write_notebook(tmp_path / "n.ipynb", "x = 1")
    with jupyter_server(tmp_path, config=config) as server:
        answer = server.ok("query", path="n.ipynb", method="document_symbols", wait_ms=300)
    assert (answer["results"], answer["reason"]) == (None, "starting")
    assert answer["elapsed_ms"] < 5_000


def test_who_may_read_may_ask(tmp_path):
    write_notebook(tmp_path / "n.ipynb", "x = 1")
    with jupyter_server(tmp_path, config=_USERS) as server:
        server.token = "token-of-reader"
        assert ask(server, "n.ipynb", "document_symbols")["results"][0]["name"] == "x"
        server.token = "token-of-nobody"
        assert server.post("query", path="n.ipynb", method="document_symbols").status == 403


def test_contents_without_files_are_asked_about_too(tmp_path):
    with jupyter_server(tmp_path, config=_MEMORY) as server:
        content = notebook_object(["a = 1", "print(a)"])
        assert server.contents("PUT", "sub/n.ipynb", {"type": "notebook", "content": content}).status in {200, 201}
        answer = ask(server, "sub/n.ipynb", "references", cell=1, line=1, column=7)
        assert places(answer) == [("sub/n.ipynb", 0, 1, 1), ("sub/n.ipynb", 1, 1, 7)]
        library = ask(server, "sub/n.ipynb", "definition", cell=1, line=1, column=1)
        assert library["results"][0]["source_line"] is None
    assert list(tmp_path.iterdir()) == []


def test_only_worktrees_are_asked_about_where_the_owner_says_so(tmp_path):
    write_notebook(tmp_path / "n.ipynb", "x = 1")
    with jupyter_server(tmp_path, config="c.LspAgent.workspace = 'git'") as server:
        answer = ask(server, "n.ipynb", "document_symbols")
    assert (answer["results"], answer["reason"]) == (None, "outside_workspace")


def test_many_questions_at_once_are_each_answered_about_their_own_document(server, folder):
    from concurrent.futures import ThreadPoolExecutor

    for number in range(12):
        write_notebook(
            folder / f"n{number}.ipynb", *["x = 0"] * number, f"def name_{number}(): ...", f"name_{number}()"
        )

    def one(number):
        path = f"{folder.name}/n{number}.ipynb"
        answer = ask(server, path, "definition", cell=number + 1, line=1, column=1)
        return places(answer) == [(path, number, 1, 5)]

    with ThreadPoolExecutor(12) as threads:
        assert all(threads.map(one, [*range(12)] * 5))
