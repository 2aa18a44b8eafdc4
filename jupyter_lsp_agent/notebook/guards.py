"""Guards for statements that only a server knows to be the last to run (`NoReturn`), found from its hints.

Each form is the least that all servers take: names that the statement binds stay bound, and narrowing stays.
"""

import ast
from collections.abc import Iterator, Sequence

from jupyter_lsp_agent.core.positions import TextPosition
from jupyter_lsp_agent.notebook.module_names import collect_names
from jupyter_lsp_agent.notebook.reserved_names import CALL, FLAG
from jupyter_lsp_agent.notebook.rewrite import Glue, Indent, Rewrite, insertion
from jupyter_lsp_agent.notebook.source_text import SourceText


def statement_before(body: Sequence[ast.stmt], source: SourceText, place: TextPosition | None) -> ast.stmt | None:
    """The top-level statement before the one that begins at `place`; the last one for `None`."""
    if place is None:
        return body[-1] if body else None
    before = None
    for statement in body:
        if source.start(statement) >= place:
            return before
        before = statement
    return before


def guard_rewrites(statement: ast.stmt, source: SourceText) -> Iterator[Rewrite]:
    """What makes a server believe that `statement` may be followed by others."""
    match statement:
        case ast.Expr(value=value) if not isinstance(value, (ast.Yield, ast.YieldFrom)):
            yield insertion(source.end(statement), f" if {FLAG} else 0")
        case ast.Assign(value=value) | ast.AnnAssign(value=ast.expr() as value):
            yield insertion(source.end(value), f" if {FLAG} else {CALL}()")
        case ast.Assert():
            yield insertion(source.end(statement.test), f" or {FLAG}")
        case _:
            yield from _enclose(statement, source)


def _enclose(statement: ast.stmt, source: SourceText) -> Iterator[Rewrite]:
    start, end = source.start(statement), source.end(statement)
    shares_a_line = source.lines[start.line][: start.column].strip() or source.lines[end.line][end.column :].lstrip(
        " \t;"
    )
    if shares_a_line and not source.lines[end.line][end.column :].lstrip().startswith("#"):
        return
    names = sorted(collect_names(ast.Module([statement], []), source).bound)
    values = "".join(f"{name} = " for name in names)
    yield Glue(start.line, f"if {FLAG}:", outer=True)
    yield Indent(start.line, end.line)
    yield Glue(end.line, f"else: {values}{CALL}()", after=True, outer=True)
