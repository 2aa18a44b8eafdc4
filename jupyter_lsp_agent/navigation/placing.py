"""From a server's places to the asker's: cells of notebooks, lines of files.

A place in a virtual document is a place in a cell, or none: what stands on lines that no cell has is never shown as if
it stood somewhere. A place in a file is quoted only where the asker may read the file.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

from jupyter_lsp_agent.core.navigation import Hover, Location, Signature, Symbol
from jupyter_lsp_agent.core.positions import (
    TextPosition,
    TextRange,
    WireRange,
    split_lines,
    text_range_from_wire,
    utf16_range,
)
from jupyter_lsp_agent.core.uris import path_from_uri, uri_key
from jupyter_lsp_agent.diagnostics.cleaning import clean_block, clean_message, clean_path, clean_source_line
from jupyter_lsp_agent.diagnostics.report import CellReference
from jupyter_lsp_agent.navigation.answer import (
    Found,
    FoundHover,
    FoundParameter,
    FoundPlace,
    FoundSignature,
    FoundSymbol,
)
from jupyter_lsp_agent.notebook.line_map import LineMap
from jupyter_lsp_agent.notebook.model import Cell
from jupyter_lsp_agent.notebook.reserved_names import PREFIX

MAX_TEXT_CHARACTERS = 4_000
"""Of a hover, and of a signature's documentation."""

_MAX_NAME_CHARACTERS = 200
_MAX_LABEL_CHARACTERS = 1_000
_MAX_PARAMETERS = 100
_MAX_DEPTH = 20
_MAX_LINES_BEFORE_A_NAME = 200
_DECORATORS = ("@", "#[")
_DEFINITIONS = (
    r"^\s*(?:[\w()]+\s+)*(?:def|class|function|fn|func|struct|enum|interface|trait|type)\s+({name})(?!\w)",
    r"^\s*({name})\s*(?::|=(?!=))",
)
"""Lines that say what a name is, in the languages that have decorators or the like: definitions, assignments."""


@dataclass(frozen=True, slots=True)
class ShownDocument:
    """A text that a server was shown, and what it stands for.

    Attributes:
        name: the document, as the asker names it.
        text: what was shown.
        line_map: of a virtual document; `None` for a plain file.
        cells: of the notebook, by index.
    """

    name: str
    text: str = field(repr=False)
    line_map: LineMap | None = field(default=None, repr=False)
    cells: Mapping[int, Cell] = field(default_factory=dict, repr=False)


@dataclass(frozen=True, slots=True)
class OtherFile:
    """A file that a server read itself: its name, its text where that can be had, and whether it may be quoted."""

    name: str
    text: str | None = field(default=None, repr=False)
    may_quote: bool = False


@dataclass(frozen=True, slots=True)
class Placer:
    """Finds places.

    Attributes:
        shown: what the server was shown, by `uri_key`.
        others: other files that it named, by `uri_key`.
        own: the key of the document that was asked about.
    """

    shown: Mapping[str, ShownDocument]
    others: Mapping[str, OtherFile] = field(default_factory=dict)
    own: str = ""

    def place(self, location: Location, name: str = "") -> FoundPlace | None:
        """The asker's place for a server's; `None` where it is nowhere for the asker.

        Args:
            location: the server's.
            name: what is there: of a place that is the whole of it, its name is looked for.
        """
        shown = self.shown.get(uri_key(location.uri))
        if shown is None:
            return self._in_other_file(location, name)
        if location.range is None or location.open_text != shown.text:
            return None  # said of another text than this one
        return self.place_in(shown, location.range, name)

    def place_in(self, shown: ShownDocument, place: TextRange, name: str = "") -> FoundPlace | None:
        """The asker's place for one in a text that was shown."""
        if shown.line_map is None:
            return _placed(shown.name, None, split_lines(shown.text), place, name)
        found = shown.line_map.range_to_cell(place)
        cell = None if found is None else shown.cells.get(found[0])
        if found is None or cell is None:
            return None
        return _placed(shown.name, CellReference(cell.index, cell.cell_id), split_lines(cell.source), found[1], name)

    def _in_other_file(self, location: Location, name: str) -> FoundPlace | None:
        other = self.others.get(uri_key(location.uri))
        if other is None:
            return None
        if other.text is None:
            return FoundPlace(
                path=clean_path(other.name),
                cell=None,
                range=_as_text_range(location.wire_range),
                wire_range=location.wire_range,
                source_line=None,
            )
        lines = split_lines(other.text)
        place = text_range_from_wire(lines, location.wire_range, location.encoding)
        return _placed(other.name, None, lines, place, name, may_quote=other.may_quote)


