"""The laws of deltas over notebooks that hypothesis makes up, so that what breaks one is shrunk to its least form."""

from collections.abc import Callable
from dataclasses import replace
from random import Random

from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_lsp_agent.core.ids import CellId
from jupyter_lsp_agent.diagnostics.delta import compute_delta, first_verdict
from jupyter_lsp_agent.diagnostics.report import Status
from jupyter_lsp_agent.notebook.model import Cell, CellKind
from tests.support.full import sample
from tests.support.quiet_edits import Cells, quiet_edit
from tests.support.states import outcome, renumbered, run
from tests.support.toy_checker import judge

N_EXAMPLES = sample(2_000, 150)

STATEMENTS = st.sampled_from(
    ["x = 1", "y = x", "print(x)", "print(foo)", "print(foo, bar)", "def f():\n    return g()", "import os", "foo = 2",
     "for i in y:\n    print(i, baz)", "# note", "", "print('é', foo)"]
)  # fmt: skip
SOURCES = st.lists(STATEMENTS, max_size=4).map("\n".join)
KINDS = st.sampled_from([CellKind.CODE, CellKind.CODE, CellKind.CODE, CellKind.MARKDOWN])


@st.composite
def notebooks(draw: Callable[..., object]) -> Cells:
    made = draw(st.lists(st.tuples(KINDS, SOURCES), min_size=1, max_size=8))
    with_ids = draw(st.booleans())
    return tuple(
        Cell(index, CellId(f"c{index}") if with_ids else None, kind, source)
        for index, (kind, source) in enumerate(made)  # type: ignore[var-annotated,arg-type]
    )


RANDOM = st.randoms(use_true_random=False)


@settings(max_examples=N_EXAMPLES, deadline=None)
@given(notebooks(), RANDOM)
def test_quiet_edits_say_nothing(cells: Cells, random: Random) -> None:
    states, edits = [cells], []
    for _ in range(4):
        edit, edited = quiet_edit(states[-1], random)
        states.append(edited)
        edits.append(edit)
    for place, delta in enumerate(run(states)):
        sources = [[cell.source for cell in state] for state in states[place : place + 2]]
        assert outcome(delta).keys() <= {"preexisting"}, (edits[place], sources, outcome(delta))


@settings(max_examples=N_EXAMPLES, deadline=None)
@given(notebooks(), RANDOM)
def test_a_state_compared_with_itself_has_no_news(cells: Cells, random: Random) -> None:
    [delta] = run([cells, cells])
    assert outcome(delta).keys() <= {"preexisting"}


@settings(max_examples=N_EXAMPLES, deadline=None)
@given(notebooks(), notebooks())
def test_every_finding_is_accounted_for_once(before: Cells, after: Cells) -> None:
    delta = compute_delta(first_verdict(judge(before)), judge(after))
    found = [item.finding for item in delta.findings]
    assert sorted(found, key=repr) == sorted(set(judge(after).findings), key=repr)
    n_old = sum(item.status is Status.PREEXISTING for item in delta.findings)
    assert n_old + len(delta.fixed) + len(delta.carried) == len(set(judge(before).findings))


@settings(max_examples=N_EXAMPLES, deadline=None)
@given(notebooks(), RANDOM)
def test_an_error_put_in_and_taken_out(cells: Cells, random: Random) -> None:
    code = [cell for cell in cells if cell.kind is CellKind.CODE]
    if not code:
        return
    cell = random.choice(code)
    lines = cell.source.split("\n")
    injected = replace(cell, source="\n".join([*lines, "print(injected_name)"]))
    broken = renumbered([*cells[: cell.index], injected, *cells[cell.index + 1 :]])
    there, back, again = run([cells, broken, cells, broken])
    place = f"{cell.index}:{len(lines)}:6 injected_name"
    assert outcome(there).get("introduced") == [place]
    assert outcome(back).get("fixed") == [place]
    assert outcome(again).get("introduced") == [place]
