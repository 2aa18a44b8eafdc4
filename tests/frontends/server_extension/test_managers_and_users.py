"""Contents without files, and more than one user."""

import pytest

from tests.support.jupyter_server import TOKEN, jupyter_server
from tests.support.small_notebooks import notebook_object, sources_of, write_notebook

_MEMORY = "c.ServerApp.contents_manager_class = 'tests.support.server_config.MemoryContents'"
_USERS = """
c.ServerApp.identity_provider_class = 'tests.support.server_config.NamedUsers'
c.ServerApp.authorizer_class = 'tests.support.server_config.Permissions'
"""


@pytest.mark.parametrize("path", ["n.ipynb", "sub/n.ipynb", "objects/n.ipynb"])
def test_contents_without_files_are_checked_and_edited(tmp_path, path):
    # A module that lies in the server's root is not a neighbour of what lies nowhere.
    (tmp_path / "helpers.py").write_text("x = 1")
    content = notebook_object(["a = 1", "print(a)\nimport helpers"])
    with jupyter_server(tmp_path, config=_MEMORY) as server:
        model = {"type": "notebook", "format": "json", "content": content}
        assert server.check("free.ipynb", content=content, session="s")["counts"]["introduced"] == 1
        assert server.post("check", path=".hidden.ipynb", content=content).status == 404
        assert server.post("check", path="nowhere/free.ipynb", content=content).status == 404
        assert server.contents("PUT", path, model).status in {200, 201}
        cells = server.get("cells", path=path).json["cells"]
        assert [cell["source"] for cell in cells] == ["a = 1", "print(a)\nimport helpers"]
        found = server.check(path)["cells"]
        assert [(cell["cell_index"], len(cell["diagnostics"])) for cell in found] == [(1, 1)]
        assert "helpers" in found[0]["diagnostics"][0]["message"]
        answer = server.edit(path, {"op": "replace", "cell": "c1", "source": "print(b)"})
        assert answer["write"] == "contents"
        assert [cell["cell_index"] for cell in answer["report"]["cells"]] == [1]
        assert answer["report"]["content_source"] == "contents"
        stored = server.contents("GET", path).json["content"]["cells"]
        assert [cell["source"] for cell in stored] == ["a = 1", "print(b)"]
        assert server.get("cells", path=".hidden.ipynb").status == 404
    assert [found.name for found in tmp_path.iterdir()] == ["helpers.py"]


def test_plain_files_of_such_contents_too(tmp_path):
    with jupyter_server(tmp_path, config=_MEMORY) as server:
        assert (
            server.contents("PUT", "a.py", {"type": "file", "format": "text", "content": "x: int = 1\n"}).status == 201
        )
        answer = server.edit("a.py", {"op": "replace_text", "old": "1", "new": "'1'"})
        assert (answer["write"], answer["report"]["verdict"]) == ("contents", "errors")
        assert server.contents("GET", "a.py").json["content"] == "x: int = '1'\n"


def test_who_may_only_read_cannot_edit_or_restart(tmp_path):
    before = write_notebook(tmp_path / "n.ipynb", "print(a)")
    with jupyter_server(tmp_path, config=_USERS) as server:
        server.token = "token-of-reader"
        assert server.check("n.ipynb")["verdict"] == "errors"
        assert server.get("cells", path="n.ipynb").status == 200
        assert server.post("edits", path="n.ipynb", edits=[{"op": "delete", "cell": 0}]).status == 403
        assert server.post("edits", path="n.ipynb", edits=[{"op": "delete", "cell": 0}], dry_run=True).status == 403
        assert server.post("servers/ty/restart").status == 403
        assert (tmp_path / "n.ipynb").read_bytes() == before
        server.token = "token-of-ann"
        assert server.post("servers/ty/restart").status == 200
        server.edit("n.ipynb", {"op": "replace", "cell": 0, "source": "a = 1"})
        server.token = TOKEN
        assert server.get("status").status == 403
    assert sources_of(tmp_path / "n.ipynb") == ["a = 1"]


def test_sessions_belong_to_their_user(tmp_path):
    write_notebook(tmp_path / "n.ipynb", "a = 1")
    with jupyter_server(tmp_path, config=_USERS) as server:
        server.token = "token-of-ann"
        server.check("n.ipynb", session="work")
        server.edit("n.ipynb", {"op": "replace", "cell": 0, "source": "print(b)"}, session="work")
        assert [one["session"] for one in server.get("sessions").json] == ["work"]
        server.token = "token-of-bob"
        assert server.get("sessions").json == []
        # The same name is another session: what ann broke is not new to bob, and his reset is not hers.
        assert server.check("n.ipynb", session="work")["counts"]["preexisting"] == 1
        server.ok("baseline", path="n.ipynb", session="work", action="reset")
        server.token = "token-of-ann"
        assert server.check("n.ipynb", session="work")["counts"]["outstanding"] == 1


def test_all_who_hold_the_one_token_are_one_user(tmp_path):
    # Without a cookie jupyter_server gives each request another random name.
    write_notebook(tmp_path / "n.ipynb", "a = 1")
    with jupyter_server(tmp_path) as server:
        names = {server.send("GET", "api/me").json["identity"]["username"] for _ in range(2)}
        assert len(names) == 2
        server.check("n.ipynb", session="work")
        assert [one["session"] for one in server.get("sessions").json] == ["work"]
