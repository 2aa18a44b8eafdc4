"""Conversions between units, held against Python's own codecs and the LSP text."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_lsp_agent.core.positions import (
    PositionEncoding,
    TextPosition,
    TextRange,
    WirePosition,
    WireRange,
    character_from_column,
    code_units,
    column_from_character,
    split_lines,
    split_lines_keeping_ends,
    text_range_from_wire,
)

CODEC = {
    PositionEncoding.UTF_8: ("utf-8", 1),
    PositionEncoding.UTF_16: ("utf-16-le", 2),
    PositionEncoding.UTF_32: ("utf-32-le", 4),
}
LINE = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r\n"), max_size=30)


@pytest.mark.parametrize(
    ("text", "lines"),
    [
        ("", [""]),
        ("a", ["a"]),
        ("a\n", ["a", ""]),
        ("a\r\nb\rc\nd", ["a", "b", "c", "d"]),
        ("a\n\rb", ["a", "", "b"]),
        ("a\x0bb\x0cc\x1cd\x85e\u2028f\u2029g", ["a\x0bb\x0cc\x1cd\x85e\u2028f\u2029g"]),
    ],
)
def test_lines_end_where_lsp_says(text: str, lines: list[str]) -> None:
    assert split_lines(text) == lines


@given(st.text())
def test_lines_with_their_ends_are_the_text(text: str) -> None:
    kept = split_lines_keeping_ends(text)
    assert "".join(kept) == text
    assert [line.rstrip("\r\n") for line in kept] == split_lines(text)


@given(LINE, st.sampled_from(PositionEncoding))
def test_code_units_are_what_the_codec_makes(text: str, encoding: PositionEncoding) -> None:
    codec, width = CODEC[encoding]
    assert code_units(text, encoding) == len(text.encode(codec)) // width


@given(LINE, st.integers(0, 40), st.sampled_from(PositionEncoding))
def test_a_column_survives_the_way_there_and_back(text: str, column: int, encoding: PositionEncoding) -> None:
    character = character_from_column(text, column, encoding)
    assert column_from_character(text, character, encoding) == min(column, len(text))


def test_a_character_inside_a_surrogate_pair_is_rounded_down() -> None:
    assert column_from_character("a😀b", 2, PositionEncoding.UTF_16) == 1
    assert column_from_character("a😀b", 3, PositionEncoding.UTF_16) == 2


def test_a_lone_surrogate_counts_one_utf_16_unit() -> None:
    assert code_units("\ud800", PositionEncoding.UTF_16) == 1


@pytest.mark.parametrize(
    ("wire", "text"),
    [
        (((0, 2), (0, 3)), ((0, 2), (0, 3))),
        (((1, 3), (1, 1)), ((1, 1), (1, 3))),
        (((0, 99), (7, 0)), ((0, 5), (1, 3))),
        (((-1, 4), (0, -2)), ((0, 0), (0, 0))),
    ],
    ids=["inside", "inverted", "beyond the end", "negative"],
)
def test_a_range_is_clamped_into_the_text(wire: tuple[tuple[int, int], ...], text: tuple[tuple[int, int], ...]) -> None:
    got = text_range_from_wire(
        ["alpha", "abc"], WireRange(WirePosition(*wire[0]), WirePosition(*wire[1])), PositionEncoding.UTF_16
    )
    assert got == TextRange(TextPosition(*text[0]), TextPosition(*text[1]))
