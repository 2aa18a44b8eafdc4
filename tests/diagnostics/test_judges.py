"""Findings of two sets of servers are never compared; a chain without an answer leaves what it said before."""

from dataclasses import replace

import pytest

from jupyter_lsp_agent.core.diagnostic import Diagnostic, DiagnosticSeverity
from jupyter_lsp_agent.core.ids import ServerId
from jupyter_lsp_agent.core.positions import CellLine, TextPosition, TextRange
from jupyter_lsp_agent.diagnostics.baseline import (
    ChainId,
    FileBaseline,
    Finding,
    Judge,
    Judges,
    StateVerdict,
    UncheckedLines,
    contents_to_judge,
)
from jupyter_lsp_agent.diagnostics.delta import compute_delta, delta_without_baseline, first_verdict, replay
from tests.support.states import cells, outcome
from tests.support.toy_checker import CHAIN, JUDGES, judge

OTHER = Judges({CHAIN: Judge(ServerId("other"), "1")})
LINTER = ChainId("python/1")
USE = "print(foo)"


@pytest.mark.parametrize(
    ("newer", "agree"),
    [
        pytest.param(JUDGES, True, id="the same"),
        pytest.param(OTHER, False, id="another server"),
        pytest.param(Judges({CHAIN: Judge(ServerId("toy"), "2")}), False, id="another version"),
        pytest.param(replace(JUDGES, environment="/other"), False, id="another environment"),
        pytest.param(replace(JUDGES, settings="strict"), False, id="other settings"),
        pytest.param(Judges({CHAIN: None}), True, id="no answer now"),
        pytest.param(Judges(), True, id="no code now"),
        pytest.param(
            Judges({**JUDGES.chains, LINTER: Judge(ServerId("lint"))}), True, id="a language that is new here"
        ),
    ],
)
def test_which_sets_may_be_compared(newer: Judges, agree: bool) -> None:
    assert JUDGES.agree_with(newer) is agree


def test_a_first_answer_of_a_chain_that_was_asked_before_may_not_be_compared() -> None:
    silent = Judges({**JUDGES.chains, LINTER: None})
    assert not silent.agree_with(Judges({**JUDGES.chains, LINTER: Judge(ServerId("lint"))}))


def test_a_silent_chain_is_remembered_by_its_last_judge() -> None:
    assert JUDGES.rolled_to(Judges({CHAIN: None})).chains == JUDGES.chains


def test_what_a_fallback_must_see_before_it_is_believed() -> None:
    first, second = cells("x = 1"), cells("x = 1", USE)
    delta = compute_delta(first_verdict(judge(first)), judge(second))
    assert contents_to_judge(FileBaseline(first, delta.last), JUDGES) == ()
    assert contents_to_judge(FileBaseline(first, delta.last), OTHER) == (first, second)
    assert contents_to_judge(FileBaseline(first, None), OTHER) == (first,)
    assert contents_to_judge(FileBaseline(first, first_verdict(judge(first))), OTHER) == (first,)


def test_after_a_fallback_nothing_is_introduced_that_the_edit_did_not_cause() -> None:
    first, second, third = cells(USE), cells(USE, "print(bar)"), cells(USE, "print(bar)", "print(baz)")
    last = compute_delta(first_verdict(judge(first)), judge(second)).last
    contents = contents_to_judge(FileBaseline(first, last), OTHER)
    again = replay([judge(content, OTHER, word="Identifier") for content in contents])
    delta = compute_delta(again, judge(third, OTHER, word="Identifier"))
    assert outcome(delta) == {
        "preexisting": ["0:0:6 foo"],
        "outstanding": ["1:0:6 bar"],
        "introduced": ["2:0:6 baz"],
    }


def test_what_was_carried_when_the_judges_changed_is_no_new_finding() -> None:
    first, second, broken = cells("x = 1"), cells(USE), cells("print(foo")
    last = compute_delta(first_verdict(judge(first)), judge(second)).last
    assert last is not None
    last = compute_delta(last, judge(broken)).last
    contents = contents_to_judge(FileBaseline(first, last), OTHER)
    assert contents == (first, second, broken)
    again = replay([judge(content, OTHER, word="Identifier") for content in contents])
    delta = compute_delta(again, judge(second, OTHER, word="Identifier"))
    assert outcome(delta) == {"outstanding": ["0:0:6 foo"], "fixed": ["0:0:5 syntax"]}


