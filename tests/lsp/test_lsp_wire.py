"""Decoding what servers send: generous with each item, never inventing an empty list."""

from typing import Any

import pytest
from lsprotocol import converters, types

from jupyter_lsp_agent.core.behaviour import ReadySignal, ServerBehaviour
from jupyter_lsp_agent.core.diagnostic import DiagnosticSeverity, DiagnosticTag
from jupyter_lsp_agent.core.positions import (
    PositionEncoding,
    TextPosition,
    TextRange,
    WirePosition,
    WireRange,
    split_lines,
)
from jupyter_lsp_agent.lsp.client_capabilities import client_capabilities
from jupyter_lsp_agent.lsp.methods import SyncKind
from jupyter_lsp_agent.lsp.wire.diagnostics import (
    FullReport,
    UnchangedReport,
    decode_document_diagnostic_report,
    decode_publish_diagnostics,
    place_diagnostic,
)
from jupyter_lsp_agent.lsp.wire.server import (
    decode_initialize_result,
    decode_progress,
    decode_quiescent,
    decode_registrations,
    decode_unregistrations,
)
from tests.support.fake_server import URI

PLACE = {"start": {"line": 1, "character": 2}, "end": {"line": 1, "character": 5}}
WIRE_PLACE = WireRange(WirePosition(1, 2), WirePosition(1, 5))


def decode_one(item: Any) -> Any:
    published = decode_publish_diagnostics({"uri": URI, "diagnostics": [item]})
    assert published is not None
    assert len(published.findings.diagnostics) == 1
    return published.findings.diagnostics[0]


def test_a_full_diagnostic() -> None:
    related = {"location": {"uri": "file:///other.py", "range": PLACE}, "message": "defined here"}
    item = {
        "range": PLACE,
        "severity": 2,
        "code": "E1",
        "codeDescription": {"href": "https://example.org/E1"},
        "source": "fake",
        "message": "wrong",
        "tags": [1, 2],
        "relatedInformation": [related],
    }
    converters.get_converter().structure(item, types.Diagnostic)  # it is what LSP calls a diagnostic
    found = decode_one(item)
    assert found.range == WIRE_PLACE
    assert found.severity is DiagnosticSeverity.WARNING
    assert (found.code, found.code_description) == ("E1", "https://example.org/E1")
    assert (found.source, found.message) == ("fake", "wrong")
    assert found.tags == (DiagnosticTag.UNNECESSARY, DiagnosticTag.DEPRECATED)
    (place,) = found.related_information
    assert (place.uri, place.wire_range, place.message) == ("file:///other.py", WIRE_PLACE, "defined here")


ODDITIES = [
    ({"severity": None}, "severity", DiagnosticSeverity.ERROR),
    ({"severity": 9}, "severity", DiagnosticSeverity.ERROR),
    ({"severity": 0}, "severity", DiagnosticSeverity.ERROR),
    ({"severity": "Warning"}, "severity", DiagnosticSeverity.ERROR),
    ({"severity": True}, "severity", DiagnosticSeverity.ERROR),
    ({"severity": 3.0}, "severity", DiagnosticSeverity.INFORMATION),
    ({"code": 4711}, "code", "4711"),
    ({"code": {"value": "E2", "target": "https://example.org"}}, "code", "E2"),
    ({"code": None}, "code", None),
    ({"code": []}, "code", None),
    ({"source": None}, "source", ""),
    ({"source": 3}, "source", ""),
    ({"message": {"kind": "markdown", "value": "**wrong**"}}, "message", "**wrong**"),
    ({"message": ""}, "message", ""),
    ({"tags": [1, 7, "x", None]}, "tags", (DiagnosticTag.UNNECESSARY,)),
    ({"tags": 1}, "tags", ()),
    ({"codeDescription": "https://example.org"}, "code_description", None),
    ({"relatedInformation": [{}, 3, {"location": {"uri": 1}}]}, "related_information", ()),
    ({"range": None}, "range", WireRange(WirePosition(0, 0), WirePosition(0, 0))),
    ({"range": {"start": {"line": -1, "character": -5}, "end": {"line": 2, "character": 2**40}}}, "range",
     WireRange(WirePosition(0, 0), WirePosition(2, 2**31 - 1))),
    ({"range": {"start": {"line": 3, "character": 4}}}, "range", WireRange(WirePosition(3, 4), WirePosition(3, 4))),
    ({"range": {"start": {"line": 3.0, "character": 4.0}, "end": {"line": "4", "character": 0}}}, "range",
     WireRange(WirePosition(3, 4), WirePosition(3, 4))),
]  # fmt: skip


