"""The command `jupyter lsp-agent`: parse, run, and turn whatever goes wrong into one line and an exit code.

Imports that take time are made only once a command is known to need them.
"""

import argparse
import logging
import os
import signal
import sys
from collections.abc import AsyncGenerator, Coroutine, Iterator, Sequence
from contextlib import asynccontextmanager, closing, contextmanager
from typing import TYPE_CHECKING, Any

from jupyter_lsp_agent.frontends.cli_arguments import PROGRAM, USAGE_ERROR, Traits, UsageError, parse_arguments

if TYPE_CHECKING:
    from jupyter_lsp_agent.frontends.cli_console import Console
    from jupyter_lsp_agent.service.service import NotebookDiagnosticsService
    from jupyter_lsp_agent.service.settings import Settings

_INTERRUPTED = 128 + signal.SIGINT
_MAX_LINE_CHARACTERS = 4000
_BROKEN_PIPE = 128 + 13
"""What a shell says of a program that wrote to a pipe without a reader (SIGPIPE, which not every system has)."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run the command line; the exit code is the result.

    Args:
        argv: the arguments without the program's name; by default this process's own.
    """
    from jupyter_lsp_agent.core.errors import JupyterLspAgentError

    try:
        options, traits = parse_arguments(sys.argv[1:] if argv is None else argv)
        return _run(options, traits)
    except (UsageError, JupyterLspAgentError) as error:
        return _complain(str(error))
    except KeyboardInterrupt:
        return _INTERRUPTED
    except BrokenPipeError:
        _silence_output()
        return _BROKEN_PIPE
    except OSError as error:  # a full disk below standard output, a current folder that was deleted
        _silence_output()
        return _complain(str(error))
    except Exception as error:  # the outermost door: a mistake of ours is told in a sentence, and no traceback
        from jupyter_lsp_agent.service.unforeseen import describe_unforeseen

        logging.getLogger("jupyter_lsp_agent").debug("the command failed", exc_info=True)
        return _complain(describe_unforeseen(error))


def _run(options: argparse.Namespace, traits: Traits) -> int:
    import asyncio

    from jupyter_lsp_agent.frontends.cli_console import standard_console

    settings = _load_settings(options, traits)
    as_json = getattr(options, "json", False) or getattr(options, "format", "") in {"json", "jsonl"}
    console = standard_console(json=as_json, progress=not getattr(options, "no_progress", True))
    with _warnings_shown(), closing(console):
        if options.command in {"install", "uninstall", "trust"}:
            from jupyter_lsp_agent.frontends.cli_install import run_install, run_trust, run_uninstall

            run = {"install": run_install, "uninstall": run_uninstall, "trust": run_trust}[options.command]
            return run(options, settings, console)
        return asyncio.run(_until_terminated(_command(options, settings, console)))


async def _command(options: argparse.Namespace, settings: "Settings", console: "Console") -> int:
    if options.command == "status":
        from jupyter_lsp_agent.frontends.cli_status import run_status

        return await run_status(settings, open_service, console, as_json=options.json, probe=options.probe)
    if options.command == "query":
        from jupyter_lsp_agent.frontends.cli_query import run_query

        return await run_query(options, settings, open_service, console)
    from jupyter_lsp_agent.frontends.cli_check import run_check

    return await run_check(options, settings, open_service, console)


@asynccontextmanager
async def open_service(settings: "Settings") -> AsyncGenerator["NotebookDiagnosticsService", None]:
    """The service, closed with all its servers when the block is left in whatever way."""
    from jupyter_lsp_agent.service.service import NotebookDiagnosticsService

    service = await NotebookDiagnosticsService.open(settings)
    try:
        yield service
    finally:
        await service.aclose()


async def _until_terminated(command: Coroutine[Any, Any, int]) -> int:
    """The command's exit code; a request to terminate ends it as Ctrl-C does, so that its servers are stopped."""
    import asyncio

    task = asyncio.ensure_future(command)
    loop = asyncio.get_running_loop()
    terminated: list[int] = []

    def terminate() -> None:
        terminated.append(128 + signal.SIGTERM)
        task.cancel()

    if os.name == "posix":
        loop.add_signal_handler(signal.SIGTERM, terminate)
    try:
        return await task
    except asyncio.CancelledError:
        if terminated:
            return terminated[0]
        raise


def _load_settings(options: argparse.Namespace, traits: Traits) -> "Settings":
    from jupyter_lsp_agent.service.settings import describe_settings, load_settings, unknown_setting

    for name in traits.values:
        if name not in describe_settings():
            raise UsageError(unknown_setting("--LspAgent", name))
    return load_settings(_option_values(options), typed=traits.values)


def _option_values(options: argparse.Namespace) -> dict[str, Any]:
    """The settings that have an option of their own, where it was given."""
    if options.command != "check":
        return {}
    ignored = [code for text in options.ignore for code in text.split(",") if code]
    values = {"severity": options.severity, "ignore": ignored}
    return {name: value for name, value in values.items() if value}


@contextmanager
def _warnings_shown() -> Iterator[None]:
    """Warnings of the package on standard error, a line each, for as long as the command runs."""
    logger = logging.getLogger("jupyter_lsp_agent")
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_OneLine())
    handler.setLevel(logging.WARNING)
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


class _OneLine(logging.Formatter):
    """A record on one printable line, for a user: without its traceback, and no line of it begins one of its own."""

    def format(self, record: logging.LogRecord) -> str:
        from jupyter_lsp_agent.core.printable import escape_hidden, shorten

        return shorten(escape_hidden(f"{record.levelname}: {record.getMessage()}"), _MAX_LINE_CHARACTERS)


def _complain(sentence: str) -> int:
    from jupyter_lsp_agent.core.printable import escape_hidden

    sys.stderr.write(f"{PROGRAM}: {escape_hidden(sentence)}\n")
    return USAGE_ERROR


def _silence_output() -> None:
    """Let nothing more be written at exit to where it cannot go."""
    if sys.stdout is not None:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())


if __name__ == "__main__":
    sys.exit(main())
