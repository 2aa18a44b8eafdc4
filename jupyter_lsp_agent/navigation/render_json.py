"""An answer as JSON. Here and in `render_text` 0-based places become the 1-based numbers of a reader."""

from typing import Any

from jupyter_lsp_agent.diagnostics.render_json import (
    SCHEMA_VERSION,
    milliseconds,
    numbers_to_dict,
    range_to_dict,
    server_to_dict,
    unchecked_to_dict,
)
from jupyter_lsp_agent.navigation.answer import (
    Found,
    FoundHover,
    FoundPlace,
    FoundSignature,
    FoundSymbol,
    QueryAnswer,
)
from jupyter_lsp_agent.navigation.kinds import kind_name

_NOWHERE: dict[str, Any] = dict.fromkeys(
    ("path", "cell_id", "cell_index", "line", "column", "end_line", "end_column", "range", "source_line")
)


def answer_to_dict(answer: QueryAnswer) -> dict[str, Any]:
    """The answer as plain values."""
    return {
        "schema_version": SCHEMA_VERSION,
        "path": answer.path,
        "method": answer.method.value,
        "language": answer.language,
        "reason": answer.reason and answer.reason.value,
        "detail": answer.detail,
        "content_hash": answer.content_hash,
        "content_source": answer.content_source and answer.content_source.value,
        "servers": [server_to_dict(server) for server in answer.servers],
        "fallback_used": answer.fallback_used,
        "results": None if answer.results is None else [_found(found) for found in answer.results],
        "omitted": answer.omitted,
        "unchecked": [unchecked_to_dict(one) for one in answer.unchecked],
        "unmapped": answer.unmapped,
        "elapsed_ms": milliseconds(answer.elapsed_seconds),
    }


def _found(found: Found) -> dict[str, Any]:
    match found:
        case FoundPlace():
            return _place(found)
        case FoundHover():
            return {"text": found.text, **(_NOWHERE if found.place is None else _place(found.place))}
        case FoundSymbol():
            return {
                "name": found.name,
                "kind": kind_name(found.kind),
                "detail": found.detail,
                "container_name": found.container_name,
                **_place(found.place),
            }
        case FoundSignature():
            return {
                "label": found.label,
                "documentation": found.documentation,
                "parameters": [{"label": one.label, "documentation": one.documentation} for one in found.parameters],
                "active_parameter": found.active_parameter,
                "active": found.is_active,
            }


def _place(place: FoundPlace) -> dict[str, Any]:
    cell = place.cell
    return {
        "path": place.path,
        "cell_id": None if cell is None else cell.cell_id,
        "cell_index": None if cell is None else cell.cell_index,
        **numbers_to_dict(place.range),
        "range": range_to_dict(place.wire_range),
        "source_line": place.source_line,
    }
