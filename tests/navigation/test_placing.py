"""A server's places brought back to cells and files: exactly, or not at all."""

import json

import pytest

from jupyter_lsp_agent.core.ids import DocumentUri
from jupyter_lsp_agent.core.navigation import Hover, Location, Signature, SignatureParameter, Symbol
from jupyter_lsp_agent.core.positions import PositionEncoding, TextPosition, TextRange, WirePosition, WireRange
from jupyter_lsp_agent.core.printable import HIDDEN
from jupyter_lsp_agent.core.uris import uri_key
from jupyter_lsp_agent.navigation.answer import QueryAnswer, QueryMethod
from jupyter_lsp_agent.navigation.kinds import KINDS, kind_name
from jupyter_lsp_agent.navigation.placing import (
    OtherFile,
    Placer,
    ShownDocument,
    best_first,
    place_all,
    place_hover,
    place_symbols,
    show_signatures,
)
from jupyter_lsp_agent.navigation.targets import NoTarget, find_target
from jupyter_lsp_agent.notebook.build_options import BuildOptions
from jupyter_lsp_agent.notebook.virtual_document import build_virtual_documents
from tests.support.notebooks import python_notebook

OWN = DocumentUri("file:///w/n.ipynb.jla.py")
NOTEBOOK = python_notebook("'😀'; one = 1\nraise SystemExit", "%time two = one\nprint(two)", "def f(:\n  pass")
DOCUMENT = build_virtual_documents(NOTEBOOK, BuildOptions()).documents[0]
SHOWN = ShownDocument("n.ipynb", DOCUMENT.text, DOCUMENT.line_map, {cell.index: cell for cell in NOTEBOOK.cells})
PLACER = Placer({uri_key(OWN): SHOWN})
LINES = DOCUMENT.text.split("\n")


def at(line: int, start: int, end: int, *, text: str = DOCUMENT.text, uri: DocumentUri = OWN) -> Location:
    wire = WireRange(WirePosition(line, start), WirePosition(line, end))
    place = TextRange(TextPosition(line, start), TextPosition(line, end))
    return Location(uri, wire, PositionEncoding.UTF_32, place, text)


def test_every_line_of_the_text_is_in_its_cell_or_nowhere():
    """The law: a place of a copied character has that character in its cell; a place on a line of ours has none."""
    n_placed = 0
    for number, line in enumerate(LINES):
        found = PLACER.place(at(number, 0, 0))
        if found is None:
            continue
        assert found.cell is not None
        n_placed += 1
        source = NOTEBOOK.cells[found.cell.cell_index].source.split("\n")
        assert source[found.range.start.line] == found.source_line
        for column, character in enumerate(line):
            place = PLACER.place(at(number, column, column + 1))
            back = DOCUMENT.line_map.to_virtual(found.cell.cell_index, place.range.start)
            if back == TextPosition(number, column):
                assert source[place.range.start.line][place.range.start.column] == character
    assert n_placed >= 4
    assert all(PLACER.place(at(number, 0, 1)) is None for number in range(DOCUMENT.line_map.prefix_line_count))


def test_a_place_that_was_said_of_another_text_is_nowhere():
    number = next(n for n, line in enumerate(LINES) if "😀" in line)
    assert PLACER.place(at(number, 0, 1)) is not None
    assert PLACER.place(at(number, 0, 1, text=DOCUMENT.text + " ")) is None
    assert place_all(PLACER, [at(number, 0, 1), at(number, 0, 1), at(0, 0, 1)])[1] == 1
    assert len(place_all(PLACER, [at(number, 0, 1), at(number, 0, 1)])[0]) == 1


@pytest.mark.parametrize(
    ("encoding", "character"),
    [(PositionEncoding.UTF_8, 8), (PositionEncoding.UTF_16, 6), (PositionEncoding.UTF_32, 5)],
)
def test_a_file_is_counted_as_its_server_counts(encoding, character):
    uri = DocumentUri("file:///w/m.py")
    wire = WireRange(WirePosition(0, character), WirePosition(0, character + 1))
    others = {uri_key(uri): OtherFile("m.py", "'😀', x\n", may_quote=True)}
    place = Placer({}, others).place(Location(uri, wire, encoding, None))
    assert place is not None
    assert (place.range.start, place.source_line) == (TextPosition(0, 5), "'😀', x")
    assert place.wire_range.start == WirePosition(0, 6)


@pytest.mark.parametrize(
    ("other", "quoted"),
    [(OtherFile("m.py", "x = 1"), None), (OtherFile("m.py"), None), (OtherFile("m.py", "x", may_quote=True), "x")],
)
def test_a_file_is_quoted_only_where_that_is_allowed(other, quoted):
    uri = DocumentUri("file:///w/m.py")
    wire = WireRange(WirePosition(0, 0), WirePosition(0, 1))
    place = Placer({}, {uri_key(uri): other}).place(Location(uri, wire, PositionEncoding.UTF_16, None))
    assert place is not None
    assert place.source_line == quoted
    assert Placer({}).place(Location(uri, wire, PositionEncoding.UTF_16, None)) is None


