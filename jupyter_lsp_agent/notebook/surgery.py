"""An edit as surgery on the file's own text: what was not edited keeps every byte.

Outputs, attachments, unknown keys, the order of keys, indentation, escapes, line ends, duplicate keys and a byte order
mark stay as they are. An edited cell keeps the form of its source (list or string) and everything but what the edit is
about; a new one is laid out like its neighbours.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from jupyter_lsp_agent.core.errors import InvalidEditError, InvalidNotebookError
from jupyter_lsp_agent.core.positions import split_lines_keeping_ends
from jupyter_lsp_agent.notebook.edits import EditPlan, PlannedCell, ReplaceText, replace_once
from jupyter_lsp_agent.notebook.json_spans import ArraySpans, Member, ObjectSpans, Span, scan_array, scan_object
from jupyter_lsp_agent.notebook.json_style import (
    Gaps,
    JsonStyle,
    Piece,
    assemble,
    read_gaps,
    read_style,
    shows_escapes,
)
from jupyter_lsp_agent.notebook.model import CellKind
from jupyter_lsp_agent.notebook.unreadable import explain_encoding

_BYTE_ORDER_MARK = "\ufeff"
_OF_CODE_CELLS = ("execution_count", "outputs")


class EditedOutputs(StrEnum):
    """What becomes of the outputs of a code cell whose source was changed."""

    KEEP = "keep"
    CLEAR = "clear"


def apply_plan(data: bytes, plan: EditPlan, name: str, outputs: EditedOutputs = EditedOutputs.KEEP) -> bytes:
    """The file's bytes with `plan` carried out.

    Args:
        data: the bytes of the notebook (nbformat 4) for which the plan was made.
        plan: what it is to be.
        name: the file's name, for messages.
        outputs: what becomes of the outputs of changed code cells.

    Raises:
        InvalidNotebookError: the bytes are no notebook.
    """
    text = _decode(data, name)
    try:
        return _Surgeon(text, name).operate(plan, outputs).encode("utf-8")
    except (ValueError, RecursionError) as error:
        raise InvalidNotebookError(f"{name} cannot be edited, since it is no JSON that can be read ({error})") from None


def edit_plain_text(data: bytes, edits: Sequence[object], name: str) -> bytes:
    """A plain file's bytes with every replacement made, in order.

    Raises:
        InvalidEditError: one of `edits` is no replacement of text without a cell, or its `old` does not occur once, or
            the file is no UTF-8.
    """
    try:
        text = data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidEditError(explain_encoding(data, error, name)) from None
    for number, edit in enumerate(edits):
        if not isinstance(edit, ReplaceText) or edit.cell is not None:
            raise InvalidEditError(f'edit {number}: {name} has no cells: use "replace_text" without "cell"')
        text = replace_once(text, edit.old, edit.new, f"edit {number}")
    try:
        return text.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidEditError(
            f"{name} would hold half a surrogate pair, which UTF-8 cannot carry: send whole characters"
        ) from None


def _decode(data: bytes, name: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise InvalidNotebookError(explain_encoding(data, error, name)) from None


@dataclass(frozen=True, slots=True)
class _NewValue:
    """What a member of a cell is to be: JSON text in place of its value, or `None` to take the member away."""

    text: str | None


class _Surgeon:
    """One operation on one text."""

    def __init__(self, text: str, name: str) -> None:
        self._text = text
        self._name = name
        self._root = scan_object(text, 1 if text.startswith(_BYTE_ORDER_MARK) else 0)
        self._cells = self._scan_cells()
        self._ascii_only = shows_escapes(text)

    def operate(self, plan: EditPlan, outputs: EditedOutputs) -> str:
        pieces = [Piece(cell.origin, self._cell_text(cell, outputs)) for cell in plan.cells]
        span, items = self._cells.span, self._cells.items
        gaps = read_gaps(self._text, span, items, self._root_style().gaps(1))
        return self._text[: span.start] + assemble(self._text, span, items, pieces, gaps) + self._text[span.end :]

    def _scan_cells(self) -> ArraySpans:
        cells = self._root.last("cells")
        if cells is None:
            raise InvalidNotebookError(f'{self._name} has no "cells" to edit: save it as nbformat 4 first')
        return scan_array(self._text, cells.value.start)

    def _cell_text(self, cell: PlannedCell, outputs: EditedOutputs) -> str:
        if cell.origin is None:
            return self._new_cell(cell)
        span = self._cells.items[cell.origin]
        return self._changed_cell(cell, span, outputs) if cell.changed else span.of(self._text)

    def _changed_cell(self, cell: PlannedCell, span: Span, outputs: EditedOutputs) -> str:
        members = scan_object(self._text, span.start)
        style = read_style(self._text, members, ascii_only=self._ascii_only)
        values: dict[str, _NewValue] = {}
        if cell.source_changed:
            values["source"] = _NewValue(self._source_text(cell.source, members, style))
        if cell.type_changed:
            values |= _for_type(cell.cell_type, members)
        elif cell.source_changed and outputs is EditedOutputs.CLEAR and cell.cell_type == CellKind.CODE:
            values |= {"execution_count": _NewValue("null"), "outputs": _NewValue("[]")}
        return self._rewrite(members, values, style)

    def _rewrite(self, members: ObjectSpans, values: Mapping[str, _NewValue], style: JsonStyle) -> str:
        pieces = [
            Piece(index, self._member_text(member, values.get(member.key), last=members.last(member.key) is member))
            for index, member in enumerate(members.members)
            if not (member.key in values and values[member.key].text is None)
        ]
        for key, value in values.items():
            if value.text is not None and members.last(key) is None:
                at = _place_for(key, _keys(pieces))
                pieces.insert(at, Piece(None, json.dumps(key) + style.colon + value.text))
        spans = [member.span for member in members.members]
        return assemble(
            self._text, members.span, spans, pieces, read_gaps(self._text, members.span, spans, style.gaps())
        )

    def _member_text(self, member: Member, value: _NewValue | None, *, last: bool) -> str:
        if value is None or value.text is None or not last:
            return member.span.of(self._text)
        return self._text[member.span.start : member.value.start] + value.text

    def _source_text(self, source: str, members: ObjectSpans, style: JsonStyle) -> str:
        """The source in the form of the old one; lines that were there before keep their spelling."""
        old = members.last("source")
        if old is None or self._text[old.value.start] not in '"[':
            return self._fresh_source(source, style)
        if self._text[old.value.start] == '"':
            return style.dump_string(source, like=old.value.of(self._text))
        array = scan_array(self._text, old.value.start)
        spelled = {json.loads(item.of(self._text)): item.of(self._text) for item in array.items}
        like = old.value.of(self._text)
        pieces = [Piece(None, spelled.get(line) or style.dump_string(line, like)) for line in source_lines(source)]
        gaps = read_gaps(self._text, array.span, array.items, style.gaps(1))
        return (
            assemble(self._text, array.span, array.items, pieces, gaps) if array.items else _fresh_array(pieces, gaps)
        )

    def _fresh_source(self, source: str, style: JsonStyle) -> str:
        if not self._sources_are_lists():
            return style.dump_string(source)
        return _fresh_array([Piece(None, style.dump_string(line)) for line in source_lines(source)], style.gaps(1))

    def _new_cell(self, cell: PlannedCell) -> str:
        values: dict[str, Any] = {"cell_type": cell.cell_type, "metadata": {}}
        if cell.cell_type == CellKind.CODE:
            values |= {"execution_count": None, "outputs": []}
        if cell.cell_id is not None:
            values["id"] = cell.cell_id
        values["source"] = source_lines(cell.source) if self._sources_are_lists() else cell.source
        template = self._template(cell.cell_type)
        style = self._new_cell_style(template)
        ordered = {key: values[key] for key in _ordered_keys(values, template)}
        return style.dump(ordered)

    def _new_cell_style(self, template: ObjectSpans | None) -> JsonStyle:
        if template is not None:
            return read_style(self._text, template, ascii_only=self._ascii_only)
        style = self._root_style()
        return JsonStyle(
            style.newline, style.base + style.unit * 2, style.unit, style.comma, style.colon, style.ascii_only
        )

    def _root_style(self) -> JsonStyle:
        return read_style(self._text, self._root, ascii_only=self._ascii_only)

    def _template(self, cell_type: str) -> ObjectSpans | None:
        """The first cell of the same type, else the first cell, else nothing."""
        first: ObjectSpans | None = None
        for item in self._cells.items:
            members = scan_object(self._text, item.start)
            stored = members.last("cell_type")
            if stored is not None and stored.value.of(self._text) == json.dumps(cell_type):
                return members
            first = first or members
        return first

    def _sources_are_lists(self) -> bool:
        for item in self._cells.items:
            source = scan_object(self._text, item.start).last("source")
            if source is not None:
                return self._text[source.value.start] != '"'
        return True


def source_lines(source: str) -> list[str]:
    """A source as nbformat's list form has it: lines with their ends, none for an empty source."""
    return [line for line in split_lines_keeping_ends(source) if line]


