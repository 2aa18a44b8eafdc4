"""What the log says of every run."""

import pytest

from tests.support.full import FULL, SEEDS


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    seeds = ", ".join(f"{name} {seed}" for name, seed in SEEDS.items())
    terminalreporter.write_line(f"long laws: {'whole' if FULL else 'a fixed sample'}; seeds: {seeds}")
