"""The event bus: our results go out on it, saves by others come in from it."""

import asyncio
import json
import os
import sys

import jsonschema
import pytest
import yaml

from tests.support.jupyter_events import OURS, next_result, subscribed
from tests.support.jupyter_server import PACKAGE_ROOT, jupyter_server, open_request
from tests.support.small_notebooks import notebook_object, write_notebook

_SCHEMA = PACKAGE_ROOT / "jupyter_lsp_agent/frontends/server_extension/event_schemas/diagnostics/v1.yaml"


async def _save(server, path: str, *sources: str) -> None:
    body = {"type": "notebook", "format": "json", "content": notebook_object(sources)}
    assert (await asyncio.to_thread(server.contents, "PUT", path, body)).status in {200, 201}


async def test_an_edit_is_told_once_and_without_its_content(server, folder):
    write_notebook(folder / "n.ipynb", "secret = 1")
    path = f"{folder.name}/n.ipynb"
    async with subscribed(server) as socket:
        edits = [{"op": "replace", "cell": 0, "source": f"print(secret{number})"} for number in range(2)]
        reports = [
            (await asyncio.to_thread(server.edit, path, edit, session="quiet-session"))["report"] for edit in edits
        ]
        for report in reports:
            event = await next_result(socket, path)
            assert event["content_hash"] == report["content_hash"]
            assert event["verdict"] == "errors"
            assert event["counts"] == report["counts"]
            assert "secret" not in json.dumps(event)
            assert "quiet-session" not in json.dumps(event)
            event.pop("schema_id")
            jsonschema.validate(event, yaml.safe_load(_SCHEMA.read_text()))


async def test_a_save_by_others_is_checked_where_a_session_follows_the_file(server, folder):
    path, other = f"{folder.name}/n.ipynb", f"{folder.name}/other.ipynb"
    for name in ("n.ipynb", "other.ipynb"):
        write_notebook(folder / name, "a = 1")
    await asyncio.to_thread(server.check, path, session="follower")
    async with subscribed(server) as socket:
        await _save(server, other, "print(zzz)")  # nobody follows this one
        await _save(server, path, "print(zzz)")
        while True:
            event = json.loads(await socket.read_message())
            if event["schema_id"] == OURS:
                break
        assert (event["path"], event["verdict"], event["counts"]["present"]) == (path, "errors", 1)


async def test_looking_and_dry_runs_are_not_told(server, folder):
    write_notebook(folder / "n.ipynb", "a = 1")
    path = f"{folder.name}/n.ipynb"
    async with subscribed(server) as socket:
        edit = {"op": "replace", "cell": 0, "source": "b = 2"}
        await asyncio.to_thread(server.check, path, session="s")
        await asyncio.to_thread(server.get, "cells", path=path)
        await asyncio.to_thread(server.edit, path, edit, dry_run=True)
        told = await asyncio.to_thread(server.edit, path, edit)
        # What comes first is the edit that was written, so nothing came before it.
        event = await next_result(socket, path)
        assert event["content_hash"] == told["content_hash"]
        assert event["verdict"] == "clean"


async def test_saves_are_not_followed_where_that_is_switched_off(tmp_path):
    write_notebook(tmp_path / "n.ipynb", "a = 1")
    write_notebook(tmp_path / "m.ipynb", "a = 1")
    with jupyter_server(tmp_path, "--LspAgent.follow_saves=False") as server:
        await asyncio.to_thread(server.check, "n.ipynb", session="follower")
        async with subscribed(server) as socket:
            await _save(server, "n.ipynb", "print(zzz)")
            await asyncio.to_thread(server.edit, "m.ipynb", {"op": "replace", "cell": 0, "source": "b = 2"})
            event = json.loads(await socket.read_message())
            while event["schema_id"] != OURS:
                event = json.loads(await socket.read_message())
            assert event["path"] == "m.ipynb"


_SMALL_SERVER = PACKAGE_ROOT / "tests" / "support" / "small_server.py"


@pytest.fixture
def held(tmp_path):
    """A server whose language server gives no verdict before somebody opens the FIFO `root.parent / "release"`."""
    root, release = tmp_path / "root", tmp_path / "release"
    root.mkdir()
    os.mkfifo(release)
    write_notebook(root / "n.ipynb", "a = 1")
    command = [sys.executable, str(_SMALL_SERVER), f"hold:{release}"]
    settings = {"ty": {"command": command}}
    config = f"c.LspAgent.servers = {{'python': ['ty']}}\nc.LspAgent.server_settings = {settings!r}\n"
    with jupyter_server(root, config=config) as server:
        yield server


def _release(server) -> None:
    with (server.root.parent / "release").open("w"):
        pass


_BREAK = {"op": "replace", "cell": 0, "source": "b = 2"}


@pytest.mark.skipif(os.name != "posix", reason="needs a FIFO")
async def test_a_late_verdict_on_an_edit_is_told_when_it_comes(held):
    async with subscribed(held) as socket:
        answer = await asyncio.to_thread(held.edit, "n.ipynb", _BREAK, session="s", wait_ms=300)
        assert (answer["written"], answer["report"]["verdict"]) == (True, "no_verdict")
        event = await next_result(socket, "n.ipynb")
        assert (event["verdict"], event["counts"]["introduced"]) == ("no_verdict", None)
        await asyncio.to_thread(_release, held)
        event = await next_result(socket, "n.ipynb")
        assert (event["content_hash"], event["verdict"]) == (answer["content_hash"], "errors")
        assert event["counts"]["introduced"] == 1
        # The agent has not seen it: at its next look it is new to it still.
        report = await asyncio.to_thread(held.check, "n.ipynb", session="s")
        assert (report["counts"]["introduced"], report["content_hash"]) == (1, answer["content_hash"])


@pytest.mark.skipif(os.name != "posix", reason="needs a FIFO")
async def test_the_verdict_on_an_edit_whose_asker_hung_up_is_told(held):
    body = json.dumps({"path": "n.ipynb", "session": "s", "edits": [_BREAK], "wait_ms": 60_000}).encode()
    async with subscribed(held) as socket:
        asker = await open_request(held, "edits", body)
        while json.loads(await socket.read_message()).get("action") != "save":
            pass  # it is being checked from now on
        asker.close()
        await asyncio.to_thread(_release, held)
        event = await next_result(socket, "n.ipynb")
        assert (event["verdict"], event["counts"]["introduced"]) == ("errors", 1)
        report = await asyncio.to_thread(held.check, "n.ipynb", session="s")
        assert (report["counts"]["introduced"], report["content_hash"]) == (1, event["content_hash"])


@pytest.mark.skipif(os.name != "posix", reason="needs a FIFO")
async def test_a_late_verdict_on_a_save_is_told_when_it_comes(held):
    async with subscribed(held) as socket:
        assert (await asyncio.to_thread(held.get, "cells", path="n.ipynb", session="s")).status == 200
        await _save(held, "n.ipynb", "b = 3")
        told = asyncio.create_task(next_result(socket, "n.ipynb"))
        done, _ = await asyncio.wait([told], timeout=0.1)
        assert not done
        await asyncio.to_thread(_release, held)
        assert (await told)["verdict"] == "errors"
