"""Questions about places, their positions in the server's units, and the several forms of each answer."""

import asyncio
from typing import Any

import pytest

from jupyter_lsp_agent.core.behaviour import ReadySignal, ServerBehaviour
from jupyter_lsp_agent.core.errors import ResponseError
from jupyter_lsp_agent.core.ids import DocumentUri
from jupyter_lsp_agent.core.launch import TextDocument
from jupyter_lsp_agent.core.navigation import Hover, Signature, SignatureParameter
from jupyter_lsp_agent.core.positions import PositionEncoding, TextPosition, TextRange
from jupyter_lsp_agent.lsp.wire.navigation import (
    decode_hover,
    decode_locations,
    decode_signatures,
    decode_symbols,
)
from tests.support.fake_server import PULL, URI, Stage, error_item, on_stage, text_document

TEXT = "smile = '\U0001f600'; name = 1\nname\n"
NAME = TextPosition(0, 13)
WIRE_NAME = {"utf-16": 14, "utf-8": 16, "utf-32": 13}


def wire_range(line: int, start: int, end: int) -> dict[str, Any]:
    return {"start": {"line": line, "character": start}, "end": {"line": line, "character": end}}


def text_range(line: int, start: int, end: int) -> TextRange:
    return TextRange(TextPosition(line, start), TextPosition(line, end))


async def asked(stage: Stage, method: str, call: Any, result: Any) -> tuple[Any, Any]:
    """The parameters of a question, and what becomes of its answer."""
    task = asyncio.create_task(call)
    await stage.opened()
    request = await stage.server.expect(method)
    await stage.server.respond(request, result)
    return request["params"], await task


@pytest.mark.parametrize("encoding", PositionEncoding)
async def test_hover_in_every_encoding(encoding: PositionEncoding) -> None:
    async with on_stage(capabilities={"positionEncoding": encoding, "hoverProvider": True}) as stage:
        character = WIRE_NAME[encoding]
        answer = {"contents": "int", "range": wire_range(0, character, character + 4)}
        call = stage.client.navigation.hover(text_document(TEXT), NAME)
        params, hover = await asked(stage, "textDocument/hover", call, answer)
        assert params == {"textDocument": {"uri": URI}, "position": {"line": 0, "character": character}}
        assert hover == Hover("int", text_range(0, 13, 17))
        assert stage.client.capabilities.supports("textDocument/hover")


async def test_nothing_known_is_none() -> None:
    async with on_stage() as stage:
        call = stage.client.navigation.hover(text_document(TEXT), NAME)
        assert (await asked(stage, "textDocument/hover", call, None))[1] is None


async def test_definition_here_and_elsewhere() -> None:
    async with on_stage() as stage:
        places = [{"uri": uri, "range": wire_range(0, 14, 18)} for uri in (URI, "file:///lib.py")]
        call = stage.client.navigation.definition(text_document(TEXT), TextPosition(1, 0))
        _, (own, other) = await asked(stage, "textDocument/definition", call, places)
        assert own.range == text_range(0, 13, 17)
        assert (other.range, other.uri, other.encoding) == (None, "file:///lib.py", PositionEncoding.UTF_16)


async def test_references_include_the_definition() -> None:
    async with on_stage() as stage:
        call = stage.client.navigation.references(text_document(TEXT), NAME)
        params, found = await asked(stage, "textDocument/references", call, None)
        assert params["context"] == {"includeDeclaration": True}
        assert found == ()


async def test_symbols_as_a_tree() -> None:
    async with on_stage() as stage:
        child = {"name": "b", "kind": 6, "range": wire_range(1, 0, 4), "selectionRange": wire_range(1, 0, 1)}
        tree = [{"name": "A", "kind": 5, "range": wire_range(0, 0, 2), "selectionRange": wire_range(0, 0, 1),
                 "children": [child]}]  # fmt: skip
        call = stage.client.navigation.document_symbols(text_document(TEXT))
        _, (symbol,) = await asked(stage, "textDocument/documentSymbol", call, tree)
        assert (symbol.name, symbol.kind, symbol.selection) == ("A", 5, text_range(0, 0, 1))
        assert [inner.name for inner in symbol.children] == ["b"]
        assert symbol.location.uri == URI


async def test_symbols_of_the_workspace() -> None:
    async with on_stage() as stage:
        task = asyncio.create_task(stage.client.navigation.workspace_symbols("na"))
        request = await stage.server.expect("workspace/symbol")
        assert request["params"] == {"query": "na"}
        location = {"uri": "file:///lib.py", "range": wire_range(3, 0, 2)}
        await stage.server.respond(request, [{"name": "nap", "kind": 12, "location": location, "containerName": "lib"}])
        (symbol,) = await task
        assert (symbol.name, symbol.container_name, symbol.location.uri) == ("nap", "lib", "file:///lib.py")


async def test_places_in_another_open_document_are_places_in_its_text() -> None:
    other, unknown = "file:///project/other.py", "file:///project/unknown.py"
    async with on_stage() as stage:
        await stage.client.navigation.show([TextDocument(DocumentUri(other), "python", "'\U0001f600'; name\n")])
        await stage.opened()
        places = [{"uri": uri, "range": wire_range(0, 6, 10)} for uri in (other, unknown)]
        call = stage.client.navigation.references(text_document(TEXT), NAME)
        _, (there, nowhere) = await asked(stage, "textDocument/references", call, places)
        assert (there.range, there.open_text) == (text_range(0, 5, 9), "'\U0001f600'; name\n")
        assert (nowhere.range, nowhere.open_text) == (None, None)
        await stage.client.navigation.show([TextDocument(DocumentUri(other), "python", "'\U0001f600'; name\n")])
        await stage.server.expect_nothing()  # it has this text


