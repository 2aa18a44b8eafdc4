"""C++ as a kernel takes it: statements at top level, which a file may hold only inside functions.

The text is cut into top-level pieces by a small scanner that knows comments, strings, raw strings, preprocessor lines
and brackets. Pieces that are statements and no declarations are put into a lambda of their own, on their own lines;
declarations stay where they are, at namespace scope, so that later cells see them.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass

_TOKEN = re.compile(
    r"""
    (?P<blank>\s+|//[^\n]*|/\*.*?(?:\*/|\Z))
  | (?P<preprocessor>(?<![^\n])[ \t]*\#(?:\\\n|[^\n])*)
  | (?P<text>R"(?P<mark>[^()\\\s]{0,16})\(.*?(?:\)(?P=mark)"|\Z)|"(?:\\.|[^"\\\n])*"?|'(?:\\.|[^'\\\n])*'?)
  | (?P<word>[A-Za-z_]\w*)
  | (?P<open>[({\[])
  | (?P<close>[)}\]])
  | (?P<end>;)
  | (?P<other>.)
    """,
    re.VERBOSE | re.DOTALL,
)
_DECLARES = re.compile(
    r"(?:template|class|struct|union|enum|namespace|using|typedef|extern|static|constexpr|const|inline|concept|auto|"
    r"unsigned|signed|long|short|int|char|bool|float|double|void|volatile|mutable|typename|static_assert)\b"
)
_CONTROLS = re.compile(
    r"(?:if|for|while|do|switch|try|return|throw|goto|break|continue|delete|co_await|co_return)\b|\{"
)
_CONTINUES = frozenset({"else", "catch", "while"})
_NEEDS_SEMICOLON = frozenset({"class", "struct", "union", "enum", "do"})
_DECLARATION = re.compile(
    r"(?:[A-Za-z_]\w*|::)[\w:]*\s*(?:<[^;{}()]*>)?[\w:]*(?:\s*[*&]+\s*|\s+)(?:[*&]\s*)*[A-Za-z_~]\w*\s*(?:[=;({\[,:]|\Z)"
)


@dataclass(frozen=True, slots=True)
class Piece:
    """A top-level piece of a text: `start` and `end` are offsets; `is_statement` says that a file may not hold it."""

    start: int
    end: int
    is_statement: bool
    is_open: bool
    """It lacks its final semicolon, as the last expression of a cell does."""


def split_pieces(text: str) -> Iterator[Piece]:
    """The top-level pieces of `text` (line ends are `\\n`), without blanks and comments between them."""
    scanner = _Scanner(text)
    while (piece := scanner.next_piece()) is not None:
        yield piece


class _Scanner:
    """Walks along the tokens of one text."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = [
            (str(match.lastgroup if match.lastgroup != "mark" else "text"), match.start(), match.end())
            for match in _TOKEN.finditer(text)
        ]
        self._at = 0

    def next_piece(self) -> Piece | None:
        """The piece that begins at the next token; `None` at the end."""
        self._skip_blanks()
        if self._at >= len(self._tokens):
            return None
        kind, start, end = self._tokens[self._at]
        if kind == "preprocessor":
            self._at += 1
            return Piece(start, end, is_statement=False, is_open=False)
        end, ended = self._scan()
        source = self._text[start:end]
        return Piece(start, end, is_statement=_is_statement(source), is_open=not ended and not source.endswith("}"))

    def _scan(self) -> tuple[int, bool]:
        """The end of the piece that begins here, and whether a semicolon or a block ended it."""
        depth, first = 0, self._word_at(self._at)
        has_value, end = False, self._tokens[self._at][1]
        while self._at < len(self._tokens):
            kind, start, stop = self._tokens[self._at]
            if kind == "preprocessor" and depth == 0:
                break
            self._at += 1
            end = stop if kind != "blank" else end
            depth += (kind == "open") - (kind == "close" and depth > 0)
            if depth:
                continue
            has_value = has_value or self._text[start:stop] == "="
            if kind == "end":
                return end, True
            if self._text[start:stop] == "}" and not has_value and self._block_ends(first):
                return end, True
        return end, False

    def _block_ends(self, first: str) -> bool:
        """Whether the piece is over at the `}` just read."""
        following = self._word_at(self._next_solid())
        return first not in _NEEDS_SEMICOLON and following not in _CONTINUES and following not in {";", ",", "(", "."}

    def _skip_blanks(self) -> None:
        self._at = self._next_solid()

    def _next_solid(self) -> int:
        at = self._at
        while at < len(self._tokens) and self._tokens[at][0] == "blank":
            at += 1
        return at

    def _word_at(self, at: int) -> str:
        if at >= len(self._tokens):
            return ""
        _, start, end = self._tokens[at]
        return self._text[start:end]


def _is_statement(source: str) -> bool:
    if _CONTROLS.match(source):
        return True
    if source == ";" or _DECLARES.match(source) or _DECLARATION.match(source):
        return False
    # `A::A() { … }`: a definition without a type in front.
    return not (source.endswith("}") and "(" in source and "=" not in source.partition("(")[0])
