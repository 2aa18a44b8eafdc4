"""When a pushed list of diagnostics may be believed to be the last word on the text that was sent.

A push is not an answer: nothing ties it to what was sent, and servers push the old findings under the new version,
an empty list first and the real one later, twice the same, or nothing where there is nothing to say. What is to be
made of a server's pushes is its behaviour class (`core.behaviour`); this module is the judge, without clock or I/O:
what came so far goes in, and out comes a verdict or how long to wait for one.
"""

from dataclasses import dataclass

from jupyter_lsp_agent.core.behaviour import Freshness, ServerBehaviour
from jupyter_lsp_agent.core.ids import DocumentVersion
from jupyter_lsp_agent.lsp.wire.diagnostics import Findings, PublishedDiagnostics

_ROUNDING_SECONDS = 1e-6
"""A timer that fires when it was asked to may be a rounding error early."""


@dataclass(frozen=True, slots=True)
class PushHistory:
    """What a server pushed for one document, as far as it bears on the version that it has now.

    Attributes:
        version: the version that the server has.
        began_seconds: when that version began to be sent.
        is_first_text: the document was opened with it, so no push can be about an older text.
        was_settled: the version before got its verdict, so nothing is owed for it.
        had_verdict: some version since the document was opened got a verdict.
        owes_farewell: the document was closed before, and the empty list that most servers push then has not come yet.
        n_since_open: pushes since the document was opened.
        n_counting: those that may be about this version.
        last: the last of these; `None` where there is none, or where it could not be read.
        last_has_version: whether it named the version.
        last_seconds: when it came.
        last_word: the last readable push since the document was opened, on whatever version.
    """

    version: DocumentVersion
    began_seconds: float
    is_first_text: bool = True
    was_settled: bool = False
    had_verdict: bool = False
    owes_farewell: bool = False
    n_since_open: int = 0
    n_counting: int = 0
    last: Findings | None = None
    last_has_version: bool = False
    last_seconds: float = 0.0
    last_word: Findings | None = None


@dataclass(frozen=True, slots=True)
class Settled:
    """The pushes are the verdict on the version."""

    findings: Findings
    freshness: Freshness


@dataclass(frozen=True, slots=True)
class Unsettled:
    """No verdict yet. After `wait_seconds` without a push there is one; `None`: only a push can bring it."""

    wait_seconds: float | None


def after_push(
    history: PushHistory, push: PublishedDiagnostics, now_seconds: float, behaviour: ServerBehaviour
) -> PushHistory:
    """The history with one push more."""
    is_seed = behaviour.first_push_seeds and history.n_since_open == 0
    is_farewell = history.owes_farewell and not push.findings.diagnostics
    is_counting = not is_seed and not is_farewell and push.version in {None, history.version}
    readable = None if push.findings.is_unreadable else push.findings
    return PushHistory(
        version=history.version,
        began_seconds=history.began_seconds,
        is_first_text=history.is_first_text,
        was_settled=history.was_settled,
        had_verdict=history.had_verdict,
        n_since_open=history.n_since_open + (not is_farewell),
        n_counting=history.n_counting + is_counting,
        last=readable if is_counting else history.last,
        last_has_version=push.version is not None if is_counting else history.last_has_version,
        last_seconds=now_seconds if is_counting else history.last_seconds,
        last_word=readable or history.last_word,
    )


def judge(
    history: PushHistory, behaviour: ServerBehaviour, now_seconds: float, not_before_seconds: float = 0.0
) -> Settled | Unsettled:
    """Whether the pushes so far are the verdict on the version that the server has.

    Args:
        history: what was pushed.
        behaviour: the server's class.
        now_seconds: the clock.
        not_before_seconds: when the server was ready; its quiet counts from then.
    """
    if history.last is None or history.n_counting < behaviour.pushes_per_change:
        return _judge_silence(history, behaviour, now_seconds, not_before_seconds)
    seconds = quiet_in_seconds(history, behaviour, now_seconds, not_before_seconds)
    return Unsettled(seconds) if seconds > 0 else Settled(history.last, _freshness(history))


def quiet_in_seconds(
    history: PushHistory, behaviour: ServerBehaviour, now_seconds: float, not_before_seconds: float
) -> float:
    """For how long nothing more may come before the last push counts; 0 where it does already."""
    quiet = _quiet_period_seconds(history, behaviour)
    quiet_at = max(history.last_seconds, not_before_seconds) + quiet
    return _remaining_seconds(max(quiet_at, history.began_seconds + behaviour.stale_push_seconds), now_seconds)


def _judge_silence(
    history: PushHistory, behaviour: ServerBehaviour, now_seconds: float, not_before_seconds: float
) -> Settled | Unsettled:
    """Silence is a clean verdict only from a server of that class, and only where its last word was clean too:
    after findings, silence may as well mean that they stand."""
    silence = behaviour.silent_when_clean_seconds
    word = history.last_word
    stands = word is not None and (word.diagnostics or word.dropped or history.n_counting)
    # Something was said, and nobody could read it.
    is_unreadable = history.n_counting > 0 and history.last is None
    if silence is None or stands or is_unreadable:
        return Unsettled(None)
    seconds = _remaining_seconds(max(history.began_seconds, not_before_seconds) + silence, now_seconds)
    return Unsettled(seconds) if seconds > 0 else Settled(Findings(), Freshness.QUIET_PUSH)


def _quiet_period_seconds(history: PushHistory, behaviour: ServerBehaviour) -> float:
    """The longer period is for the first verdict, and where an unversioned push may be one still owed for an older
    version that never got its verdict."""
    quiet, first = behaviour.quiet_period_seconds, behaviour.first_quiet_period_seconds
    may_be_owed = not history.last_has_version and not history.was_settled
    if first is not None and (not history.had_verdict or may_be_owed):
        return max(quiet, first)
    return quiet


def _freshness(history: PushHistory) -> Freshness:
    if history.last_has_version:
        return Freshness.VERSIONED_PUSH
    return Freshness.PUSH if history.is_first_text else Freshness.QUIET_PUSH


def _remaining_seconds(moment_seconds: float, now_seconds: float) -> float:
    remaining = moment_seconds - now_seconds
    return remaining if remaining > _ROUNDING_SECONDS else 0.0
