"""`--auto`: what is new is shown once, however fast one cell comes after the other."""

import asyncio
import concurrent.futures
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from jupyter_lsp_agent.diagnostics.build import no_verdict_report
from jupyter_lsp_agent.diagnostics.facts import ViewOptions
from jupyter_lsp_agent.diagnostics.report import NoVerdictReason, Status
from jupyter_lsp_agent.frontends.magic.auto import AutoCheck
from jupyter_lsp_agent.frontends.magic.checks import KernelChecks
from jupyter_lsp_agent.frontends.magic.question import AskingCell, KernelQuestion
from jupyter_lsp_agent.frontends.magic.result import LspCheck
from jupyter_lsp_agent.frontends.magic.surroundings import KernelSurroundings
from jupyter_lsp_agent.service.execution import Execution
from jupyter_lsp_agent.service.settings import Settings
from tests.frontends.magic.conftest import Open
from tests.support.jupyter_server import JupyterServer
from tests.support.kernels import notebook
from tests.support.reports import code_cells, facts, finding, report

CELLS = code_cells("a", "b", "c")
ALL = ViewOptions(statuses=frozenset(Status))


def check_with(*findings: Any) -> LspCheck:
    return LspCheck(report(CELLS, *findings, view=ALL), "Content: it.")


class Runs:
    """A terminal's shell, whose checks are done when the test says so."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.submitted: list[concurrent.futures.Future[LspCheck]] = []
        self.shown: list[str] = []
        events = SimpleNamespace(register=lambda *_: None, unregister=lambda *_: None)
        self._auto = AutoCheck(
            SimpleNamespace(events=events), self._submit, lambda source: source.startswith("%lsp_check")
        )
        monkeypatch.setattr("IPython.display.display", lambda news: self.shown.append(repr(news)))
        self._next: LspCheck | None = None

    def run(self, answer: LspCheck | None = None, *, source: str = "x = 1") -> None:
        """A cell runs; its check is done at once, or later."""
        self._next = answer
        self._auto.after_run(SimpleNamespace(info=SimpleNamespace(store_history=True, raw_cell=source)))

    def _submit(self) -> "concurrent.futures.Future[LspCheck]":
        future: concurrent.futures.Future[LspCheck] = concurrent.futures.Future()
        if self._next is not None:
            future.set_result(self._next)
        self.submitted.append(future)
        return future


@pytest.fixture
def runs(monkeypatch: pytest.MonkeyPatch) -> Runs:
    return Runs(monkeypatch)


def test_the_first_verdict_is_not_cut_short(runs: Runs) -> None:
    """It says what is old: if the second were the first, what the second run brought would be old too."""
    runs.run()
    runs.run()
    assert [future.cancelled() for future in runs.submitted] == [False, False]
    runs.run(check_with())
    runs.run()
    runs.run()
    assert [future.cancelled() for future in runs.submitted[3:]] == [True, False]


def test_a_cell_that_only_asks_brings_no_news_but_the_first(runs: Runs) -> None:
    runs.run(check_with(), source="%lsp_check --auto on")
    runs.run(check_with(), source="%lsp_check")
    runs.run(check_with())
    assert len(runs.submitted) == 2


def test_what_a_cut_check_found_is_shown_by_the_next(runs: Runs) -> None:
    """The session remembers it as outstanding; the user has not seen it."""
    runs.run(check_with())
    runs.run()
    runs.run(check_with(finding(1, Status.OUTSTANDING, message="seen late")))
    assert "seen late" in runs.shown[-1]
    runs.run(check_with(finding(1, Status.OUTSTANDING, message="seen late")))
    assert "seen late" not in runs.shown[-1]


def test_what_was_shown_stays_shown_where_nobody_looked(runs: Runs) -> None:
    runs.run(check_with(finding(1, Status.INTRODUCED, message="shown once")))
    silent = no_verdict_report(facts(), NoVerdictReason.TIMEOUT, "There was none.")
    runs.run(LspCheck(silent, "Content: it."))
    runs.run(check_with(finding(1, Status.OUTSTANDING, message="shown once")))
    assert ["shown once" in text for text in runs.shown] == [True, False, False]


def test_what_was_mended_and_made_again_is_new_again(runs: Runs) -> None:
    found = finding(1, Status.INTRODUCED, message="it again")
    for answer in (check_with(found), check_with(), check_with(found)):
        runs.run(answer)
    assert ["it again" in text for text in runs.shown] == [True, False, True]


async def test_each_verdict_has_all_that_came_since_the_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whether the one before was heard or not: what is known already is left out where it is shown."""
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))
    ran = ["old = 1", "old.before", "def f(): return old.after", "y = 1", "z = 1"]
    checks = await KernelChecks.open(Settings())
    try:
        results = [await checks.check_news(asked_after(ran[:count], tmp_path)) for count in (2, 3, 4, 5)]
    finally:
        await checks.aclose()
    found = [[(item.cell.cell_index, item.status) for item in result if item.cell] for result in results]
    assert found == [[], [(3, Status.INTRODUCED)], [(3, Status.OUTSTANDING)], [(3, Status.OUTSTANDING)]]


def asked_after(ran: list[str], folder: Path) -> KernelQuestion:
    executed = tuple(Execution(source, number, failed=False) for number, source in enumerate(ran, 1))
    return KernelQuestion(
        around=KernelSurroundings(folder), executed=executed, names=frozenset(), asking=AskingCell(None, ran[-1])
    )


@pytest.mark.timeout(180)
async def test_run_all_with_a_server_loses_nothing(
    kernel_server: JupyterServer, folder: Path, open_kernel: Open
) -> None:
    """No cell waits for the one before: most checks are cut short, and the error of one in the middle is told once."""
    sources = [f"x{number} = {number}" for number in range(60)]
    sources[30] = "def later(): return x1.foo"
    # The file is behind: its cell 30 is good, and is run as it will be saved.
    (folder / "a.ipynb").write_text(notebook(*(s if n != 30 else "later = 1" for n, s in enumerate(sources))))
    kernel = await open_kernel(kernel_server, f"{folder.name}/a.ipynb")
    seen, stop = await listen(kernel)
    await kernel.run("%lsp_check --auto on", "on")
    for number, source in enumerate(sources):
        await kernel.run(source, f"c{number}")
    await until(lambda: bool(seen) and all("checking" not in text for text in seen.values()))
    stop()
    assert sum("x1.foo" in text for text in seen.values()) == 1
    assert list(seen.values())[-1].startswith("lsp: ")
    assert "see the next run" not in list(seen.values())[-1]


async def listen(kernel: Any) -> tuple[dict[str, str], Callable[[], object]]:
    """What is shown as front ends show it: updates take the place of what they update."""
    client = kernel._manager.client()
    client.start_channels(shell=False, stdin=False, hb=False, control=False)
    seen: dict[str, str] = {}

    async def read() -> None:
        while True:
            message = await client.get_iopub_msg()
            if message["msg_type"] in {"display_data", "update_display_data"}:
                name = message["content"]["transient"].get("display_id") or message["header"]["msg_id"]
                seen[name] = message["content"]["data"]["text/plain"]

    task = asyncio.ensure_future(read())

    def stop() -> None:
        task.cancel()
        client.stop_channels()

    return seen, stop


async def until(holds: Callable[[], bool]) -> None:
    for _ in range(600):
        if holds():
            return
        await asyncio.sleep(0.05)
    raise AssertionError("it never came")
