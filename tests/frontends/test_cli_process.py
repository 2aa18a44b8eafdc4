import json
import logging
import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from jupyter_lsp_agent.frontends.cli import _OneLine
from tests.support.processes import WITH_USUAL_SIGNALS

ROOT = Path(__file__).parents[2]
SCRIPTED = "tests.support.scripted_service"
REAL = "jupyter_lsp_agent.frontends.cli"
posix = pytest.mark.skipif(os.name != "posix", reason="POSIX signals and terminals")


def environment(**more):
    """This process's own, without a user's configuration."""
    kept = {name: text for name, text in os.environ.items() if not name.startswith("JUPYTER_")}
    return {**kept, "PYTHONPATH": str(ROOT), "JUPYTER_NO_CONFIG": "1", "JUPYTER_CONFIG_DIR": "/nowhere", **more}


def command(module, *arguments):
    return [sys.executable, "-m", module, *arguments]


def run(folder, *arguments, module=SCRIPTED, env=None, **options):
    return subprocess.run(
        command(module, *arguments),
        cwd=folder,
        env=environment(**(env or {})),
        capture_output=True,
        check=False,
        **options,
    )


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "a.ipynb").write_text("errors 2")
    (tmp_path / "b.ipynb").write_text("clean")
    return tmp_path


def test_version(tmp_path):
    done = run(tmp_path, "--version", module=REAL)
    assert (done.returncode, done.stdout.decode().split()[0]) == (0, "jupyter-lsp-agent")


def test_the_package_runs_as_a_module(tmp_path):
    assert (
        run(tmp_path, "--version", module="jupyter_lsp_agent").stdout == run(tmp_path, "--version", module=REAL).stdout
    )


@pytest.mark.parametrize("words", [["--help"], ["check", "--help"], ["status", "--help"], ["install", "--help"]])
def test_help(tmp_path, words):
    done = run(tmp_path, *words, module=REAL)
    assert done.returncode == 0
    assert done.stdout.startswith(b"usage: jupyter lsp-agent")


@pytest.mark.parametrize(
    ("words", "part"),
    [
        ([], "COMMAND"),
        (["chek"], "chek"),
        (["check", "--formt", "json"], "--formt"),
        (["check", "--format", "xml"], "xml"),
        (["check", "--severity", "fatal"], "fatal"),
        (["check", "--jobs", "0"], "1 or more"),
        (["check", "--jobs", "x"], "'x'"),
        (["check", "--timeout", "nan"], "'nan'"),
        (["check", "--max-total", "-1"], "--max-total"),
        (["check", "-"], "--stdin-filename"),
        (["check", "--LspAgent.wait_m=1"], "'wait_ms' does"),
        (["check", "--LspAgent.wait_ms=x"], "--LspAgent.wait_ms is 'x'"),
        (["check", "--LspAgent.wait_ms"], "needs a value"),
        (["check", "--include", "!"], "--include"),
        (["status", "--jso"], "--jso (see `jupyter lsp-agent status --help`)"),
        (["status", "--format", "json"], "(see `jupyter lsp-agent status --help`)"),
    ],
)
def test_wrong_usage_is_one_line_and_2(folder, words, part):
    done = run(folder, *words)
    assert (done.returncode, done.stdout) == (2, b"")
    [line] = done.stderr.decode().splitlines()
    assert line.startswith("jupyter lsp-agent: ")
    assert part in line


def test_a_wrong_variable_is_one_line_and_2(folder):
    done = run(folder, "check", env={"JUPYTER_LSP_AGENT_SEVERITY": "fatal"})
    assert done.returncode == 2
    assert done.stderr.decode().startswith("jupyter lsp-agent: JUPYTER_LSP_AGENT_SEVERITY is 'fatal', but it must be")


def test_results_alone_on_standard_output(folder):
    (folder / "c.ipynb").write_text("reason not_installed")
    done = run(folder, "check", "--format", "json")
    assert done.returncode == 1
    assert [report["path"] for report in json.loads(done.stdout)] == ["a.ipynb", "b.ipynb", "c.ipynb"]
    assert done.stderr.decode() == "c.ipynb: no verdict (not_installed): Because of not_installed.\n"


def test_settings_come_from_traits_environment_and_options(folder):
    def codes(*words, **env):
        done = run(folder, "check", "--format", "json", *words, env=env)
        return [len(report["cells"]) for report in json.loads(done.stdout)]

    assert codes() == [1, 0]
    assert codes("--ignore", "other,some-code") == [0, 0]
    assert codes("--LspAgent.ignore=some-code") == [0, 0]
    assert codes("--LspAgent.ignore", '["some-code"]') == [0, 0]
    assert codes(JUPYTER_LSP_AGENT_IGNORE='["some-code"]') == [0, 0]
    assert codes("--ignore", "x", JUPYTER_LSP_AGENT_IGNORE='["some-code"]') == [1, 0]


def test_standard_input(folder):
    done = run(folder, "check", "-", "--stdin-filename", "sub/new.ipynb", input=b"errors 1")
    assert done.returncode == 1
    assert done.stdout.startswith(b"sub/new.ipynb: 1 error")


