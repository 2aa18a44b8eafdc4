"""Looking at processes: which of them still live."""

import os
import select
import sys
import time
from collections.abc import Iterable
from pathlib import Path

import psutil

from jupyter_lsp_agent.core.launch import LaunchCommand

_STUBBORN = str(Path(__file__).with_name("stubborn.py"))
_RESET = """
import os, signal, sys
for number in signal.valid_signals():
    if signal.getsignal(number) == signal.SIG_IGN:
        signal.signal(number, signal.SIG_DFL)
os.execv(sys.argv[1], sys.argv[1:])
"""
WITH_USUAL_SIGNALS = (sys.executable, "-I", "-S", "-c", _RESET)
"""Before a command that a signal is to end: where the tests were started with a shell's `&` or with `nohup`, it would
inherit that some are ignored."""


def stubborn(*words: str, environment: dict[str, str] | None = None) -> LaunchCommand:
    """The command that starts `stubborn.py`."""
    argv = (sys.executable, "-I", "-S", _STUBBORN, *words)
    return LaunchCommand(argv, Path.cwd(), environment or {})


def lives(process: psutil.Process) -> bool:
    """Whether it runs; one that has ended and was not yet taken note of by its parent does not."""
    try:
        return process.is_running() and process.status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


def processes_of(pids: Iterable[int]) -> list[psutil.Process]:
    """Handles that stay with their process even when its pid is used again."""
    return [psutil.Process(pid) for pid in pids]


def survivors(processes: Iterable[psutil.Process], *, timeout_seconds: float = 5.0) -> list[psutil.Process]:
    """Those that still live after `timeout_seconds`; returns as soon as none does.

    They are killed then, so that a test that failed leaves nothing behind either.
    """
    ends_at = time.monotonic() + timeout_seconds
    waiting = list(processes)
    for process in waiting:
        _wait_for_end(process, max(0.0, ends_at - time.monotonic()))
    alive = [process for process in waiting if lives(process)]
    for process in alive:
        process.kill()
    return alive


def _wait_for_end(process: psutil.Process, timeout_seconds: float) -> None:
    """A zombie has ended, though an init that is slow to take note of orphans may keep it for seconds."""
    if not hasattr(os, "pidfd_open"):
        psutil.wait_procs([process], timeout=timeout_seconds)
        return
    try:
        descriptor = os.pidfd_open(process.pid)
    except ProcessLookupError:
        return
    try:
        if lives(process):
            select.select([descriptor], [], [], timeout_seconds)
    finally:
        os.close(descriptor)


def marked(mark: str) -> list[psutil.Process]:
    """Every living process whose environment holds the value `mark`, in any variable."""
    found = []
    for process in psutil.process_iter():
        try:
            if mark in process.environ().values() and lives(process):
                found.append(process)
        except (psutil.NoSuchProcess, psutil.AccessDenied):
            continue
    return found
