"""The client against real servers, each behaviour class at least once: error found, mended, gone, there again, stopped.

A server that is not installed is counted: on a CI machine (`CI=true`) it fails, elsewhere it is skipped and named.
"""

from pathlib import Path
from typing import Any

import psutil
import pytest

from jupyter_lsp_agent.core.behaviour import Freshness
from jupyter_lsp_agent.core.clock import SystemClock, time_limit
from jupyter_lsp_agent.core.diagnostic import DiagnosticSeverity
from jupyter_lsp_agent.core.launch import ServerLaunch, TextDocument
from jupyter_lsp_agent.core.uris import uri_from_path
from jupyter_lsp_agent.lsp.client import ClientState, DiagnosticReport, FileChange, FileChangeKind, LanguageClient
from tests.e2e.real_servers import N_EXPECTED, REAL_SERVERS, SERVERS, RealServer
from tests.support.real_servers import IS_CI, do_without

VERDICT_SECONDS = 60.0

pytestmark = [pytest.mark.real_server, pytest.mark.timeout(180)]


def with_server(*server_ids: str) -> Any:
    """Parameters: the servers of these ids, all without any."""
    servers = [server for server in REAL_SERVERS if not server_ids or server.server_id in server_ids]
    return pytest.mark.parametrize("server", servers, ids=lambda server: server.server_id)


def require(server: RealServer) -> None:
    if server.missing is not None:
        do_without(server.server_id, f"{server.missing} is not installed")


def prepare(server: RealServer, folder: Path) -> Path:
    root = folder.resolve()
    for name, text in server.files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    return root


async def diagnose(client: LanguageClient, server: RealServer, root: Path, text: str) -> DiagnosticReport:
    path = root / server.file_name
    if server.file_name in server.files:
        path.write_text(text)  # one that checks what is on disk finds the same there
    async with time_limit(SystemClock(), VERDICT_SECONDS):
        return await client.diagnose(TextDocument(uri_from_path(path), server.language_id, text))


def check_bad(server: RealServer, report: DiagnosticReport) -> None:
    found = [item for item in report.diagnostics if server.word in item.message.lower() or server.word in item.message]
    assert found, f"{server.word!r} is in none of {report.diagnostics}"
    assert server.bad_line in {item.range.start.line for item in found}
    assert report.freshness in server.freshness
    assert report.is_ready


def check_good(server: RealServer, report: DiagnosticReport) -> None:
    grave = [item for item in report.diagnostics if item.severity <= DiagnosticSeverity.WARNING]
    assert not grave
    assert report.freshness in server.freshness


async def run_story(server: RealServer, launch: ServerLaunch, root: Path) -> None:
    client = LanguageClient(launch, clock=SystemClock())
    await client.start()
    try:
        assert client.pid is not None
        process = psutil.Process(client.pid)
        for _ in range(2):
            check_bad(server, await diagnose(client, server, root, server.bad))
            check_good(server, await diagnose(client, server, root, server.good))
        family = [process, *process.children(recursive=True)]
    finally:
        await client.aclose()
    assert client.state is ClientState.STOPPED
    assert [member.pid for member in family if member.is_running()] == []


@with_server()
async def test_found_mended_gone_stopped(server: RealServer, tmp_path: Path) -> None:
    require(server)
    root = prepare(server, tmp_path)
    await run_story(server, server.launch(root), root)


@with_server("ty", "basedpyright")
async def test_found_mended_gone_stopped_by_push(server: RealServer, tmp_path: Path) -> None:
    """The same servers, not offered pull: they push, with versions."""
    require(server)
    root = prepare(server, tmp_path)
    pushing = server.__class__(**{**vars(server), "freshness": frozenset({Freshness.VERSIONED_PUSH})})
    await run_story(pushing, server.launch(root, advertise_pull=False), root)


@with_server()
async def test_what_stays_as_it_is_has_a_verdict_each_time(server: RealServer, tmp_path: Path) -> None:
    """Some push nothing where a text without findings is followed by another such one."""
    require(server)
    root = prepare(server, tmp_path)
    client = LanguageClient(server.launch(root), clock=SystemClock())
    await client.start()
    try:
        for text, check in ((server.good, check_good), (server.bad, check_bad)):
            for n_more in (0, 1, 2, 2):
                check(server, await diagnose(client, server, root, text.rstrip() + n_more * " " + "\n"))
            other = uri_from_path(root / "other.txt")
            await client.did_change_watched_files([FileChange(other, FileChangeKind.CREATED)])
            check(server, await diagnose(client, server, root, text.rstrip() + "  \n"))
    finally:
        await client.aclose()


@with_server("ty", "basedpyright", "ruff", "zuban", "pyrefly")
async def test_positions_are_code_points_whatever_the_server_counts(server: RealServer, tmp_path: Path) -> None:
    """An astral character before the finding is one column, not two (UTF-16) and not four (UTF-8)."""
    require(server)
    text = "x = '\U0001f600é', undefined_name\n"
    root = prepare(server, tmp_path)
    client = LanguageClient(server.launch(root), clock=SystemClock())
    await client.start()
    try:
        report = await diagnose(client, server, root, text)
    finally:
        await client.aclose()
    places = {
        (item.range.start.column, item.range.end.column)
        for item in report.diagnostics
        if "undefined_name" in item.message
    }
    assert places == {(text.index("undefined_name"), text.index("\n"))}


@pytest.mark.parametrize("advertise_pull", [True, False], ids=["pull", "push"])
@with_server("ty", "basedpyright")
async def test_a_module_that_appears_on_disk_is_seen_by_its_importer(
    server: RealServer, tmp_path: Path, *, advertise_pull: bool
) -> None:
    require(server)
    root = prepare(server, tmp_path)
    text = "from helpers import answer\n\nprint(answer)\n"
    client = LanguageClient(server.launch(root, advertise_pull=advertise_pull), clock=SystemClock())
    await client.start()
    try:
        before = await diagnose(client, server, root, text)
        assert ["helpers" in item.message for item in before.diagnostics] == [True]
        helpers = root / "helpers.py"
        helpers.write_text("answer = 42\n")
        await client.did_change_watched_files([FileChange(uri_from_path(helpers), FileChangeKind.CREATED)])
        after = await diagnose(client, server, root, text)
        assert after.diagnostics == ()
    finally:
        await client.aclose()


def test_every_server_that_is_expected_is_here() -> None:
    """11 of 11, or the machine is told what is missing."""
    found = [server.server_id for server in REAL_SERVERS if server.missing is None]
    missing = [server.server_id for server in REAL_SERVERS if server.missing is not None]
    assert len(REAL_SERVERS) == N_EXPECTED
    if missing and not IS_CI:
        pytest.skip(f"{len(found)} of {N_EXPECTED} servers are in {SERVERS}; missing: {', '.join(missing)}")
    assert len(found) == N_EXPECTED
