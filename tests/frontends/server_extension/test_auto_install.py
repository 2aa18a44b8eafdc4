"""`install_strategy: "auto"` in a real Jupyter server: a missing server comes while the server runs, and goes with it.
npm is a small script, and what it installs is a scripted server."""

import os
import sys
from pathlib import Path

import psutil
import pytest

from tests.support.jupyter_server import jupyter_server
from tests.support.processes import survivors
from tests.support.services import SCRIPT

NPM = f"""#!{sys.executable}
import pathlib, sys
open(pathlib.Path(sys.argv[0]).with_name("gate")).read()
folder = pathlib.Path(sys.argv[sys.argv.index("--prefix") + 1]) / "node_modules/.bin"
folder.mkdir(parents=True)
(folder / "vim-language-server").write_text("#!/bin/sh\\nexec {sys.executable} {SCRIPT} push\\n")
(folder / "vim-language-server").chmod(0o755)
"""


@pytest.fixture
def tools(tmp_path: Path) -> Path:
    for name in ("tools", "root", "data"):
        (tmp_path / name).mkdir()
    (tmp_path / "tools/npm").write_text(NPM)
    (tmp_path / "tools/npm").chmod(0o755)
    os.mkfifo(tmp_path / "tools/gate")
    (tmp_path / "root/a.vim").write_text("BAD\n")
    return tmp_path / "tools"


def environment(tools: Path) -> dict[str, str]:
    data = str(tools.parent / "data")
    return {"PATH": f"{tools}:/usr/bin:/bin", "JUPYTER_DATA_DIR": data, "JUPYTER_PATH": data}


AUTO = "c.LspAgent.install_strategy = 'auto'\n"


def test_a_missing_server_is_installed_while_the_server_runs(tools):
    with jupyter_server(tools.parent / "root", config=AUTO, environment=environment(tools)) as server:

        def check() -> dict:
            return server.send("POST", "jupyter-lsp-agent/check", {"path": "a.vim"}).json

        def installs() -> list[dict]:
            return server.send("GET", "jupyter-lsp-agent/status").json["installs"]

        report = check()
        assert (report["verdict"], report["reason"]) == ("no_verdict", "not_installed")
        assert "is being installed now" in report["detail"]
        assert installs() == [{"id": "vimls", "state": "installing", "detail": None}]
        text = server.send("GET", "jupyter-lsp-agent/status", headers={"Accept": "text/plain"}).text
        assert "Install of vimls, which a check missed: installing" in text
        # Opened once npm stands at it, and closed: npm goes on.
        (tools / "gate").open("w").close()
        while installs()[0]["state"] == "installing":
            pass
        assert check()["verdict"] == "errors"


def test_the_end_of_the_server_ends_the_install(tools):
    with jupyter_server(tools.parent / "root", config=AUTO, environment=environment(tools)) as server:
        server.send("POST", "jupyter-lsp-agent/check", {"path": "a.vim"})
        gate = (tools / "gate").open("w")
        children = psutil.Process(server.process.pid).children(recursive=True)
        assert any("npm" in " ".join(child.cmdline()) for child in children)
    gate.close()
    assert survivors(children) == []
    assert list((tools.parent / "data/jupyter-lsp-agent/servers").iterdir()) == []
