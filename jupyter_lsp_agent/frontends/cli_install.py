"""`install` and `uninstall`: language servers into a folder of our own."""

import argparse
from pathlib import Path

from jupyter_lsp_agent.frontends.cli_arguments import USAGE_ERROR
from jupyter_lsp_agent.frontends.cli_console import Console
from jupyter_lsp_agent.service.installing import ServerInstalls
from jupyter_lsp_agent.service.settings import Settings


def run_install(options: argparse.Namespace, settings: Settings, console: Console) -> int:
    """Install servers, or list what can be, or tell what would be done; the exit code is 2 where one failed."""
    installs = ServerInstalls(settings, sys_prefix=options.sys_prefix, report=console.note)
    if options.list:
        console.result("\n".join(installs.listing()) + "\n")
        return 0
    names = options.ids or installs.wanted_below(Path.cwd())
    if options.dry_run:
        console.result("".join(f"{line}\n" for line in installs.plan(names)))
        return 0
    problems = installs.install(names)
    for problem in problems:
        console.note(problem)
    return USAGE_ERROR if problems else 0


def run_uninstall(options: argparse.Namespace, settings: Settings, console: Console) -> int:
    """Remove a server; the exit code is 2 where it is not installed."""
    installs = ServerInstalls(settings, sys_prefix=options.sys_prefix, report=console.note)
    if installs.uninstall(options.id):
        return 0
    console.note(f"{options.id} is not installed there; `jupyter lsp-agent install --list` tells what is")
    return USAGE_ERROR
