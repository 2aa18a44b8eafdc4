"""JSON-RPC 2.0 (jsonrpc.org/specification) and LSP 3.17's base protocol, from bytes to values and back."""

import json

import pytest

from jupyter_lsp_agent.core.errors import ProtocolError
from jupyter_lsp_agent.jsonrpc.messages import (
    OMIT,
    ErrorCode,
    ErrorResponse,
    Notification,
    Request,
    Response,
    ResponseErrorObject,
    encode_message,
    parse_message,
)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ('{"jsonrpc":"2.0","id":1,"method":"m","params":[1]}', Request(1, "m", [1])),
        ('{"jsonrpc":"2.0","id":0,"method":"m"}', Request(0, "m", OMIT)),
        ('{"jsonrpc":"2.0","id":"","method":"m","params":null}', Request("", "m", None)),
        ('{"jsonrpc":"2.0","id":"a-1","method":"m","params":{}}', Request("a-1", "m", {})),
        ('{"jsonrpc":"2.0","id":1.5,"method":"m"}', Request(1.5, "m")),
        ('{"jsonrpc":"2.0","id":null,"method":"m"}', Request(None, "m")),
        ('{"jsonrpc":"2.0","id":[1,{"a":2}],"method":"m"}', Request([1, {"a": 2}], "m")),
        ('{"jsonrpc":"2.0","method":"m"}', Notification("m")),
        ('{"method":"m","params":{"a":1}}', Notification("m", {"a": 1})),
        ('{"jsonrpc":"2.0","id":1,"result":null}', Response(1, None)),
        ('{"jsonrpc":"2.0","id":1}', Response(1, None)),
        ('{"jsonrpc":"2.0","id":1,"result":false,"error":null}', Response(1, False)),
        (
            '{"jsonrpc":"2.0","id":1,"error":{"code":-32601,"message":"no"}}',
            ErrorResponse(1, ResponseErrorObject(-32601, "no")),
        ),
        (
            '{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"no","data":[0]}}',
            ErrorResponse(None, ResponseErrorObject(-32700, "no", [0])),
        ),
        ('{"id":1,"error":{}}', ErrorResponse(1, ResponseErrorObject(ErrorCode.UNKNOWN_ERROR_CODE, ""))),
        ('{"id":1,"error":"bad"}', ErrorResponse(1, ResponseErrorObject(ErrorCode.UNKNOWN_ERROR_CODE, "bad"))),
        ('{"id":1,"error":{"code":-32601.0,"message":"x"}}', ErrorResponse(1, ResponseErrorObject(-32601, "x"))),
        ('{"id":1,"error":{"code":"E","message":"x"}}', ErrorResponse(1, ResponseErrorObject(-32001, "x"))),
        ('\ufeff{"method":"m"}', Notification("m")),
        ('{"method":"m","params":"\\ud800"}', Notification("m", "\ud800")),
    ],
)
def test_what_a_peer_sends_is_read_generously(text: str, message: object) -> None:
    parsed = parse_message(text.encode())
    assert parsed == message
    assert type(parsed) is type(message)


def test_text_that_is_no_utf8_loses_the_bad_bytes_only() -> None:
    assert parse_message(b'{"method":"m","params":"caf\xe9"}') == Notification("m", "caf\ufffd")


@pytest.mark.parametrize(
    ("payload", "word"),
    [
        (b"", "not JSON"),
        (b"{", "not JSON"),
        (b'{"method":"m"} {}', "not JSON"),
        (b"[" * 200_000, "not JSON"),
        (b'{"method":"m","params":' + b"9" * 10_000 + b"}", "not JSON"),
        (b"[]", "batch"),
        (b'[{"jsonrpc":"2.0","method":"m"}]', "batch"),
        (b"null", "no object"),
        (b'"text"', "no object"),
        (b"{}", "no JSON-RPC"),
        (b'{"jsonrpc":"2.0","result":1}', "no JSON-RPC"),
        (b'{"method":5,"id":1}', "no string"),
        (b'{"method":null,"id":1,"result":2}', "no string"),
    ],
)
def test_what_is_no_message_is_an_error_and_never_skipped(payload: bytes, word: str) -> None:
    with pytest.raises(ProtocolError, match=word) as caught:
        parse_message(payload)
    assert len(str(caught.value)) < 400


@pytest.mark.parametrize(
    ("message", "members"),
    [
        (Request(1, "shutdown"), {"jsonrpc": "2.0", "id": 1, "method": "shutdown"}),
        (Request(2, "m", None), {"jsonrpc": "2.0", "id": 2, "method": "m", "params": None}),
        (Notification("exit"), {"jsonrpc": "2.0", "method": "exit"}),
        (Notification("m", {}), {"jsonrpc": "2.0", "method": "m", "params": {}}),
        (Response("x", None), {"jsonrpc": "2.0", "id": "x", "result": None}),
        (Response(None, 0), {"jsonrpc": "2.0", "id": None, "result": 0}),
        (
            ErrorResponse(0, ResponseErrorObject(ErrorCode.METHOD_NOT_FOUND, "no")),
            {"jsonrpc": "2.0", "id": 0, "error": {"code": -32601, "message": "no"}},
        ),
        (
            ErrorResponse(0, ResponseErrorObject(-1, "no", {"a": 1})),
            {"jsonrpc": "2.0", "id": 0, "error": {"code": -1, "message": "no", "data": {"a": 1}}},
        ),
    ],
)
def test_encoding_has_exactly_these_members(message: Request, members: dict[str, object]) -> None:
    assert json.loads(encode_message(message)) == members


def test_a_lone_surrogate_is_sent_as_one_code_unit_of_valid_utf8() -> None:
    payload = encode_message(Notification("m", "a\ud800b é 😀"))
    assert json.loads(payload.decode("utf-8"))["params"] == "a?b é 😀"


@pytest.mark.parametrize(
    ("name", "code"),
    # jsonrpc.org §5.1 and LSP 3.17, "ErrorCodes"
    [
        ("PARSE_ERROR", -32700),
        ("INVALID_REQUEST", -32600),
        ("METHOD_NOT_FOUND", -32601),
        ("INVALID_PARAMS", -32602),
        ("INTERNAL_ERROR", -32603),
        ("SERVER_NOT_INITIALIZED", -32002),
        ("UNKNOWN_ERROR_CODE", -32001),
        ("REQUEST_FAILED", -32803),
        ("SERVER_CANCELLED", -32802),
        ("CONTENT_MODIFIED", -32801),
        ("REQUEST_CANCELLED", -32800),
    ],
)
def test_error_codes_are_the_specifications(name: str, code: int) -> None:
    assert ErrorCode[name] == code
