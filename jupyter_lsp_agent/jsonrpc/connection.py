"""One peer: requests and their answers, calls from the other side, and the end of it all.

The end is one event with one cause. Whatever breaks the stream (the process died; it closed its output or its input
though it lives; it sent what is no JSON-RPC; one of its notifications could not be dealt with) fails every request
under way at once, with the same error object, which later calls raise too. `wait_closed` lets an owner learn of it
when nothing is under way; the owner then calls `aclose`, which also ends the process.
"""

import asyncio
import logging
from collections.abc import Coroutine
from typing import Any

from jupyter_lsp_agent.core.clock import Clock, time_limit
from jupyter_lsp_agent.core.errors import (
    ClosedError,
    ProtocolError,
    RequestTimeoutError,
    ResponseError,
    ServerExitedError,
    TransportError,
)
from jupyter_lsp_agent.jsonrpc.framing import FrameDecoder, encode_frame
from jupyter_lsp_agent.jsonrpc.incoming import IncomingHandler, IncomingRequests
from jupyter_lsp_agent.jsonrpc.messages import (
    OMIT,
    ErrorResponse,
    Message,
    Notification,
    Params,
    Request,
    Response,
    encode_message,
    parse_message,
)
from jupyter_lsp_agent.jsonrpc.pending import PendingRequests
from jupyter_lsp_agent.jsonrpc.transport import Transport

_log = logging.getLogger(__name__)

CANCEL_REQUEST = "$/cancelRequest"


