"""`query`: one question about code, one answer."""

import argparse
import json
import os
import re
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from jupyter_lsp_agent.core.files import display_name
from jupyter_lsp_agent.core.ids import ServerId
from jupyter_lsp_agent.frontends.cli_arguments import USAGE_ERROR, UsageError
from jupyter_lsp_agent.frontends.cli_console import Console
from jupyter_lsp_agent.frontends.missing_servers import ask_once_installed
from jupyter_lsp_agent.service.neighbours import LocalNeighbours
from jupyter_lsp_agent.service.query_requests import PLACED, CodeQuestion, QueryRequest, code_question
from jupyter_lsp_agent.service.requests import CheckRequest
from jupyter_lsp_agent.service.settings import Settings

if TYPE_CHECKING:
    from jupyter_lsp_agent.navigation.answer import QueryAnswer

_PLACE = re.compile(r"(?:(?P<cell>.+):)?(?P<line>\d{1,9}):(?P<column>\d{1,9})", re.DOTALL)
_INDEX = re.compile(r"\d{1,5}")
"""No notebook that is looked at has more cells; a longer number is an id."""


class QueryService(Protocol):
    """What `query` needs of the service."""

    async def query(self, request: QueryRequest) -> "QueryAnswer":
        """The answer to a question about code."""
        ...

    async def settle_installs(self, tell: Callable[[str], None]) -> bool:
        """Wait for servers that the question missed and that are being installed, a bounded time; whether any was."""
        ...


async def run_query(
    options: argparse.Namespace,
    settings: Settings,
    open_service: Callable[[Settings], AbstractAsyncContextManager[QueryService]],
    console: Console,
) -> int:
    """Write the answer, and return the exit code: 0 found, 1 nothing found, 2 no answer."""
    request = _request(options)
    async with open_service(settings) as service:
        answer = await ask_once_installed(
            lambda: service.query(request), lambda: service.settle_installs(console.note_once)
        )
    text = json.dumps(answer.to_dict(), ensure_ascii=False, indent=2) if options.json else answer.to_text()
    if answer.results or options.json:
        console.result(text + "\n")
    else:
        console.note(text)
    return USAGE_ERROR if not answer.was_answered else int(not answer)


def _request(options: argparse.Namespace) -> QueryRequest:
    path = _absolute(options.path)
    return QueryRequest(
        document=CheckRequest(
            path=path,
            display_path=display_name(options.path),
            named=path,
            server=None if options.server is None else ServerId(options.server),
            python=None if options.python is None else _absolute(options.python),
            timeout_seconds=options.timeout,
        ),
        question=_question(options),
        neighbours=LocalNeighbours(Path.cwd()),
    )


def _question(options: argparse.Namespace) -> CodeQuestion:
    return code_question(
        {"method": options.method, "max_results": options.max_results, **dict(_about(options)), **dict(_cell(options))}
    )


def _about(options: argparse.Namespace) -> Iterator[tuple[str, Any]]:
    if options.about is None:
        if options.method in PLACED:
            raise UsageError(
                f"{options.method} needs a PLACE: CELL:LINE:COLUMN in a notebook, LINE:COLUMN in a plain file"
            )
        return
    if options.method == "workspace_symbols":
        yield "query", options.about
        return
    place = _PLACE.fullmatch(options.about)
    if place is None:
        raise UsageError(
            f"{options.about!r} is no place: write CELL:LINE:COLUMN in a notebook, LINE:COLUMN in a plain file"
        )
    yield "line", int(place["line"])
    yield "column", int(place["column"])
    if place["cell"] is not None:
        yield "cell", _cell_ref(place["cell"])


def _cell(options: argparse.Namespace) -> Iterator[tuple[str, Any]]:
    if options.cell is not None:
        yield "cell", _cell_ref(options.cell)


def _cell_ref(text: str) -> str | int:
    return int(text) if _INDEX.fullmatch(text) else text


def _absolute(path: str) -> Path:
    return Path(os.path.normpath(Path.cwd() / path))