def place_all(placer: Placer, locations: Iterable[Location]) -> tuple[tuple[FoundPlace, ...], int]:
    """The places of locations, each once, and how many of them are in no cell."""
    places = [placer.place(location) for location in locations]
    found = dict.fromkeys(place for place in places if place is not None)
    return tuple(found), sum(place is None for place in places)


def place_hover(shown: ShownDocument, hover: Hover | None) -> tuple[Found, ...]:
    """A hover, its place in the asker's document."""
    text = "" if hover is None else clean_block(hover.text, MAX_TEXT_CHARACTERS)
    if hover is None or not text:
        return ()
    place = None if hover.range is None else Placer({}).place_in(shown, hover.range)
    return (FoundHover(text, place),)


def place_symbols(placer: Placer, symbols: Iterable[Symbol]) -> tuple[FoundSymbol, ...]:
    """Symbols one after the other, those inside others behind them; names of ours and of no cell left out."""
    return tuple(dict.fromkeys(_symbols(placer, symbols, "", _MAX_DEPTH)))


def show_signatures(signatures: Iterable[Signature]) -> tuple[FoundSignature, ...]:
    """Signatures, cleaned."""
    return tuple(map(_signature, signatures))


def in_document_order(found: Iterable[FoundSymbol]) -> tuple[FoundSymbol, ...]:
    """Symbols of one document by their places."""
    return tuple(sorted(found, key=lambda one: (_cell_of(one.place), one.place.range.start)))


def own_first(places: Iterable[FoundPlace], own: str) -> tuple[FoundPlace, ...]:
    """Places by document, that of the asker first, and in their order there."""
    return tuple(sorted(places, key=lambda one: (one.path != own, one.path, _cell_of(one), one.range)))


def best_first(symbols: Iterable[Symbol], query: str, own: str) -> tuple[Symbol, ...]:
    """Symbols whose name is what was asked for before those that are only like it, else in the server's order.

    Args:
        symbols: as the server has them, which is often by its files.
        query: the name, or a part of one.
        own: the `uri_key` of the document that was asked about, whose symbols come before others as good.
    """
    folded = query.casefold()

    def rank(symbol: Symbol) -> tuple[int, bool]:
        name = symbol.name
        likeness = (name == query, name.casefold() == folded, name.casefold().startswith(folded), True)
        return likeness.index(True), symbol.location is None or uri_key(symbol.location.uri) != own

    return tuple(sorted(symbols, key=rank))


def _symbols(placer: Placer, symbols: Iterable[Symbol], container: str, depth: int) -> Iterator[FoundSymbol]:
    for symbol in symbols:
        if symbol.name.startswith(PREFIX):
            continue
        name = clean_message(symbol.name, _MAX_NAME_CHARACTERS)
        holder = container or clean_message(symbol.container_name, _MAX_NAME_CHARACTERS)
        place = _symbol_place(placer, symbol)
        if place is not None and name:
            yield FoundSymbol(name, symbol.kind, clean_message(symbol.detail, _MAX_LABEL_CHARACTERS), holder, place)
        if depth and symbol.children:
            inner = f"{container}.{name}" if container else name
            yield from _symbols(placer, symbol.children, inner[:_MAX_NAME_CHARACTERS], depth - 1)


