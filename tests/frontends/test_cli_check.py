import asyncio
import io
import json
from contextlib import asynccontextmanager

import pytest

from jupyter_lsp_agent.core.diagnostic import DiagnosticSeverity
from jupyter_lsp_agent.core.errors import SettingsError
from jupyter_lsp_agent.frontends.cli_arguments import UsageError, parse_arguments
from jupyter_lsp_agent.frontends.cli_check import run_check
from jupyter_lsp_agent.frontends.cli_console import Console
from jupyter_lsp_agent.service.settings import Settings
from tests.support.scripted_service import ScriptedService


class Run:
    """One run of `check` against a scripted service."""

    def __init__(self, settings=None):
        self.settings = settings or Settings()
        self.service = ScriptedService(self.settings)
        self.output = io.BytesIO()
        self.errors = io.StringIO()
        self.code = None

    async def check(self, *arguments):
        options, _ = parse_arguments(["check", *arguments])
        console = Console(self.output, self.errors, encoding="utf-8")
        self.code = await run_check(options, self.settings, self.opened, console)
        return self

    @asynccontextmanager
    async def opened(self, settings):
        try:
            yield self.service
        finally:
            self.service.is_closed = True

    @property
    def out(self):
        return self.output.getvalue().decode()

    @property
    def err(self):
        return self.errors.getvalue()


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def write(**texts):
        for name, text in texts.items():
            path = tmp_path / (name.replace("__", "/") + ".ipynb")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    return write


@pytest.mark.parametrize(
    ("texts", "arguments", "code"),
    [
        ({"a": "clean"}, [], 0),
        ({"a": "errors 1"}, [], 1),
        ({"a": "errors 1"}, ["--exit-zero"], 0),
        ({"a": "errors 1", "b": "clean"}, ["--quiet"], 1),
        ({"a": "reason timeout"}, [], 2),
        ({"a": "reason timeout"}, ["--exit-zero"], 2),
        ({"a": "reason unreadable", "b": "errors 1"}, [], 2),
        ({"a": "reason disabled"}, [], 2),
        ({"a": "reason broken"}, ["--quiet"], 2),
        ({"a": "reason unsupported_language"}, [], 0),
        ({"a": "reason not_installed"}, [], 0),
        ({"a": "reason not_installed", "b": "errors 1"}, [], 1),
        ({"a": "reason unsupported_language"}, ["--strict"], 2),
        ({"a": "reason not_installed"}, ["--strict", "--exit-zero"], 2),
        ({"a": "reason unsupported_language"}, ["a.ipynb"], 2),
        ({"a": "reason not_installed"}, ["a.ipynb"], 2),
        ({"a": "reason not_installed"}, ["--server", "ty"], 2),
        ({"a": "reason unsupported_language"}, ["--server", "ty"], 0),
        ({"a": "clean"}, ["none.ipynb"], 2),
        ({"a": "clean"}, ["none.ipynb", "a.ipynb"], 2),
        ({}, [], 0),
        ({"a": "boom"}, [], 2),
        ({"a": "refuse"}, [], 2),
        ({"a": "errors 3"}, ["--max-total", "1"], 1),
    ],
)
async def test_exit_code(files, texts, arguments, code):
    files(**texts)
    run = await Run().check(*arguments)
    assert run.code == code
    assert run.service.is_closed or not texts


@pytest.mark.parametrize("word", ["json", "jsonl"])
async def test_a_format_of_json_has_a_word_of_its_own(files, word):
    files(a="errors 1")
    assert (await Run().check(f"--{word}")).out == (await Run().check("--format", word)).out
    assert json.loads((await Run().check("--jsonl")).out)["path"] == "a.ipynb"
    assert (await Run().check()).out.startswith("a.ipynb: 1 error")


async def test_another_file_than_a_notebook_found_in_a_folder_must_have_a_verdict(files, tmp_path):
    (tmp_path / "m.jl").write_text("reason not_installed")
    assert (await Run().check("--include", "*.jl")).code == 2


async def test_results_are_in_order_whatever_is_ready_first(files):
    files(a="errors 1", b="clean", c="errors 2")
    run = Run()
    run.service.held["a.ipynb"] = asyncio.Event()
    await run.check("--jobs", "3")
    heads = [line.split(":")[0] for line in run.out.split("\n") if ".ipynb" in line]
    assert heads == ["a.ipynb", "b.ipynb", "c.ipynb"]


async def test_jobs_bound_what_runs_at_a_time(files):
    files(**{f"n{number}": "clean" for number in range(9)})
    run = await Run().check("--jobs", "2")
    assert run.service.most_running == 2
    assert (await Run().check("--jobs", "1")).service.most_running == 1


async def test_one_bad_file_does_not_stop_the_others(files):
    files(a="boom", b="refuse", c="errors 1")
    run = await Run().check()
    assert (
        "a.ipynb: no verdict (broken): This failed in a way that was not foreseen (ZeroDivisionError: oh, " in run.out
    )
    assert "b.ipynb: no verdict (broken): the server said no" in run.out
    assert "c.ipynb: 1 error" in run.out


