"""The extension: it registers routes and listeners, and opens the service at the first request.

Nothing is started or searched for while the server starts. The service ends with the server, and its language servers
with it.
"""

import asyncio
import logging
from collections.abc import Coroutine
from dataclasses import replace
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar, cast

from jupyter_server.extension.application import ExtensionApp
from tornado.web import HTTPError
from traitlets.config.loader import DeferredConfigString

from jupyter_lsp_agent._version import __version__
from jupyter_lsp_agent.core.errors import JupyterLspAgentError
from jupyter_lsp_agent.frontends.server_extension.events import ResultEvents, listen_to_contents
from jupyter_lsp_agent.frontends.server_extension.handlers import ROUTES

if TYPE_CHECKING:
    from jupyter_lsp_agent.diagnostics.report import Report
    from jupyter_lsp_agent.frontends.server_extension.contents import ContentsStore
    from jupyter_lsp_agent.service.settings import Settings

_LONGEST_WRITE_SECONDS = 10.0
_LOGGER = logging.getLogger("jupyter_lsp_agent")
_T = TypeVar("_T")


class LspAgentApp(ExtensionApp):
    """Jupyter's handle on this package."""

    name = "jupyter_lsp_agent"
    version = __version__
    load_other_extensions = True

    _opened: asyncio.Task[Any] | None = None
    _store: "ContentsStore | None" = None
    _events: ResultEvents | None = None
    _is_stopped = False

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._tasks: set[asyncio.Task[Any]] = set()

    def initialize_settings(self) -> None:
        """Register the event schema and listen to saves."""
        server = self._server()
        self._events = ResultEvents(server.event_logger)
        listen_to_contents(server.event_logger, self._on_saved, self._on_moved)

    def initialize_handlers(self) -> None:
        """Register the routes."""
        self.handlers.extend(ROUTES)

    async def service(self) -> Any:
        """The service of this server, an `AgentService`; opened once.

        Raises:
            HTTPError: the server is being stopped.
            SettingsError: a setting has a value that it cannot have.
        """
        if self._is_stopped:
            raise HTTPError(HTTPStatus.SERVICE_UNAVAILABLE, "the server is being stopped")
        if self._opened is None:
            self._opened = asyncio.ensure_future(self._open(self.settings_in_force()))
        return await asyncio.shield(self._opened)

    def begin(self, work: Coroutine[Any, Any, _T]) -> "asyncio.Task[_T]":
        """Begin work that ends with the server.

        Nothing else begins any: a task that outlives the loop keeps its threads, and so the process.
        """
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)
        return task

    async def stop_extension(self) -> None:
        """Give up all work but writing, and end the service, and every language server with it."""
        self._is_stopped = True
        opened, self._opened = self._opened, None
        for task in (tasks := tuple(self._tasks)):
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=_LONGEST_WRITE_SECONDS)
        if opened is not None and not (opened.done() and opened.exception()):
            await (await opened).aclose()
        if self._store is not None:
            self._store.close()

    def current_activity(self) -> None:
        """Checks are no activity that keeps a server from being culled."""

    async def _open(self, settings: "Settings") -> Any:
        from jupyter_lsp_agent.core.clock import SystemClock
        from jupyter_lsp_agent.frontends.server_extension.contents import ContentsStore
        from jupyter_lsp_agent.frontends.server_extension.live import LiveStore
        from jupyter_lsp_agent.frontends.server_extension.shared_changes import SharedChanges
        from jupyter_lsp_agent.service.agent_service import AgentService
        from jupyter_lsp_agent.service.service import NotebookDiagnosticsService

        server, clock = self._server(), SystemClock()
        root = await asyncio.to_thread(Path(server.root_dir).absolute)
        self._store = ContentsStore(server.contents_manager)
        checks = await NotebookDiagnosticsService.open(settings, server_root=root, clock=clock)
        documents = LiveStore(self._store, server.web_app.settings)
        service = AgentService(checks, documents, settings, clock, self._tell)
        if documents.can_be_watched and settings.follow_saves and settings.enabled:
            changes = SharedChanges(documents, service.followed, self._on_changed, clock)
            self.begin(changes.watch())
        return service

    def settings_in_force(self) -> "Settings":
        """The settings, Jupyter's configuration of this server among them.

        Raises:
            SettingsError: a setting has a value that it cannot have.
        """
        from jupyter_lsp_agent.service.settings import load_settings
        from jupyter_lsp_agent.service.traits import LspAgent, configured_source

        section = self.config.get("LspAgent", {})
        typed = {name: str(value) for name, value in section.items() if isinstance(value, DeferredConfigString)}
        configured = configured_source(LspAgent(parent=self))
        values = {name: value for name, value in configured.values.items() if name not in typed}
        return load_settings(typed=typed, configuration=[replace(configured, values=values)])

    def _tell(self, name: str, report: "Report") -> None:
        if self._events is not None:
            self._events.emit(name, report)

    def _on_saved(self, name: str) -> None:
        if not self._is_stopped:
            self.begin(self._on_changed(name))

    async def _on_changed(self, name: str) -> None:
        """Check a document that a session follows, and tell; what is not followed is nobody's business."""
        if self._opened is None or not self._opened.done():
            return
        try:
            await self._opened.result().check_changed(name)
        except (HTTPError, JupyterLspAgentError) as error:
            _LOGGER.info("no check of %s after its change: %s", name, error)

    def _on_moved(self, old: str, new: str | None) -> None:
        if self._opened is not None and self._opened.done():
            self._opened.result().moved(old, new)

    def _server(self) -> Any:
        return cast("Any", self.serverapp)
