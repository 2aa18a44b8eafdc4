"""As a user's server of a JupyterHub: JupyterHub's own single-user server, in front of a stand-in for the hub's API.

The stand-in says whose a token is and what it may, as the hub does; routing and spawning are not what is tried here.
Runs where jupyterhub is installed, which is no dependency of this package: an environment of its own.
"""

import json
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

import pytest

pytest.importorskip("jupyterhub", reason="jupyterhub has an environment of its own")

import jupyterhub

from tests.support.jupyter_server import JupyterServer, jupyter_server
from tests.support.small_notebooks import sources_of, write_notebook

_ACCESS = "access:servers!server=ann@x/"
_MODELS = {
    "token-of-ann": {"name": "ann@x", "scopes": [_ACCESS]},
    "token-of-bob": {"name": "bob", "scopes": [_ACCESS]},
    "token-of-eve": {"name": "eve", "scopes": ["read:users!user=eve"]},
    "token-of-the-server": {"name": "ann@x", "scopes": [_ACCESS]},
}


class _Hub(BaseHTTPRequestHandler):
    """`GET /hub/api` and `GET /hub/api/user`."""

    def do_GET(self) -> None:
        token = self.headers.get("Authorization", "").partition(" ")[2]
        model = {"version": jupyterhub.__version__} if self.path.rstrip("/") == "/hub/api" else _MODELS.get(token)
        found = {"kind": "user", "admin": False, "groups": [], **model} if model else {"message": "no such token"}
        body = json.dumps(found).encode()
        self.send_response(200 if model else 403)
        self.send_header("Content-Type", "application/json")
        self.send_header("X-JupyterHub-Version", jupyterhub.__version__)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: object) -> None:
        """Nothing is logged."""


@pytest.fixture
def server(tmp_path) -> Iterator[JupyterServer]:
    with ThreadingHTTPServer(("127.0.0.1", 0), _Hub) as hub:
        threading.Thread(target=hub.serve_forever, daemon=True).start()
        url = f"http://127.0.0.1:{hub.server_address[1]}/hub/api"
        with jupyter_server(tmp_path, application="jupyterhub.singleuser", hub_url=url) as running:
            yield running
        hub.shutdown()


def test_below_the_users_prefix_with_hub_tokens(server):
    write_notebook(server.root / "n.ipynb", "a = 1")
    server.token = "token-of-ann"
    answer = server.edit("n.ipynb", {"op": "replace", "cell": 0, "source": "print(zzz)"}, session="work")
    assert (answer["write"], answer["report"]["counts"]["introduced"]) == ("bytes", 1)
    assert [one["session"] for one in server.get("sessions").json] == ["work"]
    assert server.check("n.ipynb", session="work")["counts"]["outstanding"] == 1
    # Another user who is let in has sessions of his own.
    server.token = "token-of-bob"
    assert server.get("sessions").json == []
    assert server.check("n.ipynb", session="work")["counts"]["preexisting"] == 1
    # Who is not, or is nobody, learns nothing.
    for token in ("token-of-eve", "no-token", None):
        server.token = token
        for answer in (server.get("status"), server.get("cells", path="n.ipynb"), server.post("check", path="n.ipynb")):
            assert answer.status == 403
            assert "zzz" not in answer.text
        assert server.post("edits", path="n.ipynb", edits=[{"op": "delete", "cell": 0}]).status == 403
    assert sources_of(server.root / "n.ipynb") == ["print(zzz)"]
