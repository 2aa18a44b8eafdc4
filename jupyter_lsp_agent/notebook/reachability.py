"""Keeping later cells reachable: a kernel runs the next cell whatever the last one did, a server stops at `raise`.

Only what ends a cell is changed, and only the leaves of it: a `raise` that narrows (`if m is None: raise …`) must go
on narrowing, and a `try` whose handler raises must not make a name possibly unbound. What only a server can know to
end the cell (`NoReturn`) is not found here but from the server's own hints (`guards`).
"""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from jupyter_lsp_agent.core.positions import TextPosition, TextRange
from jupyter_lsp_agent.notebook.reserved_names import FLAG, RAISED
from jupyter_lsp_agent.notebook.rewrite import Glue, Replace, Rewrite, insertion
from jupyter_lsp_agent.notebook.source_text import SourceText

_EXITS = frozenset({"sys.exit", "os._exit", "os.abort", "exit", "quit"})


@dataclass(slots=True)
class CellEnd:
    """What keeps a cell's end from being reached: the leaves to change, and the statements after them."""

    leaves: list[ast.stmt] = field(default_factory=list)
    dead: list[tuple[ast.stmt, ast.stmt]] = field(default_factory=list)
    """First and last statement of each stretch that never runs."""


def find_cell_end(body: Sequence[ast.stmt]) -> CellEnd | None:
    """Why the end of `body` is not reached; `None` when it may be."""
    for number, statement in enumerate(body):
        end = _statement_end(statement)
        if end is not None:
            if number + 1 < len(body):
                end.dead.append((body[number + 1], body[-1]))
            return end
    return None


def reachability_rewrites(source: SourceText, end: CellEnd) -> Iterator[Rewrite]:
    """What makes the leaves of `end` fall through, without moving a character before them."""
    for leaf in end.leaves:
        yield from _guard_leaf(source, leaf)


def dead_ranges(source: SourceText, end: CellEnd) -> list[TextRange]:
    """The stretches that never run."""
    return [TextRange(source.start(first), source.end(last)) for first, last in end.dead]


def _statement_end(statement: ast.stmt) -> CellEnd | None:
    match statement:
        case ast.Raise():
            return CellEnd([statement])
        case ast.Assert(test=ast.Constant(value=value)) if not value:
            return CellEnd([statement])
        case ast.Expr(value=ast.Call(func=function)) if _dotted(function) in _EXITS:
            return CellEnd([statement])
        case ast.While(test=ast.Constant(value=value)) if value and not _breaks(statement.body):
            inner = find_cell_end(statement.body) or CellEnd()
            return CellEnd([*inner.leaves, statement], inner.dead)
        case ast.With() | ast.AsyncWith():
            return find_cell_end(statement.body)
    return _branching_end(statement)


def _branching_end(statement: ast.stmt) -> CellEnd | None:
    match statement:
        case ast.If(test=ast.Constant(value=value)):
            return find_cell_end(statement.body if value else statement.orelse)
        case ast.If():
            return _all([statement.body, statement.orelse])
        case ast.Try():
            return _try_end(statement)
        case ast.Match() if any(_irrefutable(case) for case in statement.cases):
            return _all([case.body for case in statement.cases])
    return None


def _try_end(statement: ast.Try) -> CellEnd | None:
    last = find_cell_end(statement.finalbody)
    if last is not None:
        return last
    main = [*statement.body, *statement.orelse]
    return _all([main, *(handler.body for handler in statement.handlers)])


def _all(bodies: Sequence[Sequence[ast.stmt]]) -> CellEnd | None:
    """The end of a branching whose every branch has one."""
    found = CellEnd()
    for body in bodies:
        end = find_cell_end(body)
        if end is None:
            return None
        found.leaves += end.leaves
        found.dead += end.dead
    return found


def _irrefutable(case: ast.match_case) -> bool:
    return case.guard is None and isinstance(case.pattern, ast.MatchAs) and case.pattern.pattern is None


def _breaks(body: Sequence[ast.stmt]) -> bool:
    """Whether a `break` of this very loop is in `body`."""
    for statement in body:
        match statement:
            case ast.Break():
                return True
            case ast.For() | ast.AsyncFor() | ast.While():
                if _breaks(statement.orelse):
                    return True
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                continue
            case _ if any(_breaks(inner) for inner in _blocks(statement)):
                return True
    return False


def _blocks(statement: ast.stmt) -> Iterator[list[ast.stmt]]:
    for name in ("body", "orelse", "finalbody"):
        yield getattr(statement, name, [])
    for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
        yield part.body


def _dotted(function: ast.expr) -> str | None:
    match function:
        case ast.Name(id=name):
            return name
        case ast.Attribute(value=ast.Name(id=owner), attr=name):
            return f"{owner}.{name}"
    return None


def _guard_leaf(source: SourceText, leaf: ast.stmt) -> Iterator[Rewrite]:
    match leaf:
        case ast.Raise():
            yield from _guard_raise(source, leaf)
        case ast.Assert():
            yield Replace(_word(source.start(leaf), "assert"), f"{RAISED} =")
        case ast.Expr():
            yield insertion(source.end(leaf), f" if {FLAG} else 0")
        case ast.While():
            yield from _guard_loop(source, leaf)


def _guard_raise(source: SourceText, leaf: ast.Raise) -> Iterator[Rewrite]:
    start = _word(source.start(leaf), "raise")
    if leaf.exc is None:
        yield Replace(start, "pass")
        return
    yield Replace(start, f"{RAISED} =")
    if leaf.cause is not None:
        word = source.find("from", TextRange(source.end(leaf.exc), source.start(leaf.cause)))
        if word is not None:
            yield Replace(word, "or")


def _guard_loop(source: SourceText, leaf: ast.While) -> Iterator[Rewrite]:
    """A way out as the loop's last line: in the test it would make what the loop binds possibly unbound."""
    first, last = leaf.body[0], leaf.body[-1]
    indentation = source.lines[first.lineno - 1][: source.start(first).column]
    if indentation.strip():
        yield Replace(source.range(leaf.test), FLAG)
        return
    jumps = isinstance(last, ast.Continue) and not source.lines[last.lineno - 1][: last.col_offset].strip()
    if jumps:
        yield Glue(last.lineno - 1, f"{indentation}if {FLAG}: break")
        return
    yield Glue(source.end(last).line, f"{indentation}if {FLAG}: break", after=True)


def _word(start: TextPosition, word: str) -> TextRange:
    return TextRange(start, TextPosition(start.line, start.column + len(word)))
