"""How a JSON text is laid out, and how to write more of it in the same way.

Read from the text itself: indentation, line ends, the space around colons and commas, whether what is not ASCII is
escaped. New members and items then look like their neighbours.
"""

import json
import re
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from jupyter_lsp_agent.notebook.json_spans import Member, ObjectSpans, Span

_LINE_END = re.compile(r"\r\n|\n|\r")
_ESCAPED_BEYOND_ASCII = re.compile(r"(?<!\\)(?:\\\\)*\\u(?!00[0-7])[0-9a-fA-F]{4}")
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class Gaps:
    """The text around a container's items: after the opening bracket, between two (with the comma), before the end."""

    opening: str
    between: str
    closing: str


@dataclass(frozen=True, slots=True)
class Piece:
    """One item of a container that is put together again: where it stood in the old one, and its text."""

    origin: int | None
    text: str


@dataclass(frozen=True, slots=True)
class JsonStyle:
    """How nested values are written.

    Attributes:
        newline: the line end between items; `None`: all on one line.
        base: the indentation of the container's own line.
        unit: what one level adds.
        comma: between items on one line.
        colon: between key and value, with its space.
        ascii_only: characters beyond ASCII are escaped.
    """

    newline: str | None
    base: str
    unit: str
    comma: str
    colon: str
    ascii_only: bool

    def gaps(self, depth: int = 0) -> Gaps:
        """The gaps of a container that begins `depth` levels below `base`."""
        if self.newline is None:
            return Gaps("", self.comma, "")
        outer = self.newline + self.base + self.unit * depth
        return Gaps(outer + self.unit, "," + outer + self.unit, outer)

    def dump(self, value: Any) -> str:
        """`value` as JSON, to stand on a line that is indented by `base`."""
        if self.newline is None:
            text = json.dumps(value, separators=(self.comma, self.colon), ensure_ascii=self.ascii_only)
        else:
            text = json.dumps(value, indent=self.unit, separators=(",", self.colon), ensure_ascii=self.ascii_only)
            text = text.replace("\n", self.newline + self.base)
        return _escape_surrogates(text)

    def dump_string(self, value: str, like: str = "") -> str:
        """`value` as a JSON string, spelled as `like` is, where that has anything beyond ASCII."""
        ascii_only = like.isascii() and (self.ascii_only or shows_escapes(like))
        return _escape_surrogates(json.dumps(value, ensure_ascii=ascii_only))


def shows_escapes(text: str) -> bool:
    """All of `text` is ASCII because characters beyond it were escaped."""
    return text.isascii() and _ESCAPED_BEYOND_ASCII.search(text) is not None


def read_style(text: str, container: ObjectSpans, *, ascii_only: bool) -> JsonStyle:
    """The style in which the members of `container` are written."""
    opening = _opening(text, container.span, container.members[0].span if container.members else None)
    line_end = _LINE_END.search(opening)
    base = line_indentation(text, container.span.start)
    inner = indentation(opening)
    return JsonStyle(
        newline=line_end[0] if line_end else None,
        base=base,
        unit=inner[len(base) :] if inner.startswith(base) else " ",
        comma=_comma(text, container.members),
        colon=_colon(text, container.members),
        ascii_only=ascii_only,
    )


def read_gaps(text: str, span: Span, items: Sequence[Span], default: Gaps) -> Gaps:
    """The gaps of the container at `span`; `default` says what too few items leave unsaid."""
    if not items:
        return default
    opening, closing = text[span.start + 1 : items[0].start], text[items[-1].end : span.end - 1]
    if len(items) > 1:
        return Gaps(opening, text[items[0].end : items[1].start], closing)
    if _LINE_END.search(opening):
        return Gaps(opening, "," + opening, closing)
    return Gaps(opening, ", " if _LINE_END.search(default.between) else default.between, closing)


def assemble(text: str, span: Span, items: Sequence[Span], pieces: Sequence[Piece], gaps: Gaps) -> str:
    """The container at `span` with `pieces` in place of its items.

    Two pieces that were neighbours before keep what stood between them; all others get the usual gap.
    """
    brackets = text[span.start], text[span.end - 1]
    if not pieces:
        return "".join(brackets) if items else span.of(text)
    parts = [brackets[0], gaps.opening, pieces[0].text]
    for before, piece in pairwise(pieces):
        parts += (_between(text, items, before.origin, piece.origin) or gaps.between, piece.text)
    return "".join((*parts, gaps.closing, brackets[1]))


def indentation(gap: str) -> str:
    """What stands after the last line end of a gap."""
    return _LINE_END.split(gap)[-1]


def line_indentation(text: str, at: int) -> str:
    """The white space at the start of the line on which `at` lies."""
    start = max(text.rfind("\n", 0, at), text.rfind("\r", 0, at)) + 1
    stop = start
    while stop < at and text[stop] in " \t":
        stop += 1
    return text[start:stop]


def _between(text: str, items: Sequence[Span], before: int | None, after: int | None) -> str | None:
    if before is None or after != before + 1:
        return None
    return text[items[before].end : items[after].start]


def _opening(text: str, span: Span, first: Span | None) -> str:
    return text[span.start + 1 : first.start if first else span.end - 1]


def _comma(text: str, members: Sequence[Member]) -> str:
    if len(members) < 2:
        return ", "
    gap = text[members[0].span.end : members[1].span.start]
    return ", " if _LINE_END.search(gap) else gap


def _colon(text: str, members: Sequence[Member]) -> str:
    if not members:
        return ": "
    whole = text[members[0].span.start : members[0].value.start]
    return whole[whole.rindex('"') + 1 :]


def _escape_surrogates(text: str) -> str:
    # UTF-8 cannot carry them; JSON can, escaped. A pair is one code point here and is not matched.
    return _SURROGATE.sub(lambda match: f"\\u{ord(match[0]):04x}", text)
