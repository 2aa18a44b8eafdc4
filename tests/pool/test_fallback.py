"""Chains of servers: who is asked when one cannot be had, what is remembered, and what never starts another server."""

import asyncio
import logging

import pytest

from jupyter_lsp_agent.core.clock import time_limit
from jupyter_lsp_agent.core.errors import (
    InitializeFailedError,
    PoolBusyError,
    ServerNotFoundError,
    ServerUnavailableError,
    SpawnFailedError,
    UntrustedError,
)
from jupyter_lsp_agent.core.ids import ServerId
from jupyter_lsp_agent.core.launch import ServerLaunch
from jupyter_lsp_agent.pool.fallback import Candidate, NoWorkingServerError, ask_first_working
from tests.support.fake_clients import Bench, FakeClient, bench, make_key, make_launch, until


def chain(*ids: str, **errors: ServerUnavailableError) -> list[Candidate]:
    """Candidates of these ids; `errors` of them are raised by `prepare`."""

    def candidate(server_id: str) -> Candidate:
        def prepare() -> ServerLaunch:
            if server_id in errors:
                raise errors[server_id]
            return make_launch(server_id)

        return Candidate(make_key(server_id), prepare)

    return [candidate(server_id) for server_id in ids]


async def ask(it: Bench, candidates: list[Candidate]):
    return await ask_first_working(it.pool, candidates, FakeClient.ask)


def reasons(failures):
    return [(failure.server_id, failure.reason) for failure in failures]


async def test_the_first_that_works_speaks_and_nobody_else_is_started():
    async with bench() as it:
        answer = await ask(it, chain("one", "two"))
        assert (answer.value, answer.fallback, answer.failures) == ("one", False, ())
        assert it.starter.starts == 1


@pytest.mark.parametrize(
    ("error", "reason"),
    [
        (ServerNotFoundError("one is not installed"), "not_installed"),
        (UntrustedError("one would run things"), "untrusted"),
        (SpawnFailedError("no such file"), "broken"),
        (InitializeFailedError("no answer to initialize"), "broken"),
    ],
)
@pytest.mark.parametrize("where", ["prepare", "start"])
async def test_one_that_cannot_be_had_makes_room_for_the_next_with_its_reason(error, reason, where):
    async with bench() as it:
        if where == "start":
            it.starter.errors["one"] = error
        answer = await ask(it, chain("one", "two", **({"one": error} if where == "prepare" else {})))
        assert answer.value == "two"
        assert answer.fallback
        assert [(one.server_id, one.reason, one.detail) for one in answer.failures] == [("one", reason, str(error))]


async def test_one_that_dies_in_use_is_asked_once_more_and_then_the_next():
    async with bench() as it:
        it.starter.dies_at_first_question.add("one")
        answer = await ask(it, chain("one", "two"))
        assert (answer.value, reasons(answer.failures)) == ("two", [("one", "broken")])
        assert [client.launch.server_id for client in it.starter.clients] == ["one", "one", "two"]


async def test_one_that_died_before_answers_again_without_a_word_of_fallback():
    async with bench() as it:
        await ask(it, chain("one", "two"))
        it.starter.clients[0].dead.set()
        answer = await ask(it, chain("one", "two"))
        assert (answer.value, answer.fallback) == ("one", False)


async def test_a_late_answer_starts_no_other_server():
    async with bench() as it:

        async def never(_client: FakeClient) -> str:
            await asyncio.Event().wait()
            return ""

        async def bounded() -> None:
            async with time_limit(it.clock, 3):
                await ask_first_working(it.pool, chain("one", "two"), never)

        task = asyncio.create_task(bounded())
        await until(lambda: it.pool.is_started(make_key("one")))
        it.clock.advance(3)
        with pytest.raises(TimeoutError):
            await task
        assert [client.launch.server_id for client in it.starter.clients] == ["one"]


async def test_a_busy_pool_is_no_failure_of_the_server():
    async with bench(max_servers=1) as it, it.lease("other"):
        with pytest.raises(PoolBusyError):
            await ask(it, chain("one", "two"))
        assert (await it.pool.status()).broken == ()


async def test_the_choice_is_remembered_with_its_reasons_and_the_dead_ones_cost_nothing_again(caplog):
    caplog.set_level(logging.WARNING, "jupyter_lsp_agent")
    async with bench(broken_retry_seconds=600) as it:
        it.starter.errors |= {name: InitializeFailedError(f"{name} hangs") for name in ("a", "b", "c")}
        first = await ask(it, chain("a", "b", "c", "good"))
        assert it.starter.starts == 4
        it.clock.advance(599)
        second = await ask(it, chain("a", "b", "c", "good"))
        assert it.starter.starts == 4
        assert second.failures == first.failures
        assert reasons(first.failures) == [("a", "broken"), ("b", "broken"), ("c", "broken")]
    fallbacks = [record.getMessage() for record in caplog.records if " in place of " in record.getMessage()]
    assert len(fallbacks) == 1
    assert "good" in fallbacks[0]
    assert "a hangs" in fallbacks[0]


