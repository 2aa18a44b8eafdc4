"""Checking and asking from Python: one document, one report or answer.

The awaited form runs on the caller's loop; the blocking one on a loop of its own, so that it works in a kernel's cell,
where a loop is running already. Both start the servers that they need and stop them at the end.
"""

import os
from collections.abc import AsyncGenerator, Iterable, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypedDict, Unpack

from jupyter_lsp_agent.core.errors import SettingsError
from jupyter_lsp_agent.core.ids import ServerId
from jupyter_lsp_agent.diagnostics.facts import ViewOptions
from jupyter_lsp_agent.diagnostics.report import Report
from jupyter_lsp_agent.frontends.missing_servers import ask_once_installed
from jupyter_lsp_agent.service.requests import CheckRequest, Comparison, OptionWords
from jupyter_lsp_agent.service.settings import Settings, load_settings

if TYPE_CHECKING:
    from jupyter_lsp_agent.navigation.answer import QueryAnswer
    from jupyter_lsp_agent.service.query_requests import QueryRequest
    from jupyter_lsp_agent.service.service import NotebookDiagnosticsService

_TIMEOUT_SECONDS = 60.0
_MAX_TIMEOUT_SECONDS = 1e9
_WORDS = OptionWords(python="python", timeout="timeout_seconds")


class CheckOptions(TypedDict, total=False):
    """How to check, and what to show.

    Attributes:
        content: what to check in place of the file's own text; the file need not exist then.
        severity: the least that counts: `error`, `warning`, `information` or `hint`; else the settings' (`error`).
        ignore: codes to leave out; else the settings'.
        server: the id of one server, which is then asked alone.
        python: the interpreter whose packages the code uses.
        since: a git revision; only what is new against it is shown.
        timeout_seconds: from when a server takes the document up (60); `None`: the settings' waits.
        max_per_cell: the most to show of one cell; 0, the default: all.
        max_total: the most to show; 0, the default: all.
    """

    content: str | bytes
    severity: str
    ignore: Sequence[str]
    server: str
    python: str | os.PathLike[str]
    since: str
    timeout_seconds: float | None
    max_per_cell: int
    max_total: int


def check_notebook(path: str | os.PathLike[str], **options: Unpack[CheckOptions]) -> Report:
    """Check a notebook, or a plain file of a supported language, and wait for the report.

    Args:
        path: the document.
        **options: `content`, `severity`, `ignore`, `server`, `python`, `since`, `timeout_seconds`, `max_per_cell`,
            `max_total`; `help(CheckOptions)` says what they mean.

    Raises:
        InvalidRequestError: a revision that is none, or that cannot be read.
        SettingsError: an option or a setting has a value that it cannot have.
        ClosedError: called on the thread of the very loop that would do the work.
    """
    from jupyter_lsp_agent.service.blocking import BlockingProvider

    request, settings = _request(path, options), _settings(options)
    with BlockingProvider(lambda: _open(settings)).lease() as portal:
        return portal.call(lambda service: _check(service, request))


async def async_check_notebook(path: str | os.PathLike[str], **options: Unpack[CheckOptions]) -> Report:
    """Check a notebook, or a plain file of a supported language, on the running loop; see `check_notebook`."""
    request = _request(path, options)
    async with _opened(_settings(options)) as service:
        return await _check(service, request)


async def _check(service: "NotebookDiagnosticsService", request: CheckRequest) -> Report:
    return await ask_once_installed(lambda: service.check(request), service.settle_installs)


class QueryOptions(TypedDict, total=False):
    """What is asked about, and who is asked.

    Attributes:
        cell: of a notebook, by its id or its index; not for `workspace_symbols`.
        line: in the cell's or the file's own text, counted from 1.
        column: the same, in Unicode code points.
        query: a name or a part of one; for `workspace_symbols`.
        max_results: the most to show (50); 0: all.
        server: the id of one server, which is then asked alone.
        python: the interpreter whose packages the code uses.
        timeout_seconds: from when a server takes the document up (60); `None`: the settings' waits.
    """

    cell: str | int
    line: int
    column: int
    query: str
    max_results: int
    server: str
    python: str | os.PathLike[str]
    timeout_seconds: float | None


