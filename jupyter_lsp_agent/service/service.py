"""The use cases: check a document, say what runs, stop everything.

`check` is the recipe that every front end calls. Whatever goes wrong on the way ends as a report without a verdict and
with its reason; only a mistake of ours, or a setting that cannot be, is raised.
"""

import asyncio
import re
from collections import OrderedDict
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Self

from jupyter_lsp_agent.core.clock import Clock, SystemClock
from jupyter_lsp_agent.core.errors import NotebookError
from jupyter_lsp_agent.core.ids import DocumentUri, LanguageId
from jupyter_lsp_agent.core.launch import ServerLaunch
from jupyter_lsp_agent.core.uris import uri_from_path
from jupyter_lsp_agent.diagnostics.build import build_report, no_verdict_report
from jupyter_lsp_agent.diagnostics.facts import Finding, ReportFacts
from jupyter_lsp_agent.diagnostics.report import DocumentKind, EnvironmentReport, NoVerdictReason, Report, Status
from jupyter_lsp_agent.lsp.client import LanguageClient
from jupyter_lsp_agent.notebook.build_options import BuildOptions
from jupyter_lsp_agent.notebook.languages import PYTHON, detect_language
from jupyter_lsp_agent.notebook.model import CellKind, Notebook
from jupyter_lsp_agent.notebook.reader import read_notebook
from jupyter_lsp_agent.pool.keys import PoolLimits
from jupyter_lsp_agent.pool.pool import ClientPool
from jupyter_lsp_agent.servers.interpreters import Interpreter, resolve_interpreter
from jupyter_lsp_agent.service.asking import Asker, Waits
from jupyter_lsp_agent.service.documents import (
    StoredDocument,
    UncheckableError,
    decode_text,
    document_kind,
    read_document,
)
from jupyter_lsp_agent.service.namespace import startup_names
from jupyter_lsp_agent.service.notebook_check import NotebookMemory, NotebookTask, check_notebook
from jupyter_lsp_agent.service.places import Place, PlaceFinder, ipython_startup_folder, is_excluded
from jupyter_lsp_agent.service.probe import probe_servers
from jupyter_lsp_agent.service.requests import CheckRequest
from jupyter_lsp_agent.service.settings import Settings
from jupyter_lsp_agent.service.status import build_status, running_status, with_probe
from jupyter_lsp_agent.service.text_check import TextTask, check_text, text_language

MAX_CELLS = 10_000
"""A notebook with more cells is not checked."""

_MAX_REMEMBERED_NOTEBOOKS = 64
_PYTHON_3 = re.compile(r"(3)\.(\d+)")
_OLDEST_PYTHON = (3, 7)
"""Older ones are no server's business any more; their code is read as that of the Python at hand."""


