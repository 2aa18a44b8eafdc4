"""The pool with clients that have no process: who is started, shared, stopped, and when."""

import asyncio
import logging

import pytest

from jupyter_lsp_agent.core.errors import (
    ClosedError,
    InitializeFailedError,
    MarkedBrokenError,
    PoolBusyError,
    ServerExitedError,
    SpawnFailedError,
)
from jupyter_lsp_agent.core.ids import DocumentUri, ServerId
from jupyter_lsp_agent.core.launch import TextDocument
from jupyter_lsp_agent.core.uris import uri_from_path
from jupyter_lsp_agent.pool.place import PlaceState
from tests.support.fake_clients import bench, make_key, make_launch, next_turn, until


async def test_a_client_is_started_at_first_use_and_shared_afterwards():
    async with bench() as it:
        assert it.starter.starts == 0
        first = await it.use()
        assert await it.use() is first
        assert it.starter.starts == 1


@pytest.mark.parametrize("other", [("two", "/w", ""), ("one", "/v", ""), ("one", "/w", "/venv")])
async def test_each_part_of_the_key_tells_clients_apart(other):
    async with bench() as it:
        assert await it.use(*other) is not await it.use()


async def test_callers_who_want_the_same_at_the_same_time_share_one_start():
    async with bench() as it:
        it.starter.gate = asyncio.Event()
        tasks = [asyncio.create_task(it.use()) for _ in range(20)]
        await until(lambda: it.starter.starts >= 1)
        it.starter.gate.set()
        assert len(set(await asyncio.gather(*tasks))) == 1
        assert it.starter.starts == 1


async def test_a_cancelled_owner_leaves_the_others_their_start():
    async with bench() as it:
        it.starter.gate = asyncio.Event()
        owner = asyncio.create_task(it.use())
        await until(lambda: it.starter.starts >= 1)
        other = asyncio.create_task(it.use())
        owner.cancel()
        with pytest.raises(asyncio.CancelledError):
            await owner
        it.starter.gate.set()
        assert (await other).launch.server_id == "one"
        assert it.starter.cancelled == 0


async def test_a_start_that_nobody_waits_for_any_more_goes_on():
    async with bench() as it:
        it.starter.gate = asyncio.Event()
        owner = asyncio.create_task(it.use())
        await until(lambda: it.starter.starts >= 1)
        owner.cancel()
        it.starter.gate.set()
        await until(lambda: it.pool.is_started(make_key()))
        await it.use()
        assert it.starter.starts == 1


async def test_a_failed_start_is_told_to_all_who_wait_and_not_tried_again_before_its_time():
    async with bench(broken_retry_seconds=600) as it:
        it.starter.errors["one"] = InitializeFailedError("it speaks no LSP")
        results = await asyncio.gather(it.use(), it.use(), return_exceptions=True)
        assert [str(error) for error in results] == ["it speaks no LSP"] * 2
        with pytest.raises(MarkedBrokenError, match=r"it speaks no LSP.*in 600 s"):
            await it.use()
        it.clock.advance(599)
        with pytest.raises(MarkedBrokenError, match="in 1 s"):
            await it.use()
        assert it.starter.starts == 1
        it.starter.errors.clear()
        it.clock.advance(1)
        await it.use()
        assert it.starter.starts == 2


async def test_without_a_retry_time_only_a_restart_makes_it_be_tried_again():
    async with bench(broken_retry_seconds=0) as it:
        it.starter.errors["one"] = SpawnFailedError("no such file")
        with pytest.raises(SpawnFailedError):
            await it.use()
        it.clock.advance(1e9)
        with pytest.raises(MarkedBrokenError, match="after a restart"):
            await it.use()
        it.starter.errors.clear()
        await it.pool.restart(ServerId("one"))
        assert (await it.use()).launch.server_id == "one"


async def test_a_failure_concerns_its_own_key_alone():
    async with bench() as it:
        it.starter.errors["one"] = SpawnFailedError("no such file")
        with pytest.raises(SpawnFailedError):
            await it.use()
        await it.use("two")


