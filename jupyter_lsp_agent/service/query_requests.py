"""What may be asked about code, as values, and how it is read from the fields of a request."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from jupyter_lsp_agent.core.errors import InvalidRequestError
from jupyter_lsp_agent.core.positions import TextPosition
from jupyter_lsp_agent.navigation.answer import MAX_RESULTS, QueryMethod
from jupyter_lsp_agent.service.agent_requests import MAX_WAIT_MS, document_name
from jupyter_lsp_agent.service.json_fields import Fields
from jupyter_lsp_agent.service.neighbours import Neighbours
from jupyter_lsp_agent.service.requests import CheckRequest

METHODS = tuple(method.value for method in QueryMethod)
PLACED = frozenset(method.value for method in QueryMethod if method.needs_place)
"""The methods that are asked about a place."""

MAX_QUERY_CHARACTERS = 200
_MAX_NUMBER = 2**31 - 1
QUESTION = ("method", "cell", "line", "column", "query", "max_results")
"""The fields of a question."""


@dataclass(frozen=True, slots=True, kw_only=True)
class CodeQuestion:
    """A question about code.

    Attributes:
        method: what is asked.
        cell: of a notebook, by id or index.
        position: in the cell's or the file's own text, 0-based.
        query: what names are to match, for the symbols of a workspace.
        max_results: so many are shown; 0: all.
    """

    method: QueryMethod
    cell: str | int | None = None
    position: TextPosition | None = None
    query: str = ""
    max_results: int = MAX_RESULTS


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryRequest:
    """A question about a document.

    Attributes:
        document: which one, where its content comes from, which servers, how long; nothing is compared.
        question: what is asked.
        neighbours: what the asker may see beside it.
    """

    document: CheckRequest
    question: CodeQuestion
    neighbours: Neighbours = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentQuery:
    """A question about a document of a store."""

    name: str
    question: CodeQuestion
    wait_ms: int | None = None


def decode_query(body: object) -> AgentQuery:
    """The body of a query.

    Raises:
        InvalidRequestError: it is not one.
    """
    fields = Fields(body, ("path", "wait_ms", *QUESTION), "the request")
    return AgentQuery(
        name=document_name(fields.text("path")),
        question=_question(fields),
        wait_ms=fields.integer("wait_ms", maximum=MAX_WAIT_MS),
    )


def code_question(values: Mapping[str, Any]) -> CodeQuestion:
    """A question by its fields, as a program gives them.

    Raises:
        InvalidRequestError: it is none.
    """
    return _question(Fields(values, QUESTION, "the query"))


def _question(fields: Fields) -> CodeQuestion:
    word = fields.choice("method", METHODS)
    if word is None:
        raise fields.wrong("method", "one of " + ", ".join(METHODS))
    method = QueryMethod(word)
    most = fields.integer("max_results", maximum=_MAX_NUMBER)
    return CodeQuestion(
        method=method,
        cell=_cell(fields, method),
        position=_position(fields, method),
        query=_query(fields, method),
        max_results=MAX_RESULTS if most is None else most,
    )


def _cell(fields: Fields, method: QueryMethod) -> str | int | None:
    if method is QueryMethod.WORKSPACE_SYMBOLS:
        _refuse(fields, method, "cell")
    return fields.optional_cell("cell")


def _position(fields: Fields, method: QueryMethod) -> TextPosition | None:
    if not method.needs_place:
        _refuse(fields, method, "line", "column")
        return None
    return TextPosition(_number(fields, "line") - 1, _number(fields, "column") - 1)


def _number(fields: Fields, name: str) -> int:
    number = fields.raw(name)
    if not isinstance(number, int) or isinstance(number, bool) or not 1 <= number <= _MAX_NUMBER:
        raise fields.wrong(name, "a whole number, counted from 1")
    return number


def _query(fields: Fields, method: QueryMethod) -> str:
    if method is not QueryMethod.WORKSPACE_SYMBOLS:
        _refuse(fields, method, "query")
        return ""
    query = (fields.optional_text("query") or "").strip()
    if not 1 <= len(query) <= MAX_QUERY_CHARACTERS:
        raise fields.wrong("query", f"a name or a part of one, of 1 to {MAX_QUERY_CHARACTERS} characters")
    return query


def _refuse(fields: Fields, method: QueryMethod, *names: str) -> None:
    for name in names:
        if fields.has(name):
            raise InvalidRequestError(f'{method} takes no "{name}": leave it out')