class NotebookDiagnosticsService:
    """Checks documents with servers that it starts, shares and stops.

    Args:
        settings: of this process; a workspace may narrow them.
        server_root: the server's root over REST, the current folder elsewhere.
        clock: the time.
    """

    def __init__(self, settings: Settings, *, server_root: Path, clock: Clock) -> None:
        self._settings = settings
        self._clock = clock
        self._places = PlaceFinder(settings, server_root)
        self._pool: ClientPool[LanguageClient] = ClientPool(_limits(settings), clock, self._start_client)
        self._asker = Asker(self._pool, clock)
        self._memories: OrderedDict[Path, NotebookMemory] = OrderedDict()
        self._startup_names: frozenset[str] | None = None

    @classmethod
    async def open(cls, settings: Settings, *, server_root: Path | None = None, clock: Clock | None = None) -> Self:
        """A service on the running loop; it starts nothing before the first check."""
        return cls(settings, server_root=server_root or Path.cwd(), clock=clock or SystemClock())

    async def check(self, request: CheckRequest) -> Report:
        """The report on one document.

        Raises:
            SettingsError: the request names an interpreter that is none.
        """
        case = _Case(request, self._clock.monotonic_seconds())
        try:
            place = await asyncio.to_thread(self._places.find, request.path, named=request.named)
            await self._gather(case, place)
        except UncheckableError as error:
            return no_verdict_report(self._timed(case), error.reason, str(error))
        return build_report(self._timed(case), request.view_under(place.settings))

    async def status(self) -> dict[str, Any]:
        """What servers there are, what runs and what failed, as the object of `GET status`."""
        pool = await self._pool.status()
        return build_status(self._settings, self._places.registry, self._places.search, pool)

    async def probe(self) -> dict[str, Any]:
        """The status, after a handshake with every server that is installed: their versions, or what is wrong."""
        results = await probe_servers(self._places.registry, self._places.search, self._start_client)
        return with_probe(await self.status(), ((one.server_id, one.version, one.problem) for one in results))

    async def restart(self, server_id: str, root: str | None = None) -> dict[str, Any]:
        """Stop and start again what runs of a server, in one root or in all, and forget its failures: `{running}`.

        Raises:
            SettingsError: no server has this id.
        """
        spec = self._places.registry.get(server_id)
        pool = await self._pool.restart(spec.server_id, _root_uri(root))
        return {"running": [running_status(one) for one in pool.running]}

    async def aclose(self) -> None:
        """Give up what is under way and stop every server."""
        try:
            await self._asker.aclose()
        finally:
            await self._pool.aclose()

    async def _gather(self, case: "_Case", place: Place) -> None:
        _require_allowed(place)
        stored = await read_document(place.path, case.request.content_bytes, source=case.request.content_source)
        case.learn(content_source=stored.source)
        if case.facts.kind is DocumentKind.TEXT:
            await self._check_text(case, place, stored)
        else:
            await self._check_notebook(case, place, _read(stored))

    async def _check_notebook(self, case: "_Case", place: Place, notebook: Notebook) -> None:
        language = detect_language(notebook)
        case.learn(text="", cells=notebook.cells, language=language)
        if not any(cell.kind is CellKind.CODE or cell.defect for cell in notebook.cells):
            return
        interpreter = await self._interpreter(place, case.request, notebook)
        task = NotebookTask(
            place=place,
            notebook=notebook,
            interpreter=interpreter,
            options=self._build_options(place, interpreter),
            memory=self._memory(place.path),
            language=_require_language(language),
            server=case.request.server,
            waits=_waits(case.request, place.settings),
            closes=case.request.is_proposed,
        )
        outcome = await check_notebook(task, self._asker)
        case.learn(
            findings=tuple(Finding(Status.PRESENT, found) for found in outcome.findings),
            servers=outcome.servers,
            failures=outcome.failures,
            unchecked=outcome.unchecked,
            unmapped=outcome.unmapped,
            environment=_environment(interpreter) if language == PYTHON else None,
        )

    async def _check_text(self, case: "_Case", place: Place, stored: StoredDocument) -> None:
        text, language = decode_text(place.path, stored.data), text_language(place)
        case.learn(text=text, language=language)
        interpreter = await self._interpreter(place, case.request)
        task = TextTask(
            place=place,
            text=text,
            language=language,
            interpreter=interpreter,
            server=case.request.server,
            waits=_waits(case.request, place.settings),
            closes=case.request.is_proposed,
        )
        outcome = await check_text(task, self._asker)
        case.learn(
            findings=tuple(Finding(Status.PRESENT, found) for found in outcome.findings),
            servers=outcome.servers,
            failures=outcome.failures,
            environment=_environment(interpreter) if language == PYTHON else None,
        )

    async def _interpreter(self, place: Place, request: CheckRequest, notebook: Notebook | None = None) -> Interpreter:
        interpreter = await asyncio.to_thread(
            resolve_interpreter,
            place.path.parent,
            place.boundary,
            surroundings=place.surroundings,
            kernel_name=notebook.kernel.kernel_name if notebook else None,
            named=request.python,
            is_notebook=notebook is not None,
        )
        if notebook is None or interpreter.elsewhere is None:
            return interpreter
        # The kernel is not here, but the notebook says which Python it was.
        said = _PYTHON_3.match(notebook.kernel.language_version or "")
        version = (int(said[1]), int(said[2])) if said else (0, 0)
        return replace(interpreter, version=version) if version >= _OLDEST_PYTHON else interpreter

    def _build_options(self, place: Place, interpreter: Interpreter) -> BuildOptions:
        settings = place.settings
        return BuildOptions(
            kernel_names=frozenset(settings.kernel_names) | self._names_at_startup(),
            python_cell_magics=frozenset(settings.python_cell_magics),
            ignore_cell_tags=frozenset(settings.ignore_cell_tags),
            python_version=interpreter.version,
        )

    def _names_at_startup(self) -> frozenset[str]:
        if self._startup_names is None:
            self._startup_names = startup_names(ipython_startup_folder(self._places.search.environ))
        return self._startup_names

    def _memory(self, path: Path) -> NotebookMemory:
        memory = self._memories.setdefault(path, NotebookMemory())
        self._memories.move_to_end(path)
        while len(self._memories) > _MAX_REMEMBERED_NOTEBOOKS:
            self._memories.popitem(last=False)
        return memory

    def _timed(self, case: "_Case") -> ReportFacts:
        return replace(case.facts, elapsed_seconds=self._clock.monotonic_seconds() - case.began_seconds)

    async def _start_client(self, launch: ServerLaunch) -> LanguageClient:
        client = LanguageClient(launch, clock=self._clock, max_open_documents=self._settings.max_open_documents)
        await client.start()
        return client


