"""Asking the servers of a chain in order until one answers, and saying why the others did not.

Only a server that cannot be had makes room for the next one: not installed, not started, no handshake in its time,
dead. A server that is merely late does not: its caller's time limit passes through here untouched. A pool without a
free place is no reason either, since the next server would need a place as well. Where the question says so, a server
that has next to nothing to say makes room too.
"""

import logging
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from jupyter_lsp_agent.core.errors import (
    JupyterLspAgentError,
    PoolBusyError,
    ServerUnavailableError,
    TransportError,
)
from jupyter_lsp_agent.core.launch import ServerLaunch
from jupyter_lsp_agent.core.printable import one_line
from jupyter_lsp_agent.core.uris import path_from_uri
from jupyter_lsp_agent.pool.choices import ServerFailure
from jupyter_lsp_agent.pool.keys import ClientKey
from jupyter_lsp_agent.pool.place import ClientT
from jupyter_lsp_agent.pool.pool import ClientPool
from jupyter_lsp_agent.pool.snapshots import Watch

if TYPE_CHECKING:
    from jupyter_lsp_agent.core.ids import ServerId

_LOGGER = logging.getLogger("jupyter_lsp_agent")
T = TypeVar("T")

_ATTEMPTS = 2
"""How often one server is asked: a second time where it died at the first."""

_MAX_MEAGRE = 2
"""Where two servers have next to nothing to say there is nothing to be said: no third one is started for it."""


@dataclass(frozen=True, slots=True)
class Candidate:
    """One server of a chain.

    Attributes:
        key: the client that it would be.
        prepare: what starts it; raises `ServerUnavailableError` (not installed, untrusted, …) where nothing can.
        watch: what it reads beside the documents, so that it can be told when that changes.
    """

    key: ClientKey
    prepare: Callable[[], ServerLaunch]
    watch: Watch | None = None


class Freshener(Protocol):
    """What makes a client know the disk as it is now; `changes.ChangeTracker` is one."""

    async def freshen(self, key: ClientKey, launch: ServerLaunch, watch: Watch) -> None:
        """See `ChangeTracker.freshen`."""
        ...


@dataclass(frozen=True, slots=True)
class Answer(Generic[T]):
    """What a server of a chain said, and the servers before it that could not be had.

    Attributes:
        value: what it said.
        key: who it is.
        failures: those before it in the chain that could not be had.
        meagre: what was said before it and was not enough, in the order in which they were asked.
        no_better: what was said after it, where nobody said enough and this was the first to speak.
    """

    value: T
    key: ClientKey
    failures: tuple[ServerFailure, ...] = ()
    meagre: tuple["Answer[T]", ...] = ()
    no_better: tuple["Answer[T]", ...] = ()

    @property
    def fallback(self) -> bool:
        """Whether it was not the chain's first server that spoke, or that said enough."""
        return bool(self.failures or self.meagre)


class NoWorkingServerError(ServerUnavailableError):
    """No server of the chain could be had.

    Attributes:
        failures: one for each server, in the chain's order.
        reason: the contract's word: that of the first server that is there at all, else of the first.
    """

    def __init__(self, failures: Sequence[ServerFailure]) -> None:
        self.failures = tuple(failures)
        there = [failure for failure in failures if failure.reason != "not_installed"]
        telling = (there or list(failures))[:1]
        self.reason = telling[0].reason if telling else "unsupported_language"
        super().__init__(telling[0].detail if telling else "no server is known for this language")


async def ask_first_working(
    pool: ClientPool[ClientT],
    chain: Sequence[Candidate],
    ask: Callable[[ClientT], Awaitable[T]],
    *,
    patience_seconds: float = 0.0,
    freshener: Freshener | None = None,
    is_enough: Callable[[T], bool] = lambda _value: True,
) -> Answer[T]:
    """What the first server of `chain` that can be had says. One that dies while it is asked is asked once more.

    Args:
        pool: where clients come from.
        chain: the candidates, in order.
        ask: the question; a `TransportError` of it means that the server died.
        patience_seconds: how long to wait for a place in the pool where all are leased.
        freshener: makes a client know the disk as it is now, before it is asked.
        is_enough: whether a value may stand; else the next server is asked, and the first value stands where no other
            is better (an empty list of symbols; never for diagnostics, whose empty list is a verdict).

    Raises:
        NoWorkingServerError: none can be had, or all died.
        PoolBusyError: the pool has no place.
        TimeoutError, RequestError: what `ask` raises; no other server is started for it.
    """
    walk = _ChainWalk(pool, chain)
    question = _Question(ask, patience_seconds, freshener)
    meagre: list[Answer[T]] = []
    for candidate in walk.order():
        answer = await _ask_one(walk, candidate, question)
        if answer is None:
            continue
        if is_enough(answer.value):
            return replace(answer, meagre=tuple(meagre))
        meagre.append(answer)
        if len(meagre) == _MAX_MEAGRE:
            break
    if meagre:
        return replace(meagre[0], no_better=tuple(meagre[1:]))
    raise NoWorkingServerError(walk.failures())


