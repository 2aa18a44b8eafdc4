"""The judged notebooks, the damaged files and the corpus, where they lie beside the checkout."""

import json
import logging
import os
import shlex
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from jupyter_lsp_agent.frontends.cli import main
from tests.support.command_line import run_command
from tests.support.corpus import SHARED, manifest
from tests.support.real_servers import require_server, servers_path

pytestmark = [
    pytest.mark.shared,
    pytest.mark.skipif(not (SHARED / "cases").is_dir(), reason="the shared cases are not beside this checkout"),
    pytest.mark.timeout(900),
]

JUDGED = 119
UNREADABLE = {
    "json_list", "json_object", "latin1_byte", "merge_conflict", "nbformat_5", "nbformat_missing", "python_text",
    "utf16", "zero_bytes",
}  # fmt: skip
"""What Jupyter itself does not open."""
UNSEEN = {"celltype_missing", "celltype_unknown"}
"""What Jupyter opens, and nobody can tell what it holds."""
MAX_SERVERS_STARTED = 20
ALLOWED_WITHOUT_VERDICT = {"unsupported_language", "not_installed", "unreadable"}


@pytest.mark.parametrize("server", ["ty", "basedpyright", "pyright", "pyrefly"])
def test_every_judged_notebook_is_right_with_each_server(server: str) -> None:
    require_server(server)
    command = f"{shlex.quote(sys.executable)} -m jupyter_lsp_agent.frontends.cli"
    score = [sys.executable, str(SHARED / "tools" / "score_cases.py"), str(SHARED / "cases" / "notebooks")]
    done = subprocess.run(
        [*score, "--command", command, "--server", server, "--verbose"],
        cwd=Path(__file__).parents[2],
        env=with_test_servers(),
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout.splitlines()[-1] == f"{JUDGED} of {JUDGED} right", done.stdout + done.stderr


def test_every_damaged_file_is_answered_and_the_good_one_checked() -> None:
    done = run_command("check", "--format", "json", str(SHARED / "cases" / "damaged"), cwd=SHARED)
    reports = {Path(report["path"]).stem: report for report in done.reports}
    files = {path.stem for path in (SHARED / "cases" / "damaged").iterdir() if path.is_file()}
    assert done.code == 2
    assert set(reports) == files
    silent = {name for name, report in reports.items() if report["verdict"] == "no_verdict"}
    assert silent == UNREADABLE | UNSEEN
    for name in silent:
        assert reports[name]["reason"] == "unreadable"
        assert reports[name]["detail"]
    for name in files - silent:
        assert [d["code"] for cell in reports[name]["cells"] for d in cell["diagnostics"]] == ["unresolved-reference"]


def test_what_cannot_be_read_is_named_with_file_place_and_mend() -> None:
    folder = SHARED / "cases" / "damaged"
    done = run_command("check", *(str(folder / f"{name}.ipynb") for name in sorted(UNREADABLE)), cwd=SHARED)
    lines = done.output.splitlines()
    assert len(lines) == len(UNREADABLE)
    for name, line in zip(sorted(UNREADABLE), lines, strict=True):
        assert f"{name}.ipynb: no verdict (unreadable): {name}.ipynb" in line
        assert any(verb in line for verb in ("save it", "write a JSON", "add ", "mend", "restore", "resolve"))


def test_the_whole_corpus_in_one_command(capfd: pytest.CaptureFixture[str], caplog: pytest.LogCaptureFixture) -> None:
    """Every Python notebook has a verdict; who has none is counted and printed; few servers are started for all."""
    corpus = SHARED / "corpus"
    with caplog.at_level(logging.INFO, "jupyter_lsp_agent"):
        code = main(["check", "--format", "jsonl", "--exit-zero", "--no-progress", str(corpus)])
    captured = capfd.readouterr()
    reports = [json.loads(line) for line in captured.out.splitlines()]
    languages = {(corpus / row["file"]).as_posix(): row["language"] for row in manifest()}
    without = [report for report in reports if report["verdict"] == "no_verdict"]
    starts = [record for record in caplog.records if record.getMessage().startswith("started ")]
    with capfd.disabled():
        print(f"\n{len(reports)} notebooks, {len(starts)} servers started, without a verdict:")
        for (reason, language), count in sorted(count_by_reason(without, languages).items()):
            print(f"  {count:3} {reason}, {language}")
    assert code == 2, "the corpus holds unreadable files"
    assert "Traceback" not in captured.err
    assert len(reports) == len(notebooks_that_are_found())
    unexpected = [report for report in without if report["reason"] not in ALLOWED_WITHOUT_VERDICT]
    assert not [(report["path"], report["reason"], report["detail"]) for report in unexpected]
    assert 0 < len(starts) <= MAX_SERVERS_STARTED


def count_by_reason(reports: list[dict[str, Any]], languages: dict[str, str]) -> Counter[tuple[str, str]]:
    return Counter((report["reason"], languages[report["path"]]) for report in reports)


def notebooks_that_are_found() -> list[str]:
    """All of the corpus but copies in `.ipynb_checkpoints`, which are never meant."""
    return [row["file"] for row in manifest() if ".ipynb_checkpoints" not in row["file"]]


def with_test_servers() -> dict[str, Any]:
    return {**os.environ, "PATH": servers_path(), "PYTHONPATH": str(Path(__file__).parents[2])}
