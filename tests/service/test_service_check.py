"""The service with scripted servers: what each of their ways to fail becomes, and that none of them is `clean`."""

import asyncio
from pathlib import Path
from typing import Any

import pytest

from jupyter_lsp_agent.core.ids import ServerId
from jupyter_lsp_agent.diagnostics.report import Report
from jupyter_lsp_agent.service.requests import CheckRequest
from tests.support.services import opened_service, scripted_chains, scripted_settings, write_notebook

SHORT = {"startup_timeout_s": 1.0, "initialize_timeout_s": 1.0}


async def check(path: Path, settings: dict[str, Any], **request: Any) -> Report:
    async with opened_service(settings, path.parent) as service:
        return await service.check(CheckRequest(path=path, **{"timeout_seconds": 5.0, **request}))


def names_in(folder: Path) -> list[str]:
    return sorted(entry.name for entry in folder.iterdir())


def places(report: Report) -> list[tuple[int, int, int]]:
    """Cell, line and column (0-based) of all that is shown."""
    return [
        (cell.cell_index, d.range.start.line, d.range.start.column) for cell in report.cells for d in cell.diagnostics
    ]


@pytest.mark.parametrize("behaviour", ["good", "push"])
async def test_findings_come_back_into_their_cells(tmp_path: Path, behaviour: str) -> None:
    path = write_notebook(tmp_path / "n.ipynb", "x = 1", "%time\n'😀 BAD'", "y = 2\n# BAD")
    report = await check(path, scripted_settings([behaviour]))
    assert places(report) == [(1, 1, 3), (2, 1, 2)]
    assert report.verdict == "errors"
    assert (report.servers[0].version, report.fallback_used) == ("1.2.3", False)


@pytest.mark.parametrize("behaviour", ["good", "push"])
async def test_an_answer_without_findings_is_clean(tmp_path: Path, behaviour: str) -> None:
    report = await check(write_notebook(tmp_path / "n.ipynb", "x = 1"), scripted_settings([behaviour]))
    assert report.verdict == "clean"


@pytest.mark.parametrize(
    ("behaviour", "reason"),
    [
        ("missing", "not_installed"),
        ("die_at_start", "broken"),
        ("hang", "broken"),
        ("die_at_open", "broken"),
        ("refuse", "broken"),
        ("garbled", "broken"),
        ("garbage", "broken"),
        ("silent", "starting"),
        ("mute", "starting"),
    ],
)
async def test_no_way_to_fail_is_clean(tmp_path: Path, behaviour: str, reason: str) -> None:
    path = write_notebook(tmp_path / "n.ipynb", "x = 1")
    report = await check(path, scripted_settings([behaviour], **SHORT), timeout_seconds=0.5)
    assert (report.verdict, report.reason) == ("no_verdict", reason)
    assert report.counts is None
    assert not report.cells
    assert "`" in (report.detail or ""), "the detail names a command or a setting"
    assert report.servers[0].reason


async def test_a_server_that_tells_why_it_dies_is_quoted(tmp_path: Path) -> None:
    path = write_notebook(tmp_path / "n.ipynb", "x = 1")
    report = await check(path, scripted_settings(["die_at_start"]))
    assert "no licence found" in (report.detail or "")


@pytest.mark.parametrize("behaviour", ["missing", "die_at_start", "hang", "die_at_open"])
async def test_the_next_of_the_chain_speaks_for_one_that_cannot_be_had(tmp_path: Path, behaviour: str) -> None:
    path = write_notebook(tmp_path / "n.ipynb", "BAD = 1")
    report = await check(path, scripted_settings([behaviour, "good"], **SHORT))
    assert places(report) == [(0, 0, 0)]
    assert report.fallback_used
    assert [(server.id, bool(server.reason), server.fallback) for server in report.servers] == [
        ("ty", True, False),
        ("basedpyright", False, True),
    ]


