"""Laws over the corpus: quiet edits say nothing, an injected error is told once, where it is, and its mend once."""

from collections import Counter
from dataclasses import replace
from itertools import islice
from random import Random

import pytest

from jupyter_lsp_agent.core.ids import CellId
from jupyter_lsp_agent.diagnostics.delta import DiagnosticDelta, compute_delta, first_verdict
from jupyter_lsp_agent.diagnostics.report import CellReference, Status
from jupyter_lsp_agent.notebook.model import Cell, CellKind, Notebook
from tests.support.corpus import is_plain, needs_corpus, parses, python_notebooks, takes_an_error
from tests.support.full import SEEDS, sample
from tests.support.quiet_edits import Cells, quiet_edit
from tests.support.states import outcome, renumbered
from tests.support.toy_checker import judge

pytestmark = [pytest.mark.shared, needs_corpus]

SEED = SEEDS["deltas (toy judge)"]
N_EDITS_A_NOTEBOOK = 10
N_QUIET_EDITS = sample(20_000, 2_000)
N_NOTEBOOKS = sample(1_000, 100)
TWIN = "value = [\n    undefined_twin,\n]"
N_INJECTED = sample(1_000, 150)


class Session:
    """A session on a notebook, judged by the toy."""

    def __init__(self, cells: Cells) -> None:
        self.cells = cells
        self.last = first_verdict(judge(cells))

    def see(self, cells: Cells) -> DiagnosticDelta:
        delta = compute_delta(self.last, judge(cells))
        assert delta.last is not None
        self.cells, self.last = cells, delta.last
        return delta


def news(delta: DiagnosticDelta) -> dict[str, list[str]]:
    return {name: found for name, found in outcome(delta).items() if name in {"introduced", "fixed", "carried"}}


def test_quiet_edits_introduce_and_fix_nothing() -> None:
    random = Random(SEED)
    notebooks = python_notebooks()
    done: Counter[str] = Counter()
    while done.total() < N_QUIET_EDITS:
        name, notebook = random.choice(notebooks)
        session = Session(notebook.cells)
        for _ in range(N_EDITS_A_NOTEBOOK):
            edit, cells = quiet_edit(session.cells, random)
            before = session.cells
            delta = session.see(cells)
            assert news(delta) == {}, (name, edit, _differing(before, cells))
            done[edit] += 1
    assert min(done.values()) > N_QUIET_EDITS // 100, done


def test_several_quiet_edits_in_one_batch_introduce_and_fix_nothing() -> None:
    random = Random(SEED + 1)
    notebooks = python_notebooks()
    for _ in range(sample(2_000, 200)):
        name, notebook = random.choice(notebooks)
        session = Session(notebook.cells)
        cells, edits = notebook.cells, []
        for _ in range(random.randint(2, 5)):
            edit, cells = quiet_edit(cells, random)
            edits.append(edit)
        assert news(session.see(cells)) == {}, (name, edits)


def test_an_injected_error_is_introduced_once_then_outstanding_then_fixed_once() -> None:
    random = Random(SEED + 2)
    places = [(notebook, cell) for _, notebook in python_notebooks() for cell in notebook.cells]
    random.shuffle(places)
    fitting = ((notebook, cell) for notebook, cell in places if takes_an_error(notebook, cell))
    n_done = 0
    for number, (notebook, cell) in enumerate(islice(fitting, N_INJECTED)):
        _inject_and_mend(notebook, cell, f"undefined_name_{number}", random)
        n_done += 1
    assert n_done == N_INJECTED


def _inject_and_mend(notebook: Notebook, cell: Cell, name: str, random: Random) -> None:
    session = Session(notebook.cells)
    lines = cell.source.rstrip("\n").split("\n")
    injected = replace(cell, source="\n".join([*lines, f"print({name})"]))
    delta = session.see(_replaced(session.cells, injected))
    assert news(delta) == {"introduced": [f"{cell.index}:{len(lines)}:6 {name}"]}
    for _ in range(3):
        edit, cells = quiet_edit(session.cells, random)
        delta = session.see(cells)
        assert news(delta) == {}, edit
        outstanding = [item for item in delta.findings if item.status is Status.OUTSTANDING]
        assert [name in item.finding.diagnostic.message for item in outstanding] == [True]
    place = outstanding[0].finding.start
    holder = session.cells[place.cell_index]
    kept = [line for number, line in enumerate(holder.source.replace("\r\n", "\n").split("\n")) if number != place.line]
    delta = session.see(_replaced(session.cells, replace(holder, source="\n".join(kept))))
    assert news(delta) == {"fixed": [f"{place.cell_index}:{place.line}:6 {name}"]}
    assert news(session.see(session.cells)) == {}