@dataclass(frozen=True, slots=True)
class _Question(Generic[ClientT, T]):
    ask: Callable[[ClientT], Awaitable[T]]
    patience_seconds: float
    freshener: Freshener | None


async def _ask_one(
    walk: "_ChainWalk[ClientT]", candidate: Candidate, question: _Question[ClientT, T]
) -> Answer[T] | None:
    """What one server says; `None` where it cannot be had."""
    for _attempt in range(_ATTEMPTS):
        try:
            launch = walk.launch(candidate)
            if question.freshener is not None and candidate.watch is not None:
                await question.freshener.freshen(candidate.key, launch, candidate.watch)
            lease = walk.pool.lease(candidate.key, launch, patience_seconds=question.patience_seconds)
            async with lease as client:
                value = await question.ask(client)
        except PoolBusyError:
            raise
        except ServerUnavailableError as error:
            walk.note(candidate, error)
            return None
        except TransportError as error:
            walk.note(candidate, error)
        else:
            walk.pool.record_answer(candidate.key)
            return Answer(value, candidate.key, walk.settle(candidate))
    return None


class _ChainWalk(Generic[ClientT]):
    """One way along a chain: the order, and what was met."""

    def __init__(self, pool: ClientPool[ClientT], chain: Sequence[Candidate]) -> None:
        self.pool = pool
        self._chain = tuple(chain)
        self._keys = tuple(candidate.key for candidate in chain)
        self._failures: dict[ServerId, ServerFailure] = {}

    def order(self) -> tuple[Candidate, ...]:
        """The chain, the remembered choice before all others."""
        choice = self.pool.choices.find(self._keys)
        if choice is None:
            return self._chain
        self._failures = {failure.server_id: failure for failure in choice.failures}
        chosen = [candidate for candidate in self._chain if candidate.key == choice.key]
        return (*chosen, *(candidate for candidate in self._chain if candidate not in chosen))

    def launch(self, candidate: Candidate) -> ServerLaunch:
        """What starts `candidate`, with less time for its handshake where the chain has a next server.

        Of one that runs it is what it was started with: to find its program again would cost more than to ask it.
        """
        if (running := self.pool.launch_of(candidate.key)) is not None:
            return running
        launch = candidate.prepare()
        if candidate is self._chain[-1]:
            return launch
        seconds = min(launch.initialize_timeout_seconds, self.pool.limits.startup_timeout_seconds)
        return replace(launch, initialize_timeout_seconds=seconds)

    def note(self, candidate: Candidate, error: JupyterLspAgentError) -> None:
        """`candidate` could not be had."""
        reason = error.reason if isinstance(error, ServerUnavailableError) else "broken"
        server_id = candidate.key.server_id
        self._failures[server_id] = ServerFailure(server_id, reason, str(error))
        self.pool.choices.forget(self._keys)

    def settle(self, candidate: Candidate) -> tuple[ServerFailure, ...]:
        """`candidate` speaks: remember it, and say why those before it in the chain do not."""
        before = self._keys[: self._keys.index(candidate.key)]
        failures = tuple(self._failures[key.server_id] for key in before if key.server_id in self._failures)
        if failures and self.pool.choices.find(self._keys) is None:
            self.pool.choices.remember(self._keys, candidate.key, failures)
            names = ", ".join(failure.server_id for failure in failures)
            reasons = one_line("; ".join(failure.detail for failure in failures))
            root = path_from_uri(candidate.key.root_uri)
            _LOGGER.warning("%s answers for %s in place of %s: %s", candidate.key.server_id, root, names, reasons)
        return failures

    def failures(self) -> tuple[ServerFailure, ...]:
        """All that were met, in the chain's order."""
        ids = [key.server_id for key in self._keys]
        return tuple(self._failures[one] for one in dict.fromkeys(ids) if one in self._failures)
