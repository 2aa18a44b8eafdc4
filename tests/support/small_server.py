"""A tiny real language server, for tests of many processes: `python small_server.py [MODE]`.

Its verdict on a text is one diagnostic whose message is the text's SHA-256, so that an answer tells which text it is
about; it lies at the last line that is not blank. It counts its open documents in `window/logMessage`-free silence and
tells the most it ever had in the message's tail. Modes: `crash` (ends at once), `hang` (answers nothing), `die` (ends
at the first pull), `refuse` (answers `initialize` with an error), `hold:FIFO` (the first pull waits until somebody
opens FIFO for writing). It imports nothing of the package.
"""

import hashlib
import json
import pathlib
import sys
from typing import Any, BinaryIO


def read(stream: BinaryIO) -> dict[str, Any] | None:
    length = 0
    while (line := stream.readline()) not in {b"\r\n", b""}:
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return json.loads(stream.read(length)) if length else None


def write(stream: BinaryIO, message: dict[str, Any]) -> None:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    stream.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    stream.flush()


def verdict(text: str, most_open: int) -> dict[str, Any]:
    lines = text.split("\n")
    start = {"line": max((at for at, line in enumerate(lines) if line.strip()), default=0), "character": 0}
    message = f"{hashlib.sha256(text.encode()).hexdigest()} {most_open}"
    return {"kind": "full", "items": [{"range": {"start": start, "end": start}, "severity": 1, "message": message}]}


class Server:
    def __init__(self, mode: str) -> None:
        self.mode = mode
        self.texts: dict[str, str] = {}
        self.most_open = 0

    def answer(self, method: str, params: Any) -> Any:
        if method == "initialize":
            return {
                "capabilities": {
                    "textDocumentSync": 1,
                    "diagnosticProvider": {"interFileDependencies": False, "workspaceDiagnostics": False},
                },
                "serverInfo": {"name": "small", "version": "1.0"},
            }
        if method == "textDocument/diagnostic":
            if self.mode == "die":
                sys.exit(3)
            self.wait_for_release()
            return verdict(self.texts[params["textDocument"]["uri"]], self.most_open)
        return None

    def wait_for_release(self) -> None:
        if self.mode.startswith("hold:"):
            with pathlib.Path(self.mode.removeprefix("hold:")).open():
                self.mode = "released"

    def note(self, method: str, params: Any) -> None:
        if method == "textDocument/didOpen":
            self.texts[params["textDocument"]["uri"]] = params["textDocument"]["text"]
            self.most_open = max(self.most_open, len(self.texts))
        elif method == "textDocument/didChange":
            self.texts[params["textDocument"]["uri"]] = params["contentChanges"][0]["text"]
        elif method == "textDocument/didClose":
            del self.texts[params["textDocument"]["uri"]]


def main(mode: str) -> None:
    if mode == "crash":
        sys.exit("small_server: crashed as told")
    server = Server(mode)
    while (message := read(sys.stdin.buffer)) is not None:
        method, params = message.get("method", ""), message.get("params")
        if mode == "hang":
            continue
        if method == "exit":
            return
        if "id" not in message:
            server.note(method, params)
        elif mode == "refuse":
            write(sys.stdout.buffer, {"id": message["id"], "error": {"code": -32803, "message": "refused as told"}})
        else:
            write(sys.stdout.buffer, {"id": message["id"], "result": server.answer(method, params)})


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else "")