def test_a_symbol_is_placed_at_its_name_and_ours_are_left_out():
    number = next(n for n, line in enumerate(LINES) if "print(two)" in line)
    whole = at(number, 0, 10)
    child = Symbol("two", 13, "", "", whole, None, ())
    symbols = [
        Symbol("_jla_call", 12, "", "", whole, None, (child,)),
        Symbol("print", 12, "", "", whole, None, (child,)),
        Symbol("glue", 12, "", "", at(0, 0, 3), None, (child,)),
        Symbol("nowhere", 12, "", "", None, None, ()),
    ]
    found = place_symbols(PLACER, symbols)
    assert [(one.name, one.container_name) for one in found] == [("print", ""), ("two", "print"), ("two", "glue")]
    assert found[1].place.range == TextRange(TextPosition(1, 6), TextPosition(1, 9))


# A server that gives the whole of a definition, and where in it the name stands.
WHOLE = [
    ("@dataclass\nclass Reading:\n    x: int", (1, 6)),
    ("@register(Reading)\n@frozen\nclass Reading:\n    x: int", (2, 6)),
    ("@register(\n    Reading=1,\n)\nclass Reading:\n    Reading = 1", (3, 6)),
    ("@cache\nasync def Reading(): ...", (1, 10)),
    ("#[derive(Debug)]\npub(crate) struct Reading {}", (1, 18)),
    ("class Reading:\n    Reading = 1", (0, 6)),
    ("sub Reading {\n    Reading = 1", (0, 4)),
    ("a = (\n  1)\nReading: int = 2", (2, 0)),
    ("@dataclass\nclass Readings:\n    'Reading'", (0, 0)),
    ("@one\ndef other(Reading): ...\nReading == 1", (0, 0)),
]


@pytest.mark.parametrize(("text", "place"), WHOLE)
def test_a_symbol_with_the_place_of_the_whole_is_placed_at_its_name(text, place):
    lines = text.split("\n")
    wire = WireRange(WirePosition(0, 0), WirePosition(len(lines) - 1, len(lines[-1])))
    uri = DocumentUri("file:///w/m.py")
    location = Location(uri, wire, PositionEncoding.UTF_16, None)
    placer = Placer({}, {uri_key(uri): OtherFile("m.py", text, may_quote=True)})
    [found] = place_symbols(placer, [Symbol("Reading", 5, "", "", location, None, ())])
    start = found.place.range.start
    assert (start.line, start.column) == place
    assert lines[start.line] == found.place.source_line
    if place != (0, 0):
        assert found.place.range.end == TextPosition(start.line, start.column + len("Reading"))


def test_the_name_that_was_asked_for_comes_before_those_like_it():
    other = DocumentUri("file:///w/a.py")
    names = ["test_reading", "Readings", "reading", "x_Reading", "Reading"]
    symbols = [Symbol(name, 5, "", "", at(0, 0, 1, uri=uri), None, ()) for name in names for uri in (other, OWN)]
    found = best_first(symbols, "Reading", own=uri_key(OWN))
    assert [(one.name, one.location.uri == OWN) for one in found] == [
        ("Reading", True),
        ("Reading", False),
        ("reading", True),
        ("reading", False),
        ("Readings", True),
        ("Readings", False),
        ("test_reading", True),
        ("x_Reading", True),
        ("test_reading", False),
        ("x_Reading", False),
    ]


HOSTILE = "\x1b[31mred\x1b[0m\u202ereversed\u202c\x07 " + "x" * 10_000


def test_what_servers_say_is_cleaned_and_bounded_in_both_renderings():
    signature = Signature(HOSTILE, HOSTILE, (SignatureParameter(HOSTILE, HOSTILE),) * 300, 7, is_active=True)
    whole = at(DOCUMENT.line_map.prefix_line_count, 0, 1)
    symbol = Symbol(HOSTILE, 12, HOSTILE, HOSTILE, whole, None, ())
    for found in (
        place_hover(SHOWN, Hover(HOSTILE, None)),
        show_signatures([signature]),
        place_symbols(PLACER, [symbol]),
    ):
        answer = QueryAnswer(path="n.ipynb", method=QueryMethod.HOVER, results=tuple(found))
        told = json.dumps(answer.to_dict(), ensure_ascii=False)
        assert found
        assert not HIDDEN.search(told)
        assert not HIDDEN.search(answer.to_text().replace("\n", ""))
        assert len(told) < 250_000
        assert len(answer.to_text()) < 5_000
        assert "error" not in answer.to_dict()


@pytest.mark.parametrize(("cell", "line", "column", "is_there"), [(0, 0, 5, True), (1, 0, 6, True), (1, 0, 1, False)])
def test_a_place_of_a_cell_is_found_in_the_text(cell, line, column, is_there):
    built = build_virtual_documents(NOTEBOOK, BuildOptions())
    found = find_target(built, NOTEBOOK.cells[cell], TextPosition(line, column))
    assert isinstance(found, NoTarget) != is_there
    if not isinstance(found, NoTarget) and found.position is not None:
        character = NOTEBOOK.cells[cell].source.split("\n")[line][column]
        assert found.document.text.split("\n")[found.position.line][found.position.column] == character


def test_kinds_are_lsps_own():
    from lsprotocol.types import SymbolKind

    words = {
        kind.value: "".join("_" + c.lower() if c.isupper() else c for c in kind.name).strip("_") for kind in SymbolKind
    }
    assert {number: kind_name(number) for number in words} == words
    assert [kind_name(number) for number in (0, -1, 27, 10**9)] == [KINDS[-1]] * 4
