"""The judge of pushes, as a table: what came, and what is made of it a moment later."""

from dataclasses import dataclass
from typing import TypeAlias

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_lsp_agent.core.behaviour import Freshness, ServerBehaviour
from jupyter_lsp_agent.core.ids import DocumentUri, DocumentVersion
from jupyter_lsp_agent.lsp.freshness import PushHistory, Settled, Unsettled, after_push, judge
from jupyter_lsp_agent.lsp.wire.diagnostics import Findings, PublishedDiagnostics, decode_publish_diagnostics

URI = DocumentUri("file:///project/model.py")
BEGAN_SECONDS = 100.0
VERSION = DocumentVersion(7)

Arrival: TypeAlias = tuple[float, int | None, int]
"""Seconds after the change, the version it carries, how many findings."""


def push_of(version: int | None, n_findings: int) -> PublishedDiagnostics:
    place = {"start": {"line": 0, "character": 0}, "end": {"line": 0, "character": 1}}
    items = [{"range": place, "message": str(number)} for number in range(n_findings)]
    decoded = decode_publish_diagnostics({"uri": URI, "version": version, "diagnostics": items})
    assert decoded is not None
    return decoded


def history_of(behaviour: ServerBehaviour, arrivals: list[Arrival], start: PushHistory | None = None) -> PushHistory:
    history = start or PushHistory(VERSION, BEGAN_SECONDS)
    for seconds, version, n_findings in arrivals:
        history = after_push(history, push_of(version, n_findings), BEGAN_SECONDS + seconds, behaviour)
    return history


@dataclass(frozen=True)
class Row:
    name: str
    behaviour: ServerBehaviour
    arrivals: list[Arrival]
    at_seconds: float
    findings: int | None
    """How many of the verdict; `None`: there is none."""
    wait_seconds: float | None = None


WELL = ServerBehaviour()
ROWS = [
    Row("nothing came", WELL, [], 1000, None),
    Row("our version, still warm", WELL, [(1, 7, 2)], 1.1, None, 0.05),
    Row("our version, quiet", WELL, [(1, 7, 2)], 1.15, 2),
    Row("the version before", WELL, [(1, 6, 2)], 1000, None),
    Row("a version that was never sent", WELL, [(1, 8, 2)], 1000, None),
    Row("the version before, after ours", WELL, [(1, 7, 0), (1.1, 6, 2)], 1.2, 0),
    Row("a second one restarts the quiet", WELL, [(1, 7, 0), (1.1, 7, 2)], 1.2, None, 0.05),
    Row("a second one is the verdict", WELL, [(1, 7, 0), (1.1, 7, 2)], 1.25, 2),
    Row("no version at all", WELL, [(1, None, 1)], 1.15, 1),
    Row("one of two", ServerBehaviour(pushes_per_change=2), [(1, 7, 0)], 1000, None),
    Row("two of two", ServerBehaviour(pushes_per_change=2), [(1, 7, 0), (1.1, 7, 3)], 1.3, 3),
    Row("the seed", ServerBehaviour(first_push_seeds=True), [(1, 7, 3)], 1000, None),
    Row("after the seed", ServerBehaviour(first_push_seeds=True), [(1, 7, 0), (2, 7, 3)], 2.2, 3),
    Row("claims the version too early", ServerBehaviour(stale_push_seconds=5), [(1, 7, 3)], 2, None, 3.0),
    Row("claims it late enough", ServerBehaviour(stale_push_seconds=5), [(1, 7, 3)], 5, 3),
    Row("first verdict waits longer", ServerBehaviour(first_quiet_period_seconds=2), [(1, 7, 3)], 2, None, 1.0),
    Row("silence, not yet", ServerBehaviour(silent_when_clean_seconds=5), [], 4, None, 1.0),
    Row("silence", ServerBehaviour(silent_when_clean_seconds=5), [], 5, 0),
    Row("silence after an old finding", ServerBehaviour(silent_when_clean_seconds=5), [(1, 6, 2)], 1000, None),
    Row("silence after an old clean one", ServerBehaviour(silent_when_clean_seconds=5), [(1, 6, 0)], 1000, 0),
]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.name)
def test_the_judge(row: Row) -> None:
    verdict = judge(history_of(row.behaviour, row.arrivals), row.behaviour, BEGAN_SECONDS + row.at_seconds)
    if row.findings is None:
        assert isinstance(verdict, Unsettled)
        assert verdict.wait_seconds == (None if row.wait_seconds is None else pytest.approx(row.wait_seconds))
    else:
        assert isinstance(verdict, Settled)
        assert len(verdict.findings.diagnostics) == row.findings


