"""What servers, notebooks and names of files say is judged and shown, and does nothing else."""

import json
import os
import re
from pathlib import Path

import pytest

from jupyter_lsp_agent.diagnostics.report import Report
from jupyter_lsp_agent.service.requests import CheckRequest
from tests.support.command_line import Finished, run_command, settings_in_environment
from tests.support.services import opened_service, scripted_settings, write_notebook

CONTROL = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\ud800-\udfff]")


def run(folder: Path, behaviour: str, *arguments: str) -> Finished:
    environ = settings_in_environment(scripted_settings([behaviour]))
    return run_command("check", "--no-progress", "--timeout", "3", *arguments, cwd=folder, environ=environ)


def texts_in(value: object) -> list[str]:
    if isinstance(value, dict):
        return [text for key, item in value.items() for text in (key, *texts_in(item))]
    if isinstance(value, list):
        return [text for item in value for text in texts_in(item)]
    return [value] if isinstance(value, str) else []


async def check(path: Path, behaviour: str) -> Report:
    async with opened_service(scripted_settings([behaviour]), path.parent) as service:
        return await service.check(CheckRequest(path=path, timeout_seconds=1.0))


@pytest.mark.parametrize("behaviour", ["homeless", "partial", "junk_push"])
async def test_an_error_without_a_place_and_an_answer_that_is_none_are_not_clean(
    tmp_path: Path, behaviour: str
) -> None:
    report = await check(write_notebook(tmp_path / "n.ipynb", "import re", "%time x = 1"), behaviour)
    assert (report.verdict, report.reason) == ("no_verdict", "broken"), report.detail


async def test_an_error_without_a_place_is_quoted(tmp_path: Path) -> None:
    report = await check(write_notebook(tmp_path / "n.ipynb", "import re", "%time x = 1"), "homeless")
    assert "real error, no range" in (report.detail or "")


def test_a_uri_that_cannot_be_taken_apart_costs_no_finding(tmp_path: Path) -> None:
    write_notebook(tmp_path / "n.ipynb", "BAD")
    done = run(tmp_path, "bad_uri", "n.ipynb", "--format", "json")
    found = done.reports[0]["cells"][0]["diagnostics"][0]
    assert found["related_information"][0]["path"] == "http://[bad"
    assert "Traceback" not in done.errors


@pytest.mark.parametrize("behaviour", ["loud", "loud_refusal"])
@pytest.mark.parametrize("output", ["text", "json", "github"])
def test_what_a_server_says_of_itself_begins_no_line_and_colours_nothing(
    tmp_path: Path, behaviour: str, output: str
) -> None:
    write_notebook(tmp_path / "n.ipynb", "x = 1")
    done = run(tmp_path, behaviour, "n.ipynb", "--format", output)
    for text in (done.output, done.errors):
        assert not CONTROL.search(text)
        assert not re.search(r"^\s*::error::x", text, re.MULTILINE)
    if output == "json":
        assert not any(CONTROL.search(text) or "\n" in text for text in texts_in(done.reports))


def test_what_a_notebook_calls_its_language_is_bounded_and_printable(tmp_path: Path) -> None:
    name = "x\x1b[31m\ud800" + "x" * 100_000
    write_notebook(tmp_path / "n.ipynb", "x", language_info={"name": name})
    done = run(tmp_path, "good", "n.ipynb", "--format", "json")
    assert len(done.output) < 5_000
    assert "`jupyter lsp-agent status`" in done.reports[0]["detail"], "the mend is not what is cut"
    assert not any(CONTROL.search(text) for text in texts_in(done.reports))


def test_a_pipe_is_no_notebook(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "f.ipynb")
    done = run(tmp_path, "good", "f.ipynb", "--format", "json")
    assert (done.code, done.reports[0]["reason"]) == (2, "unreadable")
    assert "--stdin-filename" in done.reports[0]["detail"]


def test_pipes_where_configuration_and_run_files_are_looked_for_stop_nothing(tmp_path: Path) -> None:
    for name in ("pyproject.toml", ".gitignore", "other.py", ".git"):
        os.mkfifo(tmp_path / name)
    write_notebook(tmp_path / "n.ipynb", "%run other.py", "BAD", f"%run {'y' * 5000}.py")
    assert run(tmp_path, "good", "n.ipynb").code == 1
    assert run(tmp_path, "good", ".").code == 1


def test_a_link_round_in_circles_stops_no_other_file(tmp_path: Path) -> None:
    (tmp_path / "l.ipynb").symlink_to("l.ipynb")
    write_notebook(tmp_path / "n.ipynb", "x = 1")
    done = run(tmp_path, "good", ".", "--format", "json")
    assert [(one["verdict"], one["reason"]) for one in done.reports] == [("no_verdict", "unreadable"), ("clean", None)]
    assert done.code == 2


@pytest.mark.skipif(os.uname().sysname != "Linux", reason="names of any bytes")
def test_a_name_that_is_no_utf_8_is_told(tmp_path: Path) -> None:
    folder = tmp_path / os.fsdecode(b"bad\xff")
    folder.mkdir()
    write_notebook(folder / "n.ipynb", "x = 1")
    done = run(tmp_path, "good", ".", "--format", "jsonl")
    report = json.loads(done.output)
    assert (report["verdict"], report["reason"]) == ("no_verdict", "unreadable")
    assert "bad\\xff" in report["detail"]


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [([""], "an empty text names no file"), (["-", "--stdin-filename", "/nonexistent/x/a.ipynb"], "no such folder")],
)
def test_paths_that_mean_nothing_are_wrong_usage(tmp_path: Path, arguments: list[str], sentence: str) -> None:
    done = run(tmp_path, "good", *arguments)
    assert (done.code, done.output, sentence in done.errors) == (2, "", True)


def test_a_file_in_utf_32_is_called_so(tmp_path: Path) -> None:
    path = write_notebook(tmp_path / "n.ipynb", "x = 1")
    path.write_bytes(path.read_text(encoding="utf-8").encode("utf-32"))
    assert "UTF-32" in run(tmp_path, "good", "n.ipynb").output
