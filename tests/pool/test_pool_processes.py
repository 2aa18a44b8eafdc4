"""The pool with real processes: chains with dead members, many tasks at once, and a long life within bounds."""

import asyncio
import contextlib
import gc
import hashlib
import os
import random
import signal
import sys
import threading
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path

import psutil
import pytest

from jupyter_lsp_agent.core.clock import SystemClock
from jupyter_lsp_agent.core.errors import JupyterLspAgentError, ServerNotFoundError
from jupyter_lsp_agent.core.ids import ServerId
from jupyter_lsp_agent.core.launch import LaunchCommand, ServerLaunch, TextDocument
from jupyter_lsp_agent.core.uris import uri_from_path
from jupyter_lsp_agent.lsp.client import LanguageClient
from jupyter_lsp_agent.pool.fallback import Candidate, ask_first_working
from jupyter_lsp_agent.pool.keys import ClientKey, PoolLimits
from jupyter_lsp_agent.pool.pool import ClientPool
from jupyter_lsp_agent.pool.starting import starter
from tests.support.full import FULL, SEEDS, sample

SMALL_SERVER = Path(__file__).parents[1] / "support/small_server.py"


def small_candidate(mode: str, root: Path, environment: str = "", server_id: str = "") -> Candidate:
    """A candidate that starts the small server in `mode`; `missing` is one that is not installed."""
    server = ServerId(server_id or mode or "good")

    def prepare() -> ServerLaunch:
        if mode == "missing":
            raise ServerNotFoundError(f"{server} is not installed")
        argv = (sys.executable, str(SMALL_SERVER), mode)
        return ServerLaunch(server, LaunchCommand(argv, root, dict(os.environ)), uri_from_path(root))

    return Candidate(ClientKey(server, uri_from_path(root), environment), prepare)


def small_servers() -> list[int]:
    """The processes of small servers below this one, whether or not anybody knows them."""
    found = []
    for process in psutil.Process().children(recursive=True):
        with contextlib.suppress(psutil.NoSuchProcess, psutil.ZombieProcess):
            # A supervisor has the server's command among its own words, and behind them.
            if process.cmdline()[1:2] == [str(SMALL_SERVER)]:
                found.append(process.pid)
    return found


@dataclass
class Watched:
    """A pool whose processes are counted."""

    pool: ClientPool[LanguageClient]
    clients: list[LanguageClient] = field(default_factory=list)
    launches: list[ServerLaunch] = field(default_factory=list)
    most_alive: int = 0

    @property
    def pids(self) -> list[int]:
        return [client.pid for client in self.clients if client.pid and psutil.pid_exists(client.pid)]

    def count(self) -> None:
        """Count the servers that live now, those in their handshake too."""
        self.most_alive = max(self.most_alive, len(small_servers()))

    async def check(self, chain: list[Candidate], path: Path, text: str):
        """The answer, once it is known to be about this very text."""

        async def ask(client: LanguageClient):
            return await client.diagnose(TextDocument(uri_from_path(path), "text", text))

        answer = await ask_first_working(self.pool, chain, ask, patience_seconds=30)
        (diagnostic,) = answer.value.diagnostics
        digest, most_open = diagnostic.message.split()
        assert digest == hashlib.sha256(text.encode()).hexdigest()
        assert int(most_open) <= self.pool.limits.max_open_documents
        return answer


@asynccontextmanager
async def watched(**limits: float) -> AsyncIterator[Watched]:
    bounds = PoolLimits(**limits)  # type: ignore[arg-type]
    start = starter(bounds, SystemClock())

    async def watched_start(launch: ServerLaunch) -> LanguageClient:
        it.count()
        it.launches.append(launch)
        client = await start(launch)
        it.clients.append(client)
        it.count()
        return client

    it = Watched(ClientPool(bounds, SystemClock(), watched_start))
    try:
        yield it
    finally:
        await it.pool.aclose()
        assert small_servers() == []


@pytest.mark.parametrize(
    ("mode", "reason", "detail"),
    [
        ("missing", "not_installed", "not installed"),
        ("crash", "broken", "crashed as told"),
        ("refuse", "broken", "refused as told"),
        ("hang", "broken", "within 0.5 s"),
        ("die", "broken", "exit"),
    ],
)
@pytest.mark.parametrize("position", [0, 1, 2])
async def test_in_each_position_the_next_one_answers_with_the_reasons(tmp_path, mode, reason, detail, position):
    dead = [small_candidate(mode, tmp_path, server_id=f"dead-{number}") for number in range(position + 1)]
    chain = [*dead, small_candidate("", tmp_path)]
    async with watched(startup_timeout_seconds=0.5) as it:
        answer = await it.check(chain, tmp_path / "a.txt", "one")
        assert answer.key.server_id == "good"
        assert [failure.server_id for failure in answer.failures] == [one.key.server_id for one in dead]
        assert {failure.reason for failure in answer.failures} == {reason}
        assert all(detail in failure.detail for failure in answer.failures), answer.failures
        again = await it.check(chain, tmp_path / "a.txt", "two")
        assert again.failures == answer.failures


