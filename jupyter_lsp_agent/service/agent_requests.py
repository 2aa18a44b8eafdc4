"""What an agent may ask about a document, as values, and how they are read from JSON.

One set of fields serves `check` and `edits`; every bound of the public interface is kept here.
"""

import json
import re
from dataclasses import dataclass, field, replace
from typing import Any

from jupyter_lsp_agent.core.diagnostic import DiagnosticSeverity
from jupyter_lsp_agent.core.errors import InvalidRequestError
from jupyter_lsp_agent.core.printable import has_surrogate
from jupyter_lsp_agent.diagnostics.facts import SHOWN_STATUSES, ViewOptions
from jupyter_lsp_agent.diagnostics.report import Status
from jupyter_lsp_agent.notebook.edits import (
    Append,
    CellEdit,
    Delete,
    Insert,
    Move,
    Replace,
    ReplaceText,
    SetType,
)
from jupyter_lsp_agent.service.json_fields import Fields, is_cell
from jupyter_lsp_agent.service.reading import MAX_CELLS
from jupyter_lsp_agent.service.settings import SEVERITIES

MAX_WAIT_MS = 120_000
MAX_EDITS = 1_000
MAX_SESSION_LENGTH = 128
MAX_NAMES = 10_000

_SESSION = re.compile(rf"[\x20-\x7e]{{1,{MAX_SESSION_LENGTH}}}")
_BASELINES = re.compile(r"session|none|git:[^\s-]\S{0,250}")
_VIEW = ("severity", "statuses", "cells", "max_per_cell", "max_total")
_CHECK = ("path", "session", "content", "baseline", *_VIEW, "wait_ms", "touch", "remember", "given_names")
_EDITS = ("path", "session", "baseline", *_VIEW, "wait_ms", "if_hash", "dry_run", "check", "edits")


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentQuestion:
    """A document, and what is wanted to be known of it.

    Attributes:
        name: the document.
        session: the agent's own name for its work; `None`: nothing is compared.
        baseline: `session`, `none` or `git:REV`.
        severity: the least that counts; `None`: as the settings say.
        view: what is shown; its cells come from `cells`, its severity from `severity`.
        cells: the cells that are shown, as they were named; `None`: all.
        wait_ms: for the whole request; `None`: the settings' waits.
    """

    name: str
    session: str | None = None
    baseline: str = "none"
    severity: DiagnosticSeverity | None = None
    view: ViewOptions = field(default_factory=ViewOptions)
    cells: tuple[str | int, ...] | None = None
    wait_ms: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentCheck:
    """A check.

    Attributes:
        question: what is asked.
        content: checked in place of the stored document.
        remember: `content` is what its user has before them, saved or not: the session's verdict becomes that of it.
        touch: only start the servers, and take the baseline.
        given_names: names that a kernel has, whether a cell binds them or not.
    """

    question: AgentQuestion
    content: bytes | None = field(default=None, repr=False)
    remember: bool = False
    touch: bool = False
    given_names: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentEdit:
    """A batch of edits. `check`: whether a report is wanted; the rest as in `editing.EditBatch`."""

    question: AgentQuestion
    edits: tuple[CellEdit, ...]
    if_hash: str | None = None
    dry_run: bool = False
    check: bool = True


def decode_check(body: object) -> AgentCheck:
    """The body of a check.

    Raises:
        InvalidRequestError: it is not one.
    """
    fields = Fields(body, _CHECK, "the request")
    question = _question(fields)
    content = _content(fields.raw("content"), fields)
    remember = fields.boolean("remember", default=False)
    if remember and (content is None or question.session is None):
        raise InvalidRequestError('the request: "remember" needs "content" and a "session" that remembers it')
    touch = fields.boolean("touch", default=False)
    names = _given_names(fields)
    return AgentCheck(question=question, content=content, remember=remember, touch=touch, given_names=names)


def decode_edits(body: object) -> AgentEdit:
    """The body of a batch of edits.

    Raises:
        InvalidRequestError: it is not one.
    """
    fields = Fields(body, _EDITS, "the request")
    edits = fields.items("edits", maximum=MAX_EDITS)
    if edits is None:
        raise fields.wrong("edits", f"a list of at most {MAX_EDITS}")
    return AgentEdit(
        question=_question(fields),
        edits=tuple(decode_edit(edit, f"edit {number}") for number, edit in enumerate(edits)),
        if_hash=fields.optional_text("if_hash"),
        dry_run=fields.boolean("dry_run", default=False),
        check=fields.boolean("check", default=True),
    )


def decode_edit(value: object, what: str) -> CellEdit:
    """One edit.

    Raises:
        InvalidRequestError: it is none; the message begins with `what`.
    """
    operation = value.get("op") if isinstance(value, dict) else None
    if not isinstance(operation, str) or operation not in _OPERATIONS:
        raise InvalidRequestError(f'{what} must be an object with "op", one of {", ".join(_OPERATIONS)}')
    return _OPERATIONS[operation](value, what)


