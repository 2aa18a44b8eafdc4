"""Answers in time from a server that never answers, and workspaces that would like to run something."""

import json
import os
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor

import pytest

from tests.support.full import FULL
from tests.support.jupyter_server import jupyter_server
from tests.support.small_notebooks import notebook_object, sources_of, write_notebook

_DEAF = [sys.executable, "-c", "import sys; sys.stdin.read()"]
_DEAF_CHAIN = (
    f"c.LspAgent.servers = {{'python': ['ty']}}\nc.LspAgent.server_settings = {{'ty': {{'command': {_DEAF!r}}}}}\n"
)
_WAIT_MS, _LATE_MS = 400, 250


def _check(server, name: str, _turn: int):
    return server.check(name, wait_ms=_WAIT_MS)


def _edit(server, name: str, turn: int):
    edit = {"op": "replace", "cell": 0, "source": f"a = {turn}"}
    answer = server.edit(name, edit, session="s", wait_ms=_WAIT_MS)
    assert answer["written"] is True
    return answer["report"]


@pytest.mark.parametrize("call", [_check, _edit])
def test_a_server_that_never_answers_keeps_nobody_waiting(tmp_path, call):
    names = [f"n{number}.ipynb" for number in range(20)]
    for name in names:
        write_notebook(tmp_path / name, "a = 'before'")
    with jupyter_server(tmp_path, config=_DEAF_CHAIN) as server:

        def ask(turn: int) -> float:
            began = time.perf_counter()
            report = call(server, names[turn % len(names)], turn)
            assert (report["verdict"], report["reason"]) in [("no_verdict", "starting"), ("no_verdict", "timeout")]
            assert report["detail"]
            return (time.perf_counter() - began) * 1000

        ask(0)  # the first request loads what checks
        with ThreadPoolExecutor(20) as threads:
            took = sorted(threads.map(ask, range(1, 101)))
    print(f"{call.__name__}: asked to wait {_WAIT_MS} ms: 99th percentile {took[98]:.0f} ms")
    if call is _edit:
        assert sorted(sources_of(tmp_path / name)[0] for name in names) == sorted(f"a = {n}" for n in range(81, 101))
    if FULL:  # a figure of a machine that does nothing else
        assert took[98] <= _WAIT_MS + _LATE_MS


@pytest.mark.skipif(os.name != "posix", reason="needs a shell script")
def test_a_workspace_runs_nothing_and_leaks_nothing(tmp_path):
    ran, secret = tmp_path / "ran.txt", tmp_path / "secret.py"
    secret.write_text("password = 'hunter2 of the neighbours'\ndef f(x: int) -> int: return x\n")
    evil = tmp_path / "evil.sh"
    evil.write_text(f"#!/bin/sh\necho $0 >> {ran}\n")
    evil.chmod(0o755)
    root = tmp_path / "root"
    for folder in (".venv/bin", "node_modules/.bin"):
        (root / folder).mkdir(parents=True)
    for program in (".venv/bin/python", ".venv/bin/ty", "node_modules/.bin/pyright-langserver", "ty", "git"):
        (root / program).symlink_to(evil)
    (root / ".venv" / "pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.11.0\n")
    (root / "pyproject.toml").write_text(
        "[tool.jupyter-lsp-agent]\ninstall_strategy = 'auto'\ntrusted_roots = ['.']\n"
        f"server_settings = {{ty = {{command = ['{evil}']}}}}\nallow_edits = true\n"
    )
    subprocess.run(["git", "init", "-q", "."], cwd=root, check=True)
    subprocess.run(["git", "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "--allow-empty", "-m", "x"],
                   cwd=root, check=True)  # fmt: skip
    with (root / ".git" / "config").open("a") as config:
        config.write(
            f"[core]\n\tfsmonitor = {evil}\n\thooksPath = {tmp_path}\n\tpager = {evil}\n\tsshCommand = {evil}\n"
        )
        config.write(f'[filter "x"]\n\tsmudge = {evil}\n\tclean = {evil}\n[diff]\n\texternal = {evil}\n')
    (root / ".gitattributes").write_text("*.ipynb filter=x\n")
    (root / "linked.py").symlink_to(secret)
    write_notebook(root / "n.ipynb", "import linked", "linked.f('x')", "linked.nothing")
    with jupyter_server(root) as server:
        reports = [
            server.check("n.ipynb", session="s"),
            server.check("n.ipynb", baseline="git:HEAD"),
            server.edit("n.ipynb", {"op": "replace", "cell": 2, "source": "linked.other"}, session="s")["report"],
        ]
        assert server.post("check", path="../secret.py").status == 404
    assert not ran.exists(), ran.read_text()
    assert {report["verdict"] for report in reports} <= {"errors", "nothing_new"}
    assert "hunter2" not in json.dumps(reports)


def test_a_content_that_names_neighbours_outside_is_told_by_position(tmp_path):
    root = tmp_path / "root"
    root.mkdir()
    (tmp_path / "outside.py").write_text("def secret_function(hunter2: int) -> int: return 1\n")
    content = notebook_object(["import sys\nsys.path.append('..')\nimport outside\noutside.secret_function('x')"])
    write_notebook(root / "n.ipynb", "a = 1")
    with jupyter_server(root) as server:
        assert "hunter2" not in json.dumps(server.check("n.ipynb", content=content))
