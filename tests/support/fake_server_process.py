"""The puppet behind `fake_server.FakeProcess`: `python fake_server_process.py SOCKET`.

It carries its standard input to the socket, and obeys orders that come from there, one JSON object a line:
`write` (data, base64), `stderr` (data), `close_stdout`, `close_stdin`, `ignore_sigterm`, `spawn_grandchild`, `exit`
(code), `die` (by SIGKILL). It imports nothing of the package, and ends only when told or killed: not by the end of its
standard input, so that the last steps of a shutdown are needed and seen.
"""

import base64
import json
import os
import signal
import socket
import subprocess
import sys
import threading


def main() -> None:
    control = socket.socket(socket.AF_UNIX)
    control.connect(sys.argv[1])
    lock = threading.Lock()

    def tell(event: dict) -> None:
        with lock:
            control.sendall(json.dumps(event).encode() + b"\n")

    def carry_stdin() -> None:
        while data := os.read(0, 65536):
            tell({"stdin": base64.b64encode(data).decode()})
        tell({"stdin": ""})

    tell({"pid": os.getpid()})
    threading.Thread(target=carry_stdin, daemon=True).start()
    for line in control.makefile("rb"):
        obey(json.loads(line), tell)


def obey(order: dict, tell) -> None:
    deeds = {
        "write": lambda: write_all(1, base64.b64decode(order["data"])),
        "stderr": lambda: write_all(2, base64.b64decode(order["data"])),
        "close_stdout": lambda: os.close(1),
        "close_stdin": lambda: os.close(0),
        "ignore_sigterm": lambda: signal.signal(signal.SIGTERM, signal.SIG_IGN),
        "spawn_grandchild": lambda: tell({"grandchild": subprocess.Popen(["sleep", "600"]).pid}),
        "exit": lambda: os._exit(order.get("code", 0)),
        "die": lambda: os.kill(os.getpid(), signal.SIGKILL),
    }
    deeds[order["do"]]()


def write_all(descriptor: int, data: bytes) -> None:
    while data:
        data = data[os.write(descriptor, data) :]


if __name__ == "__main__":
    main()
