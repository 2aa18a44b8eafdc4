"""The two-way map: exact on copied characters, defined on all others, and checked when it is made."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_lsp_agent.core.positions import CellLine, TextPosition, TextRange
from jupyter_lsp_agent.notebook.line_map import CellChunk, CellLocation, ColumnSpan, LineMap, MappedLine, whole_lines


def at(line: int, column: int) -> TextPosition:
    return TextPosition(line, column)


def between(start: TextPosition, end: TextPosition) -> TextRange:
    return TextRange(start, end)


RAISE = MappedLine("  _raised = X", CellLine(0), (ColumnSpan(0, 0, 2), ColumnSpan(11, 7, 2)))
"""`  raise X` with its keyword rewritten."""

CELL = CellChunk([RAISE, MappedLine("glue", None), MappedLine("", CellLine(1), ()), MappedLine("x = 1", CellLine(2))])
MAP = LineMap(2, [(3, CellChunk(whole_lines("a\nb"))), (5, CELL), (6, CellChunk(whole_lines("")))])
"""Two lines of prefix; cell 3 on lines 2 and 3; cell 5 on lines 4 to 7 with glue on line 5; cell 6 on line 8."""


@pytest.mark.parametrize(
    ("line", "column", "cell"),
    [
        (0, 0, None),
        (1, 5, None),
        (2, 0, CellLocation(3, at(0, 0))),
        (3, 1, CellLocation(3, at(1, 1))),
        (4, 0, CellLocation(5, at(0, 0))),
        (4, 2, CellLocation(5, at(0, 2))),
        (4, 6, CellLocation(5, at(0, 2))),
        (4, 12, CellLocation(5, at(0, 8))),
        (4, 99, CellLocation(5, at(0, 9))),
        (5, 0, None),
        (6, 3, CellLocation(5, at(1, 0))),
        (7, 4, CellLocation(5, at(2, 4))),
        (8, 0, CellLocation(6, at(0, 0))),
        (9, 0, None),
        (99, 0, None),
    ],
)
def test_a_virtual_place_is_one_place_of_one_cell(line: int, column: int, cell: CellLocation | None) -> None:
    assert MAP.to_cell(at(line, column)) == cell


@pytest.mark.parametrize(
    ("cell_index", "place", "virtual"),
    [
        (3, at(0, 0), at(2, 0)),
        (3, at(1, 1), at(3, 1)),
        (3, at(1, 2), None),
        (5, at(0, 1), at(4, 1)),
        (5, at(0, 4), None),
        (5, at(0, 8), at(4, 12)),
        (5, at(1, 0), None),
        (5, at(2, 5), at(7, 5)),
        (5, at(9, 0), None),
        (4, at(0, 0), None),
    ],
)
def test_a_copied_character_has_one_virtual_place(
    cell_index: int, place: TextPosition, virtual: TextPosition | None
) -> None:
    assert MAP.to_virtual(cell_index, place) == virtual


@pytest.mark.parametrize(
    ("virtual", "moved"),
    [
        (between(at(7, 0), at(7, 1)), (5, between(at(2, 0), at(2, 1)))),
        (between(at(2, 0), at(4, 3)), (3, between(at(0, 0), at(1, 1)))),
        (between(at(4, 11), at(5, 2)), (5, between(at(0, 7), at(0, 9)))),
        (between(at(4, 0), at(7, 1)), (5, between(at(0, 0), at(2, 1)))),
        (between(at(4, 0), at(99, 1)), (5, between(at(0, 0), at(2, 5)))),
        (between(at(0, 0), at(2, 1)), None),
        (between(at(5, 0), at(7, 1)), None),
    ],
)
def test_a_range_is_clamped_into_the_cell_that_it_begins_in(
    virtual: TextRange, moved: tuple[int, TextRange] | None
) -> None:
    assert MAP.range_to_cell(virtual) == moved


@pytest.mark.parametrize(
    "spans",
    [
        (ColumnSpan(0, 0, 9),),
        (ColumnSpan(0, 0, 3), ColumnSpan(2, 5, 1)),
        (ColumnSpan(-1, 0, 1),),
        (ColumnSpan(0, -1, 1),),
    ],
)
def test_a_map_that_would_lie_is_not_made(spans: tuple[ColumnSpan, ...]) -> None:
    with pytest.raises(ValueError, match="span"):
        CellChunk([MappedLine("abcd", CellLine(0), spans)])


@pytest.mark.parametrize("text", ["a\nb", "a\r", "\n"])
def test_a_virtual_line_holds_no_line_end(text: str) -> None:
    with pytest.raises(ValueError, match="line end"):
        CellChunk([MappedLine(text, CellLine(0))])


def test_a_cell_stands_once_in_a_document() -> None:
    with pytest.raises(ValueError, match="twice"):
        LineMap(0, [(1, CELL), (1, CELL)])


@given(st.lists(st.text(alphabet="ab\n\r\u2028\x0c😀", max_size=12), max_size=5), st.integers(0, 3))
def test_unchanged_cells_are_mapped_one_to_one(sources: list[str], prefix_lines: int) -> None:
    chunks = [(index * 2, CellChunk(whole_lines(source))) for index, source in enumerate(sources)]
    line_map = LineMap(prefix_lines, chunks)
    seen = set()
    for index, chunk in chunks:
        for number, line in enumerate(chunk.lines):
            for column in range(len(line.text) + 1):
                virtual = line_map.to_virtual(index, at(number, column))
                assert virtual is not None
                assert line_map.to_cell(virtual) == CellLocation(index, at(number, column))
                seen.add(virtual)
    assert len(seen) == sum(len(line.text) + 1 for _, chunk in chunks for line in chunk.lines)
    assert line_map.line_count == prefix_lines + sum(chunk.line_count for _, chunk in chunks)
