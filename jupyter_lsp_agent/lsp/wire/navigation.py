"""The answers to hover, definition, references, symbols and signature help.

LSP gives most of them in two or three forms (one location, several, links; a flat list of symbols, a tree); here they
are one. `null`, which LSP allows everywhere, is an answer: nothing is known of that place.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from jupyter_lsp_agent.core.ids import DocumentUri
from jupyter_lsp_agent.core.navigation import Signature, SignatureParameter
from jupyter_lsp_agent.core.positions import WireRange
from jupyter_lsp_agent.lsp.wire.values import (
    as_integer,
    as_items,
    as_object,
    as_range,
    as_text,
    markup_text,
    objects_in,
)


@dataclass(frozen=True, slots=True)
class WireHover:
    """What is known of a place: Markdown or plain text, and the stretch that it is about."""

    text: str
    range: WireRange | None


@dataclass(frozen=True, slots=True)
class WireLocation:
    """A place in some document."""

    uri: DocumentUri
    range: WireRange


@dataclass(frozen=True, slots=True)
class WireSymbol:
    """A symbol; `uri` is `None` for one of the document that was asked about. `range` is the whole of it,
    `selection_range` its name."""

    name: str
    kind: int
    detail: str
    container_name: str
    uri: DocumentUri | None
    range: WireRange | None
    selection_range: WireRange | None
    children: tuple["WireSymbol", ...] = ()


def decode_hover(result: Any) -> WireHover | None:
    """The result of `textDocument/hover`; `None` where nothing is known."""
    hover = as_object(result)
    contents = hover.get("contents")
    parts = [markup_text(part) for part in (contents if isinstance(contents, list) else [contents])]
    text = "\n\n".join(part for part in parts if part)
    return WireHover(text, as_range(hover.get("range"))) if text else None


def decode_locations(result: Any) -> list[WireLocation]:
    """The result of `textDocument/definition` or `references`: one location, several, or links."""
    items = [result] if isinstance(result, dict) else as_items(result)
    return [location for item in items if (location := _location(as_object(item))) is not None]


def decode_symbols(result: Any) -> list[WireSymbol]:
    """The result of `textDocument/documentSymbol` or `workspace/symbol`, in either form."""
    return list(_symbols(result))


def decode_signatures(result: Any) -> list[Signature]:
    """The result of `textDocument/signatureHelp`."""
    help_ = as_object(result)
    active = as_integer(help_.get("activeSignature")) or 0
    return [
        _signature(item, as_integer(help_.get("activeParameter")), is_active=number == active)
        for number, item in enumerate(objects_in(help_.get("signatures")))
    ]


def _location(item: Mapping[str, Any]) -> WireLocation | None:
    is_link = "targetUri" in item
    uri = as_text(item.get("targetUri" if is_link else "uri"))
    range_ = as_range(item.get("targetSelectionRange" if is_link else "range")) or as_range(item.get("targetRange"))
    return None if uri is None or range_ is None else WireLocation(DocumentUri(uri), range_)


def _symbols(items: Any) -> Iterator[WireSymbol]:
    for item in objects_in(items):
        name = as_text(item.get("name"))
        if name is None:
            continue
        location = as_object(item.get("location"))
        uri = as_text(location.get("uri"))
        whole = as_range(item.get("range")) or as_range(location.get("range"))
        yield WireSymbol(
            name,
            as_integer(item.get("kind")) or 0,
            as_text(item.get("detail")) or "",
            as_text(item.get("containerName")) or "",
            None if uri is None else DocumentUri(uri),
            whole,
            as_range(item.get("selectionRange")) or whole,
            tuple(_symbols(item.get("children"))),
        )


def _signature(item: Mapping[str, Any], active_parameter: int | None, *, is_active: bool) -> Signature:
    label = as_text(item.get("label")) or ""
    own = as_integer(item.get("activeParameter"))
    parameters = tuple(
        SignatureParameter(_parameter_label(parameter.get("label"), label), _documentation(parameter))
        for parameter in objects_in(item.get("parameters"))
    )
    return Signature(label, _documentation(item), parameters, active_parameter if own is None else own, is_active)


def _parameter_label(value: Any, signature: str) -> str:
    """A parameter's text: itself, or its stretch of the signature in UTF-16 units."""
    offsets = [as_integer(item) for item in as_items(value)]
    if len(offsets) != 2 or offsets[0] is None or offsets[1] is None:
        return as_text(value) or ""
    units = signature.encode("utf-16-le", "surrogatepass")
    return units[2 * offsets[0] : 2 * offsets[1]].decode("utf-16-le", "replace")


def _documentation(item: Mapping[str, Any]) -> str:
    return markup_text(item.get("documentation")) or ""
