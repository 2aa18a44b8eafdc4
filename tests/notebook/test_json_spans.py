"""The scanner against the standard library's parser and against a scan by tokens."""

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_lsp_agent.notebook.json_spans import scan_array, scan_object, value_span
from tests.support.json_regions import children

_SCALARS = st.none() | st.booleans() | st.integers() | st.floats() | st.text()
_VALUES = st.recursive(
    _SCALARS, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4), max_leaves=12
)
_INDENTS = st.sampled_from([None, 0, 1, 4, "\t"])
_SEPARATORS = st.sampled_from([(",", ":"), (", ", ": "), (" ,\r\n\t", " :\n")])


@given(st.dictionaries(st.text(), _VALUES), _INDENTS, _SEPARATORS, st.booleans())
def test_object_members_are_where_they_are(value, indent, separators, ascii_only):
    text = json.dumps(value, indent=indent, separators=separators, ensure_ascii=ascii_only)
    scanned = scan_object("  " + text + " tail", 0)
    found = [(member.key, member.value.start - 2, member.value.end - 2) for member in scanned.members]
    assert found == children(text, 0)
    assert scanned.span.end == len(text) + 2
    assert [key for key, *_ in found] == list(value)
    for member in scanned.members:
        assert json.dumps(json.loads(member.value.of("  " + text))) == json.dumps(value[member.key])


@given(st.lists(_VALUES), _INDENTS, _SEPARATORS)
def test_array_items_are_where_they_are(value, indent, separators):
    text = json.dumps(value, indent=indent, separators=separators)
    scanned = scan_array(text, 0)
    assert [(None, item.start, item.end) for item in scanned.items] == children(text, 0)
    assert json.dumps([json.loads(item.of(text)) for item in scanned.items]) == json.dumps(value)


@given(st.text(alphabet='{}[]:,"\\a1 \n', max_size=20))
def test_refuses_and_accepts_as_the_standard_parser_does(text):
    def accepts(read) -> bool:
        try:
            read()
        except ValueError:
            return False
        return True

    begins = text.lstrip(" \n")[:1]
    if begins == "{":
        assert accepts(lambda: scan_object(text, 0)) == accepts(
            lambda: json.JSONDecoder().raw_decode(text.lstrip(" \n"))
        )
    elif begins == "[":
        assert accepts(lambda: scan_array(text, 0)) == accepts(
            lambda: json.JSONDecoder().raw_decode(text.lstrip(" \n"))
        )


def test_the_last_of_duplicate_keys_counts():
    text = '{"a": 1, "b": 2, "a": 3}'
    member = scan_object(text, 0).last("a")
    assert member is not None
    assert member.value.of(text) == "3" == str(json.loads(text)["a"])
    assert scan_object(text, 0).last("c") is None


def test_nan_is_a_number_as_in_the_standard_parser():
    assert value_span(" NaN ,", 0).of(" NaN ,") == "NaN"


def test_depth_is_bounded():
    with pytest.raises(RecursionError):
        scan_array("[" * 200_000 + "]" * 200_000, 0)
