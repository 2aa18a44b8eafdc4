"""Which cell is which: a table of what people and tools do to notebooks, and laws over random edits."""

from collections.abc import Sequence

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_lsp_agent.core.ids import CellId
from jupyter_lsp_agent.notebook.identity import match_cells
from jupyter_lsp_agent.notebook.model import Cell, CellKind

LOAD = "import pandas as pd\ndf = pd.read_csv('a.csv')\ndf.head()"
LOAD_EDITED = "import pandas as pd\ndf = pd.read_csv('b.csv', sep=';')\ndf.head()"
PLOT = "df.plot(x='time', y='value')\nplt.show()"
FIT = "model = LinearRegression()\nmodel.fit(df[['time']], df['value'])"
SHOW = "df.head()"


def cells(*specs: str | tuple[str, str]) -> list[Cell]:
    """Cells from `source`, `(id, source)`, or a source that begins with `#md`."""
    made = []
    for index, spec in enumerate(specs):
        cell_id, source = spec if isinstance(spec, tuple) else (None, spec)
        kind = CellKind.MARKDOWN if source.startswith("#md") else CellKind.CODE
        made.append(Cell(index, CellId(cell_id) if cell_id else None, kind, source))
    return made


def check(
    old: Sequence[str | tuple[str, str]], new: Sequence[str | tuple[str, str]], expected: list[int | None]
) -> None:
    matching = match_cells(cells(*old), cells(*new))
    assert list(matching.new_of_old) == expected
    back = {new: old for old, new in enumerate(expected) if new is not None}
    assert list(matching.old_of_new) == [back.get(place) for place in range(len(new))]


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param([], [], [], id="nothing"),
        pytest.param([LOAD], [], [None], id="deleted"),
        pytest.param([], [LOAD], [], id="inserted"),
        pytest.param([LOAD, PLOT], ["#md a", LOAD, "", PLOT], [1, 3], id="inserted between"),
        pytest.param([LOAD, PLOT, FIT], [FIT, LOAD, PLOT], [1, 2, 0], id="moved to the front"),
        pytest.param([LOAD, PLOT], [LOAD_EDITED, PLOT], [0, 1], id="edited, no ids"),
        pytest.param([LOAD, PLOT, FIT], [PLOT, FIT, LOAD_EDITED], [2, 0, 1], id="moved and edited, no ids"),
        pytest.param([SHOW, SHOW], [SHOW], [0, None], id="one of two equal neighbours deleted"),
        pytest.param([SHOW, LOAD, SHOW], [LOAD, SHOW], [None, 0, 1], id="the first twin deleted"),
        pytest.param([SHOW, LOAD, SHOW], [SHOW, LOAD], [0, 1, None], id="the last twin deleted"),
        pytest.param([SHOW, SHOW], ["df.head(3)", SHOW], [0, 1], id="the first of two equal neighbours edited"),
        pytest.param([SHOW, SHOW], [SHOW, "df.head(3)"], [0, 1], id="the last of two equal neighbours edited"),
        pytest.param([SHOW, SHOW, SHOW], [SHOW, "df.head(3)", SHOW], [0, 1, 2], id="the middle of three edited"),
        pytest.param([LOAD, SHOW], [LOAD, SHOW, SHOW], [0, 1], id="copied below"),
        pytest.param([("a", LOAD), ("b", PLOT)], [("b", PLOT), ("a", LOAD)], [1, 0], id="moved, with ids"),
        pytest.param([("a", LOAD), ("b", PLOT)], [("a", PLOT), ("b", LOAD)], [1, 0], id="ids changed places"),
        pytest.param([("a", LOAD), ("b", PLOT)], [("x", LOAD), ("y", PLOT)], [0, 1], id="all ids new"),
        pytest.param([("a", LOAD), ("b", PLOT)], [LOAD, PLOT], [0, 1], id="ids removed"),
        pytest.param([("a", SHOW), ("b", SHOW)], [("b", SHOW), ("a", SHOW)], [1, 0], id="equal cells changed places"),
        pytest.param([("a", SHOW), ("b", SHOW)], [("b", SHOW)], [None, 0], id="twin deleted, with ids"),
        pytest.param([("a", LOAD)], [("a", LOAD), ("a", LOAD_EDITED)], [0], id="copied with its id"),
        pytest.param(
            [("a", LOAD), ("a", PLOT)], [("a", LOAD_EDITED), ("a", PLOT)], [0, 1], id="duplicate ids are no ids"
        ),
        pytest.param(
            [("a", LOAD), ("b", PLOT)], [("c", FIT), ("a", LOAD_EDITED), ("b", PLOT)], [1, 2], id="edited, with ids"
        ),
        pytest.param(
            [("0", LOAD), ("1", PLOT)], [("0", FIT), ("1", LOAD), ("2", PLOT)], [1, 2], id="ids that are positions"
        ),
        pytest.param([("a", LOAD), ("b", FIT)], [("a", "x = 1"), ("b", FIT)], [0, 1], id="rewritten in its place"),
        pytest.param([("a", LOAD), ("b", FIT)], [("z", "x = 1"), ("b", FIT)], [None, 1], id="replaced by another"),
        pytest.param([LOAD, FIT], ["x = 1", FIT], [0, 1], id="rewritten in its place, no ids"),
        pytest.param([LOAD, "#md text"], ["#md text", LOAD], [1, 0], id="Markdown is matched too"),
        pytest.param([LOAD + "\n" + PLOT], [LOAD, PLOT], [0], id="split: the larger part is the cell"),
        pytest.param([LOAD, PLOT], [LOAD + "\n" + PLOT], [0, None], id="merged: the larger part is the cell"),
        pytest.param([LOAD.replace("\n", "\r\n")], [LOAD], [0], id="other line ends"),
    ],
)
def test_matching(
    old: Sequence[str | tuple[str, str]], new: Sequence[str | tuple[str, str]], expected: list[int | None]
) -> None:
    check(old, new, expected)


