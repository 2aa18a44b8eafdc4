"""Looking at processes: which of them still live."""

import sys
from collections.abc import Iterable
from pathlib import Path

import psutil

from jupyter_lsp_agent.core.launch import LaunchCommand

_STUBBORN = str(Path(__file__).with_name("stubborn.py"))


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
    """Those that still live after `timeout_seconds`; returns as soon as none does."""
    # A zombie below an init that takes no note of orphans never goes, so they are sorted out first and last.
    waiting = [process for process in processes if lives(process)]
    _, alive = psutil.wait_procs(waiting, timeout=timeout_seconds)
    return [process for process in alive if lives(process)]


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