FRESHNESS = [
    ([(1.0, 7, 1)], True, Freshness.VERSIONED_PUSH),
    ([(1.0, 7, 1)], False, Freshness.VERSIONED_PUSH),
    ([(1.0, None, 1)], True, Freshness.PUSH),
    ([(1.0, None, 1)], False, Freshness.QUIET_PUSH),
]


@pytest.mark.parametrize(("arrivals", "is_first_text", "expected"), FRESHNESS)
def test_how_sure_it_is(arrivals: list[Arrival], *, is_first_text: bool, expected: Freshness) -> None:
    start = PushHistory(VERSION, BEGAN_SECONDS, is_first_text=is_first_text)
    verdict = judge(history_of(WELL, arrivals, start), WELL, BEGAN_SECONDS + 60)
    assert isinstance(verdict, Settled)
    assert verdict.freshness is expected


ARRIVALS = st.lists(
    st.tuples(st.floats(0, 10), st.one_of(st.none(), st.integers(5, 8)), st.integers(0, 2)), max_size=8
).map(lambda rows: sorted(rows, key=lambda row: row[0]))


@given(ARRIVALS)
def test_a_versioned_verdict_is_the_last_push_that_may_be_about_this_version(arrivals: list[Arrival]) -> None:
    counting = [arrival for arrival in arrivals if arrival[1] in {None, VERSION}]
    verdict = judge(history_of(WELL, arrivals), WELL, BEGAN_SECONDS + 60)
    if not counting:
        assert verdict == Unsettled(None)
    else:
        assert isinstance(verdict, Settled)
        assert len(verdict.findings.diagnostics) == counting[-1][2]


@given(ARRIVALS, st.floats(0, 20))
def test_waiting_as_long_as_it_says_brings_the_verdict(arrivals: list[Arrival], at_seconds: float) -> None:
    behaviour = ServerBehaviour(first_quiet_period_seconds=0.7, stale_push_seconds=3.1)
    seen = [arrival for arrival in arrivals if arrival[0] <= at_seconds]
    history = history_of(behaviour, seen)
    verdict = judge(history, behaviour, BEGAN_SECONDS + at_seconds)
    if isinstance(verdict, Unsettled) and verdict.wait_seconds is not None:
        assert verdict.wait_seconds > 0
        later = BEGAN_SECONDS + at_seconds + verdict.wait_seconds
        assert isinstance(judge(history, behaviour, later), Settled)


def test_an_unreadable_push_is_nobodys_verdict() -> None:
    broken = PublishedDiagnostics(URI, VERSION, Findings((), dropped=2))
    history = after_push(history_of(WELL, [(1, 7, 0)]), broken, BEGAN_SECONDS + 2, WELL)
    assert judge(history, WELL, BEGAN_SECONDS + 60) == Unsettled(None)


@pytest.mark.parametrize("diagnostics", [[3, None], {}, None])
def test_a_push_that_nobody_could_read_is_no_silence(diagnostics: object) -> None:
    behaviour = ServerBehaviour(silent_when_clean_seconds=5)
    push = decode_publish_diagnostics({"uri": URI, "version": 7, "diagnostics": diagnostics})
    assert push is not None
    history = after_push(PushHistory(VERSION, BEGAN_SECONDS), push, BEGAN_SECONDS + 1, behaviour)
    assert judge(history, behaviour, BEGAN_SECONDS + 1000) == Unsettled(None)