def test_line_ends_and_type_are_no_change() -> None:
    old = cells(LOAD.replace("\n", "\r\n"), "text")
    new = [*cells(LOAD), Cell(1, None, CellKind.MARKDOWN, "text")]
    matching = match_cells(old, new)
    assert (matching.new_of_old, matching.changed) == ((0, 1), frozenset())


def test_edited_cells_are_told() -> None:
    assert match_cells(cells(LOAD, PLOT), cells(LOAD_EDITED, PLOT)).changed == frozenset({0})


SOURCES = st.lists(st.sampled_from([LOAD, PLOT, FIT, SHOW, LOAD_EDITED, "", "x = 1", "y = 2"]), max_size=12)


@settings(max_examples=200, deadline=None)
@given(SOURCES, SOURCES)
def test_pairs_are_one_to_one_and_agree_in_both_directions(old: list[str], new: list[str]) -> None:
    matching = match_cells(cells(*old), cells(*new))
    assert [(old_place, new_place) for old_place, new_place in matching.pairs()] == sorted(
        (old_place, new_place) for new_place, old_place in enumerate(matching.old_of_new) if old_place is not None
    )


@settings(max_examples=200, deadline=None)
@given(SOURCES, st.randoms(use_true_random=False))
def test_cells_that_only_moved_keep_their_content(old: list[str], random: object) -> None:
    order = list(range(len(old)))
    random.shuffle(order)  # type: ignore[attr-defined]
    matching = match_cells(cells(*old), cells(*(old[place] for place in order)))
    assert matching.changed == frozenset()
    assert None not in matching.new_of_old


@settings(max_examples=200, deadline=None)
@given(SOURCES, st.integers(0, 12), st.sampled_from(["", "#md note", "print('new')"]))
def test_an_inserted_cell_moves_the_others_down(old: list[str], place: int, inserted: str) -> None:
    place = min(place, len(old))
    if inserted in old:
        return
    matching = match_cells(cells(*old), cells(*old[:place], inserted, *old[place:]))
    assert list(matching.new_of_old) == [index + (index >= place) for index in range(len(old))]
