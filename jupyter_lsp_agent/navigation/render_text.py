"""An answer as text, for a model or a terminal: a result a line, as `grep -n` has it, with the cell where there is one.

`analysis/model.ipynb:cell 4 (9f2c):2:7: df2 = df.head()`
"""

from collections.abc import Iterator

from jupyter_lsp_agent.core.ids import CellId
from jupyter_lsp_agent.diagnostics.cleaning import clean_message, clean_path, shorten
from jupyter_lsp_agent.diagnostics.report import ServerReport
from jupyter_lsp_agent.navigation.answer import (
    Found,
    FoundHover,
    FoundPlace,
    FoundSignature,
    FoundSymbol,
    QueryAnswer,
)
from jupyter_lsp_agent.navigation.kinds import kind_name

_MAX_LINE_CHARACTERS = 200
_MAX_TEXT_CHARACTERS = 2_000
_MAX_ID_CHARACTERS = 64


def render_answer(answer: QueryAnswer) -> str:
    """The answer as text, without a final line end."""
    return "\n".join(_lines(answer))


def _lines(answer: QueryAnswer) -> Iterator[str]:
    if answer.results is None:
        reason = answer.reason.value if answer.reason else "unknown"
        yield f"{clean_path(answer.path)}: no answer ({reason}): {answer.detail}"
        return
    for found in answer.results:
        yield from _found(found)
    if not answer.results:
        yield f"Nothing found{_spoken(answer)}." + (
            " It is given by the kernel or by a magic, not by a cell." if answer.unmapped else ""
        )
    if answer.omitted:
        yield f"… {answer.omitted} more"
    for one in answer.unchecked:
        lines = f"{one.first_line + 1}-{one.last_line + 1}"
        reason = shorten(clean_message(one.reason), _MAX_LINE_CHARACTERS)
        yield f"(cell {one.cell.cell_index} lines {lines} not looked at: {reason})"
    for server in answer.servers:
        if server.reason is not None:
            yield f"({server.id}: {shorten(clean_message(server.reason), _MAX_LINE_CHARACTERS)})"


def _found(found: Found) -> Iterator[str]:
    match found:
        case FoundPlace():
            yield _place(found) + ("" if found.source_line is None else f": {_cut(found.source_line)}")
        case FoundHover():
            yield shorten(found.text, _MAX_TEXT_CHARACTERS)
        case FoundSymbol():
            name = f"{found.container_name}.{found.name}" if found.container_name else found.name
            yield f"{_place(found.place)}: {kind_name(found.kind)} {_cut(name)}"
        case FoundSignature():
            yield from _signature(found)


def _signature(found: FoundSignature) -> Iterator[str]:
    yield ("> " if found.is_active else "  ") + _cut(found.label)
    if found.active_parameter is not None:
        parameter = found.parameters[found.active_parameter]
        about = f": {clean_message(parameter.documentation)}" if parameter.documentation else ""
        yield "    " + _cut(f"at {parameter.label}{about}")
    if found.is_active and found.documentation:
        yield from ("    " + line for line in shorten(found.documentation, _MAX_TEXT_CHARACTERS).split("\n"))


def _place(place: FoundPlace) -> str:
    cell = "" if place.cell is None else f":cell {place.cell.cell_index}{_id(place.cell.cell_id)}"
    return f"{place.path}{cell}:{place.range.start.line + 1}:{place.range.start.column + 1}"


def _id(cell_id: CellId | None) -> str:
    return f" ({clean_message(cell_id, _MAX_ID_CHARACTERS)})" if cell_id else ""


def _spoken(answer: QueryAnswer) -> str:
    spoke = [_named(server) for server in answer.servers if server.elapsed_seconds is not None]
    return f" ({', '.join(dict.fromkeys(spoke))})" if spoke else ""


def _named(server: ServerReport) -> str:
    return f"{server.id} {server.version}" if server.version else str(server.id)


def _cut(text: str) -> str:
    return shorten(text, _MAX_LINE_CHARACTERS)
