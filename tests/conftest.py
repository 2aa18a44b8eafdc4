"""What the log says of every run, and the tests that name the real servers that they need."""

from collections.abc import Iterator

import pytest

from tests.support.full import FULL, SEEDS
from tests.support.real_servers import add_servers_to_path, require_server, servers_of
from tests.support.server_runs import MISSING, RUNS, render_runs


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    seeds = ", ".join(f"{name} {seed}" for name, seed in SEEDS.items())
    if RUNS or MISSING:
        terminalreporter.section("real servers: a mistake found, mended, found and gone")
        for line in render_runs():
            terminalreporter.write_line(line)
    terminalreporter.write_line(f"long laws: {'whole' if FULL else 'a fixed sample'}; seeds: {seeds}")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        if servers_of(item.iter_markers("real_server")):
            add_servers_to_path(patch)
        return (yield)


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Before any fixture is made."""
    require_server(*servers_of(item.iter_markers("real_server")))
