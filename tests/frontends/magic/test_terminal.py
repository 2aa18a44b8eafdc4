"""IPython in a terminal: a pseudo-terminal and what a person types."""

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path

import pexpect
import psutil
import pyte
import pytest

from tests.support.jupyter_server import PACKAGE_ROOT
from tests.support.kernels import notebook
from tests.support.processes import survivors
from tests.support.services import command_of

pytestmark = pytest.mark.timeout(120)

_LINES, _COLUMNS = 200, 160


class Terminal:
    """A person's view of IPython: what is typed, and what stands on the screen then."""

    def __init__(self, process: "pexpect.spawn[str]") -> None:
        self._process = process
        self._screen = pyte.Screen(_COLUMNS, _LINES)
        self._stream = pyte.Stream(self._screen)
        self._number = 1
        self._prompt()

    def run(self, line: str) -> str:
        """Type a line and give what it wrote."""
        self.start(line)
        return self._prompt()

    def type(self, text: str, shows: str) -> None:
        """Type, and wait until the line that is being typed, or what stands below it, shows something."""
        self._process.send(text)
        self._wait(lambda: shows in self._below(f"In [{self._number}]:"))

    def clear(self) -> None:
        """Take back what was typed."""
        self._process.send("\x1b\x15")
        self._process.sendcontrol("u")

    def stop_button(self) -> str:
        self._process.sendcontrol("c")
        return self._prompt()

    @property
    def servers(self) -> list[psutil.Process]:
        return psutil.Process(self._process.pid).children(recursive=True)

    def start(self, line: str) -> None:
        """Type a line, and see that it is there."""
        self._process.send(line)
        self._wait(lambda: line in self._below(f"In [{self._number}]:"))
        self._process.send("\r")
        self._number += 1

    def until_a_server_runs(self) -> None:
        self._wait(lambda: bool(self.servers))

    def _prompt(self) -> str:
        """Wait for the next prompt, and give what stands above it, below the last input."""
        self._wait(lambda: f"In [{self._number}]:" in self._text)
        said = self._below(f"In [{self._number - 1}]:") if self._number > 1 else self._text
        return said.partition("\n")[2].partition(f"In [{self._number}]:")[0]

    @property
    def _text(self) -> str:
        return "\n".join(line.rstrip() for line in self._screen.display)

    def _below(self, prompt: str) -> str:
        return self._text.rpartition(prompt)[2]

    def _wait(self, holds: Callable[[], bool]) -> None:
        """Read the screen until it shows what is awaited."""
        ends_at = time.monotonic() + 60
        while not holds():
            assert time.monotonic() < ends_at, self._text.strip()
            with suppress(pexpect.TIMEOUT):
                self._stream.feed(self._process.read_nonblocking(100_000, timeout=0.2))


@contextmanager
def terminal(folder: Path, settings: Mapping[str, str] = {}) -> Iterator[Terminal]:
    environment = {**os.environ, "IPYTHONDIR": str(folder / "ipython"), "TERM": "xterm", "NO_COLOR": "1", **settings}
    environment.pop("JPY_SESSION_NAME", None)
    # The terminal answers the question for the cursor's place, as real ones do, by not asking it.
    environment["PROMPT_TOOLKIT_NO_CPR"] = "1"
    environment["PYTHONPATH"] = str(PACKAGE_ROOT)
    process = pexpect.spawn(
        sys.executable,
        ["-m", "IPython", "--no-banner", "--no-confirm-exit", "--colors=NoColor"],
        cwd=str(folder), env=environment, encoding="utf-8", timeout=60, dimensions=(_LINES, _COLUMNS),
    )  # fmt: skip
    try:
        yield Terminal(process)
    finally:
        process.close(force=True)


def test_the_inputs_are_the_document(tmp_path: Path) -> None:
    with terminal(tmp_path) as shell:
        shell.run("%load_ext jupyter_lsp_agent")
        shell.run("price = 1")
        shell.run("pricee")  # fails, and is history
        said = shell.run("%lsp_check")
        assert "executed cells: no errors" in said
        assert "Inputs that failed are not judged: [3]." in said
        shell.run("def f(): return price.foo")
        said = shell.run("%lsp_check")
        assert "cell 5 1:17 error" in said
        servers = shell.servers
        assert servers
    assert survivors(servers) == []


def test_completion(tmp_path: Path) -> None:
    (tmp_path / "a first.ipynb").write_text(notebook("x"))
    (tmp_path / "second.ipynb").write_text(notebook("x"))
    with terminal(tmp_path) as shell:
        shell.run("%load_ext jupyter_lsp_agent")
        for typed, shown in (
            ("%lsp_check --sev\t", "--severity"),
            ("%lsp_check --severity inf\t", "information"),
            ("%lsp_check --server basedpy\t", "basedpyright"),
            ("%lsp_check --auto o\t", "off"),
            ("%lsp_check sec\t", "second.ipynb"),
            ("%lsp_check 'a f\t", "a first.ipynb"),
        ):
            shell.type(typed, shown)
            shell.clear()


def test_an_interrupt_in_the_middle_of_a_check(tmp_path: Path) -> None:
    settings = {
        "JUPYTER_LSP_AGENT_SERVER_SETTINGS": json.dumps({"ty": {"command": command_of("hang")}}),
        "JUPYTER_LSP_AGENT_SERVERS": '{"python": ["ty"]}',
        "JUPYTER_LSP_AGENT_FIRST_WAIT_MS": "100000",
    }
    with terminal(tmp_path, settings) as shell:
        shell.run("%load_ext jupyter_lsp_agent")
        shell.run("price = 1")
        shell.start("%lsp_check")
        shell.until_a_server_runs()
        said = shell.stop_button()
        assert "UsageError: interrupted: there is no verdict" in said
        assert "Traceback" not in said
        assert "1" in shell.run("price")


def test_news_after_each_run(tmp_path: Path) -> None:
    with terminal(tmp_path) as shell:
        shell.run("%load_ext jupyter_lsp_agent")
        shell.run("%lsp_check --auto on")
        shell.run("price = 1")
        shell.run("def f(): return price.foo")
        said = "".join(shell.run(f"other_{number} = 1") for number in range(6))
        assert "1 new error" in said or "error still there" in said


def test_names_that_no_input_made_are_no_errors(tmp_path: Path) -> None:
    """What a function that embeds IPython has, and its module, is there; a name of nobody is not."""
    (tmp_path / "embedding.py").write_text(
        "import IPython\n"
        "of_module = 1\n"
        "def main():\n"
        "    of_function = 2\n"
        "    IPython.embed(colors='NoColor', banner1='')\n"
        "main()\n"
    )
    asked = "%load_ext jupyter_lsp_agent\nof_module + of_function\nmade = 1\n"
    asked += "def f(): return of_none + made.foo\n\nr = %lsp_check\nprint([one.code for one in r])\n"
    environment = {**os.environ, "IPYTHONDIR": str(tmp_path / "ipython"), "NO_COLOR": "1"}
    environment.pop("JPY_SESSION_NAME", None)
    run = subprocess.run(
        [sys.executable, "embedding.py"],
        cwd=tmp_path, env=environment, input=asked, capture_output=True, text=True, timeout=60, check=False,
    )  # fmt: skip
    assert "['unresolved-reference', 'missing-attribute']" in run.stdout, run.stdout + run.stderr
