"""What the peer asks of us: requests are answered one after the other, in the order of their arrival.

A handler runs as a task of its own beside the reader, so it may wait, and even ask the peer something, without
holding up answers to our own requests. Whatever it raises becomes an error response and nothing else.
"""

import asyncio
import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any, Protocol

from jupyter_lsp_agent.core.errors import ResponseError, TransportError
from jupyter_lsp_agent.core.printable import one_line
from jupyter_lsp_agent.jsonrpc.messages import (
    ErrorCode,
    ErrorResponse,
    Params,
    Request,
    RequestId,
    Response,
    ResponseErrorObject,
)

_log = logging.getLogger(__name__)

Answer = Response | ErrorResponse


class MethodNotFoundError(ResponseError):
    """What a handler raises for a method that it does not have; answered with -32601."""

    def __init__(self, method: str) -> None:
        super().__init__(ErrorCode.METHOD_NOT_FOUND, f"method not found: {method}")


class IncomingHandler(Protocol):
    """The calls that a peer may make. `params` is `OMIT` where the peer sent none."""

    async def handle_request(self, method: str, params: Params) -> Any:
        """The result, as JSON.

        Raises:
            MethodNotFoundError: there is no such method.
            ResponseError: the answer is this error; what else is raised is answered with -32603.
        """
        ...

    def handle_notification(self, method: str, params: Params) -> None:
        """Take note. Called between two messages, in order with the answers to our own requests, so it must not wait.

        Whatever it raises ends the connection: a notification that was lost on the way could be the one that mattered.
        """
        ...


class IncomingRequests:
    """The requests that are still to be answered, and the task that answers them."""

    def __init__(self, handler: IncomingHandler, send: Callable[[Answer], Awaitable[None]]) -> None:
        self._handler = handler
        self._send = send
        self._queue: asyncio.Queue[tuple[Request, asyncio.Event]] = asyncio.Queue()
        self._cancellations: dict[str, asyncio.Event] = {}
        self._worker: asyncio.Task[None] | None = None

    def start(self) -> asyncio.Task[None]:
        """Begin to answer; the task ends only with the connection."""
        self._worker = asyncio.create_task(self._work())
        return self._worker

    def add(self, request: Request) -> None:
        """Answer `request` when those before it are answered."""
        cancelled = asyncio.Event()
        self._cancellations[_id_key(request.id)] = cancelled
        self._queue.put_nowait((request, cancelled))

    def cancel(self, request_id: RequestId) -> None:
        """The peer no longer wants this answer; one that is unknown or was given already is ignored."""
        cancelled = self._cancellations.get(_id_key(request_id))
        if cancelled is not None:
            cancelled.set()

    async def aclose(self) -> None:
        """Give up whatever is unanswered."""
        if self._worker is not None:
            self._worker.cancel()
            await asyncio.wait([self._worker])

    async def _work(self) -> None:
        while True:
            request, cancelled = await self._queue.get()
            answer = await self._answer(request, cancelled)
            self._cancellations.pop(_id_key(request.id), None)
            try:
                await self._deliver(request, answer)
            except TransportError:
                return  # the reader tells everybody

    async def _deliver(self, request: Request, answer: Answer) -> None:
        try:
            await self._send(answer)
        except (TypeError, ValueError, RecursionError) as error:
            await self._send(_failed(request, error))  # a result that is no JSON

    async def _answer(self, request: Request, cancelled: asyncio.Event) -> Answer:
        if cancelled.is_set():
            return _cancelled(request)
        # As tasks, since only so is an exception of any kind a value here.
        handling = asyncio.create_task(self._handler.handle_request(request.method, request.params))
        cancelling = asyncio.create_task(cancelled.wait())
        try:
            await asyncio.wait([handling, cancelling], return_when=asyncio.FIRST_COMPLETED)
        finally:
            finished = handling.done()
            handling.cancel()
            cancelling.cancel()
            await asyncio.wait([handling, cancelling])
        return _answer_of(request, handling) if finished else _cancelled(request)


def _answer_of(request: Request, handling: "asyncio.Task[Any]") -> Answer:
    if handling.cancelled():
        return _cancelled(request)
    error = handling.exception()
    if error is None:
        return Response(request.id, handling.result())
    if isinstance(error, ResponseError):
        return ErrorResponse(request.id, ResponseErrorObject(error.code, error.message, error.data))
    return _failed(request, error)


def _failed(request: Request, error: BaseException) -> Answer:
    _log.warning("the answer to %s failed: %s", one_line(request.method), type(error).__name__)
    _log.debug("the answer to %s failed", one_line(request.method), exc_info=error)
    text = f"{request.method} failed: {type(error).__name__}"
    return ErrorResponse(request.id, ResponseErrorObject(ErrorCode.INTERNAL_ERROR, text))


def _cancelled(request: Request) -> Answer:
    return ErrorResponse(request.id, ResponseErrorObject(ErrorCode.REQUEST_CANCELLED, "cancelled"))


def _id_key(request_id: RequestId) -> str:
    """A dictionary key for an id of any JSON type; `1` and `"1"` stay apart."""
    return json.dumps(request_id, sort_keys=True)
