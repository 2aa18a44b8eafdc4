"""The calls that a server makes: one table of answers, one of notes taken.

Every request is answered, since a server that waits for an answer waits for ever; what is not in the table is answered
with -32601. Edits of the server are refused, questions to a user are answered with no choice: there is nobody to ask.
"""

import logging
from collections.abc import Callable, Mapping
from pathlib import PurePosixPath
from typing import Any, TypeAlias
from urllib.parse import unquote

from jupyter_lsp_agent.core.behaviour import EmptyConfiguration
from jupyter_lsp_agent.core.launch import ServerLaunch
from jupyter_lsp_agent.core.printable import one_line
from jupyter_lsp_agent.jsonrpc.incoming import MethodNotFoundError
from jupyter_lsp_agent.lsp import methods
from jupyter_lsp_agent.lsp.state import ServerState
from jupyter_lsp_agent.lsp.wire.diagnostics import decode_publish_diagnostics
from jupyter_lsp_agent.lsp.wire.server import (
    decode_configuration_sections,
    decode_message,
    decode_progress,
    decode_quiescent,
    decode_registrations,
    decode_unregistrations,
)

_log = logging.getLogger(__name__)

_LOG_LEVELS = {1: logging.INFO}
"""By LSP's MessageType, else DEBUG. Servers call things errors that no user of ours can or need do anything about."""

Answer: TypeAlias = Callable[[Any], Any]
Note: TypeAlias = Callable[[Any], None]


class ServerRequests:
    """`IncomingHandler` for one language server."""

    def __init__(self, launch: ServerLaunch, state: ServerState) -> None:
        capabilities = state.capabilities
        self._launch = launch
        self._store = state.store
        self._readiness = state.readiness
        self._answers: dict[str, Answer] = {
            methods.CONFIGURATION: self._configuration,
            methods.WORKSPACE_FOLDERS: lambda _params: workspace_folders(launch),
            methods.REGISTER_CAPABILITY: lambda params: capabilities.register(decode_registrations(params)),
            methods.UNREGISTER_CAPABILITY: lambda params: capabilities.unregister(decode_unregistrations(params)),
            methods.WORK_DONE_PROGRESS_CREATE: _nothing,
            methods.SHOW_MESSAGE_REQUEST: self._show_message_request,
            methods.SHOW_DOCUMENT: lambda _params: {"success": False},
            methods.APPLY_EDIT: lambda _params: {"applied": False, "failureReason": "this client applies no edits"},
            **dict.fromkeys(methods.REFRESHES, _nothing),
            methods.DIAGNOSTIC_REFRESH: lambda _params: state.store.note_refresh(),
        }
        self._notes: dict[str, Note] = {
            methods.PUBLISH_DIAGNOSTICS: self._publish_diagnostics,
            methods.PROGRESS: self._progress,
            methods.SERVER_STATUS: self._server_status,
            methods.SHOW_MESSAGE: self._log,
            methods.LOG_MESSAGE: self._log,
        }

    async def handle_request(self, method: str, params: Any) -> Any:
        """The answer to a request of the server.

        Raises:
            MethodNotFoundError: it is not one that this client answers.
        """
        answer = self._answers.get(method)
        if answer is None:
            raise MethodNotFoundError(method)
        return answer(params)

    def handle_notification(self, method: str, params: Any) -> None:
        """Take note of a notification; unknown ones are ignored, as LSP demands of those that begin with `$/`."""
        note = self._notes.get(method)
        if note is not None:
            note(params)

    def _configuration(self, params: Any) -> list[Any]:
        return [self._section(section) for section in decode_configuration_sections(params)]

    def _section(self, section: str) -> Any:
        found = find_section(self._launch.settings, section)
        if found is None and self._launch.behaviour.empty_configuration is EmptyConfiguration.OBJECT:
            return {}
        return found

    def _show_message_request(self, params: Any) -> None:
        self._log(params)

    def _publish_diagnostics(self, params: Any) -> None:
        push = decode_publish_diagnostics(params)
        if push is None:
            _log.warning("%s pushed diagnostics that cannot be read", self._launch.server_id)
            return
        if push.findings.dropped:
            _log.warning("%s pushed %d unreadable diagnostics", self._launch.server_id, push.findings.dropped)
        self._store.record_push(push)

    def _progress(self, params: Any) -> None:
        progress = decode_progress(params)
        if progress is not None:
            self._readiness.on_progress(progress)

    def _server_status(self, params: Any) -> None:
        quiescent = decode_quiescent(params)
        if quiescent is not None:
            self._readiness.on_status(quiescent=quiescent)

    def _log(self, params: Any) -> None:
        kind, text = decode_message(params)
        _log.log(_LOG_LEVELS.get(kind, logging.DEBUG), "%s: %s", self._launch.server_id, one_line(text))


def workspace_folders(launch: ServerLaunch) -> list[dict[str, str]]:
    """The one workspace folder, as LSP's `WorkspaceFolder[]`."""
    name = PurePosixPath(unquote(launch.root_uri)).name or "root"
    return [{"uri": launch.root_uri, "name": name}]


def find_section(settings: Mapping[str, Any], section: str) -> Any:
    """The settings below a dotted section, `None` where there are none.

    A tree may be written nested (`{"python": {"analysis": …}}`) or with dots in its keys (`{"python.analysis": …}`),
    as editors' settings files are; the empty section is the whole tree.
    """
    if not section:
        return dict(settings) or None
    if section in settings:
        return settings[section]
    parts = section.split(".")
    for n in range(len(parts) - 1, 0, -1):
        branch = settings.get(".".join(parts[:n]))
        if isinstance(branch, Mapping):
            return find_section(branch, ".".join(parts[n:]))
    return _collected(settings, section + ".")


def _collected(settings: Mapping[str, Any], prefix: str) -> Any:
    """The section that keys with dots spell out: `python` of `{"python.analysis": …}` is `{"analysis": …}`."""
    return {key.removeprefix(prefix): value for key, value in settings.items() if key.startswith(prefix)} or None


def _nothing(_params: Any) -> None:
    return None
