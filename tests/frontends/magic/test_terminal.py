"""IPython in a terminal: a pseudo-terminal and what a person types."""

import json
import os
import re
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path

import pexpect
import psutil
import pytest

from tests.support.kernels import notebook
from tests.support.processes import survivors
from tests.support.services import command_of

pytestmark = pytest.mark.timeout(120)

_SEQUENCES = re.compile(r"\x1b\[[0-9;?]*[ -/]*[@-~]|\x1b[()][AB012]|\x1b[=>]|[\r\x07\x08]")


class Terminal:
    """A person's view of IPython: what is typed, and what stands on the screen then."""

    def __init__(self, process: "pexpect.spawn[str]") -> None:
        self._process = process
        self._number = 1
        self._prompt()

    def run(self, line: str) -> str:
        """Type a line and give what it wrote."""
        self._process.send(line + "\r")
        self._number += 1
        return self._prompt()

    def type(self, text: str, shows: str) -> None:
        """Type, and wait until the screen shows something."""
        self._process.send(text)
        self._process.expect_exact(shows)

    def clear(self) -> None:
        """Take back what was typed."""
        self._process.sendcontrol("u")

    def stop_button(self) -> str:
        self._process.sendcontrol("c")
        return self._prompt()

    @property
    def servers(self) -> list[psutil.Process]:
        return psutil.Process(self._process.pid).children(recursive=True)

    def start(self, line: str) -> None:
        """Type a line that takes long."""
        self._process.send(line + "\r")
        self._number += 1
        for _ in range(10_000):
            if self.servers:
                return
            psutil.wait_procs([], timeout=0.01)

    def _prompt(self) -> str:
        self._process.expect(rf"In \[.*?{self._number}.*?\]:")
        return _SEQUENCES.sub("", self._process.before or "")


@contextmanager
def terminal(folder: Path, settings: Mapping[str, str] = {}) -> Iterator[Terminal]:
    environment = {**os.environ, "IPYTHONDIR": str(folder / "ipython"), "TERM": "xterm", "NO_COLOR": "1", **settings}
    environment.pop("JPY_SESSION_NAME", None)
    # The terminal answers the question for the cursor's place, as real ones do, by not asking it.
    environment["PROMPT_TOOLKIT_NO_CPR"] = "1"
    process = pexpect.spawn(
        sys.executable,
        ["-m", "IPython", "--no-banner", "--no-confirm-exit", "--colors=NoColor"],
        cwd=str(folder), env=environment, encoding="utf-8", timeout=60, dimensions=(50, 160),
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
