"""The routes: read the request, call one verb, write the answer.

The service's modules are imported where a request needs them, so that a server starts without them.
A check is read-only although it is a POST, so its permission is said explicitly; the decorator would ask for `write`.
"""

import asyncio
from http import HTTPStatus
from pathlib import Path

from jupyter_server.auth.decorator import authorized
from tornado import web

from jupyter_lsp_agent.core.errors import InvalidRequestError
from jupyter_lsp_agent.frontends.server_extension.base_handler import AgentHandler, tell_errors

_PACKAGE = Path(__file__).parent


class StatusHandler(AgentHandler):
    """`GET status`."""

    _track_activity = False

    @web.authenticated
    @authorized("read", resource="contents")
    @tell_errors
    async def get(self) -> None:
        """What servers there are, what runs and what failed; as text a block for a prompt."""
        from jupyter_lsp_agent.service.status_text import render_status

        status = await self.run((await self.service()).status())
        if self.wants_text():
            self.answer_text(render_status(status))
        else:
            self.answer(status)


class CellsHandler(AgentHandler):
    """`GET cells`."""

    _track_activity = False

    @web.authenticated
    @authorized("read", resource="contents")
    @tell_errors
    async def get(self) -> None:
        """The cells of a notebook."""
        name, session = (
            self.document(self.get_argument("path", strip=False)),
            self.get_argument("session", None, strip=False),
        )
        key = None if session is None else self.key(session)
        self.answer(await self.run((await self.service()).cells(name, key)))


class CheckHandler(AgentHandler):
    """`POST check`."""

    _track_activity = False

    @web.authenticated
    @authorized("read", resource="contents")
    @tell_errors
    async def post(self) -> None:
        """The report on a document."""
        from jupyter_lsp_agent.service.agent_requests import decode_check

        asked = decode_check(self.body())
        service = await self.service()
        if asked.touch:
            self.answer((await self.run(service.touch(asked, self.user, self.request.request_time()))).to_dict())
            return
        report = await self.run(service.check(asked, self.user, self.request.request_time()))
        if self.wants_text():
            self.answer_text(report.to_text())
        else:
            self.answer(report.to_dict())


class QueryHandler(AgentHandler):
    """`POST query`."""

    _track_activity = False

    @web.authenticated
    @authorized("read", resource="contents")
    @tell_errors
    async def post(self) -> None:
        """The answer to a question about a document's code."""
        from jupyter_lsp_agent.service.query_requests import decode_query

        asked = decode_query(self.body())
        answer = await self.run((await self.service()).query(asked, self.request.request_time()))
        if self.wants_text():
            self.answer_text(answer.to_text())
        else:
            self.answer(answer.to_dict())


class EditsHandler(AgentHandler):
    """`POST edits`."""

    @web.authenticated
    @authorized("write", resource="contents")
    @tell_errors
    async def post(self) -> None:
        """Edit a document and check what came of it."""
        from jupyter_lsp_agent.service.agent_requests import decode_edits

        asked = decode_edits(self.body())
        service = await self.service()
        answer = await self.run(service.edit(asked, self.user, self.request.request_time()))
        if self.wants_text():
            self.answer_text(answer.to_text())
        else:
            self.answer(answer.to_dict())


class BaselineHandler(AgentHandler):
    """`POST baseline`."""

    _track_activity = False

    @web.authenticated
    @authorized("read", resource="contents")
    @tell_errors
    async def post(self) -> None:
        """Accept a session's last verdict, or forget the document."""
        fields = self.fields(self.body(), "path", "session", "action")
        name, key = self.document(fields.text("path")), self.key(fields.text("session"))
        action = fields.choice("action", ("accept", "reset"))
        if action is None:
            raise InvalidRequestError('the request: "action" must be one of accept, reset')
        service = await self.service()
        if action == "reset":
            await self.run(service.forget(name, key))
            self.answer({"counts": None})
        else:
            counts = await self.run(service.accept(name, key))
            from jupyter_lsp_agent.diagnostics.render_json import counts_to_dict

            self.answer({"counts": None if counts is None else counts_to_dict(counts)})


class SessionsHandler(AgentHandler):
    """`GET sessions`."""

    _track_activity = False

    @web.authenticated
    @authorized("read", resource="contents")
    @tell_errors
    async def get(self) -> None:
        """The asker's sessions, on one document or on all."""
        path = self.get_argument("path", None, strip=False)
        name = None if path is None else self.document(path)
        self.answer((await self.service()).sessions(self.user, name))


class RestartHandler(AgentHandler):
    """`POST servers/{id}/restart`."""

    auth_resource = "lsp_agent"

    @web.authenticated
    @authorized("execute", resource="lsp_agent")
    @tell_errors
    async def post(self, server_id: str) -> None:
        """Restart a server in one root or in all, and forget its failures."""
        fields = self.fields(self.body() if self.request.body else {}, "root")
        root = fields.optional_text("root")
        self.answer(await self.run((await self.service()).restart(server_id, root)))


class OpenApiHandler(AgentHandler):
    """`GET openapi.yaml`."""

    _track_activity = False

    @web.authenticated
    @authorized("read", resource="contents")
    @tell_errors
    async def get(self) -> None:
        """The description of all routes."""
        description = await asyncio.to_thread((_PACKAGE / "openapi.yaml").read_bytes)
        self.finish(description, set_content_type="application/yaml; charset=UTF-8")


class UnknownRouteHandler(AgentHandler):
    """Everything else below the prefix, so that a misspelt route is told in JSON."""

    _track_activity = False

    @web.authenticated
    @authorized("read", resource="contents")
    @tell_errors
    async def get(self) -> None:
        """There is nothing here."""
        self._refuse()

    @web.authenticated
    @authorized("read", resource="contents")
    @tell_errors
    async def post(self) -> None:
        """There is nothing here."""
        self._refuse()

    def _refuse(self) -> None:
        self.answer(
            {"message": "there is no such route: GET openapi.yaml lists them", "reason": "unknown route"},
            status=HTTPStatus.NOT_FOUND,
        )


PREFIX = "/jupyter-lsp-agent"

ROUTES: tuple[tuple[str, type[AgentHandler]], ...] = (
    (rf"{PREFIX}/status", StatusHandler),
    (rf"{PREFIX}/cells", CellsHandler),
    (rf"{PREFIX}/check", CheckHandler),
    (rf"{PREFIX}/query", QueryHandler),
    (rf"{PREFIX}/edits", EditsHandler),
    (rf"{PREFIX}/baseline", BaselineHandler),
    (rf"{PREFIX}/sessions", SessionsHandler),
    (rf"{PREFIX}/servers/([\w.-]+)/restart", RestartHandler),
    (rf"{PREFIX}/openapi\.yaml", OpenApiHandler),
    (rf"{PREFIX}/.*", UnknownRouteHandler),
)
"""What is served, without the server's base URL."""
