"""A registry for npm on this machine alone: a few packages made on the spot, so that the real npm needs no network."""

import base64
import hashlib
import io
import json
import os
import tarfile
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


def make_tarball(name: str, version: str, program: str, text: str, padding_bytes: int = 0) -> bytes:
    """A package with one program, a script whose text is `text`."""
    package = {"name": name, "version": version, "bin": {program: "cli.js"}}
    files = {
        "package.json": json.dumps(package).encode(),
        "cli.js": text.encode(),
        "padding": os.urandom(padding_bytes),
    }
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        for file, data in files.items():
            member = tarfile.TarInfo(f"package/{file}")
            member.size, member.mode = len(data), 0o755
            archive.addfile(member, io.BytesIO(data))
    return buffer.getvalue()


@contextmanager
def npm_registry(packages: Mapping[tuple[str, str], bytes]) -> Iterator[str]:
    """The address of a registry that has these packages (name, version → tarball)."""

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            name = self.path.strip("/").replace("%2f", "/").replace("%2F", "/")
            found = [(version, data) for (known, version), data in packages.items() if known == name]
            tarball = next((data for (known, version), data in packages.items() if name == _file(known, version)), None)
            if tarball is not None:
                self._answer(200, tarball, "application/octet-stream")
            elif found:
                self._answer(200, json.dumps(self._describe(name, found)).encode(), "application/json")
            else:
                self._answer(404, b'{"error": "not found"}', "application/json")

        def _describe(self, name: str, found: list[tuple[str, bytes]]) -> dict[str, Any]:
            host = f"http://127.0.0.1:{self.server.server_address[1]}"
            versions = {
                version: {
                    "name": name,
                    "version": version,
                    "bin": _bin(data),
                    "dist": {
                        "tarball": f"{host}/{_file(name, version)}",
                        "integrity": "sha512-" + base64.b64encode(hashlib.sha512(data).digest()).decode(),
                    },
                }
                for version, data in found
            }
            return {"name": name, "versions": versions, "dist-tags": {"latest": found[-1][0]}}

        def _answer(self, status: int, body: bytes, kind: str) -> None:
            self.send_response(status)
            self.send_header("Content-Type", kind)
            self.send_header("Content-Length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_arguments: object) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        try:
            yield f"http://127.0.0.1:{server.server_address[1]}/"
        finally:
            server.shutdown()
            thread.join()


def _file(name: str, version: str) -> str:
    return f"{name}/-/{name}-{version}.tgz"


def _bin(data: bytes) -> Any:
    with tarfile.open(fileobj=io.BytesIO(data)) as archive:
        member = archive.extractfile("package/package.json")
        assert member is not None
        return json.load(member)["bin"]