async def test_the_least_recently_used_makes_room():
    async with bench(max_servers=2) as it:
        await it.use("one")
        it.clock.advance(1)
        await it.use("two")
        it.clock.advance(1)
        await it.use("one")
        it.clock.advance(1)
        await it.use("three")
        assert [it.pool.is_started(make_key(name)) for name in ("one", "two", "three")] == [True, False, True]


async def test_there_are_never_more_processes_than_places_even_while_one_stops():
    async with bench(max_servers=1) as it:
        it.starter.close_gate = asyncio.Event()
        await it.use("one")
        second = asyncio.create_task(it.use("two"))
        for _ in range(20):
            await next_turn()
        assert it.starter.starts == 1
        it.starter.close_gate.set()
        await second
        assert it.starter.most_alive == 1


async def test_a_leased_client_is_never_stopped_for_room():
    async with bench(max_servers=1) as it, it.lease("one") as client:
        with pytest.raises(PoolBusyError, match="max_servers"):
            await it.use("two")
        assert await client.ask() == "one"


async def test_who_has_patience_gets_the_place_when_it_is_free():
    async with bench(max_servers=1) as it:
        async with it.lease("one"):
            waiting = asyncio.create_task(it.lease("two", patience_seconds=5).__aenter__())
            for _ in range(5):
                await next_turn()
            assert not waiting.done()
        assert (await waiting).launch.server_id == "two"


async def test_patience_ends():
    async with bench(max_servers=1) as it, it.lease("one"):
        waiting = asyncio.create_task(it.lease("two", patience_seconds=5).__aenter__())
        await until(lambda: it.clock.next_due is not None)
        await until(lambda: (it.clock.advance(5), waiting.done())[1])
        with pytest.raises(PoolBusyError):
            await waiting


async def test_an_idle_client_is_stopped_and_a_leased_one_is_not():
    async with bench(idle_timeout_seconds=600) as it:
        idle = await it.use("one")
        async with it.lease("two") as leased:
            it.clock.advance(599)
            assert it.pool.is_started(make_key("one"))
            it.clock.advance(1)
            await until(lambda: idle.is_closed)
            it.clock.advance(10_000)
            assert await leased.ask() == "two"
        it.clock.advance(600)
        await until(lambda: leased.is_closed)


async def test_an_idle_time_of_zero_means_never():
    async with bench(idle_timeout_seconds=0) as it:
        client = await it.use()
        it.clock.advance(1e9)
        assert not client.is_closed
        assert it.pool.is_started(make_key())


async def test_a_dead_client_is_replaced_at_the_next_use(caplog):
    caplog.set_level(logging.INFO, "jupyter_lsp_agent")
    async with bench() as it:
        first = await it.use()
        first.die()
        await until(lambda: first.is_closed)
        second = await it.use()
        assert second is not first
        assert (await it.pool.status()).running[0].restarts == 1
    events = [record.getMessage().split(" ")[0] for record in caplog.records]
    assert events == ["started", "died:", "started", "stopped"]


async def test_a_client_that_dies_in_use_is_not_leased_again():
    async with bench() as it:

        async def use_and_die() -> None:
            async with it.lease() as client:
                client.die()
                await client.ask()

        with pytest.raises(ServerExitedError):
            await use_and_die()
        assert await it.use() is not it.starter.clients[0]


async def test_deaths_in_a_row_slow_the_next_start_down_and_then_count_as_broken():
    async with bench(max_crashes=3, crash_window_seconds=60) as it:
        for _ in range(2):
            client = await it.use()
            client.die()
            await until(lambda client=client: client.is_closed)
        third = asyncio.create_task(it.use())
        await until(lambda: it.clock.next_due is not None and it.clock.next_due <= 0.5)
        assert it.starter.starts == 2
        it.clock.advance(0.5)
        client = await third
        client.die()
        await until(lambda: client.is_closed)
        with pytest.raises(MarkedBrokenError, match="died several times in a row, the last time: exit code 1"):
            await it.use()


async def test_a_long_life_forgives_the_deaths_before_it():
    async with bench(max_crashes=2, crash_window_seconds=60, idle_timeout_seconds=0) as it:
        for _ in range(5):
            client = await it.use()
            it.clock.advance(60)
            client.die()
            await until(lambda client=client: client.is_closed)
        await it.use()