@pytest.mark.parametrize(("odd", "attribute", "expected"), ODDITIES)
def test_an_odd_value_costs_itself_and_no_more(odd: dict[str, Any], attribute: str, expected: Any) -> None:
    found = decode_one({"range": PLACE, "severity": 2, "message": "wrong", **odd})
    assert getattr(found, attribute) == expected


def test_a_finding_without_words_is_still_a_finding() -> None:
    found = decode_one({"range": PLACE, "severity": 1})
    assert (found.range, found.severity) == (WIRE_PLACE, DiagnosticSeverity.ERROR)
    assert "no message" in found.message


def test_a_missing_severity_is_an_error() -> None:
    assert decode_one({"range": PLACE, "message": "wrong"}).severity is DiagnosticSeverity.ERROR


@pytest.mark.parametrize("bad", [None, 3, "x", [], {}, {"severity": 1}, {"message": 3}])
def test_an_item_without_message_and_place_is_dropped_and_counted(bad: Any) -> None:
    published = decode_publish_diagnostics({"uri": URI, "diagnostics": [bad, {"range": PLACE, "message": "kept"}]})
    assert published is not None
    assert [found.message for found in published.findings.diagnostics] == ["kept"]
    assert published.findings.dropped == 1
    assert not published.findings.is_unreadable
    alone = decode_publish_diagnostics({"uri": URI, "diagnostics": [bad]})
    assert alone is not None
    assert alone.findings.is_unreadable


@pytest.mark.parametrize("params", [None, [], {}, {"uri": 3, "diagnostics": []}])
def test_what_is_no_push_is_none(params: Any) -> None:
    assert decode_publish_diagnostics(params) is None


@pytest.mark.parametrize("params", [{"uri": URI}, {"uri": URI, "diagnostics": {}}, {"uri": URI, "diagnostics": None}])
def test_a_push_without_a_list_is_unreadable_and_not_empty(params: Any) -> None:
    push = decode_publish_diagnostics(params)
    assert push is not None
    assert push.findings.is_unreadable


@pytest.mark.parametrize(("version", "expected"), [(3, 3), (None, None), ("3", None), (3.0, 3), (True, None)])
def test_the_version_of_a_push(version: Any, expected: int | None) -> None:
    published = decode_publish_diagnostics({"uri": URI, "version": version, "diagnostics": []})
    assert published is not None
    assert published.version == expected


def test_reports() -> None:
    full = decode_document_diagnostic_report({"kind": "full", "resultId": "1", "items": []})
    assert full is not None
    assert isinstance(full.main, FullReport)
    assert full.main.result_id == "1"
    without_kind = decode_document_diagnostic_report({"items": []})
    assert without_kind is not None
    assert isinstance(without_kind.main, FullReport)
    unchanged = decode_document_diagnostic_report({"kind": "unchanged", "resultId": "1"})
    assert unchanged is not None
    assert unchanged.main == UnchangedReport("1")


def test_related_documents_that_cannot_be_read_are_left_out() -> None:
    related = {"file:///a": {"kind": "full", "items": []}, "file:///b": None, "file:///c": {"kind": "unchanged"}}
    report = decode_document_diagnostic_report({"kind": "full", "items": [], "relatedDocuments": related})
    assert report is not None
    assert set(report.related) == {"file:///a", "file:///c"}


PLACINGS = [
    ((0, 4, 0, 7), PositionEncoding.UTF_16, (0, 4, 0, 6)),  # the astral character is two UTF-16 units
    ((0, 4, 0, 9), PositionEncoding.UTF_8, (0, 4, 0, 6)),
    ((0, 4, 0, 6), PositionEncoding.UTF_32, (0, 4, 0, 6)),
    ((0, 6, 0, 7), PositionEncoding.UTF_16, (0, 5, 0, 6)),
    ((0, 8, 0, 9), PositionEncoding.UTF_8, (0, 5, 0, 6)),
    ((1, 3, 1, 1), PositionEncoding.UTF_16, (1, 1, 1, 3)),  # inverted
    ((1, 0, 1, 99), PositionEncoding.UTF_16, (1, 0, 1, 5)),  # past the end of the line
    ((7, 0, 9, 0), PositionEncoding.UTF_16, (2, 0, 2, 0)),  # past the end of the text
]


@pytest.mark.parametrize(("wire", "encoding", "expected"), PLACINGS)
def test_ranges_are_placed_in_the_text(
    wire: tuple[int, int, int, int], encoding: PositionEncoding, expected: tuple[int, int, int, int]
) -> None:
    range_ = {"start": {"line": wire[0], "character": wire[1]}, "end": {"line": wire[2], "character": wire[3]}}
    found = decode_one({"range": range_, "message": "wrong"})
    placed = place_diagnostic(found, URI, split_lines("x = \U0001f600yz\nabcde\n"), encoding)
    assert placed.range == TextRange(TextPosition(*expected[:2]), TextPosition(*expected[2:]))


