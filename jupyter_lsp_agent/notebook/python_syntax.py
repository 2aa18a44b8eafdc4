"""Python's own word on whether a cell's text is Python, and where it is not.

`compile()` rather than `ast.parse`: it is cheaper than building a tree in Python, and it knows the errors that only the
symbol table and the compiler find (`return` outside a function, `nonlocal` at module level). Top-level `await` is
allowed, and each statement is compiled alone where the whole is refused: so IPython does, which therefore takes
`from __future__` and `global` anywhere in a cell.
"""

import ast
import warnings
from dataclasses import dataclass
from keyword import iskeyword

from jupyter_lsp_agent.core.positions import TextPosition, TextRange, split_lines

_FILENAME = "<jupyter-lsp-agent cell>"
_FLAGS = ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
_PARSE_ATTEMPTS = 100
_TOO_DEEP = (RecursionError, MemoryError)


@dataclass(frozen=True, slots=True)
class SyntaxFault:
    """The first syntax error of a text: CPython's message at CPython's place, 0-based, in code points of that text."""

    message: str
    range: TextRange


def find_syntax_fault(text: str) -> SyntaxFault | None:
    """The first error of `text` as the body of a cell; `None` when it compiles, or is too deep for us to say."""
    silence_compile_warnings()
    try:
        compile(text, _FILENAME, "exec", _FLAGS, dont_inherit=True)
    except SyntaxError as error:
        return _fault_of_statements(text, error)
    except ValueError as error:
        # Before Python 3.12 a NUL is no SyntaxError.
        return _nul_fault(text, str(error))
    except _TOO_DEEP:
        return None
    return None


def _fault_of_statements(text: str, error: SyntaxError) -> SyntaxFault | None:
    """The fault of the first statement that is wrong on its own; that of the whole where it has no statements."""
    tree = parse(text)
    if tree is None:
        return _fault(text, error)
    for statement in tree.body:
        try:
            compile(ast.Module([statement], []), _FILENAME, "exec", _FLAGS, dont_inherit=True)
        except SyntaxError as found:
            return _fault(text, found)
    return None


def compiles(text: str) -> bool:
    """Whether `text` is the body of a cell."""
    return find_syntax_fault(text) is None


def parse(text: str) -> ast.Module | None:
    """The tree of a text that compiles; `None` where it is too deep."""
    silence_compile_warnings()
    for _ in range(_PARSE_ATTEMPTS):
        try:
            return ast.parse(text, _FILENAME)
        except (SyntaxError, ValueError, *_TOO_DEEP):
            return None
        except SystemError:
            # Up to Python 3.12 threads that build trees at the same time share a counter, and one of them may find
            # it wrong (python/cpython#106905); the tree itself is not to blame.
            continue
    return None


def silence_compile_warnings() -> None:
    """Keep `SyntaxWarning`s about cells (`"\\d"`, `x is 1`) from being printed or, with `-W error`, raised.

    A filter for our made-up file name alone; `warnings.catch_warnings` per cell would not be thread-safe.
    """
    present = any(entry[0] == "ignore" and entry[3] is not None and _is_ours(entry[3]) for entry in warnings.filters)
    if not present:
        warnings.filterwarnings("ignore", module=_MODULE_PATTERN)


_MODULE_PATTERN = r"<jupyter-lsp-agent cell>"


def _is_ours(pattern: object) -> bool:
    return getattr(pattern, "pattern", pattern) == _MODULE_PATTERN


def _fault(text: str, error: SyntaxError) -> SyntaxFault:
    if "null byte" in (error.msg or ""):
        return _nul_fault(text, error.msg)
    lines = split_lines(text)
    in_bytes = not text.isascii() and parse(text) is not None
    start = _place(lines, error.lineno, error.offset, in_bytes=in_bytes)
    end = _place(lines, error.end_lineno or error.lineno, error.end_offset, in_bytes=in_bytes)
    if end <= start:
        end = TextPosition(start.line, min(start.column + 1, len(lines[start.line])))
    return SyntaxFault(error.msg or "invalid syntax", TextRange(start, end))


def _place(lines: list[str], lineno: int | None, offset: int | None, *, in_bytes: bool) -> TextPosition:
    """CPython's 1-based place as ours. Its parser counts code points; its symbol table and compiler count UTF-8
    bytes."""
    line, column = (lineno or 1) - 1, (offset or 1) - 1
    if in_bytes and 0 <= line < len(lines) and column > 0:
        column = len(lines[line].encode("utf-8", "surrogatepass")[:column].decode("utf-8", "ignore"))
    return _clamp(lines, line, column)


def _nul_fault(text: str, message: str) -> SyntaxFault:
    before = split_lines(text[: max(0, text.find("\0"))])
    place = TextPosition(len(before) - 1, len(before[-1]))
    return SyntaxFault(message, TextRange(place, TextPosition(place.line, place.column + 1)))


def _clamp(lines: list[str], line: int, column: int) -> TextPosition:
    """A place inside the text: the end of input is one line past it, and offsets may be 0 or past the line's end."""
    if line >= len(lines):
        return TextPosition(len(lines) - 1, len(lines[-1]))
    line = max(0, line)
    return TextPosition(line, max(0, min(column, len(lines[line]))))


def is_name(text: str) -> bool:
    """Whether a program can call something by this name."""
    return text.isidentifier() and not iskeyword(text)
