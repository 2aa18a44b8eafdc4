"""Find IPython's own syntax among lines of Python.

IPython's rules are those of `IPython.core.inputtransformer2`: special forms are recognised among the *tokens* of a
logical line, never inside a string, a comment or brackets. IPython rewrites one form, tokenises everything again and so
on; here one pass goes over the lines, because a form ends at a physical line's end and what follows is tokenised from
there. Importing IPython costs more than checking a notebook, so the standard `tokenize` is used and the tests hold the
result against IPython's transformer.

Not here: what a magic does (`magic_table`), what is put in a form's place (`magics`).
"""

import re
import tokenize
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

_TRIGGER = re.compile(r"(?:\A|[\r\n])[ \t\f]*(?:[%!?,;/]|>>>)|=[ \t\f\\\r\n]*[%!](?!=)|\?[ \t\f]*(?:[\r\n]|\Z)")
_LINE_TRIGGER = re.compile(r"[ \t\f]*[%!?,;/]|.*=[ \t\f]*[%!](?!=)|.*\?[ \t\f]*\Z", re.DOTALL)
_INDENTED_OR_PROMPT = re.compile(
    r"\s*(?:[ \t]\S|(?:[^\r\n]*(?:\r\n?|\n))?(?:\[(?:nav|ins)\] |\s?In \[\d+\]: |\s*\.{3,}:))"
)
_UNTOKENISABLE = re.compile("[\x00\ud800-\udfff]")
_HELP_AT_END = re.compile(r"%{0,2}(?!\d)[\w*]+(?:\.(?!\d)[\w*]+|\[-?[0-9]+\])*\?\??$")
_ESCAPES = frozenset("!?%,;/")
_ERRORS_WITH_A_TOKEN = (
    "expected EOF",
    "unterminated string literal",
    "invalid non-printable character",
    "after line continuation character",
    "decimal literal",
    "binary literal",
    "octal literal",
    "hexadecimal literal",
)
"""Where the tokeniser stops with one of these, IPython goes on as if an empty token had come (from Python 3.12 on)."""
_LAYOUT = frozenset({tokenize.INDENT, tokenize.DEDENT})
_OPENING, _CLOSING = frozenset("([{"), frozenset(")]}")


class ConstructKind(StrEnum):
    """The forms of IPython's syntax below the level of a cell."""

    MAGIC = "%"
    SHELL = "!"
    SHELL_CAPTURE = "!!"
    HELP = "?"
    QUOTE_WORDS = ","
    QUOTE_REST = ";"
    CALL = "/"
    ASSIGN_MAGIC = "= %"
    ASSIGN_SHELL = "= !"


@dataclass(frozen=True, slots=True)
class Construct:
    """One form.

    Attributes:
        kind: which form.
        first_line: index of the line where it begins; before `column`, that line is Python (or white space).
        last_line: index of its last line, inclusive; a backslash at a line's end joins the next. It reaches to that
            line's end.
        column: where it begins: at its escape character, for help at the first token.
        content: what follows the escape character, lines joined as IPython joins them; empty for help.
        escape_width: the number of escape characters; 0 for a magic without `%`.
    """

    kind: ConstructKind
    first_line: int
    last_line: int
    column: int
    content: str
    escape_width: int = 1


def may_hold_ipython_syntax(source: str) -> bool:
    """Whether anything in a cell's source may be IPython's; `False` for most real cells, and then it surely is Python.

    A cell magic, a prompt and indentation of the whole cell count; a line magic without `%` does not.
    """
    return _TRIGGER.search(source) is not None or _INDENTED_OR_PROMPT.match(source) is not None


def find_constructs(lines: Sequence[str]) -> list[Construct]:
    """All forms in a cell's lines (cleaned, without their ends), in order."""
    last = max((i for i, line in enumerate(lines) if _LINE_TRIGGER.match(line)), default=-1)
    found: list[Construct] = []
    start = 0
    while start <= last:
        construct, start = _next_construct(lines, start)
        if construct is not None:
            found.append(construct)
    return found