def test_related_information_is_placed_in_the_document_itself_only() -> None:
    places = [{"location": {"uri": uri, "range": PLACE}, "message": "m"} for uri in (URI, "file:///other.py")]
    found = decode_one({"range": PLACE, "message": "wrong", "relatedInformation": places})
    placed = place_diagnostic(found, URI, ["", "0123456"], PositionEncoding.UTF_16)
    own, other = placed.related_information
    assert own.range == TextRange(TextPosition(1, 2), TextPosition(1, 5))
    assert other.range is None
    assert other.wire_range == WIRE_PLACE


def test_initialize_results() -> None:
    result = decode_initialize_result(
        {
            "serverInfo": {"name": "Fake", "version": 3},
            "capabilities": {
                "positionEncoding": "utf-8",
                "textDocumentSync": {"openClose": True, "change": 1, "save": {"includeText": True}},
                "diagnosticProvider": {"identifier": "fake"},
                "hoverProvider": True,
                "definitionProvider": {},
                "referencesProvider": False,
            },
        }
    )
    assert result is not None
    assert (result.server_name, result.server_version) == ("Fake", None)
    known = result.capabilities
    assert (known.sync_kind, known.position_encoding) == (SyncKind.FULL, PositionEncoding.UTF_8)
    assert known.wants_text_on_save
    assert known.pull is not None
    assert known.pull.identifier == "fake"
    assert known.methods == {"textDocument/hover", "textDocument/definition"}


@pytest.mark.parametrize("encoding", [None, "utf-7", 16, []])
def test_an_encoding_that_was_not_offered_is_utf_16(encoding: Any) -> None:
    result = decode_initialize_result({"capabilities": {"positionEncoding": encoding}})
    assert result is not None
    assert result.capabilities.position_encoding is PositionEncoding.UTF_16


@pytest.mark.parametrize(
    ("sync", "kind"), [(2, 2), (1, 1), (0, 0), (None, 0), (9, 0), ({"change": 2}, 2), ({}, 0), ([], 0)]
)
def test_sync_kinds(sync: Any, kind: int) -> None:
    result = decode_initialize_result({"capabilities": {"textDocumentSync": sync}})
    assert result is not None
    assert result.capabilities.sync_kind == kind


def test_registrations() -> None:
    good = {"id": "1", "method": "textDocument/diagnostic", "registerOptions": {"documentSelector": ["python"]}}
    found = decode_registrations({"registrations": [None, {"id": 3}, good]})
    assert [item.id for item in found] == ["1"]
    assert found[0].pull.selector.matches("python")
    assert not found[0].pull.selector.matches("csharp")
    assert decode_registrations(None) == []


SELECTORS = [
    (None, True),
    ([], True),
    ([{"language": "python"}], True),
    ([{"scheme": "file"}], True),
    ([{"language": "*"}], True),
    ([{"language": "csharp"}], False),
    (["csharp", "python"], True),
]


@pytest.mark.parametrize(("selector", "expected"), SELECTORS)
def test_document_selectors(selector: Any, *, expected: bool) -> None:
    options = {"documentSelector": selector}
    (found,) = decode_registrations({"registrations": [{"id": "1", "method": "m", "registerOptions": options}]})
    assert found.pull.selector.matches("python") is expected


def test_unregistrations_in_both_spellings() -> None:
    items = [{"id": "1", "method": "m"}]
    assert decode_unregistrations({"unregisterations": items}) == ["1"]
    assert decode_unregistrations({"unregistrations": items}) == ["1"]


def test_progress_and_status() -> None:
    progress = decode_progress({"token": 7, "value": {"kind": "begin"}})
    assert progress is not None
    assert (progress.token, progress.kind) == ("7", "begin")
    assert decode_progress({"value": {}}) is None
    assert decode_quiescent({"quiescent": True}) is True
    assert decode_quiescent({"quiescent": "yes"}) is None


@pytest.mark.parametrize("behaviour", [ServerBehaviour(), ServerBehaviour(advertise_pull=False, refuses_progress=True)])
def test_what_is_offered_is_lsp(behaviour: ServerBehaviour) -> None:
    offered = client_capabilities(behaviour)
    structured = converters.get_converter().structure(offered, types.ClientCapabilities)
    again = converters.get_converter().unstructure(structured)
    assert again == offered, "something that is offered is not in LSP's ClientCapabilities"


def test_an_offer_of_its_own_makes_no_other_difference() -> None:
    plain, quiescent = (
        client_capabilities(ServerBehaviour()),
        client_capabilities(ServerBehaviour(ready=ReadySignal.QUIESCENT)),
    )
    assert quiescent.pop("experimental") == {"serverStatusNotification": True}
    assert plain == quiescent
