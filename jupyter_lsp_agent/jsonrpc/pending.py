"""Our requests that have no answer yet."""

import asyncio
from typing import TypeAlias

from jupyter_lsp_agent.core.errors import TransportError
from jupyter_lsp_agent.jsonrpc.messages import ErrorResponse, RequestId, Response

AnswerFuture: TypeAlias = "asyncio.Future[Response | ErrorResponse]"


class PendingRequests:
    """Ids and those who wait for them. Ids are whole numbers from 1, never used twice."""

    def __init__(self) -> None:
        self._last_id = 0
        self._waiting: dict[int, AnswerFuture] = {}
        self._unmatched = 0

    @property
    def unmatched(self) -> int:
        """How many answers nobody waited for."""
        return self._unmatched

    def add(self) -> tuple[int, AnswerFuture]:
        """A new id, and where its answer will be."""
        self._last_id += 1
        answer: AnswerFuture = asyncio.get_running_loop().create_future()
        self._waiting[self._last_id] = answer
        return self._last_id, answer

    def settle(self, answer: Response | ErrorResponse) -> None:
        """Give `answer` to the one who waits for it; one that nobody waits for is counted and dropped."""
        own_id = _own_id(answer.id)
        waiting = self._waiting.pop(own_id, None) if own_id is not None else None
        if waiting is None:
            self._unmatched += 1
        elif not waiting.done():
            waiting.set_result(answer)

    def forget(self, request_id: int) -> bool:
        """Wait no longer; whether an answer was still to come."""
        return self._waiting.pop(request_id, None) is not None

    def fail_all(self, cause: TransportError) -> None:
        """Have everybody who waits raise `cause`."""
        waiting = list(self._waiting.values())
        self._waiting.clear()
        for answer in waiting:
            if not answer.done():
                answer.set_exception(cause)
                answer.exception()  # looked at: one whose waiter was cancelled meanwhile is no unhandled error


def _own_id(request_id: RequestId) -> int | None:
    """The id that we gave, from the one that came back: some peers make a string or a float of it."""
    if isinstance(request_id, bool) or not isinstance(request_id, (int, float, str)):
        return None
    if isinstance(request_id, str):
        return int(request_id) if request_id.isascii() and request_id.isdigit() and len(request_id) < 20 else None
    return int(request_id) if request_id == request_id // 1 else None
