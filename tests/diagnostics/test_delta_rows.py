"""Ways in which comparisons fail elsewhere, as far as no table of `test_delta` has them: F20, F25, F29."""

from collections.abc import Sequence

import pytest

from jupyter_lsp_agent.core.diagnostic import Diagnostic, DiagnosticSeverity
from jupyter_lsp_agent.core.positions import TextPosition, TextRange, split_lines
from jupyter_lsp_agent.diagnostics.baseline import Finding, StateVerdict
from jupyter_lsp_agent.diagnostics.delta import compute_delta, first_verdict
from jupyter_lsp_agent.diagnostics.report import Status
from tests.support.states import cells


def finding(cell: int, start: tuple[int, int], message: str, end: tuple[int, int] | None = None) -> Finding:
    where = TextRange(TextPosition(*start), TextPosition(*(end or start)))
    return Finding(cell, Diagnostic(where, DiagnosticSeverity.ERROR, message, "server", "code"))


def statuses(
    before: Sequence[str], old: Sequence[Finding], after: Sequence[str], new: Sequence[Finding]
) -> tuple[list[str], int]:
    """The statuses of the new findings, and how many are fixed."""
    last = first_verdict(StateVerdict(cells(*before), tuple(old)))
    delta = compute_delta(last, StateVerdict(cells(*after), tuple(new)))
    return [item.status.value for item in delta.findings], len(delta.fixed)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ("redefinition of `f` from line 3", "redefinition of `f` from line 12", "preexisting"),
        ("first seen in cell 4, line 2", "first seen in cell 5, line 1", "preexisting"),
        ("declared at n.ipynb:3:5", "declared at n.ipynb:9:1", "preexisting"),
        ("redefinition of `f` from line 3", "redefinition of `g` from line 3", "introduced"),
        ("expected 2 arguments, got 3", "expected 2 arguments, got 4", "introduced"),
    ],
)
def test_a_message_that_only_quotes_another_place_is_the_same(before: str, after: str, expected: str) -> None:
    found, n_fixed = statuses(
        ["def f(): ...", "x = 1"],
        [finding(1, (0, 0), before)],
        ["", "def f(): ...", "x = 1"],
        [finding(2, (0, 0), after)],
    )
    assert (found, n_fixed) == ([expected], int(expected == "introduced"))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("f(1", "f(1\ny = 2"),
        ("f(1\n", "f(1\ny = 2\n\n"),
        ("f(1\n", "f(1"),
        ("a = 1\nf(1\n\n", "f(1\n"),
    ],
)
def test_a_finding_at_the_end_of_a_cell_stays_at_its_end(before: str, after: str) -> None:
    def at_end(source: str) -> Finding:
        lines = split_lines(source)
        return finding(0, (len(lines) - 1, len(lines[-1])), "unexpected end of input")

    assert statuses([before], [at_end(before)], [after], [at_end(after)]) == (["preexisting"], 0)


def test_what_is_carried_stays_inside_its_cell() -> None:
    long, short = "a = 1\nb = 2\nprint(c)", "a = (1"
    last = first_verdict(StateVerdict(cells(long), (finding(0, (2, 6), "c", (2, 7)),)))
    broken = StateVerdict(cells(short), (finding(0, (0, 4), "never closed"),), unparsed=frozenset({0}))
    delta = compute_delta(last, broken)
    [carried] = delta.carried
    assert carried.finding.diagnostic.range.start.line < len(split_lines(short))
    assert delta.last is not None
    mended = compute_delta(delta.last, StateVerdict(cells(long), (finding(0, (2, 6), "c", (2, 7)),)))
    assert [item.status for item in mended.findings] == [Status.PREEXISTING]


def test_a_finding_over_several_lines_outlives_a_line_that_is_put_into_it() -> None:
    before = [finding(0, (0, 0), "call", (2, 1))]
    after = [finding(0, (0, 0), "call", (3, 1))]
    assert statuses(["f(\n1,\n)"], before, ["f(\n1,\n2,\n)"], after) == (["preexisting"], 0)


def test_other_words_for_a_finding_while_a_cell_is_broken_are_no_news() -> None:
    whole, broken = cells("x = 1", "x.foo"), cells("x = (", "x.foo")
    known = finding(1, (0, 0), "`int` has no attribute `foo`")
    unknown = finding(1, (0, 0), "`Unknown` has no attribute `foo`")
    syntax = finding(0, (0, 4), "never closed")
    there = compute_delta(
        first_verdict(StateVerdict(whole, (known,))), StateVerdict(broken, (syntax, unknown), unparsed=frozenset({0}))
    )
    assert [item.status.value for item in there.findings] == ["introduced", "preexisting"]
    assert (there.fixed, there.carried) == ((), ())
    assert there.last is not None
    back = compute_delta(there.last, StateVerdict(whole, (known,)))
    assert ([item.status.value for item in back.findings], back.fixed) == (["preexisting"], (syntax,))
    # With nothing broken, another message is another finding.
    other = compute_delta(first_verdict(StateVerdict(whole, (known,))), StateVerdict(whole, (unknown,)))
    assert ([item.status.value for item in other.findings], other.fixed) == (["introduced"], (known,))
