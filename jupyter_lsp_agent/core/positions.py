"""Coordinates and their units.

Three units exist. *Wire* positions are LSP's: 0-based line and `character` in code units of the negotiated encoding;
they live in `lsp/` only. *Text* positions are ours: 0-based line and `column` in Unicode code points. 1-based numbers
are made where a report is rendered and nowhere else. Lines end at CRLF, LF or CR and at nothing else
(LSP 3.17, "Text Documents"), so `str.splitlines` is never used.
"""

import re
from dataclasses import dataclass
from enum import StrEnum
from typing import NewType

CellLine = NewType("CellLine", int)
"""A 0-based line of a cell's source."""

"""A 0-based line of a virtual document."""

_LINE_END = re.compile(r"\r\n|\n|\r")


class PositionEncoding(StrEnum):
    """What one `character` of a wire position counts."""

    UTF_8 = "utf-8"
    UTF_16 = "utf-16"
    UTF_32 = "utf-32"


@dataclass(frozen=True, slots=True, order=True)
class WirePosition:
    """An LSP position: 0-based `line`, 0-based `character` in code units of some `PositionEncoding`."""

    line: int
    character: int


@dataclass(frozen=True, slots=True, order=True)
class WireRange:
    """An LSP range; `end` is exclusive."""

    start: WirePosition
    end: WirePosition


@dataclass(frozen=True, slots=True, order=True)
class TextPosition:
    """A place in a text: 0-based `line`, 0-based `column` in code points."""

    line: int
    column: int


@dataclass(frozen=True, slots=True, order=True)
class TextRange:
    """A stretch of a text; `end` is exclusive."""

    start: TextPosition
    end: TextPosition


def split_lines(text: str) -> list[str]:
    """The lines of `text` without their ends; one more than there are line ends, so never empty."""
    return _LINE_END.split(text)


def split_lines_keeping_ends(text: str) -> list[str]:
    """The lines of `text` with their ends; joined they are `text`. The last one is empty where `text` ends a line."""
    lines, start = [], 0
    for end in _LINE_END.finditer(text):
        lines.append(text[start : end.end()])
        start = end.end()
    lines.append(text[start:])
    return lines


def code_units(text: str, encoding: PositionEncoding) -> int:
    """How many code units of `encoding` the code points of `text` take. A lone surrogate counts as one UTF-16 unit."""
    if encoding is PositionEncoding.UTF_32 or text.isascii():
        return len(text)
    if encoding is PositionEncoding.UTF_16:
        return len(text) + sum(character > "\uffff" for character in text)
    return len(text.encode("utf-8", "surrogatepass"))


def column_from_character(line_text: str, character: int, encoding: PositionEncoding) -> int:
    """The column (code points) of a wire `character` in one line; past the end it is the line's length.

    A `character` inside a surrogate pair or a multi-byte sequence is rounded down to that code point's start.
    """
    if encoding is PositionEncoding.UTF_32 or line_text.isascii():
        return max(0, min(character, len(line_text)))
    units = 0
    for column, point in enumerate(line_text):
        units += code_units(point, encoding)
        if units > character:
            return column
    return len(line_text)


def character_from_column(line_text: str, column: int, encoding: PositionEncoding) -> int:
    """The wire `character` of a column (code points) in one line; past the end it is the line's length in units."""
    return code_units(line_text[: max(0, column)], encoding)


def text_range_from_wire(lines: list[str], wire: WireRange, encoding: PositionEncoding) -> TextRange:
    """A server's range as a range of the text it describes: clamped into the text and never inverted.

    Args:
        lines: the text's lines without their ends (`split_lines`).
        wire: what the server sent.
        encoding: what it counts in.
    """
    start = _text_position_from_wire(lines, wire.start, encoding)
    end = _text_position_from_wire(lines, wire.end, encoding)
    return TextRange(start, end) if start <= end else TextRange(end, start)


def utf16_range(lines: list[str], text_range: TextRange) -> WireRange:
    """A range of the text with these lines as LSP writes it by default; lines that are not there count as empty."""

    def position(at: TextPosition) -> WirePosition:
        line = lines[at.line] if 0 <= at.line < len(lines) else ""
        return WirePosition(at.line, character_from_column(line, at.column, PositionEncoding.UTF_16))

    return WireRange(position(text_range.start), position(text_range.end))


def _text_position_from_wire(lines: list[str], wire: WirePosition, encoding: PositionEncoding) -> TextPosition:
    if wire.line < 0:
        return TextPosition(0, 0)
    if wire.line >= len(lines):
        return TextPosition(len(lines) - 1, len(lines[-1]))
    return TextPosition(wire.line, column_from_character(lines[wire.line], wire.character, encoding))
