import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_lsp_agent.core.diagnostic import CellDiagnostic, Diagnostic, DiagnosticSeverity
from jupyter_lsp_agent.core.positions import TextPosition, TextRange
from jupyter_lsp_agent.diagnostics.cleaning import clean_message, clean_path, clean_source_line
from jupyter_lsp_agent.diagnostics.facts import Finding
from jupyter_lsp_agent.diagnostics.report import Status
from tests.support.reports import code_cells, report

BIDI = {"AL", "R", "LRE", "RLE", "LRO", "RLO", "PDF", "LRI", "RLI", "FSI", "PDI"}
"""Unicode's classes; of those only the controls, which are format characters, must go."""


def is_hidden(character):
    category = unicodedata.category(character)
    is_bidi_control = category == "Cf" and (unicodedata.bidirectional(character) in BIDI or character in "\u061c\u200e")
    return category in {"Cc", "Cs", "Zl", "Zp"} or is_bidi_control or 0xE0000 <= ord(character) <= 0xE007F


NASTY = st.lists(st.sampled_from("\x00\t\n\x1b\x7f\x85\u202e\u2066\U000e0041\ud800\u2028\ufeff") | st.characters()).map(
    "".join
)
"""Of lists, since an alphabet of `st.text` is taken as one set, in which the few nasty ones hardly ever come up."""


@given(NASTY)
def test_nothing_hidden_is_left(text):
    for clean in (clean_message, clean_source_line, clean_path):
        assert not [character for character in clean(text) if is_hidden(character)]


@given(NASTY)
def test_columns_of_a_source_line_stay(text):
    assert len(clean_source_line(text)) == min(len(text), 2000)


@pytest.mark.parametrize(
    ("text", "cleaned"),
    [
        ("one\ntwo\tthree", "one two three"),
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]8;;http://x\x07link\x1b]8;;\x07", "link"),
        ("a\u202eb", "ab"),
        ("hi\U000e0068\U000e0069", "hi"),
        ("日本語 é 👩‍👩‍👧", "日本語 é 👩‍👩‍👧"),
        (" padded ", "padded"),
    ],
)
def test_message(text, cleaned):
    assert clean_message(text) == cleaned


def test_a_long_message_is_cut_with_an_ellipsis():
    cut = clean_message("x" * 3000)
    assert len(cut) == 2000
    assert cut.endswith("x…")


@pytest.mark.parametrize(
    ("path", "cleaned"),
    [
        ("a/b.ipynb", "a/b.ipynb"),
        ("caf\udce9.ipynb", "caf\\xe9.ipynb"),
        ("two\nlines.ipynb", "two\\nlines.ipynb"),
        ("\u202egnp.ipynb", "\\u202egnp.ipynb"),
    ],
)
def test_a_path_stays_itself(path, cleaned):
    assert clean_path(path) == cleaned


def test_every_text_of_a_finding_is_cleaned():
    place = TextRange(TextPosition(0, 0), TextPosition(0, 1))
    nasty = Diagnostic(
        place, DiagnosticSeverity.ERROR, "m\x1b[1m\u202e", source="s\x07", code="c\n", code_description="u\x00"
    )
    told = report(code_cells("\tx\u202e"), Finding(Status.PRESENT, CellDiagnostic(0, nasty)), path="p\x1b.ipynb")
    item = next(iter(told))
    assert (item.message, item.source, item.code, item.code_description) == ("m", "s", "c", "u")
    assert item.source_line == " x\ufffd"
    assert told.path == "p\\x1b.ipynb"
