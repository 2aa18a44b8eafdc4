"""Every server that the catalogue calls proven, as the catalogue starts it: a mistake found, mended, found, mended.

The run prints a table of them at its end, which `docs/SERVERS.md` keeps. A server that is not on this machine is
skipped, counted and named there; `.ci/run` has eight installed by our own `install`, `.ci/run --full` all, and there a
missing one is a failure.
"""

import asyncio
import re
from contextlib import AsyncExitStack
from pathlib import Path

import psutil
import pytest

from jupyter_lsp_agent.core.clock import SystemClock
from jupyter_lsp_agent.core.errors import ServerNotFoundError
from jupyter_lsp_agent.core.launch import TextDocument
from jupyter_lsp_agent.core.uris import uri_from_path
from jupyter_lsp_agent.lsp.client import DiagnosticReport, LanguageClient
from jupyter_lsp_agent.servers.commands import CommandSource, ResolvedCommand, read_command_search
from jupyter_lsp_agent.servers.spec import ServerSpec
from jupyter_lsp_agent.service.asking import tidy_version
from tests.support.processes import survivors
from tests.support.real_servers import REGISTRY, do_without, find_real, real_launch
from tests.support.server_cases import CASES
from tests.support.server_runs import HEAD, MISSING, RUNS, ServerRun


def test_what_is_called_proven_has_its_case():
    assert {spec.server_id for spec in REGISTRY if spec.proven} == set(CASES)


@pytest.mark.timeout(120)
@pytest.mark.real_server
@pytest.mark.parametrize("server_id", sorted(CASES))
async def test_a_mistake_is_found_mended_found_and_mended(tmp_path, server_id):
    case, spec = CASES[server_id], REGISTRY.get(server_id)
    root = tmp_path / "root"
    for name, text in case.files.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)
    root.mkdir(exist_ok=True)
    path = root / case.file_name
    language = REGISTRY.language_of(path)
    if language is None or not spec.takes(language):
        language = spec.languages[0]
    command = require(server_id, root)
    client = LanguageClient(real_launch(server_id, root, tmp_path / "data", trusted_roots=(root,)), clock=SystemClock())

    async def findings(text: str) -> DiagnosticReport:
        document = TextDocument(uri_from_path(path), spec.language_id(language, Path(case.file_name).suffix), text)
        return await client.diagnose(document)

    async with asyncio.timeout(100):
        await client.start()
        try:
            reports = [await findings(text) for text in (case.bad, case.good, case.bad, case.good)]
            # What stays as it was has a verdict too: some push nothing then.
            again = () if case.stays_silent else (case.good + "\n", case.good + "\n", case.good)
            kept = [await findings(text) for text in again] or reports
            processes = tree_of(client.pid)
        finally:
            await client.aclose()
    counts, left = [len(report.diagnostics) for report in reports], case.leftover
    alive = await asyncio.to_thread(survivors, processes)
    RUNS.append(
        ServerRun(
            server_id,
            tidy_version(client.server_version) or pinned_version(spec),
            "our `install`" if command.source is CommandSource.INSTALLED else "the system",
            case.file_name,
            tuple(counts),
            tuple(report.elapsed_seconds for report in reports),
            len(alive),
        )
    )
    assert counts[1] == counts[3] == len(kept[-1].diagnostics) == left
    assert counts[0] == counts[2] > left
    assert not alive


@pytest.mark.timeout(120)
@pytest.mark.real_server
@pytest.mark.parametrize("server_id", [one for one in sorted(CASES) if REGISTRY.get(one).private_folder])
async def test_one_that_would_share_a_process_outlives_the_first_one_that_was_started(tmp_path, server_id):
    case, spec = CASES[server_id], REGISTRY.get(server_id)
    for name, text in case.files.items():
        (tmp_path / name).write_text(text)
    require(server_id, tmp_path)
    launch = real_launch(server_id, tmp_path, tmp_path / "data", trusted_roots=(tmp_path,))
    first, second = (LanguageClient(launch, clock=SystemClock()) for _ in range(2))

    async def count(text: str) -> int:
        document = TextDocument(uri_from_path(tmp_path / case.file_name), spec.language_id(spec.languages[0]), text)
        return len((await second.diagnose(document)).diagnostics)

    async with asyncio.timeout(100), AsyncExitStack() as stack:
        for client in (first, second):
            await client.start()
            stack.push_async_callback(client.aclose)
        assert await count(case.bad) > case.leftover
        await first.aclose()
        assert await count(case.good) == case.leftover


def require(server_id: str, root: Path) -> ResolvedCommand:
    """Its command. Without it the test is skipped and the table names it; in CI, which installs it, it fails."""
    try:
        return find_real(server_id, read_command_search((root,)))
    except ServerNotFoundError as error:
        MISSING.append(server_id)
        do_without(server_id, error)


def pinned_version(spec: ServerSpec) -> str:
    """The version that its recipe names, for one that does not give its own."""
    packages = (*spec.install.pypi, *spec.install.npm)
    return re.split("==|@", packages[0])[-1] if packages else "?"


def tree_of(pid: int | None) -> list[psutil.Process]:
    """A server's process and all that it started."""
    assert pid is not None
    process = psutil.Process(pid)
    return [process, *process.children(recursive=True)]


def test_the_page_keeps_the_table_of_a_run_of_all():
    page = (Path(__file__).parents[2] / "docs/SERVERS.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| `([\w-]+)` \| \S* \| (?:our `install`|the system) \| .* \| yes \|$", page, re.MULTILINE)
    assert rows == sorted(CASES)
    assert f"{len(CASES)} servers ran, 0 were skipped." in page
    assert all(line in page for line in HEAD)
