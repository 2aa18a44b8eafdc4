"""Whatever JSON a server sends, nothing is raised, and no empty list is made of it."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_lsp_agent.core.behaviour import ServerBehaviour
from jupyter_lsp_agent.core.ids import DocumentVersion
from jupyter_lsp_agent.core.positions import PositionEncoding, split_lines
from jupyter_lsp_agent.lsp import methods
from jupyter_lsp_agent.lsp.server_requests import ServerRequests
from jupyter_lsp_agent.lsp.state import new_server_state
from jupyter_lsp_agent.lsp.wire.diagnostics import (
    FullReport,
    decode_document_diagnostic_report,
    decode_publish_diagnostics,
    decode_retrigger_request,
    place_diagnostic,
)
from jupyter_lsp_agent.lsp.wire.navigation import decode_hover, decode_locations, decode_signatures, decode_symbols
from jupyter_lsp_agent.lsp.wire.server import (
    decode_configuration_sections,
    decode_initialize_result,
    decode_message,
    decode_progress,
    decode_quiescent,
    decode_registrations,
    decode_unregistrations,
)
from tests.support.clock import ManualClock
from tests.support.fake_server import URI, make_launch, on_stage
from tests.support.full import sample

KEYS = st.sampled_from(
    [
        *(
            "range",
            "start",
            "end",
            "line",
            "character",
            "severity",
            "message",
            "code",
            "value",
            "source",
            "tags",
            "uri",
        ),
        *("relatedInformation", "location", "codeDescription", "href", "diagnostics", "items", "kind", "resultId"),
        *(
            "relatedDocuments",
            "capabilities",
            "textDocumentSync",
            "change",
            "save",
            "includeText",
            "diagnosticProvider",
        ),
        *("positionEncoding", "registrations", "id", "method", "registerOptions", "documentSelector", "language"),
        *("token", "quiescent", "section", "contents", "targetUri", "targetRange", "name", "children", "signatures"),
        *("parameters", "label", "activeParameter", "version", "serverInfo", "unregisterations", "retriggerRequest"),
    ]
)
WORDS = st.sampled_from([URI, "full", "unchanged", "begin", "utf-8"])
NUMBERS = st.one_of(st.integers(-3, 9), st.integers(), st.floats(allow_nan=False))
SCALARS = st.one_of(st.none(), st.booleans(), NUMBERS, WORDS, st.text(max_size=3))
JSON = st.recursive(SCALARS, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=5))
DECODERS = (
    decode_publish_diagnostics,
    decode_document_diagnostic_report,
    decode_retrigger_request,
    decode_initialize_result,
    decode_registrations,
    decode_unregistrations,
    decode_configuration_sections,
    decode_progress,
    decode_quiescent,
    decode_message,
    decode_hover,
    decode_locations,
    decode_symbols,
    decode_signatures,
)


@pytest.mark.parametrize("decode", DECODERS, ids=lambda decode: decode.__name__)
@settings(max_examples=sample(2000, 60))
@given(value=JSON)
def test_nothing_is_raised(decode: Any, value: Any) -> None:
    decode(value)


@settings(max_examples=sample(5000, 200))
@given(st.lists(JSON, max_size=4), st.sampled_from(PositionEncoding))
def test_no_item_vanishes_and_each_is_placed_in_the_text(items: list[Any], encoding: PositionEncoding) -> None:
    published = decode_publish_diagnostics({"uri": URI, "diagnostics": items})
    report = decode_document_diagnostic_report({"kind": "full", "items": items})
    assert published is not None
    assert report is not None
    assert isinstance(report.main, FullReport)
    assert report.main.findings == published.findings
    assert len(published.findings.diagnostics) + published.findings.dropped == len(items)
    lines = split_lines("a\U0001f600b\r\nc\n")
    for found in published.findings.diagnostics:
        placed = place_diagnostic(found, URI, lines, encoding).range
        assert placed.start <= placed.end
        for position in (placed.start, placed.end):
            assert 0 <= position.column <= len(lines[position.line])


NOTES = (
    methods.PUBLISH_DIAGNOSTICS,
    methods.PROGRESS,
    methods.SERVER_STATUS,
    methods.SHOW_MESSAGE,
    methods.LOG_MESSAGE,
    "$/unknown",
    "telemetry/event",
)


@pytest.mark.parametrize("method", NOTES)
@settings(max_examples=sample(2000, 60))
@given(params=JSON)
def test_a_notification_never_ends_the_connection(method: str, params: Any) -> None:
    state = new_server_state(ServerBehaviour(), ManualClock())
    state.store.begin_version(URI, DocumentVersion(1), opened=True)
    ServerRequests(make_launch(), state).handle_notification(method, params)


async def overlook_a_message() -> None:
    async with on_stage() as stage:
        stage.diagnose("x\n")
        await stage.wind(0)


async def test_a_test_that_overlooks_a_message_fails() -> None:
    """The fake server's own promise: leaving it fails where a message stayed unread."""
    with pytest.raises(AssertionError, match="didOpen"):
        await overlook_a_message()
