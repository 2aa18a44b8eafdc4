"""How single JSON values of a server are read: a wrong type is as good as a missing value."""

from collections.abc import Iterator, Mapping
from typing import Any

from jupyter_lsp_agent.core.positions import WirePosition, WireRange

MAX_UINTEGER = 2**31 - 1
"""LSP's largest `uinteger`; servers write it for "to the end of the line"."""

START = WireRange(WirePosition(0, 0), WirePosition(0, 0))


def as_object(value: Any) -> Mapping[str, Any]:
    """The object that `value` is, else an empty one."""
    return value if isinstance(value, dict) else {}


def as_items(value: Any) -> list[Any]:
    """The array that `value` is, else an empty one."""
    return value if isinstance(value, list) else []


def objects_in(value: Any) -> Iterator[Mapping[str, Any]]:
    """The objects among the items of an array."""
    return (item for item in as_items(value) if isinstance(item, dict))


def as_text(value: Any) -> str | None:
    """The string that `value` is, else `None`."""
    return value if isinstance(value, str) else None


def as_integer(value: Any) -> int | None:
    """The whole number that `value` is, else `None`; `2.0` is one, `true` is none."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value if isinstance(value, int) and not isinstance(value, bool) else None


def as_range(value: Any) -> WireRange | None:
    """LSP's `Range`; numbers out of bounds are pulled in, `None` where a position is missing."""
    range_ = as_object(value)
    start, end = as_position(range_.get("start")), as_position(range_.get("end"))
    if start is None:
        return None
    return WireRange(start, start if end is None else end)


def as_position(value: Any) -> WirePosition | None:
    """LSP's `Position`; numbers out of bounds are pulled in, `None` where one is missing."""
    position = as_object(value)
    line, character = as_integer(position.get("line")), as_integer(position.get("character"))
    if line is None or character is None:
        return None
    return WirePosition(_bounded(line), _bounded(character))


def markup_text(value: Any) -> str | None:
    """The text of a string, a `MarkupContent` or a `MarkedString` (a code block with its language)."""
    if isinstance(value, str):
        return value
    content = as_object(value)
    text = as_text(content.get("value"))
    language = as_text(content.get("language"))
    if text is None or language is None:
        return text
    return f"```{language}\n{text}\n```"


def _bounded(number: int) -> int:
    return max(0, min(number, MAX_UINTEGER))
