"""Replacements, glue and indentation, with the map kept true."""

import pytest

from jupyter_lsp_agent.core.positions import TextPosition, TextRange
from jupyter_lsp_agent.notebook.line_map import CellChunk, MappedLine, whole_lines
from jupyter_lsp_agent.notebook.rewrite import Glue, Indent, Replace, Rewrite, apply_rewrites, insertion


def replaced(line: int, start: int, end: int, text: str) -> Replace:
    return Replace(TextRange(TextPosition(line, start), TextPosition(line, end)), text)


@pytest.mark.parametrize(
    ("source", "rewrites", "text"),
    [
        ("raise X", [replaced(0, 0, 5, "r =")], "r = X"),
        ("raise X from Y", [replaced(0, 0, 5, "r ="), replaced(0, 8, 12, "or")], "r = X or Y"),
        ("f()", [insertion(TextPosition(0, 3), " a"), insertion(TextPosition(0, 3), " b")], "f() a b"),
        ("a(\n b,\n c)", [Replace(TextRange(TextPosition(0, 0), TextPosition(2, 2)), "pass")], "pass\n\n)"),
        ("a\nb", [Glue(0, "x", after=True), Glue(1, "y")], "a\nx\ny\nb"),
        (
            "a\nb",
            [
                Glue(0, "if:", outer=True),
                Indent(0, 0),
                Glue(0, "x", after=True),
                Glue(0, "z", after=True, outer=True),
            ],
            "if:\n a\n x\nz\nb",
        ),
    ],
)
def test_rewrites_are_done_at_once(source: str, rewrites: list[Rewrite], text: str) -> None:
    assert "\n".join(line.text for line in apply_rewrites(whole_lines(source), rewrites)) == text


def check_copied_characters(source: str, lines: tuple[MappedLine, ...]) -> int:
    """Every character that the map calls copied is the cell's; how many there are."""
    chunk, own, count = CellChunk(lines), source.split("\n"), 0
    for number, text in enumerate(own):
        for column, character in enumerate(text):
            virtual = chunk.to_virtual(TextPosition(number, column))
            if virtual is not None and virtual.column < len(chunk.lines[virtual.line].text):
                line = chunk.lines[virtual.line]
                if chunk.to_cell(virtual) == TextPosition(number, column) and _is_inside(line, virtual.column):
                    assert line.text[virtual.column] == character
                    count += 1
    return count


def _is_inside(line: MappedLine, column: int) -> bool:
    return line.spans is None or any(
        span.virtual_column <= column < span.virtual_column + span.length for span in line.spans
    )


@pytest.mark.parametrize(
    ("rewrites", "copied"),
    [
        ([], 14),
        ([replaced(0, 0, 5, "r =")], 9),
        ([replaced(0, 0, 5, "a longer one ="), replaced(0, 8, 12, "or"), Indent(0, 0)], 5),
        ([insertion(TextPosition(0, 7), "!!!")], 14),
    ],
)
def test_what_was_not_replaced_is_still_mapped(rewrites: list[Rewrite], copied: int) -> None:
    source = "raise X from Y"
    assert check_copied_characters(source, apply_rewrites(whole_lines(source), rewrites)) == copied
