"""A language server that answers questions about places in one way: `python navigating_server.py BEHAVIOUR`.

It knows the `def`s and the words of what it was sent. Behaviours: `knows`; `empty` (offers everything, finds nothing);
`lacks` (offers nothing but diagnostics); `refuses` (an error for each question); `mute` (never answers one); `dies` (at
each question); `hostile` (sequences, hidden characters, places of all kinds and very many of them; `elsewhere.txt` in
its folder lists the URIs that it names). Beside this it finds nothing wrong with anything.
"""

import re
import sys
from pathlib import Path

from scripted_server import read, reply, utf_16, write

HIDDEN = "\x1b[31mred\x1b[0m \u202ereversed\u202c \U000e0041tagged\U000e007f\x07"
PROVIDERS = ("hover", "definition", "references", "documentSymbol", "signatureHelp", "workspaceSymbol")
QUESTIONS = {
    "textDocument/hover",
    "textDocument/definition",
    "textDocument/references",
    "textDocument/documentSymbol",
    "textDocument/signatureHelp",
    "workspace/symbol",
}
LINE_ENDS = re.compile(r"\r\n|\n|\r")


def main() -> None:
    behaviour = sys.argv[1]
    texts: dict[str, str] = {}
    while (message := read()) is not None:
        method, params = message.get("method") or "", message.get("params") or {}
        if method in QUESTIONS:
            question(behaviour, message, texts)
        elif method.startswith("textDocument/did"):
            take(method, params, texts)
        elif method == "initialize":
            reply(message, {"capabilities": capabilities(behaviour), "serverInfo": {"name": "n", "version": "1.2.3"}})
        elif method == "textDocument/diagnostic":
            reply(message, {"kind": "full", "items": []})
        elif method == "shutdown":
            reply(message, None)
        elif method == "exit":
            sys.exit(0)


def take(method: str, params: dict, texts: dict[str, str]) -> None:
    uri = params["textDocument"]["uri"]
    if method.endswith("didClose"):
        del texts[uri]
    elif not method.endswith("didSave"):
        texts[uri] = (params.get("contentChanges") or [params["textDocument"]])[-1]["text"]


def capabilities(behaviour: str) -> dict:
    offered = {} if behaviour == "lacks" else {f"{name}Provider": True for name in PROVIDERS}
    pull = {"interFileDependencies": False, "workspaceDiagnostics": False}
    return {"textDocumentSync": 1, "diagnosticProvider": pull, **offered}


def question(behaviour: str, message: dict, texts: dict[str, str]) -> None:
    if behaviour == "dies":
        sys.exit(5)
    if behaviour == "mute":
        return
    if behaviour == "refuses":
        write({"id": message["id"], "error": {"code": -32603, "message": f"no idea{HIDDEN}"}})
        return
    method, params = message["method"], message["params"]
    uri = params.get("textDocument", {}).get("uri", "")
    answers = hostile if behaviour == "hostile" else knows
    result = None if behaviour == "empty" else answers(method, uri, texts, params)
    reply(message, result)


def knows(method: str, uri: str, texts: dict[str, str], params: dict) -> object:
    if method == "workspace/symbol":
        return [one for other in texts for one in symbols(other, texts) if params["query"] in one["name"]]
    if method.endswith("documentSymbol"):
        return symbols(uri, texts)
    word = word_at(texts[uri], params["position"])
    if method.endswith("hover"):
        return {"contents": {"kind": "markdown", "value": f"the word {word}"}} if word else None
    if method.endswith("signatureHelp"):
        return {"signatures": [{"label": f"{word}(a, b)", "parameters": [{"label": "a"}, {"label": "b"}]}]}
    if method.endswith("definition"):
        return places(uri, texts, rf"(?<=def ){re.escape(word)}\b")
    return [one for other in texts for one in places(other, texts, rf"\b{re.escape(word)}\b")]


def hostile(method: str, uri: str, texts: dict[str, str], params: dict) -> object:
    if method.endswith("hover"):
        return {"contents": HIDDEN + "\n    indented\n" + "x" * 100_000}
    if method.endswith("signatureHelp"):
        parameters = [{"label": HIDDEN + "p" * 5_000, "documentation": HIDDEN}] * 500
        return {
            "signatures": [{"label": HIDDEN + "s" * 5_000, "documentation": HIDDEN * 1_000, "parameters": parameters}]
        }
    own = uri or next(iter(texts))
    places = [{"uri": own, "range": a_range(line, 0, 1)} for line in range(-1, 60)]
    listed = Path("elsewhere.txt")
    named = listed.read_text(encoding="utf-8").split("\n") if listed.exists() else []
    places += [{"uri": one, "range": a_range(0, 0, 5)} for one in named]
    places += [{"uri": one, "range": a_range(2**40, 2**40, 2**41)} for one in named]
    if method.endswith(("definition", "references")):
        return places * 20
    return [{"name": HIDDEN + "n" * 5_000, "kind": 99, "detail": HIDDEN, "location": one} for one in places] * 20


def symbols(uri: str, texts: dict[str, str]) -> list[dict]:
    return [
        {"name": name, "kind": 12, "location": one}
        for one in places(uri, texts, r"(?<=def )\w+")
        if (name := word_at(texts[uri], one["range"]["start"]))
    ]


def places(uri: str, texts: dict[str, str], pattern: str) -> list[dict]:
    return [
        {"uri": uri, "range": a_range(number, utf_16(line[: found.start()]), utf_16(line[: found.end()]))}
        for number, line in enumerate(LINE_ENDS.split(texts[uri]))
        for found in re.finditer(pattern, line)
    ]


def word_at(text: str, position: dict) -> str:
    line = LINE_ENDS.split(text)[position["line"]]
    for found in re.finditer(r"\w+", line):
        if utf_16(line[: found.start()]) <= position["character"] <= utf_16(line[: found.end()]):
            return found.group()
    return ""


def a_range(line: int, start: int, end: int) -> dict:
    return {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}


if __name__ == "__main__":
    main()
