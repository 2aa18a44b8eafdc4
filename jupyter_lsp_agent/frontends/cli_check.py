"""`check`: find the files, ask the service about each, write the reports in order, and say how it went.

Several files are asked about at a time; a report waits until those before it are written. A file that goes wrong is a
report like any other and stops nobody.
"""

import argparse
import asyncio
import logging
import os
import sys
from collections.abc import AsyncGenerator, Callable, Sequence
from contextlib import AbstractAsyncContextManager, aclosing
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Protocol

from jupyter_lsp_agent.core.errors import JupyterLspAgentError, SettingsError
from jupyter_lsp_agent.core.files import is_folder
from jupyter_lsp_agent.core.ids import ServerId
from jupyter_lsp_agent.core.printable import escape_hidden
from jupyter_lsp_agent.diagnostics.build import no_verdict_report
from jupyter_lsp_agent.diagnostics.facts import ReportFacts, ViewOptions
from jupyter_lsp_agent.diagnostics.render import RENDERERS, OutputFormat, Renderer
from jupyter_lsp_agent.diagnostics.report import NoVerdictReason, Report, Verdict
from jupyter_lsp_agent.frontends.cli_arguments import USAGE_ERROR, UsageError
from jupyter_lsp_agent.frontends.cli_baseline import Baselines
from jupyter_lsp_agent.frontends.cli_console import Console
from jupyter_lsp_agent.service.discovery import (
    DiscoveredFile,
    Discovery,
    DiscoveryOptions,
    discover,
    path_in_repository,
)
from jupyter_lsp_agent.service.history import NoRepositoryError, UnusableRevisionError
from jupyter_lsp_agent.service.requests import CheckRequest
from jupyter_lsp_agent.service.settings import Settings
from jupyter_lsp_agent.service.unforeseen import describe_unforeseen

_MAX_DEFAULT_JOBS = 4
_EXPECTED_IN_FOLDERS = frozenset({NoVerdictReason.UNSUPPORTED_LANGUAGE, NoVerdictReason.NOT_INSTALLED})
_LOGGER = logging.getLogger("jupyter_lsp_agent")


class CheckingService(Protocol):
    """What `check` needs of the service."""

    async def check(self, request: CheckRequest) -> Report:
        """The report on one document."""
        ...

    async def settle_installs(self, tell: Callable[[str], None]) -> bool:
        """Wait for servers that checks missed and that are being installed, a bounded time; whether any was."""
        ...


OpenService = Callable[[Settings], AbstractAsyncContextManager[CheckingService]]
"""Opens the service, for as long as the block lasts."""


@dataclass(frozen=True, slots=True)
class CheckJob:
    """A file, and what is asked about it."""

    file: DiscoveredFile
    request: CheckRequest


async def run_check(
    options: argparse.Namespace, settings: Settings, open_service: OpenService, console: Console
) -> int:
    """Check, write the reports, and return the exit code.

    Raises:
        UsageError: the options do not go together.
        SettingsError: a setting or an option cannot have its value.
        BrokenPipeError: nobody reads the results any more.
    """
    discovery = _find_files(options, settings)
    for sentence in (*discovery.problems, *discovery.notes):
        console.note(escape_hidden(sentence))
    if not discovery.files:
        console.note(escape_hidden(f"warning: no notebooks found in {', '.join(options.paths or ['.'])}"))
    baselines = Baselines(options)
    jobs = [CheckJob(file, _request(file, options, baselines)) for file in discovery.files]
    writer = _Writer(options, console)
    console.start_progress(len(jobs))
    if jobs:
        async with (
            open_service(settings) as service,
            aclosing(_reports(service, jobs, options.jobs or _default_jobs(), console)) as reports,
        ):
            async for job, report in reports:
                writer.write(job.file, report)
                for sentence in baselines.take(job.file.path, report):
                    console.note(escape_hidden(sentence))
            await service.settle_installs(console.note_once)
    writer.close()
    for sentence in baselines.close():
        console.note(escape_hidden(sentence))
    return USAGE_ERROR if discovery.problems else writer.exit_code()


def _find_files(options: argparse.Namespace, settings: Settings) -> Discovery:
    if "-" in options.paths:
        return _standard_input(options)
    if options.stdin_filename is not None:
        raise UsageError("--stdin-filename goes with - alone")
    if "" in options.paths:
        raise UsageError("an empty text names no file (an unset variable?); the current folder is `.`")
    return discover(
        options.paths or ["."],
        DiscoveryOptions(
            include=tuple(options.include),
            exclude=tuple(options.exclude),
            never=settings.exclude,
            use_workspace="exclude" not in settings.given,
        ),
    )


def _standard_input(options: argparse.Namespace) -> Discovery:
    if options.paths != ["-"] or options.stdin_filename is None:
        raise UsageError("- stands alone and needs --stdin-filename NAME")
    path = Path(os.path.normpath(Path.cwd() / options.stdin_filename))
    # Below the current folder, which servers take for the root, the folder may be one that is yet to be made.
    if not options.stdin_filename or not (path.is_relative_to(Path.cwd()) or is_folder(path.parent)):
        raise UsageError(f"--stdin-filename {options.stdin_filename!r}: there is no such folder; correct the path")
    return Discovery((DiscoveredFile(path, options.stdin_filename, path, is_explicit=True),))