def session_name(value: str) -> str:
    """A session's name as it may be.

    Raises:
        InvalidRequestError: it may not.
    """
    if _SESSION.fullmatch(value):
        return value
    raise InvalidRequestError(f'"session" must be 1 to {MAX_SESSION_LENGTH} printable ASCII characters')


def document_name(value: str) -> str:
    """A document's path as a contents path.

    Raises:
        InvalidRequestError: it names nothing.
    """
    name = value.strip("/")
    if name and "\0" not in name and not has_surrogate(name):
        return name
    raise InvalidRequestError('"path" must be a document\'s path below the server\'s root, with "/" between its parts')


def _question(fields: Fields) -> AgentQuestion:
    session = fields.optional_text("session")
    return AgentQuestion(
        name=document_name(fields.text("path")),
        session=None if session is None else session_name(session),
        baseline=_baseline(fields, session),
        severity=SEVERITIES.get(fields.choice("severity", SEVERITIES) or ""),
        view=_view(fields),
        cells=_cells(fields),
        wait_ms=fields.integer("wait_ms", maximum=MAX_WAIT_MS),
    )


def _baseline(fields: Fields, session: str | None) -> str:
    baseline = fields.optional_text("baseline")
    if baseline is not None and not _BASELINES.fullmatch(baseline):
        raise fields.wrong("baseline", "session, none or git:REV")
    if session is None:
        return baseline if baseline and baseline != "session" else "none"
    return baseline or "session"


def _view(fields: Fields) -> ViewOptions:
    view = ViewOptions()
    statuses = fields.items("statuses", maximum=len(Status))
    shown = SHOWN_STATUSES if statuses is None else frozenset(_status(fields, status) for status in statuses)
    per_cell, total = fields.integer("max_per_cell"), fields.integer("max_total")
    return replace(
        view,
        statuses=shown,
        max_per_cell=view.max_per_cell if per_cell is None else per_cell,
        max_total=view.max_total if total is None else total,
    )


def _status(fields: Fields, value: object) -> Status:
    words = [status.value for status in Status]
    if value in words:
        return Status(value)
    raise fields.wrong("statuses", "a list of " + ", ".join(words))


def _cells(fields: Fields) -> tuple[str | int, ...] | None:
    cells = fields.items("cells", maximum=MAX_CELLS)
    if cells is None:
        return None
    if not all(map(is_cell, cells)):
        raise fields.wrong("cells", "a list of cells' ids (strings) or indexes (whole numbers)")
    return tuple(cells)


def _given_names(fields: Fields) -> frozenset[str]:
    names = fields.items("given_names", maximum=MAX_NAMES) or []
    if all(isinstance(name, str) and name.isidentifier() for name in names):
        return frozenset(names)
    raise fields.wrong("given_names", "a list of Python names")


def _content(content: Any, fields: Fields) -> bytes | None:
    if content is None:
        return None
    if isinstance(content, str):
        return content.encode("utf-8", "surrogatepass")
    if not isinstance(content, dict):
        raise fields.wrong("content", "a notebook object, or a string for a plain file")
    cells = content.get("cells")
    if isinstance(cells, list) and len(cells) > MAX_CELLS:
        raise fields.wrong("content", f"a notebook of at most {MAX_CELLS} cells")
    return json.dumps(content).encode("ascii")


def _source(fields: Fields, name: str = "source") -> str:
    value = fields.raw(name)
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        return "".join(value)
    return fields.text(name)


def _replace(value: object, what: str) -> CellEdit:
    fields = Fields(value, ("op", "cell", "source"), what)
    return Replace(fields.cell("cell"), _source(fields))


def _replace_text(value: object, what: str) -> CellEdit:
    fields = Fields(value, ("op", "cell", "old", "new"), what)
    return ReplaceText(fields.optional_cell("cell"), fields.text("old"), fields.text("new"))


def _insert(value: object, what: str) -> CellEdit:
    fields = Fields(value, ("op", "after", "cell_type", "source"), what)
    if isinstance(value, dict) and "after" not in value:
        raise fields.wrong("after", "a cell, or null for the start")
    return Insert(fields.optional_cell("after"), fields.text("cell_type"), _source(fields))


def _append(value: object, what: str) -> CellEdit:
    fields = Fields(value, ("op", "cell_type", "source"), what)
    return Append(fields.text("cell_type"), _source(fields))


def _delete(value: object, what: str) -> CellEdit:
    return Delete(Fields(value, ("op", "cell"), what).cell("cell"))


def _move(value: object, what: str) -> CellEdit:
    fields = Fields(value, ("op", "cell", "after"), what)
    if isinstance(value, dict) and "after" not in value:
        raise fields.wrong("after", "a cell, or null for the start")
    return Move(fields.cell("cell"), fields.optional_cell("after"))


def _set_type(value: object, what: str) -> CellEdit:
    fields = Fields(value, ("op", "cell", "cell_type"), what)
    return SetType(fields.cell("cell"), fields.text("cell_type"))


_OPERATIONS = {
    "replace": _replace,
    "replace_text": _replace_text,
    "insert": _insert,
    "append": _append,
    "delete": _delete,
    "move": _move,
    "set_type": _set_type,
}
