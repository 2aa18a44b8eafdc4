"""Who does the checking: the Jupyter server that has warm language servers already, or a service of our own.

Both take the same task. An engine that cannot do it says so with an error; a check without an answer is a report.
"""

import asyncio
import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Protocol

from jupyter_lsp_agent.core.diagnostic import DiagnosticSeverity
from jupyter_lsp_agent.core.errors import InvalidReportError
from jupyter_lsp_agent.core.ids import ServerId
from jupyter_lsp_agent.diagnostics.cleaning import clean_json
from jupyter_lsp_agent.diagnostics.facts import ViewOptions
from jupyter_lsp_agent.diagnostics.read_json import report_from_dict
from jupyter_lsp_agent.diagnostics.report import ContentSource, Report
from jupyter_lsp_agent.frontends.magic.jupyter_servers import KernelSession, ServerAnswerError, ServerClient
from jupyter_lsp_agent.service.requests import CheckRequest, Comparison, SessionKey
from jupyter_lsp_agent.service.service import NotebookDiagnosticsService
from jupyter_lsp_agent.service.settings import Settings

_CONNECTION_SECONDS = 5.0
"""What an answer may take beside the check itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckTask:
    """What is to be checked.

    Attributes:
        path: the document, absolute; it need not exist where there is `data`.
        name: how the report is to name it.
        data: its content, where that is not simply what is stored; `None`: what is stored.
        source: where `data` come from.
        stored: the stored content that proposed `data` are compared with, in a session.
        session: the name of the session that is compared with; `None`: none.
        baseline: `none`, `session` or `git:REV`.
        remembers: `data` are what the user has: the session's verdict becomes theirs.
        severity: the least that counts; `None`: as the settings say.
        view: what is shown.
        server: this language server alone.
        python: the interpreter, where it is known.
        given_names: names that are there, whether a cell binds them or not.
    """

    path: Path
    name: str
    data: bytes | None = field(default=None, repr=False)
    source: ContentSource = ContentSource.FILE
    stored: bytes | None = field(default=None, repr=False)
    session: str | None = None
    baseline: str = "none"
    remembers: bool = False
    severity: DiagnosticSeverity | None = None
    view: ViewOptions = field(default_factory=ViewOptions)
    server: ServerId | None = None
    python: Path | None = None
    given_names: frozenset[str] = frozenset()


class Engine(Protocol):
    """Checks."""

    async def check(self, task: CheckTask) -> Report:
        """The report on a task.

        Raises:
            InvalidRequestError: the task cannot be meant.
        """
        ...


class OwnEngine:
    """A service in this process, with language servers of its own; opened when it is first needed."""

    def __init__(self, settings: Settings) -> None:
        self._settings = settings
        self._service: NotebookDiagnosticsService | None = None
        self._opening = asyncio.Lock()

    async def check(self, task: CheckTask) -> Report:
        """The report on a task."""
        async with self._opening:  # calls may come from several threads of the kernel
            if self._service is None:
                self._service = await NotebookDiagnosticsService.open(self._settings)
        report = await self._service.check(_request(task))
        if task.python is not None and report.environment is not None:
            report = replace(report, environment=replace(report.environment, origin="this kernel"))
        return report

    async def aclose(self) -> None:
        """Stop the language servers."""
        if self._service is not None:
            await self._service.aclose()


class ServerEngine:
    """The extension in a Jupyter server, asked over REST."""

    def __init__(self, client: ServerClient, session: KernelSession, settings: Settings) -> None:
        self._client = client
        self._session = session
        self._longest_seconds = settings.first_wait_ms / 1000
        self._severity = settings.severity

    async def check(self, task: CheckTask) -> Report:
        """The report on a task.

        Raises:
            ServerAnswerError: the server gives none. What it refuses may be a mistake of the user's, or its version may
                be another than ours: an engine of our own tells which.
        """
        seconds = self._longest_seconds + _CONNECTION_SECONDS
        answer = await self._client.post(
            self._session.server, "jupyter-lsp-agent/check", _body(self._session.name, task), seconds
        )
        try:
            return report_from_dict(clean_json(answer), severity=task.severity or self._severity)
        except (InvalidReportError, RecursionError) as error:
            raise ServerAnswerError(str(error)) from None


def _request(task: CheckTask) -> CheckRequest:
    key = None if task.session is None else SessionKey("kernel", task.session)
    is_proposed = task.data is not None and task.source is ContentSource.REQUEST
    return CheckRequest(
        path=task.path,
        display_path=task.name,
        content_bytes=task.data,
        content_source=task.source,
        named=task.path,
        severity=task.severity,
        view=task.view,
        server=task.server,
        python=task.python,
        given_names=task.given_names,
        comparison=Comparison(
            baseline=task.baseline,
            session=key,
            before_bytes=task.stored if is_proposed and not task.remembers else None,
            keeps=task.remembers or not is_proposed,
        ),
    )


def _body(name: str, task: CheckTask) -> dict[str, Any]:
    view = task.view
    body: dict[str, Any] = {
        "path": name,
        "baseline": task.baseline,
        "session": task.session,
        "severity": None if task.severity is None else task.severity.name.lower(),
        "statuses": sorted(status.value for status in view.statuses),
        "cells": None if view.cells is None else sorted(view.cells),
        "max_per_cell": view.max_per_cell,
        "max_total": view.max_total,
    }
    if task.data is not None and task.source is ContentSource.REQUEST:
        body["content"] = json.loads(task.data)
        body["remember"] = task.remembers or None
    body["given_names"] = sorted(task.given_names) or None
    return {key: value for key, value in body.items() if value is not None}