def _symbol_place(placer: Placer, symbol: Symbol) -> FoundPlace | None:
    location = symbol.location
    if location is None:
        return None
    shown = placer.shown.get(uri_key(location.uri))
    if symbol.selection is None or shown is None or location.open_text != shown.text:
        return placer.place(location, symbol.name)
    return placer.place_in(shown, symbol.selection, symbol.name)


def _placed(
    document: str, cell: CellReference | None, lines: list[str], place: TextRange, name: str, *, may_quote: bool = True
) -> FoundPlace:
    place = _at_name(lines, _inside(lines, place), name)
    return FoundPlace(
        path=clean_path(document),
        cell=cell,
        range=place,
        wire_range=utf16_range(lines, place),
        source_line=clean_source_line(lines[place.start.line]) if may_quote else None,
    )


def _inside(lines: list[str], place: TextRange) -> TextRange:
    """The place without anything that is past the end of a line."""

    def position(at: TextPosition) -> TextPosition:
        line = max(0, min(at.line, len(lines) - 1))
        return TextPosition(line, max(0, min(at.column, len(lines[line]))))

    start, end = position(place.start), position(place.end)
    return TextRange(start, max(start, end))


def _at_name(lines: list[str], place: TextRange, name: str) -> TextRange:
    """The place of `name` in a place that may be the whole of what has this name; else the place as it is."""
    number, start = place.start.line, place.start.column
    if not name or lines[number][start : start + len(name)] == name:
        return place
    column = -1 if lines[number][start:].lstrip().startswith(_DECORATORS) else _word_in(lines[number], name, start)
    if column < 0:
        number, column = _defined_at(lines, place, name)
    return place if column < 0 else _stretch(number, column, len(name))


def _defined_at(lines: list[str], place: TextRange, name: str) -> tuple[int, int]:
    """Line and column of `name` where it is defined, behind decorators and the like; the column is -1 where nowhere.

    A definition is believed before an assignment, since a decorator's arguments on lines of their own look like one.
    """
    last = min(place.end.line, place.start.line + _MAX_LINES_BEFORE_A_NAME, len(lines) - 1)
    for form in _DEFINITIONS:
        pattern = re.compile(form.format(name=re.escape(name)))
        for number in range(place.start.line, last + 1):
            found = pattern.search(lines[number])
            if found:
                return number, found.start(1)
    return place.start.line, -1


def _stretch(line: int, column: int, length: int) -> TextRange:
    return TextRange(TextPosition(line, column), TextPosition(line, column + length))


def _word_in(line: str, name: str, start: int) -> int:
    column = line.find(name, start)
    while column >= 0 and not _is_word(line, column, len(name)):
        column = line.find(name, column + 1)
    return column


def _is_word(line: str, column: int, length: int) -> bool:
    before, after = line[column - 1 : column], line[column + length : column + length + 1]
    return not any(one.isalnum() or one == "_" for one in (before, after) if one)


def _as_text_range(wire: WireRange) -> TextRange:
    """A place in a text that nobody has read: its characters are taken for code points, which they mostly are."""
    start, end = (TextPosition(at.line, at.character) for at in (wire.start, wire.end))
    return TextRange(start, max(start, end))


def _signature(signature: Signature) -> FoundSignature:
    parameters = tuple(
        FoundParameter(
            clean_message(one.label, _MAX_LABEL_CHARACTERS), clean_block(one.documentation, _MAX_LABEL_CHARACTERS)
        )
        for one in signature.parameters[:_MAX_PARAMETERS]
    )
    active = signature.active_parameter
    return FoundSignature(
        clean_message(signature.label, _MAX_LABEL_CHARACTERS),
        clean_block(signature.documentation, MAX_TEXT_CHARACTERS),
        parameters,
        active if active is not None and 0 <= active < len(parameters) else None,
        signature.is_active,
    )


def _cell_of(place: FoundPlace) -> int:
    return -1 if place.cell is None else place.cell.cell_index


def name_of_uri(uri: str) -> str:
    """How a place that lies in no file is named."""
    path = path_from_uri(uri)
    return clean_message(uri, _MAX_LABEL_CHARACTERS) if path is None else str(path)