def _next_construct(lines: Sequence[str], start: int) -> tuple[Construct | None, int]:
    """The first form at or after line `start`, and the line from which to look for the next one."""
    reached = start
    try:
        for logical in _logical_lines(lines, start):
            construct = _classify(lines, start, logical)
            if construct is not None:
                return construct, construct.last_line + 1
            reached = start + logical.tokens[-1].end[0]
    except IndentationError:
        # We started inside a block, so the tokeniser does not know the outer levels: go on from the line that it met.
        if reached > start:
            return None, reached
    return None, len(lines)


def _logical_lines(lines: Sequence[str], start: int) -> Iterator["_LogicalLine"]:
    """Tokens by logical line; the last one may be incomplete. One that holds a form ends with the form's last row."""
    logical, form_row, last_row = _LogicalLine(), 0, 0
    try:
        for token in tokenize.generate_tokens(_reader(lines, start)):
            if logical.form_row > form_row:
                form_row, last_row = logical.form_row, _last_row(lines, start, logical.form_row)
            if logical.form_row and token.start[0] > last_row:
                logical.is_cut = True
                break
            if logical.add(token):
                yield logical
                logical = _LogicalLine()
    except IndentationError:
        raise
    except (tokenize.TokenError, SyntaxError, ValueError) as error:
        # The input ends in a string or in brackets, or is no token: what was seen until here counts.
        logical.note_error(str(error.args[0]) if error.args else "")
    if logical.tokens:
        yield logical


def _last_row(lines: Sequence[str], start: int, row: int) -> int:
    """The row to which a backslash at the end of `row` reaches."""
    while start + row < len(lines) and lines[start + row - 1].endswith("\\"):
        row += 1
    return row


class _LogicalLine:
    """The tokens of one logical line, and the first places in it where a form may begin."""

    def __init__(self) -> None:
        self.tokens: list[tokenize.TokenInfo] = []
        self.first: tokenize.TokenInfo | None = None
        self.assignment: int | None = None
        self.form_row = 0
        self.is_cut = False
        self._depth = 0
        self._significant = -1

    def add(self, token: tokenize.TokenInfo) -> bool:
        """Take one token; whether it ends the line."""
        self.tokens.append(token)
        if token.type == tokenize.NEWLINE or (token.type == tokenize.NL and self._depth <= 0):
            return True
        if token.type in _LAYOUT or (token.type == tokenize.ERRORTOKEN and token.string.isspace()):
            return False
        self._note_form(token)
        if token.type == tokenize.OP:
            self._note_operator(token.string)
        self._significant = len(self.tokens) - 1
        return False

    def note_error(self, message: str) -> None:
        """The tokeniser stopped."""
        if self.tokens and any(part in message for part in _ERRORS_WITH_A_TOKEN):
            self.tokens.append(self.tokens[-1]._replace(type=tokenize.ERRORTOKEN, string=""))

    def _note_form(self, token: tokenize.TokenInfo) -> None:
        if self.first is None:
            self.first = token
            escaped = token.string in _ESCAPES
        else:
            escaped = (
                token.string in {"%", "!"} and self.assignment is not None and self.assignment == self._significant
            )
        if escaped:
            self.form_row = token.start[0]

    def _note_operator(self, operator: str) -> None:
        if operator in _OPENING:
            self._depth += 1
        elif operator in _CLOSING:
            self._depth = max(0, self._depth - 1)
        elif operator == "=" and self._depth == 0 and self.assignment is None:
            self.assignment = len(self.tokens) - 1


def _reader(lines: Sequence[str], start: int) -> Callable[[], str]:
    # An empty last line is what follows the cell's last line end: no line to IPython.
    following = iter(lines[start:] if lines[-1] else lines[start:-1])

    def readline() -> str:
        line = next(following, None)
        return "" if line is None else _UNTOKENISABLE.sub("\N{REPLACEMENT CHARACTER}", line) + "\n"

    return readline


