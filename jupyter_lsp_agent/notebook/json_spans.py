"""Where the values of a JSON text stand, so that one can be changed and nothing else moves.

Only the containers that are asked for are taken apart; what lies in them is skipped by the standard library's own
scanner, which runs at C speed and bounds the depth. So a text means here what it means to `json.loads`: `NaN` is a
number, and of duplicate keys the last one counts.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass
from json import JSONDecodeError, JSONDecoder
from typing import TypeVar

_WHITESPACE = re.compile(r"[ \t\n\r]*")
_DECODER = JSONDecoder()
_T = TypeVar("_T")


@dataclass(frozen=True, slots=True)
class Span:
    """A stretch of a text, in code points; `end` is exclusive."""

    start: int
    end: int

    def of(self, text: str) -> str:
        """The stretch itself."""
        return text[self.start : self.end]


@dataclass(frozen=True, slots=True)
class Member:
    """One member of an object. `span` reaches from the key's quote to the value's end."""

    key: str
    span: Span
    value: Span


@dataclass(frozen=True, slots=True)
class ObjectSpans:
    """An object and its members, in the order of the text, duplicates included."""

    span: Span
    members: tuple[Member, ...]

    def last(self, key: str) -> Member | None:
        """The member that counts for `key`."""
        return next((member for member in reversed(self.members) if member.key == key), None)


@dataclass(frozen=True, slots=True)
class ArraySpans:
    """An array and its items."""

    span: Span
    items: tuple[Span, ...]


def value_span(text: str, start: int) -> Span:
    """The value that begins at `start`, white space before it left out.

    Raises:
        ValueError: no JSON value stands there (`json.JSONDecodeError`), or one of its numbers is too long.
        RecursionError: it is nested too deeply.
    """
    begin = _skip(text, start)
    return Span(begin, _DECODER.raw_decode(text, begin)[1])


def scan_object(text: str, start: int) -> ObjectSpans:
    """The members of the object that begins at `start`. Raises as `value_span` does."""
    begin = _skip(text, start)
    members: list[Member] = []
    end = _scan_items(text, begin, "{}", lambda at: _append(members, _member(text, at)).span.end)
    return ObjectSpans(Span(begin, end), tuple(members))


def scan_array(text: str, start: int) -> ArraySpans:
    """The items of the array that begins at `start`. Raises as `value_span` does."""
    begin = _skip(text, start)
    items: list[Span] = []
    end = _scan_items(text, begin, "[]", lambda at: _append(items, value_span(text, at)).end)
    return ArraySpans(Span(begin, end), tuple(items))


def _scan_items(text: str, begin: int, brackets: str, read_item: Callable[[int], int]) -> int:
    """Call `read_item` where each item begins; it says where the item ends. The answer is where the container ends."""
    at = _skip(text, _expect(text, begin, brackets[0]))
    if text[at : at + 1] == brackets[1]:
        return at + 1
    while True:
        at = _skip(text, read_item(at))
        if text[at : at + 1] == brackets[1]:
            return at + 1
        at = _skip(text, _expect(text, at, ","))


def _append(items: list[_T], item: _T) -> _T:
    items.append(item)
    return item


def _member(text: str, at: int) -> Member:
    if text[at : at + 1] != '"':
        raise JSONDecodeError("Expecting property name enclosed in double quotes", text, at)
    key, key_end = _DECODER.raw_decode(text, at)
    value = value_span(text, _expect(text, _skip(text, key_end), ":"))
    return Member(key, Span(at, value.end), value)


def _skip(text: str, at: int) -> int:
    match = _WHITESPACE.match(text, at)
    return match.end() if match else at


def _expect(text: str, at: int, character: str) -> int:
    if text[at : at + 1] != character:
        raise JSONDecodeError(f"Expecting {character!r}", text, at)
    return at + 1
