"""A language server that behaves in one way from start to end: `python scripted_server.py BEHAVIOUR`.

For tests of the layers above the client, which need servers that live by themselves. It finds an error wherever a
document says `BAD`. Behaviours: `good`, `push`, `silent` (never answers a pull), `mute` (offers no pull, never pushes),
`hang` (never answers `initialize`), `die_at_start`, `die_at_open`, `garbled` (one of its findings
cannot be read), `refuse` (answers pulls with an error), `garbage`
(breaks its frames), `sleepy` (never answers a pull on a text with `SLEEP`), `slow` (answers a pull only after
`slow.go` exists in its folder), `homeless` (an error without a place), `partial` (an answer of an unknown kind),
`junk_push` (pushes items that are no diagnostics), `bad_uri` (URIs that cannot be taken apart), `loud` (terminal
sequences and line ends in all that it says of itself), `blind` (calls all below a line with `DEAD` unreachable, and
says nothing of it). It imports nothing of the package.
"""

import json
import re
import sys
import threading
from pathlib import Path

LOUD = "nine\x1b[31m\n::error::x"
ODD = [
    {
        "location": {
            "uri": "http://[bad",
            "range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}},
        },
        "message": "see there",
    }
]
ODD_ANSWERS = {
    "homeless": {"kind": "full", "items": [{"message": "real error, no range", "severity": 1}]},
    "partial": {"kind": "partial", "items": []},
}


def main() -> None:
    behaviour = sys.argv[1]
    if behaviour == "die_at_start":
        sys.stderr.write("no licence found\n")
        sys.exit(3)
    texts: dict[str, str] = {}
    while (message := read()) is not None:
        handle(behaviour, message, texts)


def read() -> dict | None:
    length = 0
    while line := sys.stdin.buffer.readline().strip():
        name, _, value = line.partition(b":")
        if name.lower() == b"content-length":
            length = int(value)
    return json.loads(sys.stdin.buffer.read(length)) if length else None


def write(message: dict) -> None:
    body = json.dumps({"jsonrpc": "2.0", **message}).encode()
    sys.stdout.buffer.write(b"Content-Length: %d\r\n\r\n" % len(body) + body)
    sys.stdout.buffer.flush()


def handle(behaviour: str, message: dict, texts: dict[str, str]) -> None:
    method, params = message.get("method"), message.get("params") or {}
    if method == "initialize" and behaviour != "hang":
        pulls = behaviour not in {"push", "mute", "junk_push"}
        provider = {"interFileDependencies": False, "workspaceDiagnostics": False}
        capabilities = {"textDocumentSync": 1, **({"diagnosticProvider": provider} if pulls else {})}
        reply(
            message,
            {
                "capabilities": capabilities,
                "serverInfo": {"name": behaviour, "version": LOUD if behaviour.startswith("loud") else "1.2.3"},
            },
        )
    elif method in {"textDocument/didOpen", "textDocument/didChange"}:
        take(behaviour, method, params, texts)
    elif method == "textDocument/diagnostic":
        answer_pull(behaviour, message, texts)
    elif method == "shutdown":
        reply(message, None)
    elif method == "exit":
        sys.exit(0)


def take(behaviour: str, method: str, params: dict, texts: dict[str, str]) -> None:
    if behaviour == "die_at_open":
        sys.stderr.write("out of ideas\n")
        sys.exit(4)
    document = params["textDocument"]
    is_open = method == "textDocument/didOpen"
    texts[document["uri"]] = document["text"] if is_open else params["contentChanges"][-1]["text"]
    if behaviour == "junk_push":
        junk = {"uri": document["uri"], "version": document["version"], "diagnostics": [3, None, {"message": "only"}]}
        write({"method": "textDocument/publishDiagnostics", "params": junk})
    if behaviour == "push":
        found = findings(texts[document["uri"]])
        published = {"uri": document["uri"], "version": document["version"], "diagnostics": found}
        write({"method": "textDocument/publishDiagnostics", "params": published})


def blind_findings(text: str) -> list[dict]:
    seen, _, unseen = text.partition("DEAD")
    if not unseen:
        return findings(text)
    start = {"line": seen.count("\n") + 1, "character": 0}
    end = {"line": text.count("\n"), "character": 0}
    return [
        *findings(seen),
        {"range": {"start": start, "end": end}, "message": "Code is unreachable", "severity": 4, "tags": [1]},
    ]


def answer_pull(behaviour: str, message: dict, texts: dict[str, str]) -> None:
    text = texts[message["params"]["textDocument"]["uri"]]
    if behaviour == "silent" or (behaviour == "sleepy" and "SLEEP" in text):
        return
    if behaviour in {"refuse", "loud_refusal"}:
        write(
            {
                "id": message["id"],
                "error": {"code": -32603, "message": LOUD if behaviour == "loud_refusal" else "no idea"},
            }
        )
    elif behaviour == "garbage":
        sys.stdout.buffer.write(b"Content-Length: 5\r\n\r\n{{{{{")
        sys.stdout.buffer.flush()
    else:
        if behaviour == "garbled":
            reply(message, {"kind": "full", "items": [{"range": "nowhere", "message": 3}, *findings("BAD")]})
        elif behaviour in ODD_ANSWERS:
            reply(message, ODD_ANSWERS[behaviour])
        elif behaviour == "bad_uri":
            write({"method": "textDocument/publishDiagnostics", "params": {"uri": "http://[bad", "diagnostics": []}})
            reply(message, {"kind": "full", "items": [{**one, "relatedInformation": ODD} for one in findings(text)]})
        elif behaviour == "slow":
            threading.Thread(target=answer_later, args=(message, text), daemon=True).start()
        else:
            found = blind_findings(text) if behaviour == "blind" else findings(text)
            reply(message, {"kind": "full", "items": found})


def answer_later(message: dict, text: str) -> None:
    gate = threading.Event()
    while not Path("slow.go").exists():
        gate.wait(0.02)
    reply(message, {"kind": "full", "items": findings(text)})


def findings(text: str) -> list[dict]:
    return [
        {
            "range": {
                "start": {"line": line, "character": utf_16(content[: found.start()])},
                "end": {"line": line, "character": utf_16(content[: found.end()])},
            },
            "severity": 1,
            "code": "bad-word",
            "source": "scripted",
            "message": "this is bad",
        }
        for line, content in enumerate(re.split(r"\r\n|\n|\r", text))
        for found in re.finditer("BAD", content)
    ]


def utf_16(text: str) -> int:
    return len(text.encode("utf-16-le")) // 2


def reply(message: dict, result: object) -> None:
    write({"id": message["id"], "result": result})


if __name__ == "__main__":
    main()
