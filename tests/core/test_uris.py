"""URIs, held against `pathlib`'s own and against the spellings that servers send back."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_lsp_agent.core.uris import path_from_uri, uri_from_path, uri_key

NAME = st.text(st.characters(exclude_characters="/\0", exclude_categories=["Cs"]), min_size=1, max_size=20).filter(
    lambda name: name not in (".", "..")
)


@given(NAME)
def test_a_path_survives_the_way_there_and_back(name: str) -> None:
    path = Path("/some") / name
    assert path_from_uri(uri_from_path(path)) == path


@given(NAME)
def test_it_is_filed_as_pathlib_spells_it(name: str) -> None:
    path = Path("/some") / name
    assert uri_key(path.as_uri()) == uri_key(uri_from_path(path))


def test_a_name_that_is_no_utf_8_survives() -> None:
    path = Path(os.fsdecode(b"/some/caf\xe9.ipynb"))
    assert path_from_uri(uri_from_path(path)) == path


@pytest.mark.parametrize(
    "other",
    [
        "file:///w/My%20nb%20%281%29%20%232.ipynb",
        "file:///w/My nb (1) #2.ipynb",
        "FILE:///w/./My%20nb%20(1)%20%232.ipynb",
        "file:///w/x/../My%20nb%20(1)%20%232.ipynb",
    ],
    ids=["parentheses encoded", "decoded", "scheme and dot", "dot dot"],
)
def test_every_spelling_of_one_document_has_one_key(other: str) -> None:
    assert uri_key(other) == uri_key(uri_from_path(Path("/w/My nb (1) #2.ipynb")))


def test_a_literal_percent_is_not_a_code() -> None:
    assert uri_key(uri_from_path(Path("/w/a%20b"))) != uri_key(uri_from_path(Path("/w/a b")))


def test_a_relative_path_has_no_uri() -> None:
    with pytest.raises(ValueError, match="absolute"):
        uri_from_path(Path("x"))


def test_other_schemes_name_no_path() -> None:
    assert path_from_uri("untitled:Untitled-1") is None


@given(st.text())
def test_any_text_has_a_key_and_names_a_path_or_none(text: str) -> None:
    for uri in (text, f"file:{text}", f"file://{text}", f"FILE:///{text}"):
        assert isinstance(uri_key(uri), str)
        path = path_from_uri(uri)
        assert path is None or "\0" not in str(path)


@pytest.mark.parametrize(
    "uri", ["http://[bad", "file://[bad", "http://a\u2100b", "file:///a%00b", "%", "", "[", "untitled:1"]
)
def test_what_is_no_file_uri_names_no_file(uri: str) -> None:
    assert path_from_uri(uri) in {None, Path()}
    assert uri_key(uri) == uri_key(uri)