def test_what_left_the_baseline_and_came_back_stays_new_when_the_judges_change() -> None:
    """Looking at the first and the last content alone, it would have been there all the time."""
    states = [cells(USE, "x = 1"), cells("print(1)", "x = 1"), cells(USE, "x = 1"), cells(USE, "x = 2")]
    last = first_verdict(judge(states[0]))
    for state in states[1:]:
        last = compute_delta(last, judge(state)).last or last
    contents = contents_to_judge(FileBaseline(states[0], last), OTHER)
    again = replay([judge(content, OTHER, word="Identifier") for content in contents])
    assert again.cells == states[-1]
    assert outcome(compute_delta(again, judge(states[-1], OTHER, word="Identifier"))) == {"outstanding": ["0:0:6 foo"]}


def test_the_last_content_is_judged_last_although_it_is_the_first_one_again() -> None:
    states = [cells(USE), cells("print(1)"), cells(USE)]
    last = first_verdict(judge(states[0]))
    for state in states[1:]:
        last = compute_delta(last, judge(state)).last or last
    assert contents_to_judge(FileBaseline(states[0], last), OTHER) == tuple(states)
    assert contents_to_judge(FileBaseline(states[0], last.accepted()), OTHER) == (states[0],)


def test_without_a_known_baseline_everything_is_present_and_nothing_fixed() -> None:
    delta = delta_without_baseline(judge(cells(USE)))
    assert outcome(delta) == {"present": ["0:0:6 foo"]}
    assert delta.last is None


def lint(index: int) -> Finding:
    where = TextRange(TextPosition(0, 0), TextPosition(0, 1))
    return Finding(index, Diagnostic(where, DiagnosticSeverity.WARNING, "`style`", "lint", "S1"), LINTER)


def with_linter(state: StateVerdict, *findings: Finding, answered: bool = True) -> StateVerdict:
    chains = {**JUDGES.chains, LINTER: Judge(ServerId("lint")) if answered else None}
    return replace(state, findings=(*state.findings, *findings), judges=Judges(chains))


def test_findings_of_a_chain_without_an_answer_are_carried() -> None:
    first = with_linter(judge(cells("x = 1", USE)), lint(0))
    silent = with_linter(judge(cells("#md", "x = 1", USE)), answered=False)
    delta = compute_delta(first_verdict(first), silent)
    assert outcome(delta) == {"preexisting": ["2:0:6 foo"], "carried": ["1:0:0 style"]}
    assert delta.last is not None
    answered = with_linter(judge(cells("x = 1", USE)), lint(0))
    assert outcome(compute_delta(delta.last, answered)) == {"preexisting": ["1:0:6 foo", "0:0:0 style"]}


@pytest.mark.parametrize(
    ("lines", "expected"),
    [((0, 0), {"fixed": ["1:0:6 foo"]}), ((1, 1), {"carried": ["1:1:6 foo"]}), ((0, 5), {"carried": ["1:1:6 foo"]})],
)
def test_findings_on_lines_that_nobody_looked_at_are_carried(
    lines: tuple[int, int], expected: dict[str, list[str]]
) -> None:
    unchecked = UncheckedLines(1, CellLine(lines[0]), CellLine(lines[1]))
    now = replace(judge(cells("x = 1", "# note\nprint(foo)")), findings=(), unchecked=(unchecked,))
    assert outcome(compute_delta(first_verdict(judge(cells("x = 1", USE))), now)) == expected


def test_a_finding_of_a_deleted_cell_is_fixed_whoever_was_silent() -> None:
    first = with_linter(judge(cells("x = 1", USE)), lint(0))
    silent = with_linter(judge(cells(USE)), answered=False)
    assert outcome(compute_delta(first_verdict(first), silent))["fixed"] == ["0:0:0 style"]


def test_the_same_finding_twice_in_one_verdict_counts_once() -> None:
    verdict = judge(cells(USE))
    doubled = replace(verdict, findings=verdict.findings * 2)
    assert outcome(compute_delta(first_verdict(verdict), doubled)) == {"preexisting": ["0:0:6 foo"]}