def _classify(lines: Sequence[str], offset: int, logical: _LogicalLine) -> Construct | None:
    """The form that a logical line holds. Rows of tokens count from 1 at line `offset`."""
    if logical.first is None:
        return None
    form = None if logical.is_cut else _help(lines, offset, logical.tokens, logical.first)
    if form is None and logical.form_row:
        form = _escaped(lines, offset, logical.first) or _assigned(lines, offset, logical)
    return form


def _help(
    lines: Sequence[str], offset: int, tokens: Sequence[tokenize.TokenInfo], first: tokenize.TokenInfo
) -> Construct | None:
    """`name?` and its like: the last token before the line's end is `?`, and an object's name stands before it."""
    if len(tokens) < 3 or tokens[-2].string != "?":
        return None
    begin, end = offset + first.start[0] - 1, offset + tokens[-2].start[0] - 1
    content = "\n".join([lines[begin][first.start[1] :], *lines[begin + 1 : end + 1]])
    if not _HELP_AT_END.search(content):
        return None
    return Construct(ConstructKind.HELP, begin, end, first.start[1], "")


_KIND_OF_ESCAPE = {
    "%": ConstructKind.MAGIC,
    "!": ConstructKind.SHELL,
    "!!": ConstructKind.SHELL_CAPTURE,
    "?": ConstructKind.HELP,
    "??": ConstructKind.HELP,
    ",": ConstructKind.QUOTE_WORDS,
    ";": ConstructKind.QUOTE_REST,
    "/": ConstructKind.CALL,
}


def _escaped(lines: Sequence[str], offset: int, first: tokenize.TokenInfo) -> Construct | None:
    """`%m`, `!c`, `?o`, `,f a` and their like: the escape is the line's first token."""
    if first.string not in _ESCAPES:
        return None
    line, column = offset + first.start[0] - 1, first.start[1]
    text, last = join_continued(lines, line, column)
    escape = text[:2] if text[:2] in _KIND_OF_ESCAPE else text[:1]
    kind = _KIND_OF_ESCAPE.get(escape)
    content = text[len(escape) :]
    if kind is None or (kind is ConstructKind.CALL and not content.partition(" ")[0]):
        return None
    return Construct(kind, line, last, column, content, len(escape))


def _assigned(lines: Sequence[str], offset: int, logical: _LogicalLine) -> Construct | None:
    """`target = %m` and `target = !c`: the escape follows the first `=` that is in no brackets."""
    if logical.assignment is None:
        return None
    assignment, *following = (token for token in logical.tokens[logical.assignment :] if not token.string.isspace())
    if not following:
        return None
    escape = following[0]
    is_magic = escape.string == "%" and len(following) > 1 and following[1].type == tokenize.NAME
    is_shell = escape.string == "!" and not assignment.line.strip().startswith("=")
    if not (is_magic or is_shell):
        return None
    line, column = offset + escape.start[0] - 1, escape.start[1]
    text, last = join_continued(lines, line, column)
    kind = ConstructKind.ASSIGN_MAGIC if is_magic else ConstructKind.ASSIGN_SHELL
    return Construct(kind, line, last, column, text[1:]) if text[:1] == escape.string else None


def join_continued(lines: Sequence[str], line: int, column: int) -> tuple[str, int]:
    r"""The text from a place to the end of its line and of those that `\` joins to it, and the last of them.

    Each line loses the white space at its end, a joined one its backslash too; a blank is put between them.
    """
    final = len(lines) - (1 if lines[-1] else 2)
    last = line
    while last < final and lines[last].endswith("\\"):
        last += 1
    parts = [lines[line][column:], *lines[line + 1 : last + 1]]
    return " ".join([*(part.rstrip()[:-1] for part in parts[:-1]), parts[-1].rstrip()]), last