async def test_a_late_verdict_starts_no_other_server(tmp_path: Path) -> None:
    path = write_notebook(tmp_path / "n.ipynb", "BAD = 1")
    async with opened_service(scripted_settings(["silent", "good"]), tmp_path) as service:
        report = await service.check(CheckRequest(path=path, timeout_seconds=0.3))
        running = (await service.status())["running"]
    assert report.verdict == "no_verdict"
    assert [server["id"] for server in running] == ["ty"]


async def test_one_named_server_has_no_fallback(tmp_path: Path) -> None:
    path = write_notebook(tmp_path / "n.ipynb", "BAD = 1")
    report = await check(path, scripted_settings(["missing", "good"]), server=ServerId("ty"))
    assert (report.verdict, report.reason) == ("no_verdict", "not_installed")


async def test_several_chains_are_one_verdict(tmp_path: Path) -> None:
    path = write_notebook(tmp_path / "n.ipynb", "BAD = 1")
    report = await check(path, scripted_chains([["good"], ["missing", "push"]]))
    assert [server.id for server in report.servers if not server.reason] == ["ty", "pyright"]
    assert places(report) == [(0, 0, 0)], "what both say word for word is said once"


async def test_a_chain_that_fails_beside_findings_is_told(tmp_path: Path) -> None:
    path = write_notebook(tmp_path / "n.ipynb", "BAD = 1")
    report = await check(path, scripted_chains([["good"], ["missing"]]))
    assert report.verdict == "errors"
    assert [(server.id, bool(server.reason)) for server in report.servers] == [("ty", False), ("basedpyright", True)]


async def test_a_chain_that_fails_is_never_taken_for_clean(tmp_path: Path) -> None:
    path = write_notebook(tmp_path / "n.ipynb", "x = 1")
    report = await check(path, scripted_chains([["good"], ["missing"]]))
    assert (report.verdict, report.reason) == ("no_verdict", "not_installed")


async def test_cells_that_a_server_will_not_look_at_are_never_clean(tmp_path: Path) -> None:
    path = write_notebook(tmp_path / "n.ipynb", "x = 1", "DEAD = stop()", "# c\n\ny = 2", "# nothing", "BAD")
    report = await check(path, scripted_settings(["blind"]))
    assert (report.verdict, report.reason) == ("no_verdict", "broken")
    assert "Cell 2" in (report.detail or "")
    assert [lines.cell.cell_index for lines in report.unchecked] == [2, 4]


async def test_our_own_finding_is_an_error_without_any_server(tmp_path: Path) -> None:
    path = write_notebook(tmp_path / "n.ipynb", "x = = 1")
    report = await check(path, scripted_settings(["missing"]))
    assert report.verdict == "errors"
    assert report.errors[0].source == "jupyter-lsp-agent"


async def test_proposed_content_is_checked_and_nothing_is_written(tmp_path: Path) -> None:
    path = write_notebook(tmp_path / "n.ipynb", "x = 1")
    stored = path.read_bytes()
    async with opened_service(scripted_settings(["good"]), tmp_path) as service:
        proposed = await service.check(
            CheckRequest(path=path, content_bytes=stored.replace(b"x = 1", b"BAD = 1"), timeout_seconds=5.0)
        )
        plain = await service.check(CheckRequest(path=path, timeout_seconds=5.0))
    assert (proposed.verdict, proposed.content_source) == ("errors", "request")
    assert (plain.verdict, plain.content_source) == ("clean", "file")
    assert path.read_bytes() == stored
    assert names_in(tmp_path) == ["n.ipynb"]


async def test_a_check_that_took_too_long_is_had_by_the_next_call(tmp_path: Path) -> None:
    """The work goes on: the server is asked once, and the second call has its answer."""
    path = write_notebook(tmp_path / "n.ipynb", "BAD = 1")
    settings = scripted_settings(["slow"], wait_ms=300, first_wait_ms=1500)
    async with opened_service(settings, tmp_path) as service:
        first = await service.check(CheckRequest(path=path))
        (tmp_path / "slow.go").touch()
        second = await service.check(CheckRequest(path=path))
    assert (first.verdict, first.reason) == ("no_verdict", "starting")
    assert first.detail.endswith("or raise `first_wait_ms` (`--timeout` on the command line)")
    assert places(second) == [(0, 0, 0)]


