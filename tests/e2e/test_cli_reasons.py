"""Every reason for which there is no verdict, as the command line prints it: exit code 2, and what mends it."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from jupyter_lsp_agent.diagnostics.report import NoVerdictReason
from tests.support.command_line import run_command, settings_in_environment
from tests.support.services import command_of, scripted_settings, write_notebook

SHORT = {"startup_timeout_s": 1.0, "initialize_timeout_s": 1.0}


def python_notebook(folder: Path) -> Path:
    return write_notebook(folder / "n.ipynb", "x = 1")


def logo_notebook(folder: Path) -> Path:
    return write_notebook(folder / "n.ipynb", "forward 100", kernelspec={"name": "logo", "language": "logo"})


def torn_notebook(folder: Path) -> Path:
    path = folder / "n.ipynb"
    path.write_text('{"cells": [\n<<<<<<< ours\n')
    return path


def endless_notebook(folder: Path) -> Path:
    return write_notebook(folder / "n.ipynb", *["1"] * 10_001)


def script_of_deno(folder: Path) -> Path:
    (folder / "deno.json").write_text("{}")
    path = folder / "a.ts"
    path.write_text("const x = 1;\n")
    return path


def script(folder: Path) -> Path:
    path = folder / "b.js"
    path.write_text("const x = 1;\n")
    return path


def one_server(language: str, server_id: str) -> dict[str, Any]:
    """The chain of a language is this catalogue entry, which a scripted server stands in for."""
    return {"servers": {language: [server_id]}, "server_settings": {server_id: {"command": command_of("good")}}}


CASES: list[tuple[NoVerdictReason, Callable[[Path], Path], dict[str, Any], list[str]]] = [
    (NoVerdictReason.STARTING, python_notebook, scripted_settings(["silent"]), ["--timeout", "0.5"]),
    (NoVerdictReason.NOT_INSTALLED, python_notebook, scripted_settings(["missing"]), []),
    (NoVerdictReason.BROKEN, python_notebook, scripted_settings(["hang"], **SHORT), []),
    (NoVerdictReason.BROKEN, python_notebook, scripted_settings(["die_at_open"]), []),
    (NoVerdictReason.DISABLED, python_notebook, {"enabled": False}, []),
    (NoVerdictReason.UNSUPPORTED_LANGUAGE, logo_notebook, {}, []),
    (NoVerdictReason.UNREADABLE, torn_notebook, {}, []),
    (NoVerdictReason.TOO_LARGE, endless_notebook, {}, []),
    (NoVerdictReason.OUTSIDE_WORKSPACE, script_of_deno, one_server("typescript", "vtsls"), []),
    (NoVerdictReason.UNTRUSTED, script, one_server("javascript", "eslint"), []),
]


@pytest.mark.parametrize(("reason", "make", "settings", "options"), CASES)
def test_a_missing_verdict_says_why_and_what_to_do(
    tmp_path: Path,
    reason: NoVerdictReason,
    make: Callable[[Path], Path],
    settings: dict[str, Any],
    options: list[str],
) -> None:
    path = make(tmp_path)
    done = run_command("check", path.name, *options, cwd=tmp_path, environ=settings_in_environment(settings))
    assert done.code == 2, done.errors
    assert done.output.startswith(f"{path.name}: no verdict ({reason.value}): "), done.output
    assert "`" in done.output or "split it" in done.output or "resolve it" in done.output
    assert "Traceback" not in done.errors


def test_a_late_verdict_of_a_server_that_has_spoken_before_is_a_timeout(tmp_path: Path) -> None:
    """The first notebook is judged; the second one's verdict never comes."""
    write_notebook(tmp_path / "a.ipynb", "x = 1")
    write_notebook(tmp_path / "b.ipynb", "SLEEP = 1")
    done = run_command(
        *("check", "a.ipynb", "b.ipynb", "--jobs", "1", "--timeout", "1"),
        cwd=tmp_path,
        environ=settings_in_environment(scripted_settings(["sleepy"])),
    )
    assert done.code == 2
    assert "b.ipynb: no verdict (timeout): " in done.output
    assert "or raise `--timeout`" in done.output


def test_no_free_place_is_busy(tmp_path: Path) -> None:
    """Two roots, one place: while the first server is silent, the second check has nowhere to go."""
    for name in "ab":
        (tmp_path / name).mkdir()
        (tmp_path / name / "pyproject.toml").touch()
        write_notebook(tmp_path / name / "n.ipynb", "x = 1")
    settings = scripted_settings(["silent"], max_servers=1)
    done = run_command(
        *("check", "--jobs", "2", "--timeout", "1", "--format", "json"),
        cwd=tmp_path,
        environ=settings_in_environment(settings),
    )
    busy = [report["detail"] for report in done.reports if report["reason"] == "busy"]
    assert done.code == 2
    assert len(busy) == 1, done.output
    assert "`max_servers`" in busy[0]


def test_every_reason_is_shown_here() -> None:
    shown = {case[0] for case in CASES} | {NoVerdictReason.TIMEOUT, NoVerdictReason.BUSY}
    assert shown == set(NoVerdictReason)


def test_json_says_the_same(tmp_path: Path) -> None:
    torn_notebook(tmp_path)
    done = run_command("check", "n.ipynb", "--format", "json", cwd=tmp_path)
    report = json.loads(done.output)[0]
    assert (done.code, report["verdict"], report["reason"]) == (2, "no_verdict", "unreadable")
    assert report["hint"] == report["detail"]
    assert set(report["counts"].values()) == {None}
