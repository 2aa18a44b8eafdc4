"""Jupyter servers that hang, fail, or answer what nobody can use: the other ways lead to a verdict, and soon."""

import asyncio
import json
import os
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from jupyter_lsp_agent.core.diagnostic import DiagnosticSeverity
from jupyter_lsp_agent.diagnostics.report import ContentSource, Verdict
from jupyter_lsp_agent.frontends.magic.checks import KernelChecks, KernelQuestion
from jupyter_lsp_agent.frontends.magic.execution_log import AskingCell
from jupyter_lsp_agent.frontends.magic.surroundings import KernelSurroundings
from jupyter_lsp_agent.service.kernel_view import Execution
from jupyter_lsp_agent.service.settings import Settings
from tests.support.kernels import notebook

SESSIONS = [{"type": "notebook", "path": "a.ipynb", "kernel": {"id": "me", "name": "python3"}}]
CELLS = {
    "content_hash": "sha256:other",
    "cells": [{"cell_id": "c0", "cell_index": 0, "cell_type": "code", "source": "x = 1", "execution_count": None}],
}
Answer = Callable[[str], Awaitable[tuple[int, bytes] | None]]


@asynccontextmanager
async def odd_server(folder: Path, answer: Answer, port_name: str = "1") -> AsyncIterator[list[str]]:
    """A server of this user; `answer` gives status and body by route, or closes the connection. Yields what it got."""
    heard: list[str] = []

    async def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode()
            heard.append(head)
            said = await answer(head.split(" ")[1].partition("?")[0])
            if said is not None:
                extra = b"Location: http://127.0.0.1:1/\r\n" if said[0] == 302 else b""
                length = b"Content-Length: %d\r\n" % len(said[1])
                writer.write(b"HTTP/1.1 %d X\r\nConnection: close\r\n" % said[0] + extra + length + b"\r\n" + said[1])
                await writer.drain()
        finally:
            writer.close()

    async with await asyncio.start_server(serve, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        content = {"url": f"http://127.0.0.1:{port}/", "token": "t", "root_dir": str(folder), "pid": os.getpid()}
        file = folder / "runtime" / f"jpserver-{port_name}.json"
        file.parent.mkdir(exist_ok=True)
        file.write_text(json.dumps(content))
        yield heard


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path / "runtime"))
    (tmp_path / "a.ipynb").write_text(notebook("price = 1", "price.foo"))
    return tmp_path


def question(folder: Path) -> KernelQuestion:
    around = KernelSurroundings(folder, is_kernel=True, kernel_id="me", session_name=str(folder / "a.ipynb"))
    ran = (Execution("price = 1", 1, "c0"), Execution("%lsp_check", 2))
    return KernelQuestion(
        around=around, executed=ran, names=frozenset({"price"}), asking=AskingCell(None, ran[-1].source)
    )


def at(route: str, status: int, body: bytes) -> Answer:
    """A server that is right up to `route`."""
    right = {
        "/api/sessions": json.dumps(SESSIONS).encode(),
        "/jupyter-lsp-agent/openapi.yaml": b"openapi: 3",
        "/jupyter-lsp-agent/cells": json.dumps(CELLS).encode(),
    }

    async def answer(asked: str) -> tuple[int, bytes] | None:
        return (status, body) if asked == route else (200, right[asked]) if asked in right else (404, b"")

    return answer


ODD = [
    (500, b"boom"),
    (403, b'{"message": "no"}'),
    (400, b'{"message": "the request has a field that is not known: remember"}'),
    (302, b""),
    (200, b"<html>"),
    (200, b"null"),
    (200, b"[" * 100_000),
    (200, b'[1, null, {"type": "notebook", "path": 5, "kernel": null}]'),
    (200, b'{"schema_version": 1, "cells": [5], "content_hash": "x"}'),
    (200, b'{"schema_version": 99}'),
]


@pytest.mark.parametrize("route", ["/api/sessions", "/jupyter-lsp-agent/cells", "/jupyter-lsp-agent/check"])
async def test_an_answer_of_no_use(folder: Path, route: str) -> None:
    """Of every kind, one after the other; the kernel's own servers are asked instead, about the same error."""
    checks = await KernelChecks.open(Settings())
    try:
        for number, (status, body) in enumerate(ODD):
            async with odd_server(folder, at(route, status, body), str(number)) as heard:
                result = await checks.check(question(folder))
            (folder / "runtime" / f"jpserver-{number}.json").unlink()
            assert heard, (status, body[:20])
            assert "this kernel's own language servers" in result.content
            if route == "/jupyter-lsp-agent/check":  # what it lists is what it has: a shared document
                assert (result.verdict, result.report.content_source) == (Verdict.CLEAN, ContentSource.LIVE)
            else:
                assert [found.message for found in result.errors] == [
                    "Object of type `Literal[1]` has no attribute `foo`"
                ], (status, body[:20])
    finally:
        await checks.aclose()


