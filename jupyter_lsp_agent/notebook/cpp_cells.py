"""Cells of C++ interpreters (xeus-cling, ROOT): statements and bare expressions stand among declarations.

A cell is cut into its top-level pieces; a piece that is no declaration gets a function around it, on its own line, so
that no line is added. What a declaration is, is told by how it begins: C++ itself cannot tell `a * b;` without
knowing what `a` is, and takes it for a declaration as we do.
"""

import re
from collections.abc import Iterator, Sequence

from jupyter_lsp_agent.core.positions import TextPosition
from jupyter_lsp_agent.notebook.line_map import MappedLine
from jupyter_lsp_agent.notebook.rewrite import Replace, apply_rewrites, insertion

_TOKEN = re.compile(
    r"""(?P<skip>//[^\n]*|/\*.*?(?:\*/|\Z)|R"(?P<delimiter>[^(\s]*)\(.*?\)(?P=delimiter)"|"(?:\\.|[^"\\\n])*"?"""
    r"""|'(?:\\.|[^'\\\n])*'?)|(?P<directive>^[ \t]*\#(?:\\\n|[^\n])*)|(?P<open>[({\[])|(?P<close>[)}\]])|(?P<end>;)""",
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
_GOES_ON = re.compile(r"\s*(?:[;,.()=\[]|->|else\b|catch\b|while\b|[*&]?\s*\w+\s*[;=,])")
_DECLARATION = re.compile(
    r"(?:using|namespace|template|struct|class|enum|union|typedef|extern|friend|inline|static|constexpr|consteval|constinit"
    r"|concept|asm|static_assert|export|import|module|alignas|thread_local|volatile|auto|const|unsigned|signed|long|short)\b"
    r"|\[\["
    r"|(?!(?:return|throw|delete|new|goto|case|else|if|for|while|do|switch|try|co_\w+|break|continue|sizeof)\b)"
    r"(?:::)?[A-Za-z_]\w*(?:\s*<[^;(){}]*>)?(?:::[A-Za-z_]\w*(?:\s*<[^;(){}]*>)?)*"
    r"(?:\s*[*&]+\s*|\s+)(?:const\s+)?[A-Za-z_][\w:]*\s*(?:[=;({\[,]|operator\b)"
)
_ONLY_COMMENTS = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*\Z", re.DOTALL)
_LEADING = re.compile(r"(?:\s|//[^\n]*(?:\n|\Z)|/\*.*?\*/)*", re.DOTALL)


def rewrite_cpp_cell(lines: Sequence[MappedLine], cell_index: int) -> tuple[MappedLine, ...]:
    """A cell with a function around each stretch of statements."""
    text = "\n".join(line.text for line in lines)
    rewrites: list[Replace] = []
    for number, (start, end) in enumerate(_statements(text)):
        rewrites.append(insertion(_position(text, start), f"void _jla_run_{cell_index}_{number}() {{ "))
        closed = text[start:end].rstrip().endswith((";", "}"))
        rewrites.append(insertion(_position(text, end), " }" if closed else "; }"))
    return apply_rewrites(lines, rewrites)


def _statements(text: str) -> Iterator[tuple[int, int]]:
    for start, end in _pieces(text):
        if not _DECLARATION.match(text, start, end):
            yield start, end


def _pieces(text: str) -> Iterator[tuple[int, int]]:
    """The top-level pieces, without white space and comments around them, and without preprocessor lines."""
    start = depth = 0
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup
        if kind == "directive" and not depth:
            yield from _trimmed(text, start, token.start())
            start = token.end()
        elif kind == "open":
            depth += 1
        elif kind == "close":
            depth = max(0, depth - 1)
        ends = kind == "end" or (token[0] == "}" and not _GOES_ON.match(text, token.end()))
        if ends and not depth:
            yield from _trimmed(text, start, token.end())
            start = token.end()
    yield from _trimmed(text, start, len(text))


def _trimmed(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    if _ONLY_COMMENTS.match(text[start:end]):
        return
    leading = _LEADING.match(text, start, end)
    first = leading.end() if leading else start
    last = end
    for token in _TOKEN.finditer(text, first, end):
        if (
            token.lastgroup in {"skip", "delimiter"}
            and token[0].startswith(("//", "/*"))
            and not text[token.end() : end].strip()
        ):
            last = token.start()
            break
    last = first + len(text[first:last].rstrip())
    if text[first:last].strip(";"):
        yield first, last


def _position(text: str, offset: int) -> TextPosition:
    line = text.count("\n", 0, offset)
    return TextPosition(line, offset - (text.rfind("\n", 0, offset) + 1))