def _request(file: DiscoveredFile, options: argparse.Namespace, baselines: Baselines) -> CheckRequest:
    github = options.format == OutputFormat.GITHUB
    return CheckRequest(
        path=file.path,
        display_path=path_in_repository(file) if github else file.display_path,
        content_bytes=_read_standard_input() if options.stdin_filename is not None else None,
        named=file.named,
        view=ViewOptions(max_per_cell=options.max_per_cell, max_total=options.max_total),
        server=None if options.server is None else ServerId(options.server),
        python=None if options.python is None else Path(os.path.abspath(options.python)),  # noqa: PTH100 - no symlinks
        timeout_seconds=options.timeout,
        comparison=baselines.comparison(file.path),
    )


def _read_standard_input() -> bytes:
    if sys.stdin is None:
        raise UsageError("standard input is closed")
    return sys.stdin.buffer.read()


def _default_jobs() -> int:
    return min(_MAX_DEFAULT_JOBS, os.cpu_count() or 1)


async def _reports(
    service: CheckingService, jobs: Sequence[CheckJob], at_a_time: int, console: Console
) -> AsyncGenerator[tuple[CheckJob, Report], None]:
    """The reports in the order of the jobs, each as soon as it and those before it are there."""
    free = asyncio.Semaphore(at_a_time)

    async def check(job: CheckJob) -> Report:
        async with free:
            report = await _check_one(service, job.request)
            if report.reason is NoVerdictReason.NOT_INSTALLED and await service.settle_installs(console.note_once):
                report = await _check_one(service, job.request)
        console.advance()
        return report

    tasks = [asyncio.create_task(check(job)) for job in jobs]
    try:
        for job, task in zip(jobs, tasks, strict=True):
            yield job, await task
    finally:
        await _cancel(tasks)


async def _cancel(tasks: Sequence["asyncio.Task[Report]"]) -> None:
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


async def _check_one(service: CheckingService, request: CheckRequest) -> Report:
    """The service's report; where it fails on this file, a report that says so."""
    try:
        return await service.check(request)
    except (SettingsError, UnusableRevisionError):  # true of all files, and told once
        raise
    except NoRepositoryError as error:
        detail = f"{error}, or compare with a file by `--baseline FILE`"
        return _failed(request, detail, NoVerdictReason.OUTSIDE_WORKSPACE)
    except JupyterLspAgentError as error:
        return _failed(request, f"{error}")
    except Exception as error:  # a mistake of ours on one file must not cost the verdicts on the others
        _LOGGER.debug("checking %s failed", request.path, exc_info=True)
        return _failed(request, describe_unforeseen(error))


def _failed(request: CheckRequest, detail: str, reason: NoVerdictReason = NoVerdictReason.BROKEN) -> Report:
    facts = ReportFacts(
        path=request.display_path or str(request.path), text=None, content_source=None, checked_at=datetime.now(UTC)
    )
    return no_verdict_report(facts, reason, detail)


class _Writer:
    """Writes reports, and keeps what the exit code needs."""

    def __init__(self, options: argparse.Namespace, console: Console) -> None:
        self._options = options
        self._console = console
        self._format = OutputFormat(options.format)
        self._renderer: Renderer = RENDERERS[self._format]
        self._written = 0
        self._something_to_show = False
        self._without_verdict = False

    def write(self, file: DiscoveredFile, report: Report) -> None:
        """Write one report, or tell of it, or neither where only files with something to show are wanted."""
        told = self._is_expected(file, report)
        if told:
            self._console.note(report.to_text())
        self._something_to_show |= bool(report)
        self._without_verdict |= report.verdict is Verdict.NO_VERDICT and not told
        if told and self._format in {OutputFormat.TEXT, OutputFormat.GITHUB}:
            return
        if self._options.quiet and not report and (told or report.verdict is not Verdict.NO_VERDICT):
            return
        self._write_text(self._renderer.render(report))

    def close(self) -> None:
        """Write what ends the results."""
        self._console.result(self._renderer.closing if self._written else self._renderer.nothing)
        self._console.close()

    def exit_code(self) -> int:
        """2 for a file without a verdict, else 1 where there is something to show, else 0."""
        if self._without_verdict:
            return USAGE_ERROR
        return int(self._something_to_show and not self._options.exit_zero)

    def _write_text(self, text: str) -> None:
        if not text:
            return
        before = self._renderer.separator if self._written else self._renderer.opening
        self._written += 1
        self._console.result(before + text + self._renderer.end)

    def _is_expected(self, file: DiscoveredFile, report: Report) -> bool:
        """Whether a notebook that merely lies in a folder has no verdict for want of a server: no fault of the check.

        A server that was asked for by name and is not there is one.
        """
        return (
            not self._options.strict
            and not file.is_explicit
            and file.is_notebook
            and report.reason in _EXPECTED_IN_FOLDERS
            and not (self._options.server is not None and report.reason is NoVerdictReason.NOT_INSTALLED)
        )
