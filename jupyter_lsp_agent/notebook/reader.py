"""From the bytes of an `.ipynb` file to a `Notebook`.

Plain `json` does the work: `import nbformat` costs more than a second and refuses files that editors and agents write
every day (no cell metadata, a byte order mark). What Jupyter opens is read, and some more; nothing is made up, so a
cell without an id has none. What cannot be read is told with its place and the mend, never guessed at: a notebook
that was half understood would look clean. A single cell that Jupyter opens and nobody can check carries a `defect`
instead.

Bounds on size are the caller's business.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from jupyter_lsp_agent.core.errors import InvalidNotebookError, UnsupportedNotebookFormatError
from jupyter_lsp_agent.core.ids import CellId, LanguageId
from jupyter_lsp_agent.notebook.model import Cell, CellKind, KernelMetadata, Notebook
from jupyter_lsp_agent.notebook.unreadable import explain_encoding, explain_json

_KINDS = {kind.value: kind for kind in CellKind if kind is not CellKind.UNKNOWN}
_OLD_KINDS = {"code": CellKind.CODE, "raw": CellKind.RAW, "plaintext": CellKind.RAW}
_NEWEST_MAJOR = 4


def read_notebook(data: bytes, name: str) -> Notebook:
    """Read a notebook of nbformat 1 to 4, newer minors of 4 too.

    Args:
        data: the file's bytes.
        name: the file's name, for messages.

    Raises:
        InvalidNotebookError: the bytes are no notebook.
        UnsupportedNotebookFormatError: a notebook of a major format that is not known yet.
    """
    return notebook_from_json(_parse(_decode(data, name), name), name)


def notebook_from_json(content: object, name: str) -> Notebook:
    """The same for a notebook that was parsed already (a request's `content`, a contents manager's answer).

    Raises:
        InvalidNotebookError: `content` is no notebook.
        UnsupportedNotebookFormatError: as for `read_notebook`.
    """
    if not isinstance(content, Mapping):
        raise InvalidNotebookError(
            f"{name} holds {_json_kind(content)}, not a notebook object: write a JSON object with nbformat and cells"
        )
    major = _major(content, name)
    if major < _NEWEST_MAJOR:
        return _read_old(content, major, name)
    cells = _list(content.get("cells"), "cells", name)
    return Notebook(
        cells=tuple(_read_cell(index, cell, name) for index, cell in enumerate(cells)),
        kernel=_kernel(_mapping(content.get("metadata"))),
        nbformat=major,
        nbformat_minor=_integer(content.get("nbformat_minor")) or 0,
    )


def _decode(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InvalidNotebookError(explain_encoding(data, error, name)) from None


def _parse(text: str, name: str) -> object:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise InvalidNotebookError(explain_json(text, error, name)) from None
    except ValueError as error:
        raise InvalidNotebookError(f"{name} holds a number that is too long to read ({error}): shorten it") from None
    except RecursionError:
        raise InvalidNotebookError(
            f"{name} is nested too deeply to be read: remove the nested output or metadata"
        ) from None


def _major(content: Mapping[str, Any], name: str) -> int:
    stored = content.get("nbformat")
    if stored is None:
        raise InvalidNotebookError(f'{name} has no "nbformat": add "nbformat": 4, "nbformat_minor": 5')
    # 4.0 and "4" are written by programs that are not careful with types; what they mean is plain.
    whole = (isinstance(stored, float) and stored.is_integer()) or (isinstance(stored, str) and stored.isdecimal())
    major = int(stored) if whole else stored
    if not isinstance(major, int) or isinstance(major, bool) or major < 1:
        raise InvalidNotebookError(f'{name}: "nbformat" is {json.dumps(stored)[:40]}, not a version: write 4')
    if major > _NEWEST_MAJOR:
        raise UnsupportedNotebookFormatError(
            f"{name} is written in nbformat {major}, and up to {_NEWEST_MAJOR} can be read: "
            f"save it as nbformat {_NEWEST_MAJOR}"
        )
    return major


def _read_cell(index: int, cell: object, name: str) -> Cell:
    stored = _cell_object(index, cell, name)
    metadata = _mapping(stored.get("metadata"))
    source, defect = _source(stored, "source", index, name)
    kind = _KINDS.get(_text(stored.get("cell_type")) or "", CellKind.UNKNOWN)
    if kind is CellKind.UNKNOWN:
        cell_type = json.dumps(stored.get("cell_type"))[:40]
        defect = f'nbformat has no cell type {cell_type}; set it to "code", "markdown" or "raw"'
    return Cell(
        index=index,
        cell_id=_cell_id(stored),
        kind=kind,
        source=source,
        language=_language(metadata),
        tags=_tags(metadata),
        execution_count=_integer(stored.get("execution_count")),
        cell_type=_text(stored.get("cell_type")) or kind.value,
        defect=defect,
    )


def _read_old(content: Mapping[str, Any], major: int, name: str) -> Notebook:
    """nbformat 1 keeps `cells` at the top, 2 and 3 in `worksheets`; code is in `input` and may name its language."""
    cells = list(_old_cells(content, major, name))
    metadata = dict(_mapping(content.get("metadata")))
    language = _text(metadata.get("language")) or _first_language(cells)
    if language and not metadata.get("language_info"):
        metadata["language_info"] = {"name": language}
    return Notebook(
        cells=tuple(_read_old_cell(index, cell, name) for index, cell in enumerate(cells)),
        kernel=_kernel(metadata),
        nbformat=major,
        nbformat_minor=_integer(content.get("nbformat_minor")) or 0,
    )


def _old_cells(content: Mapping[str, Any], major: int, name: str) -> Iterable[object]:
    if major == 1:
        yield from _list(content.get("cells"), "cells", name)
        return
    for sheet in _list(content.get("worksheets"), "worksheets", name):
        yield from _list(_mapping(sheet).get("cells"), "worksheets[].cells", name)


def _read_old_cell(index: int, cell: object, name: str) -> Cell:
    stored = _cell_object(index, cell, name)
    stored_type = _text(stored.get("cell_type")) or ""
    kind = _OLD_KINDS.get(stored_type, CellKind.MARKDOWN)
    key = "input" if kind is CellKind.CODE else next((key for key in ("source", "text") if key in stored), "source")
    source, defect = _source(_with_line_ends(stored, key), key, index, name)
    return Cell(
        index=index,
        cell_id=None,
        kind=kind,
        source=source,
        tags=_tags(_mapping(stored.get("metadata"))),
        execution_count=_integer(stored.get("prompt_number")),
        cell_type=stored_type or kind.value,
        defect=defect,
    )


def _with_line_ends(cell: Mapping[str, Any], key: str) -> Mapping[str, Any]:
    """The old formats may keep a source as lines without their ends (the first line tells)."""
    lines = cell.get(key)
    if not isinstance(lines, list) or not all(isinstance(line, str) for line in lines):
        return cell
    ended = bool(lines) and lines[0].endswith(("\n", "\r"))
    return {**cell, key: ("" if ended else "\n").join(lines)}


def _first_language(cells: list[object]) -> str | None:
    return next((language for cell in cells if (language := _text(_mapping(cell).get("language")))), None)


def _cell_object(index: int, cell: object, name: str) -> Mapping[str, Any]:
    if isinstance(cell, Mapping):
        return cell
    raise InvalidNotebookError(f"{name}: cell {index} is {_json_kind(cell)}, not an object: remove it or write a cell")


def _source(cell: Mapping[str, Any], key: str, index: int, name: str) -> tuple[str, str | None]:
    stored = cell.get(key, "")
    if isinstance(stored, str):
        return stored, None
    if isinstance(stored, list):
        return _join(stored, index, name), None
    return "", f"its source is {_json_kind(stored)}, not text; write it as a string"


def _join(parts: list[Any], index: int, name: str) -> str:
    try:
        return "".join(parts)
    except TypeError:
        odd = next(part for part in parts if not isinstance(part, str))
        raise InvalidNotebookError(
            f"{name}: the source of cell {index} holds {_json_kind(odd)} among its lines: write every line as a string"
        ) from None


def _cell_id(cell: Mapping[str, Any]) -> CellId | None:
    stored = _text(cell.get("id"))
    return None if stored is None else CellId(stored)


def _language(metadata: Mapping[str, Any]) -> LanguageId | None:
    stored = _text(_mapping(metadata.get("vscode")).get("languageId"))
    return LanguageId(stored) if stored else None


def _tags(metadata: Mapping[str, Any]) -> tuple[str, ...]:
    stored = metadata.get("tags")
    return tuple(tag for tag in stored if isinstance(tag, str)) if isinstance(stored, list) else ()


def _kernel(metadata: Mapping[str, Any]) -> KernelMetadata:
    spec, info = _mapping(metadata.get("kernelspec")), _mapping(metadata.get("language_info"))
    return KernelMetadata(
        kernel_name=_text(spec.get("name")),
        kernel_language=_text(spec.get("language")),
        language_name=_text(info.get("name")),
        language_version=_text(info.get("version")),
        file_extension=_text(info.get("file_extension")),
    )


def _list(value: object, key: str, name: str) -> list[Any]:
    if isinstance(value, list):
        return value
    found = "missing" if value is None else _json_kind(value)
    raise InvalidNotebookError(f'{name}: "{key}" is {found}, and a notebook needs a list there: write "{key}": []')


def _mapping(value: object) -> Mapping[str, Any]:
    return value if isinstance(value, Mapping) else {}


def _text(value: object) -> str | None:
    return value if isinstance(value, str) else None


def _integer(value: object) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) else None


_JSON_KINDS: tuple[tuple[Callable[[object], bool], str], ...] = (
    (lambda value: value is None, "null"),
    (lambda value: isinstance(value, bool), "a truth value"),
    (lambda value: isinstance(value, (int, float)), "a number"),
    (lambda value: isinstance(value, str), "a string"),
    (lambda value: isinstance(value, list), "a list"),
)


def _json_kind(value: object) -> str:
    return next((word for holds, word in _JSON_KINDS if holds(value)), "an object")
