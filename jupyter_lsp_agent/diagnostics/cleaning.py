"""Text of others made fit to be shown: to a terminal, to a model, in JSON.

What servers say and what notebooks hold is not ours; it may carry escape sequences, text that reverses the line it
stands in, or characters that nobody sees and a model reads. One table says what is taken out. Cleaning a source line
keeps its length, so that columns still mean what they meant.
"""

import re
from typing import Any

from jupyter_lsp_agent.core.positions import split_lines
from jupyter_lsp_agent.core.printable import (
    BLANKS,
    HIDDEN,
    MAX_MESSAGE_CHARACTERS,
    escape_hidden,
    one_line,
    shorten,
    shorten_at_word,
    visible_line,
)

__all__ = [
    "MAX_MESSAGE_CHARACTERS",
    "MAX_SOURCE_LINE_CHARACTERS",
    "clean_block",
    "clean_json",
    "clean_message",
    "clean_path",
    "clean_source_line",
    "headline_of",
    "shorten",
    "shorten_at_word",
]

MAX_SOURCE_LINE_CHARACTERS = 2000
"""The length of a source line in a report; a data line of a megabyte helps nobody."""

_EXPLANATION = re.compile(r"\s{2,}(?:info|help|note): |\s{2,}Looked in these locations| (?:info|help|note): +\d\. ")


def clean_message(text: str, limit: int = MAX_MESSAGE_CHARACTERS) -> str:
    """A message on one line, without what cannot be seen, at most `limit` characters long."""
    return one_line(text, limit)


def clean_source_line(line: str) -> str:
    """A line of source in which every hidden character has become one that is seen; columns stay."""
    return shorten(HIDDEN.sub("\N{REPLACEMENT CHARACTER}", BLANKS.sub(" ", line)), MAX_SOURCE_LINE_CHARACTERS)


def clean_block(text: str, limit: int) -> str:
    """A text of several lines (Markdown, say) without what cannot be seen, at most `limit` characters long; its lines
    and their indentation stay."""
    lines = (visible_line(line.replace("\t", "    ")) for line in split_lines(text[: 4 * limit]))
    return shorten("\n".join(lines).strip("\n"), limit)


def clean_json(value: Any) -> Any:
    """Parsed JSON of others, every text in it on one line and without what cannot be seen; lengths stay.

    Raises:
        RecursionError: it is too deep for us.
    """
    match value:
        case str():
            return HIDDEN.sub("\N{REPLACEMENT CHARACTER}", BLANKS.sub(" ", value))
        case list():
            return [clean_json(one) for one in value]
        case dict():
            return {clean_json(key): clean_json(one) for key, one in value.items()}
    return value


def clean_path(path: str) -> str:
    """A path whose hidden characters, and bytes that are no UTF-8, are written as escapes, so that it stays itself."""
    return escape_hidden(path)


def headline_of(message: str) -> str:
    """A cleaned message without the explanations that compilers put behind it; these stay in JSON."""
    return _EXPLANATION.split(message, maxsplit=1)[0]