async def test_servers_that_hang_are_waited_for_at_once_and_not_again(folder: Path) -> None:
    """Four of them would use up the kernel's wait, in each check anew."""
    let_go = asyncio.Event()

    async def hang(_: str) -> None:
        await let_go.wait()

    checks = await KernelChecks.open(Settings())
    try:
        async with (
            odd_server(folder, hang, "1") as one,
            odd_server(folder, hang, "2") as two,
            odd_server(folder, hang, "3") as three,
        ):
            first = await checks.check(question(folder))
            again = await checks.check(question(folder))
            let_go.set()
        assert [len(heard) for heard in (one, two, three)] == [1, 1, 1]
        assert first.verdict == again.verdict == Verdict.ERRORS
        assert "JPY_SESSION_NAME" in again.content
    finally:
        await checks.aclose()


async def test_a_server_that_is_restarted_is_asked_again(folder: Path) -> None:
    answers: list[tuple[int, bytes] | None] = [None, (200, json.dumps(SESSIONS).encode())]

    async def answer(asked: str) -> tuple[int, bytes] | None:
        return answers.pop(0) if asked == "/api/sessions" else (404, b"")

    checks = await KernelChecks.open(Settings())
    try:
        async with odd_server(folder, answer):
            first = await checks.check(question(folder))
            again = await checks.check(question(folder))
        assert "JPY_SESSION_NAME" in first.content
        assert "named by its Jupyter server" in again.content
    finally:
        await checks.aclose()


async def test_a_hostile_report_is_shown_harmless(folder: Path) -> None:
    evil = "\x1b[31m<script>alert(1)</script>\u202e`|x`\r\n"
    finding = {
        "status": "present", "severity": "error", "line": 1, "column": 1, "end_line": 1, "end_column": 2,
        "range": {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}, "code": evil,
        "code_description": "javascript:alert(1)", "source": evil, "message": evil, "source_line": evil, "tags": [],
        "related_information": [], "caused_by": None, "fingerprint": "b",
    }  # fmt: skip
    cell = {"cell_id": evil, "cell_index": 0, "execution_count": 1, "source_hash": "x", "diagnostics": [finding]}
    server = {"id": evil, "version": evil, "language": "python", "fallback": False, "reason": None}
    names = ("introduced", "outstanding", "preexisting", "present", "fixed", "carried", "omitted")
    report = {
        "schema_version": 1, "path": evil, "kind": "notebook", "language": "python", "verdict": "errors",
        "reason": None, "detail": evil, "content_hash": "x", "content_source": "live", "baseline": "none",
        "servers": [{**server, "freshness": "pull", "elapsed_ms": 1.0}], "fallback_used": False,
        "environment": {"python": sys.executable, "origin": evil}, "cells": [{**cell, "omitted": 0}], "fixed": [],
        "counts": dict.fromkeys(names, 0) | {"present": 1}, "other_files": {},
        "unchecked": [{"cell_id": evil, "cell_index": 0, "lines": [1, 1], "reason": evil}], "unmapped": [],
        "hint": evil, "checked_at": "2026-11-30T12:00:00Z", "elapsed_ms": 1.0,
    }  # fmt: skip
    checks = await KernelChecks.open(Settings())
    try:
        async with odd_server(folder, at("/jupyter-lsp-agent/check", 200, json.dumps(report).encode())):
            result = await checks.check(question(folder))
    finally:
        await checks.aclose()
    assert "the language servers of its Jupyter server" in result.content
    assert next(iter(result)).severity is DiagnosticSeverity.ERROR
    for shown in (result.to_text(), result.to_html(), result.to_markdown()):
        assert "alert(1)" in shown
        assert not any(sign in shown for sign in ("\x1b", "\u202e", "\r"))
    assert "<script" not in result.to_html()
    outside_fences = re.sub(r"(?ms)^ *(`{3,}).*?^ *\1$", "", result.to_markdown())
    assert re.search(r"(?<!\\)<script", outside_fences) is None
    assert "javascript:" not in result.to_html()
    assert "](javascript:" not in result.to_markdown()