class Connection:
    """JSON-RPC over a transport, which it owns.

    Args:
        transport: closed by `aclose`.
        handler: ready before `start`, since a peer may ask before it answers.
        clock: for the time limits of requests.
        decoder: one with other bounds than the usual.
    """

    def __init__(
        self,
        transport: Transport,
        handler: IncomingHandler,
        *,
        clock: Clock,
        decoder: FrameDecoder | None = None,
    ) -> None:
        self._transport = transport
        self._handler = handler
        self._clock = clock
        self._decoder = decoder or FrameDecoder()
        self._pending = PendingRequests()
        self._incoming = IncomingRequests(handler, self._send)
        self._reader: asyncio.Task[None] | None = None
        self._errands: set[asyncio.Task[None]] = set()
        self._closed = asyncio.Event()
        self._closed_cause: TransportError | None = None
        self._closing: asyncio.Task[None] | None = None

    def start(self) -> None:
        """Begin to read and to answer."""
        self._reader = asyncio.create_task(self._read())
        for task in (self._reader, self._incoming.start()):
            task.add_done_callback(self._task_ended)

    @property
    def closed_cause(self) -> TransportError | None:
        """Why the connection ended; `None` while it has not."""
        return self._closed_cause

    @property
    def noise_bytes(self) -> int:
        """How many bytes the peer wrote between its messages."""
        return self._decoder.noise_bytes

    @property
    def noise_sample(self) -> str:
        """The beginning of them."""
        return self._decoder.noise_sample

    @property
    def unmatched_responses(self) -> int:
        """How many answers came to no request under way: late ones, and ones with unknown ids."""
        return self._pending.unmatched

    async def wait_closed(self) -> TransportError:
        """Wait for the end, and tell its cause."""
        while self._closed_cause is None:
            await self._closed.wait()
        return self._closed_cause

    async def request(self, method: str, params: Params = OMIT, *, timeout_seconds: float | None = None) -> Any:
        """Call `method` and wait for its result.

        A caller that is cancelled, or whose time is over, has the peer told by `$/cancelRequest`; an answer that
        comes later is dropped.

        Raises:
            ResponseError: the peer's error.
            RequestTimeoutError: there was no answer within `timeout_seconds`.
            TransportError: the connection ended; the same object for all who wait.
            ClosedError: called after `aclose`.
        """
        self._check_open()
        request_id, answer = self._pending.add()
        try:
            async with time_limit(self._clock, timeout_seconds):
                await self._send(Request(request_id, method, params))
                return _result(await answer)
        except TimeoutError:
            if timeout_seconds is None:
                raise
            raise RequestTimeoutError(method, timeout_seconds) from None
        finally:
            if self._pending.forget(request_id) and self._closed_cause is None:
                self._run_errand(self._tell_cancelled(request_id))

    async def notify(self, method: str, params: Params = OMIT) -> None:
        """Tell the peer something.

        Raises:
            TransportError: the connection ended.
            ClosedError: called after `aclose`.
        """
        self._check_open()
        await self._send(Notification(method, params))

    async def aclose(self) -> None:
        """End the connection and its transport; requests under way fail.

        May be called again and by several tasks; finishes even when the caller is cancelled.
        """
        if self._closing is None:
            self._end(TransportError("the connection to the server was closed before the answer came"))
            self._closing = asyncio.create_task(self._close())
        await asyncio.shield(self._closing)

    # ------------------------------------------------------------------ out

    def _check_open(self) -> None:
        if self._closing is not None:
            raise ClosedError("the connection was used after it was closed")
        if self._closed_cause is not None:
            raise self._closed_cause

    async def _send(self, message: Message) -> None:
        try:
            await self._transport.send(encode_frame(encode_message(message)))
        except TransportError as error:
            self._end(error)
            raise self._closed_cause or error from None

    async def _tell_cancelled(self, request_id: int) -> None:
        try:
            await self._send(Notification(CANCEL_REQUEST, {"id": request_id}))
        except TransportError:
            return  # it is cancelled indeed, and everybody was told

    def _run_errand(self, errand: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(errand)
        self._errands.add(task)
        task.add_done_callback(self._errands.discard)

    # ------------------------------------------------------------------- in

    async def _read(self) -> None:
        while data := await self._transport.receive():
            self._decoder.receive_data(data)
            while (payload := self._decoder.next_message()) is not None:
                self._dispatch(parse_message(payload))
        self._decoder.receive_end()
        raise self._with_noise(await self._transport.exit_error())

    def _with_noise(self, error: ServerExitedError) -> ServerExitedError:
        """What a program prints where messages belong is often why it ended: its usage, or a missing module."""
        if not self.noise_bytes:
            return error
        text = f"{error}; its standard output held text that is no message, beginning with {self.noise_sample[:200]!r}"
        return ServerExitedError(text, exit_code=error.exit_code, stderr_tail=error.stderr_tail)

    def _dispatch(self, message: Message) -> None:
        match message:
            case Response() | ErrorResponse():
                self._pending.settle(message)
            case Request():
                self._incoming.add(message)
            case Notification(method=method, params=params) if method == CANCEL_REQUEST:
                self._incoming.cancel(params.get("id") if isinstance(params, dict) else None)
            case Notification(method=method, params=params):
                self._handler.handle_notification(method, params)

    def _task_ended(self, task: asyncio.Task[None]) -> None:
        error = None if task.cancelled() else task.exception()
        if error is None:
            return
        if not isinstance(error, TransportError):
            _log.debug("a message of the server could not be dealt with", exc_info=error)
            error = ProtocolError(f"a message of the server could not be dealt with: {type(error).__name__}: {error}")
        self._end(error)

    def _end(self, cause: TransportError) -> None:
        if self._closed_cause is None:
            self._closed_cause = cause
            self._pending.fail_all(cause)
            self._closed.set()

    async def _close(self) -> None:
        try:
            await self._transport.aclose()
        finally:
            await self._incoming.aclose()
            await self._stop_tasks()

    async def _stop_tasks(self) -> None:
        tasks = [*self._errands, *([self._reader] if self._reader else [])]
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)


def _result(answer: Response | ErrorResponse) -> Any:
    if isinstance(answer, Response):
        return answer.result
    raise ResponseError(answer.error.code, answer.error.message, answer.error.data)
