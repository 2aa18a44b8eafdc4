"""Calling the servers of a chain about one text, whatever the question is.

A chain gives either an answer or a silence with its reason; there is no third thing, and no silence looks like an
answer in which nothing was found. Work that its caller gave up goes on for a while, so that the next caller finds it
done.
"""

import asyncio
import hashlib
import re
from collections.abc import Awaitable, Callable, Hashable, Sequence
from contextlib import AbstractAsyncContextManager
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

from jupyter_lsp_agent.core.clock import Clock, time_limit
from jupyter_lsp_agent.core.errors import PoolBusyError, RequestError, ServerNotFoundError
from jupyter_lsp_agent.core.ids import LanguageId
from jupyter_lsp_agent.core.launch import ServerLaunch, TextDocument
from jupyter_lsp_agent.core.uris import uri_from_path
from jupyter_lsp_agent.diagnostics.facts import ChainFailure
from jupyter_lsp_agent.diagnostics.report import NoVerdictReason, ServerReport
from jupyter_lsp_agent.lsp.client import LanguageClient
from jupyter_lsp_agent.pool.changes import ChangeTracker
from jupyter_lsp_agent.pool.choices import ServerFailure
from jupyter_lsp_agent.pool.fallback import Answer, Candidate, NoWorkingServerError, ask_first_working
from jupyter_lsp_agent.pool.gate import Gate
from jupyter_lsp_agent.pool.keys import ClientKey
from jupyter_lsp_agent.pool.pool import ClientPool
from jupyter_lsp_agent.pool.shared_work import SharedWork
from jupyter_lsp_agent.pool.snapshots import Watch
from jupyter_lsp_agent.servers.commands import ResolvedCommand, resolve_command
from jupyter_lsp_agent.servers.interpreters import Interpreter
from jupyter_lsp_agent.servers.launch import build_launch
from jupyter_lsp_agent.servers.roots import find_root, has_marker
from jupyter_lsp_agent.servers.spec import ServerSpec
from jupyter_lsp_agent.service.places import Place

_VERSION = re.compile(r"\d+(?:\.\d+)+[\w.+-]*")
_MAX_VERSION_CHARACTERS = 32
T = TypeVar("T")
Chain = tuple[ServerSpec, ...]


@dataclass(frozen=True, slots=True)
class Waits:
    """How long an answer is waited for.

    Attributes:
        taken_up_seconds: from when a server takes the text up; the start of a server has its own limits.
        whole_seconds: the same, a start included, for a server that has answered before; `None`: no such bound.
        first_whole_seconds: and for one that has not.
        option: by which the asker set the first; `None`: the others come from the settings.
    """

    taken_up_seconds: float | None = 60.0
    whole_seconds: float | None = None
    first_whole_seconds: float | None = None
    option: str | None = None

    def mend(self, setting: str) -> str:
        """How to wait longer, as the end of a sentence; `setting` is the one that bounds the wait."""
        longer = f"`{setting}` (`--timeout` on the command line)" if self.option is None else f"`{self.option}`"
        return f"raise {longer}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Question:
    """One text, and who is to be asked about it.

    Attributes:
        place: of the document that the text stands for.
        path: where the text pretends to lie; it decides root and URI.
        text: the text.
        language: for the report.
        chain: who is asked: the first of it that can be had.
        interpreter: the Python that servers are told of.
        waits: how long.
        closes: the text is not what is stored: the servers are to forget it afterwards.
    """

    place: Place
    path: Path
    text: str = field(repr=False)
    language: LanguageId
    chain: Chain
    interpreter: Interpreter | None = None
    waits: Waits = field(default_factory=Waits)
    closes: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Call(Generic[T]):
    """What is asked of the server that speaks.

    Attributes:
        name: tells it from other questions about the same text.
        ask: asks it, the text being given as a document.
        wanted: what is wanted, as a sentence has it (`verdict`, `answer`).
        again: what is to be done again where it was not had (`check`).
        is_enough: whether what a server said may stand; else the next one is asked too.
    """

    name: Hashable
    ask: Callable[[LanguageClient, TextDocument], Awaitable[T]]
    wanted: str
    again: str
    is_enough: Callable[[T], bool] = lambda _value: True