async def test_a_text_that_was_asked_about_is_sent_again_for_its_verdict() -> None:
    """Nobody waited for what was pushed for it, if anything was."""
    async with on_stage() as stage:
        call = stage.client.navigation.hover(text_document(TEXT), NAME)
        await asked(stage, "textDocument/hover", call, None)
        task = stage.diagnose(TEXT)
        version = await stage.changed()
        await stage.server.publish([error_item()], version)
        await stage.wind(60)
        assert len((await task).diagnostics) == 1


async def test_where_verdicts_are_pulled_it_is_not() -> None:
    async with on_stage(capabilities={"diagnosticProvider": PULL}) as stage:
        call = stage.client.navigation.hover(text_document(TEXT), NAME)
        await asked(stage, "textDocument/hover", call, None)
        task = stage.diagnose(TEXT)
        await stage.server.answer_pull([])
        assert (await task).diagnostics == ()


async def test_an_answer_that_a_change_overtook_is_asked_for_again() -> None:
    async with on_stage() as stage:
        task = asyncio.create_task(stage.client.navigation.hover(text_document(TEXT), NAME))
        await stage.opened()
        for _ in range(3):
            await stage.server.refuse(await stage.server.expect("textDocument/hover"), -32801)
            await stage.server.expect_nothing()
            await stage.wind(1)
        await stage.server.respond(await stage.server.expect("textDocument/hover"), {"contents": "int"})
        assert await task == Hover("int", None)


async def test_one_that_is_overtaken_for_ever_is_an_error() -> None:
    async with on_stage() as stage:
        task = asyncio.create_task(stage.client.navigation.hover(text_document(TEXT), NAME))
        await stage.opened()
        for _ in range(4):
            await stage.server.refuse(await stage.server.expect("textDocument/hover"), -32801)
            await stage.wind(1)
        with pytest.raises(ResponseError):
            await task


QUIESCENT = ServerBehaviour(ready=ReadySignal.QUIESCENT)


async def test_a_server_that_loads_is_waited_for() -> None:
    async with on_stage(QUIESCENT) as stage:
        task = asyncio.create_task(stage.client.navigation.hover(text_document(TEXT), NAME))
        await stage.opened()
        await stage.wind(10)
        await stage.server.expect_nothing()
        await stage.server.notify("experimental/serverStatus", {"health": "ok", "quiescent": True})
        await stage.server.respond(await stage.server.expect("textDocument/hover"), {"contents": "int"})
        assert await task == Hover("int", None)


async def test_nothing_is_believed_only_of_a_server_that_is_ready() -> None:
    async with on_stage(QUIESCENT) as stage:
        task = asyncio.create_task(stage.client.navigation.workspace_symbols("name"))
        await stage.wind(3600)  # its time is over
        await stage.server.respond(await stage.server.expect("workspace/symbol"), [])
        await stage.wind(60)
        assert not task.done()
        await stage.server.notify("experimental/serverStatus", {"health": "ok", "quiescent": True})
        await stage.server.respond(await stage.server.expect("workspace/symbol"), [])
        assert await task == ()


async def test_a_question_that_the_server_does_not_know_is_an_error() -> None:
    async with on_stage() as stage:
        task = asyncio.create_task(stage.client.navigation.signature_help(text_document(TEXT), NAME))
        await stage.opened()
        await stage.server.refuse(await stage.server.expect("textDocument/signatureHelp"), -32601)
        with pytest.raises(ResponseError):
            await task
        assert not stage.client.capabilities.supports("textDocument/signatureHelp")


HOVERS = [
    ("int", "int"),
    ({"kind": "markdown", "value": "**int**"}, "**int**"),
    ({"language": "python", "value": "x: int"}, "```python\nx: int\n```"),
    (["doc", {"language": "python", "value": "x: int"}], "doc\n\n```python\nx: int\n```"),
    ("", None),
    ([], None),
    (None, None),
    (3, None),
]


@pytest.mark.parametrize(("contents", "expected"), HOVERS)
def test_hover_contents(contents: Any, expected: str | None) -> None:
    hover = decode_hover({"contents": contents})
    assert (None if hover is None else hover.text) == expected


LINK = {"targetUri": "file:///a", "targetRange": wire_range(0, 0, 9), "targetSelectionRange": wire_range(0, 4, 5)}
PLACE = {"uri": "file:///a", "range": wire_range(0, 4, 5)}


@pytest.mark.parametrize(
    ("result", "n"), [(None, 0), ([], 0), (PLACE, 1), ([PLACE, LINK], 2), ([LINK, {}, 3], 1), (3, 0)]
)
def test_locations(result: Any, n: int) -> None:
    found = decode_locations(result)
    assert len(found) == n
    assert all(place.range.start.character == 4 for place in found)


@pytest.mark.parametrize("result", [None, 3, [None, {"name": 3}]])
def test_what_is_no_symbol_is_left_out(result: Any) -> None:
    assert decode_symbols(result) == []


def test_signatures() -> None:
    result = {
        "activeSignature": 1,
        "activeParameter": 0,
        "signatures": [
            {"label": "f()"},
            {"label": "f(\U0001f600a, b)", "activeParameter": 1,
             "documentation": {"kind": "markdown", "value": "Does f."},
             "parameters": [{"label": [2, 5]}, {"label": "b", "documentation": "The b."}]},
        ],
    }  # fmt: skip
    parameters = (SignatureParameter("\U0001f600a", ""), SignatureParameter("b", "The b."))
    assert decode_signatures(result) == [
        Signature("f()", "", (), 0, is_active=False),
        Signature("f(\U0001f600a, b)", "Does f.", parameters, 1, is_active=True),
    ]
    assert decode_signatures(None) == []