def _for_type(cell_type: str, members: ObjectSpans) -> dict[str, _NewValue]:
    """The members that nbformat wants of that type, and takes from it: it allows no others on top of them."""
    values = {"cell_type": _NewValue(json.dumps(cell_type))}
    if cell_type != CellKind.CODE:
        return values | dict.fromkeys(_OF_CODE_CELLS, _NewValue(None))
    if members.last("execution_count") is None:
        values["execution_count"] = _NewValue("null")
    if members.last("outputs") is None:
        values["outputs"] = _NewValue("[]")
    return values | {"attachments": _NewValue(None)}


def _place_for(key: str, present: Sequence[str]) -> int:
    """Where a new member stands: in the order of the alphabet where the others are in it, else at the end."""
    if list(present) != sorted(present):
        return len(present)
    return next((index for index, other in enumerate(present) if other > key), len(present))


def _keys(pieces: Sequence[Piece]) -> list[str]:
    return [json.JSONDecoder().raw_decode(piece.text)[0] for piece in pieces]


def _ordered_keys(values: Mapping[str, Any], template: ObjectSpans | None) -> list[str]:
    known = [member.key for member in template.members] if template else []
    if known == sorted(known):
        return sorted(values)
    return [key for key in dict.fromkeys(known) if key in values] + sorted(key for key in values if key not in known)


def _fresh_array(pieces: Sequence[Piece], gaps: Gaps) -> str:
    if not pieces:
        return "[]"
    return "[" + gaps.opening + gaps.between.join(piece.text for piece in pieces) + gaps.closing + "]"
