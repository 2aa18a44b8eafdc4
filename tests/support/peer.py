"""The other end of a connection, byte by byte: what was sent is looked at as it is on the wire."""

import json
from typing import Any

from jupyter_lsp_agent.jsonrpc.framing import FrameDecoder, encode_frame
from jupyter_lsp_agent.jsonrpc.transport import MemoryTransport


class RawPeer:
    """Reads and writes JSON over one end of a memory pair, and checks nothing."""

    def __init__(self, transport: MemoryTransport) -> None:
        self.transport = transport
        self._decoder = FrameDecoder()

    async def next(self) -> Any:
        """The next message that came; `None` at the end of the stream."""
        while (payload := self._decoder.next_message()) is None:
            data = await self.transport.receive()
            if not data:
                return None
            self._decoder.receive_data(data)
        return json.loads(payload)

    async def send(self, *messages: Any) -> None:
        """Send messages, all in one chunk."""
        await self.transport.send(b"".join(encode_frame(json.dumps(message).encode()) for message in messages))

    async def answer(self, request_id: Any, result: Any) -> None:
        await self.send({"jsonrpc": "2.0", "id": request_id, "result": result})