async def test_a_client_above_the_memory_bound_is_stopped_once_nobody_uses_it():
    async with bench(max_server_rss_bytes=1000, memory_check_seconds=0) as it:
        it.rss_bytes = 1001
        async with it.lease() as client:
            client.pid = 1
            async with it.lease():
                pass
            assert not client.is_closed
        await until(lambda: client.is_closed)
        it.rss_bytes = 1000
        async with it.lease() as client:
            client.pid = 1
        await asyncio.to_thread(lambda: None)
        assert not client.is_closed


async def test_a_restart_replaces_what_runs_and_leaves_other_roots_alone():
    async with bench() as it:
        first, other = await it.use("one", "/w"), await it.use("one", "/v")
        status = await it.pool.restart(ServerId("one"), DocumentUri("file:///w"))
        assert [one.key.root_uri for one in status.running] == ["file:///v", "file:///w"]
        assert await it.use("one", "/w") is not first
        assert await it.use("one", "/v") is other


async def test_a_restart_under_a_lease_ends_it_with_a_reason():
    async with bench() as it:

        async def use_under_restart() -> None:
            async with it.lease() as client:
                await it.pool.restart(ServerId("one"))
                await until(lambda: client.is_closed)
                await client.ask()

        with pytest.raises(ServerExitedError, match="restart"):
            await use_under_restart()


async def test_status_says_what_runs_and_what_is_broken():
    async with bench() as it:
        client = await it.use("one", environment="/venv")
        client.open_documents = (DocumentUri("file:///w/a.py"),)
        it.starter.errors["two"] = SpawnFailedError("no such file")
        with pytest.raises(SpawnFailedError):
            await it.use("two")
        it.clock.advance(10)
        status = await it.pool.status()
        (running,), (broken,) = status.running, status.broken
        assert (running.key, running.state, running.documents) == (
            make_key("one", environment="/venv"),
            PlaceState.RUNNING,
            1,
        )
        assert running.idle_seconds == 10
        assert (broken.key, broken.reason, broken.retry_in_seconds) == (make_key("two"), "no such file", 590)


async def test_closing_ends_a_start_under_way_and_settles_who_waits_for_it():
    async with bench() as it:
        it.starter.hangs.add("one")
        waiting = asyncio.create_task(it.use())
        await until(lambda: it.starter.starts >= 1)
        await it.pool.aclose()
        with pytest.raises(SpawnFailedError, match="stopped while it started"):
            await waiting
        assert it.starter.cancelled == 1
        with pytest.raises(ClosedError):
            await it.use()


async def test_closing_finishes_under_cancellation():
    async with bench() as it:
        it.starter.close_gate = asyncio.Event()
        client = await it.use()
        closing = asyncio.create_task(it.pool.aclose())
        await next_turn()
        closing.cancel()
        await next_turn()
        assert not closing.done()
        it.starter.close_gate.set()
        with pytest.raises(asyncio.CancelledError):
            await closing
        assert client.is_closed


async def test_warming_up_starts_without_waiting():
    async with bench() as it:
        it.pool.warm_up(make_key(), make_launch())
        assert not it.pool.is_started(make_key())
        await until(lambda: it.pool.is_started(make_key()))
        await it.use()
        assert it.starter.starts == 1


async def test_the_documents_of_a_dead_client_are_opened_at_its_successor():
    document = TextDocument(DocumentUri("file:///w/a.py"), "python", "x = 1")
    async with bench() as it:
        first = await it.use()
        first.idle_documents = (document,)
        first.die()
        await until(lambda: not it.pool.is_started(make_key()))
        second = await it.use()
        assert second.reopened == [document]


async def test_a_document_that_is_another_text_on_disk_by_now_is_not_opened_at_the_successor(tmp_path):
    same, other = tmp_path / "same.py", tmp_path / "other.py"
    same.write_text("x = 1")
    other.write_text("x = 2")
    documents = [
        TextDocument(uri_from_path(path), "python", "x = 1") for path in (same, other, tmp_path / "n.ipynb.py")
    ]
    async with bench() as it:
        first = await it.use()
        first.idle_documents = tuple(documents)
        first.die()
        await until(lambda: not it.pool.is_started(make_key()))
        assert (await it.use()).reopened == [documents[0], documents[2]]