async def test_a_wrong_option_stops_everything(files):
    files(a="clean", b="settings")
    run = Run()
    with pytest.raises(SettingsError, match="no server 'x'"):
        await run.check()
    assert run.service.is_closed
    assert run.service.running == 0


async def test_json_is_a_list_of_reports_in_order(files):
    files(b="errors 1", a="clean", c="reason unsupported_language")
    run = await Run().check("--format", "json")
    assert [(report["path"], report["verdict"]) for report in json.loads(run.out)] == [
        ("a.ipynb", "clean"), ("b.ipynb", "errors"), ("c.ipynb", "no_verdict"),
    ]  # fmt: skip


async def test_json_lines(files):
    files(a="clean", b="errors 1")
    lines = (await Run().check("--format", "jsonl")).out.splitlines()
    assert [json.loads(line)["path"] for line in lines] == ["a.ipynb", "b.ipynb"]


async def test_each_report_is_written_when_it_is_ready(files):
    files(a="errors 1", b="clean")
    run = Run()
    run.service.held["b.ipynb"] = asyncio.Event()
    task = asyncio.create_task(run.check("--format", "jsonl", "--jobs", "1"))
    await run.service.reached_held.wait()
    assert json.loads(run.out)["path"] == "a.ipynb"
    run.service.held["b.ipynb"].set()
    await task


@pytest.mark.parametrize(("form", "nothing"), [("text", ""), ("json", "[]\n"), ("jsonl", ""), ("github", "")])
async def test_no_files_are_no_error_and_told(files, form, nothing):
    run = await Run().check("--format", form)
    assert (run.code, run.out) == (0, nothing)
    assert run.err == "warning: no notebooks found in .\n"


async def test_quiet_leaves_out_files_with_nothing_to_show(files):
    files(a="clean", b="errors 1", c="reason timeout")
    run = await Run().check("--quiet", "--format", "json")
    assert [report["path"] for report in json.loads(run.out)] == ["b.ipynb", "c.ipynb"]


async def test_what_is_expected_in_a_folder_is_told_on_standard_error(files):
    files(a="reason not_installed", b="clean")
    run = await Run().check()
    assert run.err == "a.ipynb: no verdict (not_installed): Because of not_installed.\n"
    assert run.out == "b.ipynb: no errors (ty 0.0.108, 0 ms)\n"
    strict = await Run().check("--strict")
    assert strict.err == ""
    assert strict.out.startswith("a.ipynb: no verdict (not_installed)")


async def test_github_names_files_from_the_repositorys_root(files, tmp_path, monkeypatch):
    files(sub__a="errors 1", sub__b="clean")
    (tmp_path / ".git" / "objects").mkdir(parents=True)
    (tmp_path / ".git" / "HEAD").write_text("ref: refs/heads/main\n")
    monkeypatch.chdir(tmp_path / "sub")
    run = await Run().check("--format", "github")
    assert run.out.startswith("::error title=ty (some-code) cell 0%2C 1%3A1,file=sub/a.ipynb::")
    assert run.out.count("\n") == 1


async def test_options_reach_the_service(files, tmp_path):
    files(a="clean")
    run = await Run().check(
        "a.ipynb", "--server", "ty", "--python", "e/bin/python", "--timeout", "2.5", "--max-per-cell", "0",
        "--max-total", "7",
    )  # fmt: skip
    [request] = run.service.requests
    assert (request.server, request.python, request.timeout_seconds) == ("ty", tmp_path / "e/bin/python", 2.5)
    assert (request.view.max_per_cell, request.view.max_total) == (0, 7)
    assert (request.path, request.named, request.content_bytes) == (tmp_path / "a.ipynb", tmp_path / "a.ipynb", None)


async def test_settings_reach_the_view(files):
    files(a="clean")
    run = await Run(Settings(severity=DiagnosticSeverity.HINT, ignore=("X",), ignore_cell_tags=("t",))).check()
    view = run.service.requests[0].view_under(run.settings)
    assert (view.severity, view.ignore, view.ignore_cell_tags) == (DiagnosticSeverity.HINT, {"X"}, {"t"})


@pytest.mark.parametrize(
    "arguments", [["-"], ["-", "a.ipynb", "--stdin-filename", "x"], ["a.ipynb", "--stdin-filename", "x"]]
)
async def test_standard_input_needs_a_name_and_stands_alone(files, arguments):
    with pytest.raises(UsageError, match="--stdin-filename"):
        await Run().check(*arguments)


async def test_excluded_named_files_are_left_out_and_told(files):
    files(a="errors 1")
    run = await Run(Settings(exclude=("a.ipynb",), given=frozenset({"exclude"}))).check("a.ipynb")
    assert run.code == 0
    assert "a.ipynb is not checked: the setting `exclude` names it" in run.err
