"""JSON-RPC 2.0 messages as values, and their JSON.

What a peer sends is read generously where nothing can be misread: `jsonrpc` may be missing, an id may be of any JSON
type, a response may leave out a `result` that is null or carry `error: null`, text that is no UTF-8 loses only the bad
characters. What is no single JSON object is refused with `ProtocolError` and not skipped: a batch (LSP has none) or a
broken text may hold the very diagnostics that a verdict hangs on, and a lost message would look like a clean one.

Not here: what methods there are (`lsp/`), how bytes are cut into messages (`framing`).
"""

import json
from dataclasses import dataclass
from enum import Enum, IntEnum
from typing import Any, Final, Literal, TypeAlias

from jupyter_lsp_agent.core.errors import ProtocolError

RequestId: TypeAlias = Any
"""An id. Ours are integers from 1; a peer's is whatever JSON it sent, `null` and structures too, echoed as it came."""


class Omitted(Enum):
    """The type of `OMIT`."""

    OMIT = "omit"


OMIT: Final = Omitted.OMIT
"""No `params` member at all, which is something else than `params: null`: some servers refuse the latter."""

Params: TypeAlias = Any | Literal[Omitted.OMIT]


class ErrorCode(IntEnum):
    """The codes of JSON-RPC 2.0 and of LSP 3.17."""

    PARSE_ERROR = -32700
    INVALID_REQUEST = -32600
    METHOD_NOT_FOUND = -32601
    INVALID_PARAMS = -32602
    INTERNAL_ERROR = -32603
    SERVER_NOT_INITIALIZED = -32002
    UNKNOWN_ERROR_CODE = -32001
    REQUEST_CANCELLED = -32800
    CONTENT_MODIFIED = -32801
    SERVER_CANCELLED = -32802
    REQUEST_FAILED = -32803


@dataclass(frozen=True, slots=True)
class Request:
    """A call that wants an answer."""

    id: RequestId
    method: str
    params: Params = OMIT


@dataclass(frozen=True, slots=True)
class Notification:
    """A call that wants none."""

    method: str
    params: Params = OMIT


@dataclass(frozen=True, slots=True)
class Response:
    """The answer to the request with this id."""

    id: RequestId
    result: Any


@dataclass(frozen=True, slots=True)
class ResponseErrorObject:
    """Why a request has no result. `data` is `None` where there is none."""

    code: int
    message: str
    data: Any = None


@dataclass(frozen=True, slots=True)
class ErrorResponse:
    """The refusal of the request with this id; the id is `None` where the peer could not read the request."""

    id: RequestId
    error: ResponseErrorObject


Message: TypeAlias = Request | Notification | Response | ErrorResponse


def encode_message(message: Message) -> bytes:
    """The UTF-8 JSON of a message.

    A lone surrogate, which no UTF-8 can hold, becomes `?`: one code unit for another, so positions stay.
    """
    encoded = json.dumps(_members(message), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    return encoded.encode("utf-8", "replace")


def _members(message: Message) -> dict[str, Any]:
    members: dict[str, Any] = {"jsonrpc": "2.0"}
    if not isinstance(message, Notification):
        members["id"] = message.id
    match message:
        case Request() | Notification():
            members["method"] = message.method
            if message.params is not OMIT:
                members["params"] = message.params
        case Response():
            members["result"] = message.result
        case ErrorResponse():
            members["error"] = _error_members(message.error)
    return members


def _error_members(error: ResponseErrorObject) -> dict[str, Any]:
    members: dict[str, Any] = {"code": int(error.code), "message": error.message}
    if error.data is not None:
        members["data"] = error.data
    return members


def parse_message(payload: bytes) -> Message:
    """The message in a frame's payload.

    Raises:
        ProtocolError: it is no JSON, or no JSON-RPC message.
    """
    try:
        decoded = json.loads(payload.decode("utf-8-sig", "replace"))
    except (ValueError, RecursionError) as error:
        raise ProtocolError(f"the server sent a message that is not JSON ({error}): {_sample(payload)}") from None
    if not isinstance(decoded, dict):
        kind = "a batch, which LSP does not have" if isinstance(decoded, list) else "JSON that is no object"
        raise ProtocolError(f"the server sent {kind}: {_sample(payload)}")
    return decode_message(decoded)


def decode_message(members: dict[str, Any]) -> Message:
    """The message that a JSON object is.

    Raises:
        ProtocolError: it is none of the four kinds.
    """
    if "method" in members:
        return _decode_call(members)
    if "id" not in members:
        raise ProtocolError(
            f"the server sent an object that is no JSON-RPC message, with members {sorted(members)[:8]}"
        )
    error = members.get("error")
    if error is None:
        return Response(members["id"], members.get("result"))
    return ErrorResponse(members["id"], _decode_error(error))


def _decode_call(members: dict[str, Any]) -> Request | Notification:
    method, params = members["method"], members.get("params", OMIT)
    if not isinstance(method, str):
        raise ProtocolError(f"the server sent a call whose method is no string: {str(method)[:80]!r}")
    return Request(members["id"], method, params) if "id" in members else Notification(method, params)


def _decode_error(error: Any) -> ResponseErrorObject:
    if not isinstance(error, dict):
        return ResponseErrorObject(ErrorCode.UNKNOWN_ERROR_CODE, str(error))
    code, message = error.get("code"), str(error.get("message", ""))
    if isinstance(code, bool) or not isinstance(code, (int, float)) or code != code // 1:
        code = ErrorCode.UNKNOWN_ERROR_CODE
    return ResponseErrorObject(int(code), message, error.get("data"))


def _sample(payload: bytes) -> str:
    text = payload[:80].decode("utf-8", "replace")
    return repr(text + "…" if len(payload) > 80 else text)