def test_json_is_utf_8_whatever_the_terminal_says(folder):
    (folder / "b.ipynb").rename(folder / "\u00e9.ipynb")
    done = run(folder, "check", "--format", "jsonl", env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert json.loads(done.stdout.decode().splitlines()[1])["path"] == "\u00e9.ipynb"


def test_text_that_the_terminal_cannot_write_is_escaped(folder):
    (folder / "b.ipynb").rename(folder / "\u00e9.ipynb")
    done = run(folder, "check", env={"PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0"})
    assert b"\\xe9.ipynb: no errors" in done.stdout


@posix
@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupt_stops_the_servers_and_says_nothing(folder, number, code):
    (folder / "c.ipynb").write_text("hang")
    process = subprocess.Popen(
        [*WITH_USUAL_SIGNALS, *command(SCRIPTED, "check")],
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    )
    assert process.stderr.readline() == b"hanging\n"
    process.send_signal(number)
    output, errors = process.communicate(timeout=30)
    assert (process.returncode, errors) == (code, b"")
    assert output.startswith(b"a.ipynb: 2 errors")
    assert (folder / "closed").exists()


@posix
def test_a_reader_that_goes_away_is_no_error(folder):
    for number in range(300):
        (folder / f"n{number}.ipynb").write_text("errors 20")
    process = subprocess.Popen(
        command(SCRIPTED, "check"), cwd=folder, env=environment(), stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    process.stdout.readline()
    process.stdout.close()
    errors = process.stderr.read()
    assert (process.wait(timeout=30), errors) == (141, b"")
    assert (folder / "closed").exists()
    process.stderr.close()


@posix
@pytest.mark.parametrize(("words", "is_drawn"), [([], True), (["--no-progress"], False)])
def test_a_progress_bar_on_a_terminals_standard_error(folder, words, is_drawn):
    import fcntl
    import pty
    import struct
    import termios

    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 80, 0, 0))
    try:
        done = subprocess.run(
            command(SCRIPTED, "check", *words),
            cwd=folder,
            env=environment(),
            stdout=subprocess.PIPE,
            stderr=follower,
            check=False,
        )
        os.close(follower)
        follower = -1
        drawn = read_all(leader)
    finally:
        for end in (leader, follower):
            if end >= 0:
                os.close(end)
    assert done.returncode == 1
    assert done.stdout.startswith(b"a.ipynb: 2 errors")
    assert b"\r" not in done.stdout
    assert (b"2/2" in drawn or b"0/2" in drawn) is is_drawn


def read_all(descriptor):
    """What was written to a terminal whose other end is closed."""
    chunks = []
    while True:
        try:
            chunk = os.read(descriptor, 65536)
        except OSError:  # how Linux says that the other end is closed
            return b"".join(chunks)
        if not chunk:
            return b"".join(chunks)
        chunks.append(chunk)


def test_status(folder):
    done = run(folder, "status")
    assert (done.returncode, done.stdout) == (0, b"No language server is installed.\n")
    assert json.loads(run(folder, "status", "--json").stdout)["enabled"] is True
    assert json.loads(run(folder, "status", "--json", "--probe").stdout)["enabled"] is False


def test_wrong_path_arguments(folder):
    done = run(folder, "check", "nowhere.ipynb", "--format", "json")
    assert done.returncode == 2
    [report] = json.loads(done.stdout)
    assert (report["verdict"], report["reason"]) == ("no_verdict", "unreadable")
    url = "https://example.org/a/x.ipynb"
    told = run(folder, "check", url, module=REAL).stdout.decode()
    assert told.startswith(f"{url}: no verdict (unreadable): x.ipynb is named by a URL")
    assert (
        run(folder, "query", "document_symbols", url, module=REAL)
        .stderr.decode()
        .startswith(f"{url}: no answer (unreadable)")
    )


def test_an_interpreter_that_is_none_is_named_as_it_was_typed(folder):
    (folder / "m.py").touch()
    done = run(folder, "check", "--python", "/nope", "m.py", module=REAL)
    assert done.stderr.startswith(b"jupyter lsp-agent: --python /nope: there is no Python interpreter")


def test_a_query_of_a_folder_asks_for_a_file_of_it(folder):
    told = run(folder, "query", "workspace_symbols", ".", "area", module=REAL)
    assert told.returncode == 2
    assert "is a folder, and one file is needed; name one that is in it" in told.stderr.decode()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs a device that is always full")
def test_results_that_cannot_be_written_are_one_line_and_2(folder):
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(
            command(SCRIPTED, "check"), cwd=folder, env=environment(), stdout=full, stderr=subprocess.PIPE, check=False
        )
    assert done.returncode == 2
    [line] = done.stderr.decode().splitlines()
    assert line.startswith("jupyter lsp-agent: ")
    assert (folder / "closed").exists()


@posix
@pytest.mark.parametrize("closed", ["<&-", ">&-", "2>&-"])
def test_closed_streams(folder, closed):
    line = f"{sys.executable} -m {SCRIPTED} check a.ipynb {closed}"
    done = subprocess.run(["sh", "-c", line], cwd=folder, env=environment(), capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (1, b"")


@posix
def test_a_closed_standard_input_is_told(folder):
    line = f"{sys.executable} -m {SCRIPTED} check - --stdin-filename x.ipynb <&-"
    done = subprocess.run(["sh", "-c", line], cwd=folder, env=environment(), capture_output=True, check=False)
    assert (done.returncode, done.stderr) == (2, b"jupyter lsp-agent: standard input is closed\n")


def test_a_log_line_is_one_printable_line_without_a_traceback():
    try:
        raise ValueError("why")
    except ValueError:
        record = logging.LogRecord("x", logging.WARNING, "f", 1, "%s", ("a\x1b[31m\n::error::x",), sys.exc_info())
    assert _OneLine().format(record) == "WARNING: a\\x1b[31m\\n::error::x"