@pytest.mark.parametrize("mode", ["crash", "refuse", "hang"])
async def test_dead_ones_are_started_once_within_their_start_up_time_and_not_again(tmp_path, mode):
    dead = [small_candidate(mode, tmp_path, server_id=f"dead-{number}") for number in range(3)]
    chain = [*dead, small_candidate("", tmp_path)]
    async with watched(startup_timeout_seconds=0.5) as it:
        await it.check(chain, tmp_path / "a.txt", "one")
        limits = [(launch.server_id, launch.initialize_timeout_seconds) for launch in it.launches]
        assert limits[:3] == [(candidate.key.server_id, 0.5) for candidate in dead]
        assert [server_id for server_id, _ in limits[3:]] == ["good"]
        for text in ("two", "three"):
            await it.check(chain, tmp_path / "a.txt", text)
        assert len(it.launches) == 4


@pytest.mark.parametrize("mode", ["crash", "hang", "die"])
async def test_without_a_next_one_there_is_no_answer_and_never_an_empty_one(tmp_path, mode):
    async with watched(startup_timeout_seconds=0.5) as it:
        chain = [small_candidate(mode, tmp_path), small_candidate("missing", tmp_path)]
        with pytest.raises(JupyterLspAgentError) as raised:
            await it.check(chain, tmp_path / "a.txt", "one")
        assert getattr(raised.value, "reason", None) == "broken"


async def test_one_that_was_killed_between_two_checks_is_started_again(tmp_path):
    async with watched() as it:
        chain = [small_candidate("", tmp_path)]
        await it.check(chain, tmp_path / "a.txt", "one")
        os.kill(it.pids[0], signal.SIGKILL)
        answer = await it.check(chain, tmp_path / "a.txt", "two")
        assert not answer.fallback
        assert len(it.clients) == 2


async def test_many_tasks_with_cancellations_and_kills_all_settle(tmp_path):
    """200 tasks on 4 roots × 2 environments × 2 servers: never more than 16 processes, each answer its own text's."""
    chance = random.Random(SEEDS["many tasks"])
    roots = [tmp_path / name for name in "abcd"]
    for root in roots:
        root.mkdir()
    async with watched(max_servers=16, max_crashes=1_000, broken_retry_seconds=0.05) as it:

        async def one(number: int) -> None:
            root, environment = chance.choice(roots), chance.choice(["", "/venv"])
            chain = [small_candidate("", root, environment, server_id) for server_id in ("first", "second")]
            chance.shuffle(chain)
            await it.check(chain, root / f"{number}.txt", f"text {number}")

        tasks = [asyncio.create_task(one(number)) for number in range(200)]
        for task in chance.sample(tasks, 40):
            await asyncio.wait([task], timeout=chance.random() / 50)
            task.cancel()
            if it.pids and chance.random() < 0.5:
                os.kill(chance.choice(it.pids), signal.SIGKILL)
        results = await asyncio.gather(*tasks, return_exceptions=True)
        unexpected = [
            one
            for one in results
            if one is not None and not isinstance(one, asyncio.CancelledError | JupyterLspAgentError)
        ]
        assert unexpected == []
        assert sum(one is None for one in results) >= 100
        assert 8 < it.most_alive <= 16


@pytest.mark.timeout(1200 if FULL else 120)
async def test_a_long_life_stays_within_its_bounds(tmp_path):
    """Checks over 300 documents in 6 roots with 2 places and 16 open documents: nothing grows."""
    checks = sample(10_000, 600)
    roots = [tmp_path / str(number) for number in range(6)]
    for root in roots:
        root.mkdir()
    async with watched(max_servers=2, max_open_documents=16) as it:

        async def run(first: int, last: int) -> None:
            for number in range(first, last):
                # 25 checks in one root before the next, so that most find their server running.
                root = roots[number // 25 % len(roots)]
                path = root / f"{number // 150 % 2 * 25 + number % 25}.txt"
                await it.check([small_candidate("", root)], path, f"text {number}")
                it.clients[:] = [client for client in it.clients if client.pid and psutil.pid_exists(client.pid)]

        await run(0, checks // 2)
        before = use()
        await run(checks // 2, checks)
        after = use()
        assert it.most_alive <= 2
    assert after.descriptors <= before.descriptors + 8
    assert after.tasks <= before.tasks + 4
    assert after.threads <= before.threads + 1
    assert after.rss_bytes <= before.rss_bytes * 1.1 + 4 * 2**20


@dataclass(frozen=True)
class Use:
    descriptors: int
    tasks: int
    threads: int
    rss_bytes: int


def use() -> Use:
    gc.collect()
    process = psutil.Process()
    return Use(process.num_fds(), len(asyncio.all_tasks()), threading.active_count(), process.memory_info().rss)