def test_of_two_equal_cells_the_mended_or_deleted_one_is_fixed() -> None:
    random = Random(SEED + 3)
    for _ in range(N_NOTEBOOKS):
        name, notebook = random.choice(python_notebooks())
        cells, places = _with_twins(notebook.cells, random)
        gone = random.choice(places)
        if random.random() < 0.5:
            after = _replaced(cells, replace(cells[gone], source=TWIN.replace("undefined_twin", "1")))
        else:
            after = renumbered(cell for cell in cells if cell.index != gone)
        delta = Session(cells).see(after)
        assert news(delta) == {"fixed": [f"{gone}:1:4 undefined_twin"]}, name
        left = [item for item in delta.findings if "undefined_twin" in item.finding.diagnostic.message]
        assert [item.status for item in left] == [Status.PREEXISTING], name


def _with_twins(cells: Cells, random: Random) -> tuple[Cells, list[int]]:
    """The notebook with a cell twice, something between the two, and their places; with ids where it has some."""
    first, second = sorted(random.sample(range(len(cells) + 1), 2))
    ids = [CellId("twin1"), CellId("twin2")] if any(cell.cell_id for cell in cells) else [None, None]
    twins = [Cell(0, cell_id, CellKind.CODE, TWIN) for cell_id in ids]
    made = [*cells[:first], twins[0], *cells[first:second], twins[1], *cells[second:]]
    return renumbered(made), [first, second + 1]


def test_a_swap_that_breaks_definition_and_use_introduces_just_that_and_says_why() -> None:
    random = Random(SEED + 4)
    n_broken = 0
    while n_broken < N_NOTEBOOKS:
        name, notebook = random.choice(python_notebooks())
        cells = notebook.cells
        places = [place for place in range(len(cells) - 1) if is_plain(cells[place]) and is_plain(cells[place + 1])]
        if not places:
            continue
        place = random.choice(places)
        swapped = renumbered([*cells[:place], cells[place + 1], cells[place], *cells[place + 2 :]])
        back = {place: place + 1, place + 1: place}
        before = {(item.cell_index, item.diagnostic) for item in judge(cells).findings}
        expected = {
            (item.cell_index, item.diagnostic)
            for item in judge(swapped).findings
            if (back.get(item.cell_index, item.cell_index), item.diagnostic) not in before
        }
        introduced = [item for item in Session(cells).see(swapped).findings if item.status is Status.INTRODUCED]
        assert {(item.finding.cell_index, item.finding.diagnostic) for item in introduced} == expected, name
        assert [item.caused_by for item in introduced] == [
            CellReference(place + 1, cells[place].cell_id) for _ in introduced
        ], name
        n_broken += bool(introduced)


@pytest.mark.parametrize("line", ["broken = (", "def broken(:", "'''", "x = = 1", "}"])
def test_breaking_a_cell_speaks_of_that_cell_alone_and_mending_it_of_no_other(line: str) -> None:
    random = Random(SEED + 5)
    n_broken = 0
    while n_broken < N_NOTEBOOKS:
        name, notebook = random.choice(python_notebooks())
        cell = random.choice(notebook.cells)
        lines = cell.source.split("\n")
        lines.insert(random.randint(0, len(lines)), line)
        broken = replace(cell, source="\n".join(lines))
        if not is_plain(cell) or not cell.source.strip() or parses(broken.source):
            continue
        session = Session(notebook.cells)
        delta = session.see(_replaced(session.cells, broken))
        assert (_cells_of(delta, Status.INTRODUCED), delta.fixed) == ({cell.index}, ()), name
        for _ in range(2):
            edit, cells = quiet_edit(session.cells, random)
            delta = session.see(cells)
            assert (_cells_of(delta, Status.INTRODUCED), delta.fixed) == (set(), ()), (name, edit)
        [holder] = [other for other in session.cells if _same_text(other, broken)]
        delta = session.see(_replaced(session.cells, replace(holder, source=cell.source)))
        assert _cells_of(delta, Status.INTRODUCED) == set(), name
        assert {finding.cell_index for finding in delta.fixed} == {holder.index}, name
        n_broken += 1


def _same_text(one: Cell, other: Cell) -> bool:
    """Whether two cells differ in their line ends at most, which an edit may have changed, and a notebook may mix."""
    return one.source.replace("\r\n", "\n") == other.source.replace("\r\n", "\n")


def _cells_of(delta: DiagnosticDelta, status: Status) -> set[int]:
    return {item.finding.cell_index for item in delta.findings if item.status is status}


def _replaced(cells: Cells, changed: Cell) -> Cells:
    return (*cells[: changed.index], changed, *cells[changed.index + 1 :])


def _differing(before: Cells, after: Cells) -> list[tuple[str, str]]:
    old, new = ([cell.source for cell in cells] for cells in (before, after))
    return [("-", source) for source in old if source not in new] + [("+", s) for s in new if s not in old]
