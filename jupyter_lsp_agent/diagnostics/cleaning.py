"""Text of others made fit to be shown: to a terminal, to a model, in JSON.

What servers say and what notebooks hold is not ours; it may carry escape sequences, text that reverses the line it
stands in, or characters that nobody sees and a model reads. One table says what is taken out. Cleaning a source line
keeps its length, so that columns still mean what they meant.
"""

import re

MAX_MESSAGE_CHARACTERS = 2000
"""The length of a message in a report."""

MAX_SOURCE_LINE_CHARACTERS = 2000
"""The length of a source line in a report; a data line of a megabyte helps nobody."""

_ELLIPSIS = "…"
_ESCAPE_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
_EXPLANATION = re.compile(r"\s{2,}(?:info|help|note): | (?:info|help|note): +\d\. ")
_BLANKS = re.compile(r"[\t\n\v\f\r\x85\u2028\u2029]")
_HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f"  # control characters
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # bidi controls
    "\u2028\u2029"  # separators that break a line
    "\ud800-\udfff"  # halves of a pair, which no encoding can write
    "\U000e0000-\U000e0fff]"  # tags, and the selectors beside them
)


def clean_message(text: str, limit: int = MAX_MESSAGE_CHARACTERS) -> str:
    """A message on one line, without what cannot be seen, at most `limit` characters long."""
    visible = _HIDDEN.sub("", _BLANKS.sub(" ", _ESCAPE_SEQUENCE.sub("", text)))
    return shorten(visible.strip(), limit)


def clean_source_line(line: str, limit: int = MAX_SOURCE_LINE_CHARACTERS) -> str:
    """A line of source in which every hidden character has become one that is seen; columns stay."""
    return shorten(_HIDDEN.sub("\N{REPLACEMENT CHARACTER}", _BLANKS.sub(" ", line)), limit)


def clean_path(path: str) -> str:
    """A path whose hidden characters, and bytes that are no UTF-8, are written as escapes, so that it stays itself."""
    return _HIDDEN.sub(_escape, path)


def headline_of(message: str) -> str:
    """A cleaned message without the explanations that compilers put behind it; these stay in JSON."""
    return _EXPLANATION.split(message, maxsplit=1)[0]


def shorten(text: str, limit: int) -> str:
    """`text`, cut with an ellipsis where it is longer than `limit` characters."""
    return text if len(text) <= limit else text[: limit - 1] + _ELLIPSIS


def _escape(match: re.Match[str]) -> str:
    point = ord(match.group())
    if 0xDC80 <= point <= 0xDCFF:  # a byte of a name that is no UTF-8, as os.fsdecode keeps it
        return f"\\x{point - 0xDC00:02x}"
    return match.group().encode("unicode_escape", "backslashreplace").decode("ascii")
