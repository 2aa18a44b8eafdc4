"""A subscriber of a Jupyter server's event bus."""

import json
from contextlib import asynccontextmanager

from tornado.websocket import websocket_connect

from tests.support.jupyter_server import TOKEN

OURS = "https://events.jupyter.org/jupyter_lsp_agent/diagnostics/v1"


@asynccontextmanager
async def subscribed(server):
    socket = await websocket_connect(f"{server.url.replace('http', 'ws', 1)}api/events/subscribe?token={TOKEN}")
    try:
        yield socket
    finally:
        socket.close()
        while await socket.read_message() is not None:
            pass


async def next_result(socket, path: str):
    while True:
        event = json.loads(await socket.read_message())
        if event["schema_id"] == OURS and event["path"] == path:
            return event
