"""Connections that end half way: nothing is lost, nothing stays locked, and the next request is answered rightly."""

import asyncio
import json
import os
import sys

import pytest
from tornado.web import HTTPError

from jupyter_lsp_agent.frontends.server_extension.app import LspAgentApp
from tests.support.jupyter_events import next_result, subscribed
from tests.support.jupyter_server import PACKAGE_ROOT, jupyter_server, open_request
from tests.support.small_notebooks import sources_of, write_notebook

pytestmark = pytest.mark.skipif(os.name != "posix", reason="needs a FIFO")

_SMALL_SERVER = PACKAGE_ROOT / "tests" / "support" / "small_server.py"
_HELD_FSYNC = """
import os
_fsync, _held = os.fsync, [True]
def fsync(descriptor):
    if _held:
        _held.clear()
        with open({release!r}):
            pass
    _fsync(descriptor)
os.fsync = fsync
"""
"""The first write of the server waits, with its new file written and not in place, until somebody opens a FIFO."""
_APPEND = {"op": "append", "cell_type": "code", "source": "b = 2"}


def _body(**fields) -> bytes:
    return json.dumps({"path": "n.ipynb", "wait_ms": 60_000, **fields}).encode()


@pytest.fixture
def root(tmp_path):
    folder = tmp_path / "root"
    folder.mkdir()
    os.mkfifo(tmp_path / "release")
    write_notebook(folder / "n.ipynb", "a = 1")
    return folder


def _release(root) -> None:
    with (root.parent / "release").open("w"):
        pass


async def _is_seen(server) -> None:
    """A connection that was closed before is seen as closed when a later request is answered."""
    assert (await asyncio.to_thread(server.get, "openapi.yaml")).status == 200


async def test_while_the_body_is_sent(root):
    before = (root / "n.ipynb").read_bytes()
    with jupyter_server(root) as server:
        for route, body in (("edits", _body(edits=[_APPEND])), ("check", _body()), ("baseline", b"{")):
            for sent in (body, body[:-1], b""):
                asker = await open_request(server, route, sent, length=len(body) + 1)
                asker.close()
        await _is_seen(server)
        assert (root / "n.ipynb").read_bytes() == before
        answer = await asyncio.to_thread(server.edit, "n.ipynb", _APPEND)
        assert (answer["written"], answer["report"]["verdict"]) == (True, "clean")
        assert "Traceback" not in server.log.text
    assert sources_of(root / "n.ipynb") == ["a = 1", "b = 2"]


async def test_while_the_verdict_is_waited_for(root):
    settings = {"ty": {"command": [sys.executable, str(_SMALL_SERVER), f"hold:{root.parent / 'release'}"]}}
    config = f"c.LspAgent.servers = {{'python': ['ty']}}\nc.LspAgent.server_settings = {settings!r}\n"
    with jupyter_server(root, config=config) as server:
        askers = [await open_request(server, "check", _body(session=f"s{number}")) for number in range(5)]
        answer = await asyncio.to_thread(server.check, "n.ipynb", wait_ms=300)
        assert answer["verdict"] == "no_verdict"
        for asker in askers:
            asker.close()
        await _is_seen(server)
        answer = await asyncio.to_thread(server.edit, "n.ipynb", _APPEND, session="s0", wait_ms=300)
        assert (answer["written"], answer["report"]["verdict"]) == (True, "no_verdict")
        await asyncio.to_thread(_release, root)
        report = await asyncio.to_thread(server.check, "n.ipynb", session="s0")
        # The session met the notebook at the check that was given up, so the edit's finding is the edit's.
        assert (report["verdict"], report["counts"]["introduced"]) == ("errors", 1)
        assert "Traceback" not in server.log.text


async def test_a_server_ends_whatever_is_under_way(root):
    settings = {"ty": {"command": [sys.executable, str(_SMALL_SERVER), f"hold:{root.parent / 'release'}"]}}
    config = f"c.LspAgent.servers = {{'python': ['ty']}}\nc.LspAgent.server_settings = {settings!r}\n"
    with jupyter_server(root, config=config) as server:
        assert (await asyncio.to_thread(server.get, "cells", path="n.ipynb", session="s")).status == 200
        # A check for those who listen, one that is asked for, and one of an edit.
        content = json.loads((root / "n.ipynb").read_text())
        saved = {"type": "notebook", "format": "json", "content": content}
        assert (await asyncio.to_thread(server.contents, "PUT", "n.ipynb", saved)).status == 200
        asks = [
            asyncio.create_task(asyncio.to_thread(server.post, "check", path="n.ipynb", wait_ms=60_000)),
            asyncio.create_task(
                asyncio.to_thread(server.post, "edits", path="n.ipynb", edits=[_APPEND], wait_ms=60_000)
            ),
        ]
        while len(sources_of(root / "n.ipynb")) < 2:
            await _is_seen(server)
        await asyncio.to_thread(server.stop)
        assert server.process.returncode == 0
        for answer in await asyncio.gather(*asks, return_exceptions=True):
            # Said in time, or not at all; never a verdict that nobody gave.
            assert isinstance(answer, Exception) or answer.status == 503
        assert "Traceback" not in server.log.text


async def test_no_work_outlives_the_server():
    # What still waits when the loop ends keeps the threads that it used, and they keep the process.
    app = LspAgentApp()
    work = app.begin(asyncio.Event().wait())
    await asyncio.sleep(0)
    await app.stop_extension()
    assert work.cancelled()
    with pytest.raises(HTTPError, match="stopped"):
        await app.service()


async def test_while_the_edit_is_written(root):
    config = _HELD_FSYNC.format(release=str(root.parent / "release"))
    with jupyter_server(root, config=config) as server:
        async with subscribed(server) as socket:
            broken = {"op": "append", "cell_type": "code", "source": "print(zzz)"}
            asker = await open_request(server, "edits", _body(edits=[broken], session="s"))
            await asyncio.to_thread(_wait_for_a_second_file, root)
            waiting = await open_request(server, "edits", _body(edits=[_APPEND]))
            await _is_seen(server)
            asker.close()
            waiting.close()  # its turn has not come, so it is not done
            await _is_seen(server)
            assert sources_of(root / "n.ipynb") == ["a = 1"]
            mended = {"op": "insert", "after": None, "cell_type": "code", "source": "zz = 0"}
            edit = asyncio.create_task(asyncio.to_thread(server.edit, "n.ipynb", mended, session="s"))
            await _is_seen(server)
            assert not edit.done()
            await asyncio.to_thread(_release, root)
            answer = await edit
            assert sources_of(root / "n.ipynb") == ["zz = 0", "a = 1", "print(zzz)"]
            assert [path.name for path in root.iterdir()] == ["n.ipynb"]
            # Nobody was told of the first edit, whose finding is new to the session all the same.
            assert (answer["report"]["verdict"], answer["report"]["counts"]["introduced"]) == ("errors", 1)
            assert (await next_result(socket, "n.ipynb"))["verdict"] == "errors"
        assert "Traceback" not in server.log.text


def _wait_for_a_second_file(root) -> None:
    while len(list(root.iterdir())) < 2:
        pass
