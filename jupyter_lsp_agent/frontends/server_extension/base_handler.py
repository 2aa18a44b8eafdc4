"""What all routes share: who asks, the bounded body, errors as JSON, and a check that ends with its asker."""

import asyncio
import json
from collections.abc import Awaitable, Callable, Coroutine
from functools import wraps
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Concatenate, ParamSpec, TypeVar

from jupyter_server.base.handlers import APIHandler
from jupyter_server.extension.handler import ExtensionHandlerMixin
from tornado import web

from jupyter_lsp_agent.core.errors import JupyterLspAgentError
from jupyter_lsp_agent.frontends.server_extension.bodies import parse_body
from jupyter_lsp_agent.frontends.server_extension.errors import error_answer
from jupyter_lsp_agent.frontends.server_extension.users import name_space

if TYPE_CHECKING:
    from jupyter_lsp_agent.service.agent_service import AgentService
    from jupyter_lsp_agent.service.json_fields import Fields
    from jupyter_lsp_agent.service.requests import SessionKey

_T = TypeVar("_T")
_P = ParamSpec("_P")
_H = TypeVar("_H", bound="AgentHandler")


def tell_errors(
    method: Callable[Concatenate[_H, _P], Awaitable[None]],
) -> Callable[Concatenate[_H, _P], Coroutine[Any, Any, None]]:
    """Errors of ours become JSON answers; those of jupyter_server's are answered by it."""

    @wraps(method)
    async def inner(self: _H, /, *args: _P.args, **kwargs: _P.kwargs) -> None:
        try:
            await method(self, *args, **kwargs)
        except JupyterLspAgentError as error:
            status, body = error_answer(error)
            self.answer(body, status=status)

    return inner


class AgentHandler(ExtensionHandlerMixin, APIHandler):
    """What all routes share."""

    auth_resource = "contents"
    _task: asyncio.Future[Any] | None = None
    _has_hung_up = False

    async def prepare(self) -> None:  # type: ignore[override]
        """Refuse whoever is not known, whatever the verb: one that a route lacks is no way to learn of the route."""
        await super().prepare()
        if self.current_user is None and self.request.method != "OPTIONS":
            raise web.HTTPError(HTTPStatus.FORBIDDEN)

    async def service(self) -> "AgentService":
        """The service; it is opened by the first request."""
        service: AgentService = await self.settings["jupyter_lsp_agent"].service()
        return service

    @property
    def user(self) -> str:
        """The name space of whoever asks."""
        return name_space(self.identity_provider, self.current_user)

    def key(self, session: str) -> "SessionKey":
        """The asker's session of that name."""
        from jupyter_lsp_agent.service.agent_requests import session_name
        from jupyter_lsp_agent.service.requests import SessionKey

        return SessionKey(self.user, session_name(session))

    def document(self, name: str) -> str:
        """A document's name as it may be."""
        from jupyter_lsp_agent.service.agent_requests import document_name

        return document_name(name)

    def fields(self, body: Any, *known: str) -> "Fields":
        """The fields of a request."""
        from jupyter_lsp_agent.service.json_fields import Fields

        return Fields(body, known, "the request")

    def body(self) -> Any:
        """The request's JSON."""
        return parse_body(self.request.body)

    async def run(self, work: Coroutine[Any, Any, _T]) -> _T:
        """`work`, cancelled when the asker hangs up or the server stops."""
        task: asyncio.Task[_T] = self.settings["jupyter_lsp_agent"].begin(work)
        self._task = task
        try:
            return await task
        except asyncio.CancelledError:
            if self._has_hung_up:
                raise web.Finish from None
            if task.done():
                raise web.HTTPError(HTTPStatus.SERVICE_UNAVAILABLE, "the server is being stopped") from None
            raise

    def on_connection_close(self) -> None:
        """Nobody waits for the answer any more."""
        self._has_hung_up = True
        if self._task is not None:
            self._task.cancel()
        super().on_connection_close()

    def write_error(self, status_code: int, **kwargs: Any) -> None:
        """Answer what went wrong; of what nobody thought of, not more than that: the log has the rest."""
        error = kwargs.get("exc_info", (None, None))[1]
        if error is None or isinstance(error, web.HTTPError):
            super().write_error(status_code, **kwargs)
        else:
            body = {"message": "something went wrong in the server; its log tells more", "reason": "internal error"}
            self.answer(body, status=HTTPStatus.INTERNAL_SERVER_ERROR)

    def wants_text(self) -> bool:
        """A text is asked for, not JSON."""
        accepted = self.request.headers.get("Accept", "")
        return "text/plain" in accepted and "application/json" not in accepted

    def answer(self, value: Any, *, status: HTTPStatus = HTTPStatus.OK) -> None:
        """Answer with JSON."""
        self.set_status(status)
        self.finish(json.dumps(value))

    def answer_text(self, text: str) -> None:
        """Answer with text."""
        self.finish(text.encode("utf-8", "replace") + b"\n", set_content_type="text/plain; charset=UTF-8")
