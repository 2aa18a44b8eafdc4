"""Text of others made fit to be printed on one line: for a report, a message, a log.

What servers say and what files are called is not ours; it may carry escape sequences, line ends that begin a line of
their own (which a CI system may take for a command), text that reverses the line it stands in, or characters that
nobody sees and a model reads. One table says what is taken out; `diagnostics.cleaning` uses it for reports.
"""

import re

MAX_MESSAGE_CHARACTERS = 2000
"""The length of a message."""

_ELLIPSIS = "…"
_ESCAPE_SEQUENCE = re.compile(r"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")
BLANKS = re.compile(r"[\t\n\v\f\r\x85\u2028\u2029]")
HIDDEN = re.compile(
    "[\x00-\x1f\x7f-\x9f"  # control characters
    "\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069"  # bidi controls
    "\u2028\u2029"  # separators that break a line
    "\ud800-\udfff"  # halves of a pair, which no encoding can write
    "\U000e0000-\U000e0fff]"  # tags, and the selectors beside them
)
"""What is not seen, or does something to what is."""


def has_surrogate(text: str) -> bool:
    """Whether half a surrogate pair is in `text`, so that no UTF-8 can carry it."""
    return any("\ud800" <= character <= "\udfff" for character in text)


def one_line(text: str, limit: int = MAX_MESSAGE_CHARACTERS) -> str:
    """`text` on one line, without what cannot be seen, at most `limit` characters long."""
    return shorten(visible_line(text).strip(), limit)


def visible_line(text: str) -> str:
    """`text` on one line, without what cannot be seen."""
    return HIDDEN.sub("", BLANKS.sub(" ", _ESCAPE_SEQUENCE.sub("", text)))


def escape_hidden(text: str) -> str:
    """`text` with what is hidden, and bytes that are no UTF-8, written as escapes, so that a name stays itself."""
    return HIDDEN.sub(_escape, text)


def shorten(text: str, limit: int) -> str:
    """`text`, cut with an ellipsis where it is longer than `limit` characters."""
    return text if len(text) <= limit else text[: limit - 1] + _ELLIPSIS


def shorten_at_word(text: str, limit: int) -> str:
    """The same, cut between two words where there are any in the second half of what is left."""
    short = shorten(text, limit)
    if short == text or text[limit - 1].isspace():
        return short
    kept = short[: -len(_ELLIPSIS)]
    end = kept.rfind(" ", limit // 2)
    return short if end < 0 else kept[:end] + " " + _ELLIPSIS


def _escape(match: re.Match[str]) -> str:
    point = ord(match.group())
    if 0xDC80 <= point <= 0xDCFF:  # a byte of a name that is no UTF-8, as os.fsdecode keeps it
        return f"\\x{point - 0xDC00:02x}"
    return match.group().encode("unicode_escape", "backslashreplace").decode("ascii")
