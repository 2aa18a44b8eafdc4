"""Whatever becomes of us, no server and nothing below a server outlives us by more than five seconds."""

import os
import random
import signal
import subprocess
import sys
import time
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import psutil
import pytest

from tests.support.full import SEEDS, sample
from tests.support.processes import WITH_USUAL_SIGNALS, marked, survivors

_CHECKOUT = Path(__file__).parents[2]
_SEED = SEEDS["kills of the owner"]
_N_KILLS = sample(50, 10)

pytestmark = pytest.mark.skipif(os.name != "posix", reason="process groups")


class Owner:
    """`owner.py` and everything that was started below it, known by a mark in the environment."""

    def __init__(self, way: str) -> None:
        self.mark = uuid.uuid4().hex
        script = str(_CHECKOUT / "tests" / "support" / "owner.py")
        self.process = subprocess.Popen(
            [*WITH_USUAL_SIGNALS, sys.executable, script, way, self.mark],
            cwd=_CHECKOUT,
            env={**os.environ, "PYTHONPATH": str(_CHECKOUT), "MARK": self.mark},
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )

    def read_line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline().strip()

    def read_until(self, stage: str) -> None:
        while (line := self.read_line()) != stage:
            assert line, "the owner ended before its time"

    def below(self) -> list[psutil.Process]:
        return [process for process in marked(self.mark) if process.pid != self.process.pid]


@contextmanager
def owner(way: str = "serve") -> Iterator[Owner]:
    started = Owner(way)
    try:
        yield started
    finally:
        started.process.kill()
        started.process.wait()
        assert started.process.stdout is not None
        started.process.stdout.close()
        for process in started.below():  # only where a test failed
            process.kill()


def assert_nothing_is_left(owner: Owner, *, but: tuple[int, ...] = ()) -> None:
    """Five seconds after this call nothing of `owner` lives but the pids in `but`."""
    ends_at = time.monotonic() + 5
    # Again, since what lives at first may start more before it ends.
    while left := [process for process in owner.below() if process.pid not in but]:
        survived = survivors(left, timeout_seconds=ends_at - time.monotonic())
        assert survived == [], [process.cmdline() for process in survived]


@pytest.mark.timeout(600)
def test_nothing_is_left_when_the_owner_is_killed_at_any_moment(capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():  # into the log, whatever comes of it
        print(f"\n{_N_KILLS} kills, seed {_SEED} (JUPYTER_LSP_AGENT_SEED)")
    moments = random.Random(_SEED)
    n_seen = 0
    for number in range(_N_KILLS):
        stage = ("starting", "started", "serving")[number % 3]
        delay_seconds = moments.uniform(0, 0.06)
        with owner() as killed:
            killed.read_until(stage)
            time.sleep(delay_seconds)
            killed.process.kill()
            killed.process.wait()
            n_seen += bool(killed.below())
            assert_nothing_is_left(killed)
    # Else the test looks at nothing.
    assert n_seen > _N_KILLS // 2


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGKILL])
def test_nothing_is_left_after_a_signal(number: signal.Signals) -> None:
    with owner() as told:
        told.read_until("serving")
        assert len(told.below()) == 6  # two supervisors, the two servers, a child and a daemon
        told.process.send_signal(number)
        told.process.wait()
        assert_nothing_is_left(told)


@pytest.mark.parametrize("way", ["exit", "raise", "abort", "_exit", "stop-loop", "close"])
def test_nothing_is_left_when_the_owner_ends_without_closing(way: str) -> None:
    with owner(way) as ending:
        ending.read_until("serving")
        ending.process.wait()
        assert_nothing_is_left(ending)


def test_a_forked_process_that_holds_every_descriptor_keeps_nothing_alive() -> None:
    with owner("fork") as forking:
        forking.read_until("serving")
        forked = int(forking.read_line())
        forking.process.kill()
        forking.process.wait()
        try:
            assert_nothing_is_left(forking, but=(forked,))
            assert psutil.Process(forked).is_running()
        finally:
            os.kill(forked, signal.SIGKILL)


def test_nothing_is_left_when_owner_and_servers_are_stopped_first() -> None:
    with owner() as stopped:
        stopped.read_until("serving")
        for process in stopped.below():
            if "supervisor.py" not in " ".join(process.cmdline()):
                process.suspend()
        stopped.process.kill()
        stopped.process.wait()
        assert_nothing_is_left(stopped)