@dataclass(frozen=True, slots=True)
class ChainSilence:
    """A chain without an answer, and why."""

    failure: ChainFailure
    servers: tuple[ServerReport, ...] = ()


class ChainCaller:
    """Calls chains.

    Args:
        pool: where clients come from.
        clock: the time.
    """

    def __init__(self, pool: ClientPool[LanguageClient], clock: Clock) -> None:
        self._pool = pool
        self._clock = clock
        self._changes = ChangeTracker(pool)
        self._shared: SharedWork[Answer[Any]] = SharedWork(clock)
        self._answered: set[ClientKey] = set()
        self._gates: WeakKeyDictionary[LanguageClient, Gate] = WeakKeyDictionary()

    async def aclose(self) -> None:
        """Give up what is under way."""
        await self._shared.aclose()

    async def call(self, question: Question, call: Call[T]) -> Answer[T] | ChainSilence:
        """What the chain says."""
        candidates = _candidates(question)
        if not candidates:
            return silence(question, NoVerdictReason.OUTSIDE_WORKSPACE, _not_for_this_folder(question.chain))
        try:
            answer = await self._answer(question, candidates, call)
        except TimeoutError:
            return silence(question, *self._lateness(question, candidates, call))
        except NoWorkingServerError as error:
            return _no_server(question, error)
        except PoolBusyError as error:
            return silence(question, NoVerdictReason.BUSY, str(error))
        except RequestError as error:
            detail = f"{_names(question.chain)} refused to judge {question.path.name}: {error}"
            return silence(question, NoVerdictReason.BROKEN, with_mend(detail))
        self._answered.add(answer.key)
        return answer

    async def _answer(self, question: Question, candidates: Sequence[Candidate], call: Call[T]) -> Answer[T]:
        """The answer in time; the work of a question is shared by all who ask it while it is under way."""
        waits, keys = question.waits, tuple(candidate.key for candidate in candidates)
        text = hashlib.sha256(question.text.encode("utf-8", "replace")).digest()
        name = (keys, uri_from_path(question.path), text, call.name)
        try:
            async with time_limit(
                self._clock, waits.whole_seconds if self._is_warm(keys) else waits.first_whole_seconds
            ):
                return await self._shared.run(
                    name,
                    lambda: ask_first_working(
                        self._pool,
                        candidates,
                        lambda client: self._ask(client, question, call),
                        patience_seconds=waits.taken_up_seconds or 0.0,
                        freshener=self._changes,
                        is_enough=call.is_enough,
                    ),
                )
        except asyncio.CancelledError:
            # Not late, but unwanted: a time limit would have ended as a TimeoutError.
            self._shared.give_up(name)
            raise

    async def _ask(self, client: LanguageClient, question: Question, call: Call[T]) -> T:
        language_id = question.chain[0].language_id(_language(question), question.path.suffix)
        document = TextDocument(uri_from_path(question.path), language_id, question.text, _is_module(question))
        async with self._passage(client, question):
            try:
                async with time_limit(self._clock, question.waits.taken_up_seconds):
                    return await call.ask(client, document)
            finally:
                if question.closes:
                    await client.close_document(document.uri)

    def _passage(self, client: LanguageClient, question: Question) -> AbstractAsyncContextManager[None]:
        """Other documents may import a file of which something else is proposed, so they wait until it is put back."""
        gate = self._gates.setdefault(client, Gate())
        return gate.alone() if question.closes and _is_module(question) else gate.together()

    def _is_warm(self, keys: Sequence[ClientKey]) -> bool:
        return any(key in self._answered and self._pool.is_started(key) for key in keys)

    def _lateness(
        self, question: Question, candidates: Sequence[Candidate], call: Call[T]
    ) -> tuple[NoVerdictReason, str]:
        name = candidates[0].key.server_id
        if self._answered.isdisjoint(candidate.key for candidate in candidates):
            return (
                NoVerdictReason.STARTING,
                f"{name} has not given its first {call.wanted} here yet; {call.again} again in a moment, "
                f"or {question.waits.mend('first_wait_ms')}",
            )
        return (
            NoVerdictReason.TIMEOUT,
            f"{name} gave no {call.wanted} on {question.place.path.name} in time; {call.again} again in a moment, "
            f"or {question.waits.mend('wait_ms')}",
        )


