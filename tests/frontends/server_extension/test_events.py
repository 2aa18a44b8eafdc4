"""The event bus: our results go out on it, saves by others come in from it."""

import asyncio
import json
from contextlib import asynccontextmanager

import jsonschema
import yaml
from tornado.websocket import websocket_connect

from tests.support.jupyter_server import PACKAGE_ROOT, TOKEN, jupyter_server
from tests.support.small_notebooks import notebook_object, write_notebook

_OURS = "https://events.jupyter.org/jupyter_lsp_agent/diagnostics/v1"
_SCHEMA = PACKAGE_ROOT / "jupyter_lsp_agent/frontends/server_extension/event_schemas/diagnostics/v1.yaml"


@asynccontextmanager
async def _subscribed(server):
    socket = await websocket_connect(f"{server.url.replace('http', 'ws', 1)}api/events/subscribe?token={TOKEN}")
    try:
        yield socket
    finally:
        socket.close()
        while await socket.read_message() is not None:
            pass


async def _next(socket, path: str):
    while True:
        event = json.loads(await socket.read_message())
        if event["schema_id"] == _OURS and event["path"] == path:
            return event


async def _save(server, path: str, *sources: str) -> None:
    body = {"type": "notebook", "format": "json", "content": notebook_object(sources)}
    assert (await asyncio.to_thread(server.contents, "PUT", path, body)).status in {200, 201}


async def test_an_edit_is_told_once_and_without_its_content(server, folder):
    write_notebook(folder / "n.ipynb", "secret = 1")
    path = f"{folder.name}/n.ipynb"
    async with _subscribed(server) as socket:
        edits = [{"op": "replace", "cell": 0, "source": f"print(secret{number})"} for number in range(2)]
        reports = [
            (await asyncio.to_thread(server.edit, path, edit, session="quiet-session"))["report"] for edit in edits
        ]
        for report in reports:
            event = await _next(socket, path)
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
    async with _subscribed(server) as socket:
        await _save(server, other, "print(zzz)")  # nobody follows this one
        await _save(server, path, "print(zzz)")
        while True:
            event = json.loads(await socket.read_message())
            if event["schema_id"] == _OURS:
                break
        assert (event["path"], event["verdict"], event["counts"]["present"]) == (path, "errors", 1)


async def test_looking_and_dry_runs_are_not_told(server, folder):
    write_notebook(folder / "n.ipynb", "a = 1")
    path = f"{folder.name}/n.ipynb"
    async with _subscribed(server) as socket:
        edit = {"op": "replace", "cell": 0, "source": "b = 2"}
        await asyncio.to_thread(server.check, path, session="s")
        await asyncio.to_thread(server.get, "cells", path=path)
        await asyncio.to_thread(server.edit, path, edit, dry_run=True)
        told = await asyncio.to_thread(server.edit, path, edit)
        # What comes first is the edit that was written, so nothing came before it.
        event = await _next(socket, path)
        assert event["content_hash"] == told["content_hash"]
        assert event["verdict"] == "clean"


async def test_saves_are_not_followed_where_that_is_switched_off(tmp_path):
    write_notebook(tmp_path / "n.ipynb", "a = 1")
    write_notebook(tmp_path / "m.ipynb", "a = 1")
    with jupyter_server(tmp_path, "--LspAgent.follow_saves=False") as server:
        await asyncio.to_thread(server.check, "n.ipynb", session="follower")
        async with _subscribed(server) as socket:
            await _save(server, "n.ipynb", "print(zzz)")
            await asyncio.to_thread(server.edit, "m.ipynb", {"op": "replace", "cell": 0, "source": "b = 2"})
            event = json.loads(await socket.read_message())
            while event["schema_id"] != _OURS:
                event = json.loads(await socket.read_message())
            assert event["path"] == "m.ipynb"
