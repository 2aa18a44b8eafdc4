"""What the log says of every run."""

import pytest

from tests.support.full import FULL, SEEDS
from tests.support.server_runs import MISSING, RUNS, render_runs


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    seeds = ", ".join(f"{name} {seed}" for name, seed in SEEDS.items())
    if RUNS or MISSING:
        terminalreporter.section("real servers: a mistake found, mended, found and gone")
        for line in render_runs():
            terminalreporter.write_line(line)
    terminalreporter.write_line(f"long laws: {'whole' if FULL else 'a fixed sample'}; seeds: {seeds}")