async def test_three_dead_ones_cost_three_times_their_start_up_time_and_nothing_the_second_time():
    async with bench(startup_timeout_seconds=30, idle_timeout_seconds=0) as it:
        it.starter.deaf |= {"a", "b", "c"}
        task = asyncio.create_task(ask(it, chain("a", "b", "c", "good")))
        for number in (1, 2, 3):
            assert await it.clock.wait_for_timer() == 30
            assert (it.starter.starts, it.clock.monotonic_seconds()) == (number, 30 * (number - 1))
            it.clock.advance(30)
        assert (await task).value == "good"
        assert (it.starter.starts, it.clock.monotonic_seconds()) == (4, 90)
        again = await ask(it, chain("a", "b", "c", "good"))
        assert (again.value, reasons(again.failures)) == ("good", [(name, "broken") for name in ("a", "b", "c")])
        assert (it.starter.starts, it.clock.monotonic_seconds(), it.clock.next_due) == (4, 90, None)


@pytest.mark.parametrize("how", ["time", "restart"])
async def test_the_choice_ends_with_its_time_or_a_restart(how):
    async with bench(broken_retry_seconds=600, idle_timeout_seconds=0) as it:
        missing = {"one": ServerNotFoundError("one is not installed")}
        assert (await ask(it, chain("one", "two", **missing))).value == "two"
        assert (await ask(it, chain("one", "two"))).value == "two"
        if how == "time":
            it.clock.advance(600)
        else:
            await it.pool.restart(ServerId("one"))
        answer = await ask(it, chain("one", "two"))
        assert (answer.value, answer.fallback) == ("one", False)


async def test_a_choice_that_fails_is_given_up_for_the_rest_of_the_chain():
    async with bench() as it:
        missing = {"one": ServerNotFoundError("one is not installed")}
        assert (await ask(it, chain("one", "two", "three", **missing))).value == "two"
        it.starter.dies_at_first_question.add("two")
        it.starter.clients[0].die()
        await until(lambda: it.starter.clients[0].is_closed)
        answer = await ask(it, chain("one", "two", "three", **missing))
        assert (answer.value, reasons(answer.failures)) == ("three", [("one", "not_installed"), ("two", "broken")])


@pytest.mark.parametrize(
    ("errors", "reason", "detail"),
    [
        (
            {"one": ServerNotFoundError("install one"), "two": ServerNotFoundError("install two")},
            "not_installed",
            "install one",
        ),
        ({"one": ServerNotFoundError("install one"), "two": SpawnFailedError("two crashed")}, "broken", "two crashed"),
        ({"one": UntrustedError("trust it"), "two": SpawnFailedError("two crashed")}, "untrusted", "trust it"),
    ],
)
async def test_when_none_can_be_had_the_first_that_is_there_gives_the_reason(errors, reason, detail):
    async with bench() as it:
        with pytest.raises(NoWorkingServerError) as raised:
            await ask(it, chain("one", "two", **errors))
        assert (raised.value.reason, str(raised.value)) == (reason, detail)
        assert [failure.server_id for failure in raised.value.failures] == ["one", "two"]


async def test_when_none_could_be_had_nothing_is_remembered_of_what_was_not_installed():
    async with bench() as it:
        with pytest.raises(NoWorkingServerError):
            await ask(it, chain("one", one=ServerNotFoundError("install one")))
        assert (await ask(it, chain("one"))).value == "one"


async def test_a_chain_without_servers_is_an_unsupported_language():
    async with bench() as it:
        with pytest.raises(NoWorkingServerError) as raised:
            await ask(it, [])
        assert raised.value.reason == "unsupported_language"


async def test_a_handshake_gets_less_time_where_the_chain_has_a_next_server():
    async with bench(startup_timeout_seconds=30) as it:
        it.starter.errors["one"] = SpawnFailedError("no such file")
        await ask(it, chain("one", "two"))
        assert it.starter.timeouts == [("one", 30), ("two", 45)]


@pytest.mark.parametrize(
    ("enough", "spoke", "asked"),
    [
        (lambda value: True, "one", ["one"]),
        (lambda value: value == "two", "two", ["one", "two"]),
        (lambda value: value == "three", "one", ["one", "two"]),
        (lambda value: False, "one", ["one", "two"]),
    ],
)
async def test_a_meagre_answer_is_kept_only_where_no_later_server_has_a_better_one(enough, spoke, asked):
    async with bench() as it:
        candidates = chain("one", "two", "three")
        answer = await ask_first_working(it.pool, candidates, FakeClient.ask, is_enough=enough)
        assert answer.value == spoke
        assert answer.fallback == (spoke != "one")
        assert [one.value for one in (*answer.meagre, answer, *answer.no_better)] == asked
        assert [client.launch.server_id for client in it.starter.clients] == asked


async def test_the_program_of_one_that_runs_is_not_looked_for_again():
    async with bench() as it:
        looked = []

        def prepare() -> ServerLaunch:
            looked.append(1)
            return make_launch("one")

        for _ in range(3):
            await ask(it, [Candidate(make_key("one"), prepare)])
        assert len(looked) == 1


async def test_a_question_that_takes_too_long_starts_no_other_server():
    async with bench() as it:

        async def late(_client: FakeClient) -> str:
            raise TimeoutError

        with pytest.raises(TimeoutError):
            await ask_first_working(it.pool, chain("one", "two"), late)
        assert [client.launch.server_id for client in it.starter.clients] == ["one"]
        assert (await it.pool.status()).broken == ()