async def test_equal_checks_at_once_start_one_server(tmp_path: Path) -> None:
    path = write_notebook(tmp_path / "n.ipynb", "BAD = 1")
    async with opened_service(scripted_settings(["good"]), tmp_path) as service:
        reports = await asyncio.gather(
            *(service.check(CheckRequest(path=path, timeout_seconds=5.0)) for _ in range(20))
        )
        running = (await service.status())["running"]
    assert all(places(report) == [(0, 0, 0)] for report in reports)
    assert len(running) == 1


async def test_a_plain_file_is_checked_too(tmp_path: Path) -> None:
    path = tmp_path / "helpers.py"
    path.write_text("x = 1\ny = 'BAD'\n")
    report = await check(path, scripted_settings(["good"]))
    assert report.kind == "text"
    assert [(d.range.start.line, d.range.start.column) for d in report.diagnostics] == [(1, 5)]


async def test_a_notebook_without_code_is_clean_and_asks_nobody(tmp_path: Path) -> None:
    path = tmp_path / "n.ipynb"
    cell = '{"cell_type": "markdown", "metadata": {}, "source": "hi"}'
    path.write_text(f'{{"cells": [{cell}], "metadata": {{}}, "nbformat": 4, "nbformat_minor": 4}}')
    report = await check(path, scripted_settings(["missing"]))
    assert (report.verdict, report.servers) == ("clean", ())


async def test_a_notebook_of_nothing_but_unseen_cells_is_not_clean(tmp_path: Path) -> None:
    path = write_notebook(tmp_path / "n.ipynb", "%%frobnicate\nwhatever")
    report = await check(path, scripted_settings(["good"]))
    assert report.verdict == "no_verdict"
    assert "python_cell_magics" in (report.detail or "")
    assert "; cell 0: cell magic %%frobnicate is not known" in (report.detail or "")


async def test_a_missing_third_party_module_is_no_error_where_the_kernel_lives_elsewhere(tmp_path: Path) -> None:
    path = write_notebook(
        tmp_path / "n.ipynb",
        "import numpy\nimport os.pth",
        kernelspec={"name": "cluster-env", "language": "python", "display_name": "x"},
    )
    report = await check(path, {})
    assert [(d.range.start.line, "os.pth" in d.message) for d in report.errors] == [(1, True)]
    assert [(lines.first_line, "cluster-env" in lines.reason) for lines in report.unchecked] == [(0, True)]


async def test_a_kernel_that_is_just_python_goes_on_along_the_list(tmp_path: Path) -> None:
    path = write_notebook(tmp_path / "n.ipynb", "import surely_missing_module")
    report = await check(path, {})
    assert ["surely_missing_module" in d.message for d in report.errors] == [True]


async def test_what_the_settings_leave_out_is_not_checked(tmp_path: Path) -> None:
    path = write_notebook(tmp_path / "n.ipynb", "BAD = 1")
    report = await check(path, scripted_settings(["good"], exclude=["n.*"]))
    assert (report.verdict, report.reason) == ("no_verdict", "disabled")


async def test_a_workspace_may_narrow_and_not_choose_a_program(tmp_path: Path) -> None:
    mark = tmp_path / "was-run"
    (tmp_path / "evil").write_text(f"#!/bin/sh\ntouch {mark}\n")
    (tmp_path / "evil").chmod(0o755)
    (tmp_path / "pyproject.toml").write_text(
        "[tool.jupyter-lsp-agent]\nignore = ['bad-word']\n"
        f"[tool.jupyter-lsp-agent.server_settings.ty]\ncommand = ['{tmp_path}/evil']\n"
    )
    report = await check(write_notebook(tmp_path / "n.ipynb", "BAD = 1"), scripted_settings(["good"]))
    assert report.verdict == "clean"
    assert not mark.exists()
