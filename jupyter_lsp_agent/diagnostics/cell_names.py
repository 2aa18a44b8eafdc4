"""The names that a cell binds and uses, near enough to say which cell's change a finding elsewhere comes from.

Python is parsed; what does not parse as Python (magics, other languages) is read by the shape of its lines. Nothing
that a report counts depends on this: a name that is missed leaves `caused_by` empty.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from jupyter_lsp_agent.notebook.python_syntax import parse

_WORD = re.compile(r"[^\W\d]\w*")
_BINDING = re.compile(
    r"\b(?:def|class|import|as|for|function|let|const|var|type|interface|fn|func|struct|enum)\s+([^\W\d]\w*)"
    r"|([^\W\d]\w*)\s*(?::[^=\n]*)?(?:=(?!=)|<-)"
)
_MAGIC = re.compile(r"^\s*[%!?].*$", re.MULTILINE)


@dataclass(frozen=True, slots=True)
class CellNames:
    """`bound`: what the cell defines, members of its classes too. `used`: every name in it."""

    bound: frozenset[str]
    used: frozenset[str]


NO_NAMES = CellNames(frozenset(), frozenset())


def read_names(source: str) -> CellNames:
    """The names of one cell's source."""
    text = _MAGIC.sub("pass", source)
    used = frozenset(_WORD.findall(text))
    tree = parse(text)
    if tree is None:
        bound = (match.group(1) or match.group(2) for match in _BINDING.finditer(text))
        return CellNames(frozenset(bound), used)
    return CellNames(frozenset(_bound(tree)), used)


def words_of(text: str) -> list[str]:
    """The identifiers of a text, in order."""
    return _WORD.findall(text)


def _bound(tree: ast.AST) -> Iterator[str]:
    waiting: list[ast.AST] = [tree]
    while waiting:
        node = waiting.pop()
        yield from _names_bound_by(node)
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)):
            waiting.extend(ast.iter_child_nodes(node))


def _names_bound_by(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield node.name
        case ast.Name(ctx=ast.Store()):
            yield node.id
        case ast.Attribute(ctx=ast.Store()):
            yield node.attr
        case ast.alias():
            yield node.asname or node.name.partition(".")[0]
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case _:
            pass