def query_notebook(path: str | os.PathLike[str], method: str, **options: Unpack[QueryOptions]) -> "QueryAnswer":
    """Ask a language server about the code of a notebook, or of a plain file, and wait for the answer.

    Args:
        path: the document. What the answer quotes lies below the current folder.
        method: `hover`, `definition`, `references`, `signature_help` (of a place), `document_symbols`, or
            `workspace_symbols` (of names).
        **options: `cell`, `line`, `column` (from 1), or for `workspace_symbols` a `query`; `max_results`, `server`,
            `python`, `timeout_seconds`; `help(QueryOptions)` says what they mean.

    Raises:
        InvalidRequestError: no such method, or a place that is none.
        UnknownCellError: no such cell.
        SettingsError: an option or a setting has a value that it cannot have.
        ClosedError: called on the thread of the very loop that would do the work.
    """
    from jupyter_lsp_agent.service.blocking import BlockingProvider

    request, settings = _query(path, method, options), load_settings()
    with BlockingProvider(lambda: _open(settings)).lease() as portal:
        return portal.call(lambda service: _ask(service, request))


async def async_query_notebook(
    path: str | os.PathLike[str], method: str, **options: Unpack[QueryOptions]
) -> "QueryAnswer":
    """Ask about the code of a notebook, or of a plain file, on the running loop; see `query_notebook`."""
    request = _query(path, method, options)
    async with _opened(load_settings()) as service:
        return await _ask(service, request)


async def _ask(service: "NotebookDiagnosticsService", request: "QueryRequest") -> "QueryAnswer":
    return await ask_once_installed(lambda: service.query(request), service.settle_installs)


async def _open(settings: Settings) -> "NotebookDiagnosticsService":
    from jupyter_lsp_agent.service.service import NotebookDiagnosticsService

    return await NotebookDiagnosticsService.open(settings)


@asynccontextmanager
async def _opened(settings: Settings) -> AsyncGenerator["NotebookDiagnosticsService", None]:
    service = await _open(settings)
    try:
        yield service
    finally:
        await service.aclose()


def _settings(options: CheckOptions) -> Settings:
    names: dict[str, Any] = {name: options[name] for name in ("severity", "ignore") if name in options}
    return load_settings(names, given_by="check_notebook")


def _require_known(function: str, options: Mapping[str, object], known: Iterable[str]) -> None:
    """Python checks the names of options only where they are parameters."""
    for name in options:
        if name not in known:
            raise TypeError(f"{function}() has no option {name!r}; it has {', '.join(sorted(known))}")


def _request(path: str | os.PathLike[str], options: CheckOptions) -> CheckRequest:
    _require_known("check_notebook", options, CheckOptions.__optional_keys__)
    content, server, python = options.get("content"), options.get("server"), options.get("python")
    name = os.fspath(path)
    absolute = _absolute(name)
    return CheckRequest(
        path=absolute,
        display_path=name,
        content_bytes=content.encode("utf-8", "surrogatepass") if isinstance(content, str) else content,
        named=absolute,
        view=ViewOptions(max_per_cell=options.get("max_per_cell", 0), max_total=options.get("max_total", 0)),
        server=None if server is None else ServerId(server),
        python=None if python is None else _absolute(python),
        timeout_seconds=_timeout_seconds(options.get("timeout_seconds", _TIMEOUT_SECONDS)),
        words=_WORDS,
        comparison=Comparison(baseline=f"git:{options['since']}") if "since" in options else Comparison(),
    )


def _query(path: str | os.PathLike[str], method: str, options: QueryOptions) -> "QueryRequest":
    from jupyter_lsp_agent.service.neighbours import LocalNeighbours
    from jupyter_lsp_agent.service.query_requests import QUESTION, QueryRequest, code_question

    _require_known("query_notebook", options, QueryOptions.__optional_keys__)
    asked = {name: value for name, value in options.items() if name in QUESTION}
    server, python, name = options.get("server"), options.get("python"), os.fspath(path)
    absolute = _absolute(name)
    return QueryRequest(
        document=CheckRequest(
            path=absolute,
            display_path=name,
            named=absolute,
            server=None if server is None else ServerId(server),
            python=None if python is None else _absolute(python),
            timeout_seconds=_timeout_seconds(options.get("timeout_seconds", _TIMEOUT_SECONDS)),
            words=_WORDS,
        ),
        question=code_question({"method": method, **asked}),
        neighbours=LocalNeighbours(Path.cwd()),
    )


def _timeout_seconds(given: float | None) -> float | None:
    is_number = isinstance(given, int | float) and not isinstance(given, bool)
    if given is not None and not (is_number and 0 < given < _MAX_TIMEOUT_SECONDS):
        raise SettingsError(f"timeout_seconds must be a number of seconds above 0, or None, and not {given!r}")
    return given


def _absolute(path: str | os.PathLike[str]) -> Path:
    return Path(os.path.normpath(Path.cwd() / path))
