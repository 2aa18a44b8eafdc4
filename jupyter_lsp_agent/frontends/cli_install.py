"""`install`, `uninstall` and `trust`: what servers there are, and what they may run; each says what it did."""

import argparse
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from jupyter_lsp_agent.frontends.cli_arguments import USAGE_ERROR, UsageError
from jupyter_lsp_agent.frontends.cli_console import Console
from jupyter_lsp_agent.service.installing import ServerInstalls
from jupyter_lsp_agent.service.settings import Settings
from jupyter_lsp_agent.service.trust import distrust, read_trusted_roots, trust


def run_install(options: argparse.Namespace, settings: Settings, console: Console) -> int:
    """Install servers, or list what can be, or tell what would be done; the exit code is 2 where one failed."""
    installs = ServerInstalls(settings, sys_prefix=options.sys_prefix, report=console.note)
    if options.list:
        console.result("\n".join(installs.listing()) + "\n")
        return 0
    names = options.ids or installs.wanted_below(Path.cwd())
    if not names:
        console.note(
            "nothing to install: no file below the current folder is in a language whose server is missing; name one "
            "(`jupyter lsp-agent install --list` lists them)"
        )
    if options.dry_run:
        lines, problems = installs.plan(names)
        console.result("".join(f"{line}\n" for line in lines))
    else:
        with _ended_by_sigterm():
            problems = installs.install(names, lambda done: console.result(f"{done}\n"))
    for problem in problems:
        console.note(problem)
    return USAGE_ERROR if problems else 0


def run_uninstall(options: argparse.Namespace, settings: Settings, console: Console) -> int:
    """Remove a server.

    Raises:
        UsageError: it is not installed.
    """
    installs = ServerInstalls(settings, sys_prefix=options.sys_prefix, report=console.note)
    if not installs.uninstall(options.id):
        raise UsageError(
            f"{options.id} was not installed into {installs.folder} by `install`, and nothing else is removed; "
            "`jupyter lsp-agent install --list` tells what is there"
        )
    console.result(f"removed: {options.id}\n")
    return 0


def run_trust(options: argparse.Namespace, settings: Settings, console: Console) -> int:
    """Trust a folder, or no longer, or list those that are; the exit code is 2 where it was not trusted.

    Raises:
        UsageError: `--remove` without a folder.
    """
    if options.path is None:
        if options.remove:
            raise UsageError(
                "trust --remove needs a PATH; `jupyter lsp-agent trust` lists the folders that are trusted"
            )
        _list_trusted(settings, console)
        return 0
    folder = Path(options.path)
    if not options.remove:
        console.result(f"trusted: {trust(folder)}\n")
        return 0
    if distrust(folder):
        console.result(f"no longer trusted: {folder.resolve()}\n")
        return 0
    console.note(f"{folder} was not trusted by this command; see `trusted_roots` in Jupyter's configuration")
    return USAGE_ERROR


def _list_trusted(settings: Settings, console: Console) -> None:
    folders = [
        *(f"{folder}" for folder in read_trusted_roots()),
        *(f"{folder} (the setting `trusted_roots`)" for folder in settings.trusted_roots),
    ]
    console.result("".join(f"{folder}\n" for folder in folders))
    if not folders:
        console.note("no folder is trusted; `jupyter lsp-agent trust PATH` trusts one")


@contextmanager
def _ended_by_sigterm() -> Iterator[None]:
    """A request to terminate ends the block as Ctrl-C does, so that half an install is removed."""

    def terminate(number: int, _frame: FrameType | None) -> None:
        raise SystemExit(128 + number)

    if threading.current_thread() is not threading.main_thread():
        yield
        return
    before = signal.signal(signal.SIGTERM, terminate)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