def _is_module(question: Question) -> bool:
    """Whether other documents may import what is asked about; nobody does what is only a notebook's."""
    return question.path == question.place.path


def with_mend(detail: str) -> str:
    """`detail`, with the command that tells more where it names none."""
    return detail if "`" in detail else f"{detail.rstrip('.;')}; `jupyter lsp-agent status --probe` tells more"


def tidy_version(said: str | None) -> str | None:
    """The number in what a server calls its version; some give a sentence, some a whole build report."""
    if said is None or said.lstrip().startswith(("{", "[")):
        return None
    number = _VERSION.search(said)
    return number.group() if number else said[:_MAX_VERSION_CHARACTERS]


def _language(question: Question) -> str:
    return question.place.registry.language(question.language)


def _candidates(question: Question) -> tuple[Candidate, ...]:
    found = []
    for spec in question.chain:
        boundary = question.place.boundary
        root = find_root(question.path, spec.root_markers, boundary, exclusion_markers=spec.exclusion_markers)
        if root is not None and (not spec.needs_root_marker or has_marker(root, spec.root_markers)):
            found.append(_candidate(question, spec, root))
    return tuple(found)


def _candidate(question: Question, spec: ServerSpec, root: Path) -> Candidate:
    place, interpreter = question.place, question.interpreter if spec.interpreter else None
    override = place.registry.override(spec.server_id)

    def prepare() -> ServerLaunch:
        command = _resolve(question, spec, root)
        launch = build_launch(spec, command, root, search=place.search, interpreter=interpreter, override=override)
        return replace(launch, initialize_timeout_seconds=_handshake_seconds(spec, place))

    environment = interpreter.key if interpreter else ""
    packages = interpreter.site_packages if interpreter else ()
    watch = Watch(root, spec.extensions, spec.root_markers, packages)
    return Candidate(ClientKey(spec.server_id, uri_from_path(root), environment), prepare, watch)


def _resolve(question: Question, spec: ServerSpec, root: Path) -> ResolvedCommand:
    """The command; where it is not there, it may be installed from now on, and the error says so."""
    place = question.place
    try:
        return resolve_command(spec, place.search, override=place.registry.override(spec.server_id), root=root)
    except ServerNotFoundError as error:
        said = place.installs.want(spec, question.chain, place, root) if place.installs else None
        raise ServerNotFoundError(said or str(error)) from None


def _handshake_seconds(spec: ServerSpec, place: Place) -> float:
    """The configured time, or the longer one that the server is known to need where nobody configured any."""
    configured = place.settings.initialize_timeout_s
    if "initialize_timeout_s" in place.settings.given:
        return configured
    return max(configured, spec.startup_timeout_seconds or 0.0)


def _no_server(question: Question, error: NoWorkingServerError) -> ChainSilence:
    reason = NoVerdictReason(error.reason)
    failure = ChainFailure(question.language, reason, with_mend(str(error)))
    return ChainSilence(failure, tuple(failed_server(question, one) for one in error.failures))


def silence(question: Question, reason: NoVerdictReason, detail: str) -> ChainSilence:
    """No answer of the question's chain, and why."""
    server_id = question.chain[0].server_id
    server = ServerReport(id=server_id, language=question.language, reason=detail)
    return ChainSilence(ChainFailure(question.language, reason, detail), (server,))


def failed_server(question: Question, failure: ServerFailure) -> ServerReport:
    """A server that could not be had, for the report."""
    return ServerReport(id=failure.server_id, language=question.language, reason=failure.detail)


def _names(chain: Chain) -> str:
    return ", ".join(spec.title for spec in chain)


def _not_for_this_folder(chain: Chain) -> str:
    spec = chain[0]
    if spec.needs_root_marker:
        markers = ", ".join(spec.root_markers)
        return f"{spec.title} looks only at files of a project, which has one of {markers}; put it into one"
    markers = ", ".join(spec.exclusion_markers)
    return f"{_names(chain)} is not for this folder, which has one of {markers}; choose another in `servers`"
