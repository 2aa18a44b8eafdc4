"""Requests and answers over a pair in memory; the peer is the test itself."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import Any

import pytest

from jupyter_lsp_agent.core.errors import (
    ClosedError,
    ProtocolError,
    RequestTimeoutError,
    ResponseError,
    ServerExitedError,
    TransportError,
)
from jupyter_lsp_agent.jsonrpc.connection import Connection
from jupyter_lsp_agent.jsonrpc.framing import FrameDecoder
from jupyter_lsp_agent.jsonrpc.incoming import MethodNotFoundError
from jupyter_lsp_agent.jsonrpc.messages import OMIT
from jupyter_lsp_agent.jsonrpc.transport import memory_transport_pair
from tests.support.clock import ManualClock
from tests.support.peer import RawPeer


class Handler:
    """Knows `echo` and what a test puts into `requests`; notes every notification."""

    def __init__(self) -> None:
        self.requests: dict[str, Callable[[Any], Awaitable[Any]]] = {}
        self.notifications: asyncio.Queue[tuple[str, Any]] = asyncio.Queue()

    async def handle_request(self, method: str, params: Any) -> Any:
        if method == "echo":
            return None if params is OMIT else params
        if method not in self.requests:
            raise MethodNotFoundError(method)
        return await self.requests[method](params)

    def handle_notification(self, method: str, params: Any) -> None:
        if method == "poison":
            raise KeyError("poison")
        self.notifications.put_nowait((method, params))


class Both:
    """The two ends, and what belongs to ours."""

    def __init__(self, decoder: FrameDecoder | None = None) -> None:
        ours, theirs = memory_transport_pair()
        self.transport = ours
        self.peer = RawPeer(theirs)
        self.handler = Handler()
        self.clock = ManualClock()
        self.connection = Connection(ours, self.handler, clock=self.clock, decoder=decoder)
        self.connection.start()

    def request(self, method: str = "m", params: Any = OMIT, **options: Any) -> "asyncio.Task[Any]":
        return asyncio.create_task(self.connection.request(method, params, **options))


@pytest.fixture
async def both() -> AsyncIterator[Both]:
    ends = Both()
    yield ends
    await ends.connection.aclose()


async def test_a_request_is_answered(both: Both) -> None:
    request = both.request("textDocument/hover", {"a": 1})
    sent = await both.peer.next()
    assert sent == {"jsonrpc": "2.0", "id": sent["id"], "method": "textDocument/hover", "params": {"a": 1}}
    await both.peer.answer(sent["id"], [1, None])
    assert await request == [1, None]


async def test_params_are_left_out_unless_given(both: Both) -> None:
    request = both.request("shutdown")
    sent = await both.peer.next()
    assert "params" not in sent
    await both.connection.notify("exit")
    assert await both.peer.next() == {"jsonrpc": "2.0", "method": "exit"}
    await both.connection.notify("m", None)
    assert await both.peer.next() == {"jsonrpc": "2.0", "method": "m", "params": None}
    await both.peer.answer(sent["id"], None)
    assert await request is None


async def test_an_error_is_raised_with_its_code_and_data(both: Both) -> None:
    request = both.request()
    sent = await both.peer.next()
    await both.peer.send({"id": sent["id"], "error": {"code": -32802, "message": "no", "data": {"retrigger": True}}})
    with pytest.raises(ResponseError) as caught:
        await request
    assert (caught.value.code, caught.value.message, caught.value.data) == (-32802, "no", {"retrigger": True})


async def test_answers_find_their_requests_in_any_order(both: Both) -> None:
    requests = [both.request(f"m{number}") for number in range(50)]
    ids = {sent["method"]: sent["id"] for sent in [await both.peer.next() for _ in requests]}
    assert len(set(ids.values())) == 50
    for number in reversed(range(50)):
        await both.peer.answer(ids[f"m{number}"], number)
    assert await asyncio.gather(*requests) == list(range(50))


@pytest.mark.parametrize("spell", [int, str, float], ids=["number", "string", "float"])
async def test_an_id_may_come_back_in_another_type(both: Both, spell: Callable[[int], object]) -> None:
    request = both.request()
    sent = await both.peer.next()
    await both.peer.answer(spell(sent["id"]), "yes")
    assert await request == "yes"


@pytest.mark.parametrize("strange_id", [True, None, [1], {"a": 1}, "x", "", 1.5, -1, 99, 1e300, "9" * 5000])
async def test_an_answer_to_nobody_is_counted_and_dropped(both: Both, strange_id: object) -> None:
    request = both.request()
    sent = await both.peer.next()
    assert sent["id"] == 1
    await both.peer.answer(strange_id, "wrong")
    await both.peer.answer(sent["id"], "right")
    assert await request == "right"
    assert both.connection.unmatched_responses == 1


async def test_order_of_calls_is_the_order_on_the_wire(both: Both) -> None:
    calls = [both.request("a"), asyncio.create_task(both.connection.notify("b")), both.request("c")]
    assert [(await both.peer.next())["method"] for _ in calls] == ["a", "b", "c"]
    for call in calls:
        call.cancel()
    await asyncio.wait(calls)


# ------------------------------------------------------------------------------------------------ giving up


async def test_a_cancelled_request_is_cancelled_at_the_peer_and_its_late_answer_dropped(both: Both) -> None:
    request = both.request()
    sent = await both.peer.next()
    request.cancel()
    with pytest.raises(asyncio.CancelledError):
        await request
    expected = {"jsonrpc": "2.0", "method": "$/cancelRequest", "params": {"id": sent["id"]}}
    assert await both.peer.next() == expected
    following = both.request()
    second = await both.peer.next()
    await both.peer.answer(sent["id"], "late")
    await both.peer.answer(second["id"], "in time")
    assert await following == "in time"
    assert second["id"] != sent["id"]
    assert both.connection.unmatched_responses == 1


async def test_a_request_that_takes_too_long_says_so_and_is_cancelled_at_the_peer(both: Both) -> None:
    request = both.request("textDocument/diagnostic", timeout_seconds=5.0)
    sent = await both.peer.next()
    both.clock.advance(4.9)
    assert both.clock.next_due == pytest.approx(0.1)
    both.clock.advance(0.2)
    with pytest.raises(RequestTimeoutError) as caught:
        await request
    assert (caught.value.method, caught.value.timeout_seconds) == ("textDocument/diagnostic", 5.0)
    assert (await both.peer.next())["params"] == {"id": sent["id"]}


async def test_an_answer_in_time_stops_the_timer(both: Both) -> None:
    request = both.request(timeout_seconds=5.0)
    await both.peer.answer((await both.peer.next())["id"], 1)
    assert await request == 1
    assert both.clock.next_due is None


# ------------------------------------------------------------------------------------------------ the end


async def fail_together(both: Both, break_stream: Callable[[], Awaitable[None]]) -> TransportError:
    """Break the stream under three requests, and return the cause that all errors have in common."""
    assert both.connection.closed_cause is None
    requests = [both.request() for _ in range(3)]
    for _ in requests:
        await both.peer.next()
    waiting = asyncio.create_task(both.connection.wait_closed())
    await break_stream()
    errors = await asyncio.gather(*requests, return_exceptions=True)
    cause = await waiting
    assert all(error is cause for error in errors)
    assert both.connection.closed_cause is cause
    for call in (both.connection.request("m"), both.connection.notify("m")):
        with pytest.raises(TransportError) as caught:
            await call
        assert caught.value is cause
    return cause


async def test_when_the_server_ends_all_fail_with_the_same_cause(both: Both) -> None:
    both.peer.transport.exit_code = 3
    both.peer.transport.stderr_tail = "out of memory"
    cause = await fail_together(both, both.peer.transport.aclose)
    assert isinstance(cause, ServerExitedError)
    assert (cause.exit_code, cause.stderr_tail) == (3, "out of memory")


@pytest.mark.parametrize(
    "data",
    [
        b"Content-Length: -5\r\n\r\n",
        b"Content-Length: 65\r\n\r\n" + b" " * 65,
        b"Content-Length: 2\r\n\r\n[]",
        b"Content-Length: 2\r\n\r\n{]",
        b'Content-Length: 19\r\n\r\n{"method":"poison"}',
    ],
    ids=["length", "oversized", "batch", "json", "handler"],
)
async def test_when_the_stream_breaks_all_fail_with_the_same_cause(data: bytes) -> None:
    both = Both(FrameDecoder(max_body_bytes=64))
    cause = await fail_together(both, lambda: both.peer.transport.send(data))
    assert isinstance(cause, ProtocolError)
    await both.connection.aclose()


async def test_messages_before_the_end_are_still_delivered(both: Both) -> None:
    request = both.request()
    sent = await both.peer.next()
    await both.peer.send({"method": "last", "params": 1}, {"id": sent["id"], "result": "answered"})
    await both.peer.transport.aclose()
    assert await request == "answered"
    assert await both.handler.notifications.get() == ("last", 1)
    await both.connection.wait_closed()


async def test_a_send_to_a_dead_peer_fails_at_once_and_fails_the_others() -> None:
    both = Both()
    waiting = both.request()
    await both.peer.next()
    # The other end no longer takes anything, and our reader has not seen its end.
    both.peer.transport._closed = True
    with pytest.raises(ServerExitedError) as caught:
        await both.connection.notify("m")
    with pytest.raises(ServerExitedError) as other:
        await waiting
    assert caught.value is other.value
    await both.connection.aclose()


async def test_text_between_messages_is_counted_and_told_at_the_end(both: Both) -> None:
    await both.peer.transport.send(b"Debugger listening\n")
    await both.peer.send({"method": "one"})
    assert await both.handler.notifications.get() == ("one", OMIT)
    assert (both.connection.noise_bytes, both.connection.noise_sample) == (19, "Debugger listening\n")
    await both.peer.transport.send(b"usage: server --stdio")
    await both.peer.transport.aclose()
    cause = await both.connection.wait_closed()
    assert "Debugger listening\\nusage: server --stdio" in str(cause)


async def test_closing_fails_what_is_under_way_and_later_use_is_a_mistake() -> None:
    both = Both()
    request = both.request()
    await both.peer.next()
    await asyncio.gather(both.connection.aclose(), both.connection.aclose())
    with pytest.raises(TransportError, match="closed before the answer"):
        await request
    for call in (both.connection.request("m"), both.connection.notify("m")):
        with pytest.raises(ClosedError):
            await call
    assert await both.peer.next() is None
    assert both.transport.is_closed
    await both.connection.aclose()


async def test_closing_finishes_though_its_caller_is_cancelled(both: Both) -> None:
    released = asyncio.Event()
    close_transport = both.transport.aclose

    async def slow_close() -> None:
        await released.wait()
        await close_transport()

    both.transport.aclose = slow_close  # type: ignore[method-assign]
    closing = asyncio.create_task(both.connection.aclose())
    await both.connection.wait_closed()
    closing.cancel()
    with pytest.raises(asyncio.CancelledError):
        await closing
    assert not both.transport.is_closed
    released.set()
    assert await both.peer.next() is None


async def test_nothing_runs_on_after_the_close() -> None:
    before = asyncio.all_tasks()
    both = Both()
    hung = asyncio.Event()
    both.handler.requests["hang"] = lambda _: hung.wait()
    request = both.request()
    await both.peer.send({"id": 1, "method": "hang"})
    await both.peer.next()
    request.cancel()
    await both.connection.aclose()
    await asyncio.wait([request])
    assert asyncio.all_tasks() == before


# ------------------------------------------------------------------------------------------------ incoming


@pytest.mark.parametrize("request_id", [0, "", "x", 1.5, None, -3, [1], {"a": [2]}])
async def test_a_request_of_the_peer_is_answered_under_its_own_id(both: Both, request_id: object) -> None:
    await both.peer.send({"id": request_id, "method": "echo", "params": [1]})
    assert await both.peer.next() == {"jsonrpc": "2.0", "id": request_id, "result": [1]}


async def test_unknown_methods_and_failing_handlers_are_error_answers(both: Both, caplog: Any) -> None:
    caplog.set_level("DEBUG", "jupyter_lsp_agent")

    async def fail(_: Any) -> Any:
        raise KeyError("secret")

    async def refuse(_: Any) -> Any:
        raise ResponseError(-32803, "refused", {"why": 1})

    both.handler.requests.update(fail=fail, refuse=refuse)
    await both.peer.send(*({"id": number, "method": m} for number, m in enumerate(["what", "fail", "refuse", "echo"])))
    answers = [await both.peer.next() for _ in range(4)]
    assert [answer["id"] for answer in answers] == [0, 1, 2, 3]
    assert answers[0]["error"] == {"code": -32601, "message": "method not found: what"}
    assert answers[1]["error"] == {"code": -32603, "message": "fail failed: KeyError"}
    assert answers[2]["error"] == {"code": -32803, "message": "refused", "data": {"why": 1}}
    assert answers[3]["result"] is None
    assert "secret" in caplog.text
    assert [r.levelname for r in caplog.records if r.exc_info] == ["DEBUG"], "no traceback is for a user"


async def test_a_result_that_is_no_json_is_an_error_answer(both: Both) -> None:
    async def strange(_: Any) -> Any:
        return {"path": object()}

    both.handler.requests["strange"] = strange
    await both.peer.send({"id": 1, "method": "strange"}, {"id": 2, "method": "echo", "params": 5})
    assert (await both.peer.next())["error"] == {"code": -32603, "message": "strange failed: TypeError"}
    assert (await both.peer.next())["result"] == 5


async def test_slow_handlers_keep_the_order_and_hold_up_nobody_else(both: Both) -> None:
    released = asyncio.Event()

    async def slow(_: Any) -> str:
        await released.wait()
        return "slow"

    both.handler.requests["slow"] = slow
    ours = both.request()
    sent = await both.peer.next()
    await both.peer.send({"id": 1, "method": "slow"}, {"id": 2, "method": "echo", "params": "quick"})
    await both.peer.send({"method": "note"}, {"id": sent["id"], "result": "answered"})
    assert await ours == "answered"
    assert await both.handler.notifications.get() == ("note", OMIT)
    released.set()
    assert [(await both.peer.next())["result"] for _ in range(2)] == ["slow", "quick"]


async def test_a_handler_may_ask_the_peer(both: Both) -> None:
    both.handler.requests["ask"] = lambda _: both.connection.request("back")
    await both.peer.send({"id": "a", "method": "ask"})
    asked = await both.peer.next()
    assert asked["method"] == "back"
    await both.peer.answer(asked["id"], 7)
    assert await both.peer.next() == {"jsonrpc": "2.0", "id": "a", "result": 7}


async def test_the_peer_may_cancel_its_own_requests(both: Both) -> None:
    hung = asyncio.Event()
    both.handler.requests["hang"] = lambda _: hung.wait()
    cancel = "$/cancelRequest"
    await both.peer.send(
        {"id": 1, "method": "hang"},
        {"id": "1", "method": "echo", "params": "other id"},
        {"id": 3, "method": "echo"},
        {"method": cancel, "params": {"id": 3}},
        {"method": cancel, "params": {"id": 1}},
        {"method": cancel, "params": {"id": "unknown"}},
        {"method": cancel, "params": {"id": [1]}},
        {"method": cancel, "params": None},
        {"method": cancel},
        {"id": 4, "method": "echo", "params": "after"},
    )
    answers = [await both.peer.next() for _ in range(4)]
    assert [answer["id"] for answer in answers] == [1, "1", 3, 4]
    assert [answer.get("error", {}).get("code") for answer in answers] == [-32800, None, -32800, None]
    assert [answer.get("result") for answer in answers] == [None, "other id", None, "after"]
    assert both.handler.notifications.empty()