class _Case:
    """One check under way: what is known so far, so that a report without a verdict says all of it too."""

    def __init__(self, request: CheckRequest, began_seconds: float) -> None:
        self.request = request
        self.began_seconds = began_seconds
        self.facts = ReportFacts(
            path=request.display_path or str(request.path),
            kind=document_kind(request.path),
            text=None,
            content_source=None,
            checked_at=datetime.now(UTC),
        )

    def learn(self, **facts: Any) -> None:
        """Add to what is known."""
        self.facts = replace(self.facts, **facts)


def _root_uri(root: str | None) -> DocumentUri | None:
    """A root as the status names it; symbolic links in it are names too."""
    return None if root is None else uri_from_path(Path(root).absolute())


def _read(stored: StoredDocument) -> Notebook:
    try:
        notebook = read_notebook(stored.data, stored.path.name)
    except NotebookError as error:
        raise UncheckableError(NoVerdictReason.UNREADABLE, str(error)) from None
    if len(notebook.cells) > MAX_CELLS:
        raise UncheckableError(
            NoVerdictReason.TOO_LARGE,
            f"{stored.path.name} has {len(notebook.cells)} cells, and {MAX_CELLS} are the most; split it",
        )
    return notebook


def _require_allowed(place: Place) -> None:
    if not place.settings.enabled:
        raise UncheckableError(NoVerdictReason.DISABLED, "checking is switched off; set `enabled` to true")
    if is_excluded(place.path, place.boundary, place.settings.exclude):
        raise UncheckableError(
            NoVerdictReason.DISABLED,
            f"{place.path.name} is left out by the setting `exclude`; change it to have it checked",
        )


def _require_language(language: LanguageId | None) -> LanguageId:
    if language is None:
        raise UncheckableError(
            NoVerdictReason.UNSUPPORTED_LANGUAGE,
            "nothing tells the notebook's language; set `metadata.kernelspec.language` in it",
        )
    return language


def _waits(request: CheckRequest, settings: Settings) -> Waits:
    if request.wait_seconds is not None:
        return Waits(
            taken_up_seconds=None, whole_seconds=request.wait_seconds, first_whole_seconds=request.wait_seconds
        )
    if request.timeout_seconds is not None:
        return Waits(taken_up_seconds=request.timeout_seconds)
    return Waits(
        taken_up_seconds=None,
        whole_seconds=settings.wait_ms / 1000,
        first_whole_seconds=settings.first_wait_ms / 1000,
    )


def _environment(interpreter: Interpreter) -> EnvironmentReport:
    return EnvironmentReport(python=str(interpreter.python or interpreter.prefix), origin=interpreter.origin)


def _limits(settings: Settings) -> PoolLimits:
    return PoolLimits(
        max_servers=settings.max_servers,
        max_open_documents=settings.max_open_documents,
        max_server_rss_bytes=settings.max_server_rss_mb * 1024 * 1024,
        idle_timeout_seconds=settings.idle_timeout_s,
        broken_retry_seconds=settings.broken_retry_s,
        initialize_timeout_seconds=settings.initialize_timeout_s,
        startup_timeout_seconds=settings.startup_timeout_s,
    )
