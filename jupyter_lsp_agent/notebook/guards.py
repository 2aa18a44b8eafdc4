"""Guards for statements that only a server knows to be the last to run (`NoReturn`), found from its hints.

Each form is the least that all servers take: names that the statement binds stay bound, and narrowing stays. Where the
least is not enough, the whole statement, and at last the whole cell, is put under a condition that nobody can know.
"""

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from jupyter_lsp_agent.core.positions import TextPosition
from jupyter_lsp_agent.notebook.advice import Guard, GuardStrength
from jupyter_lsp_agent.notebook.module_names import collect_names
from jupyter_lsp_agent.notebook.reserved_names import CALL, FLAG, MISSING_MODULE
from jupyter_lsp_agent.notebook.rewrite import Glue, Indent, Rewrite, insertion
from jupyter_lsp_agent.notebook.source_text import SourceText


def strengthened(guards: frozenset[Guard], wanted: Iterable[Guard]) -> frozenset[Guard]:
    """`guards` with the `wanted` ones; each of these that is there already in the next strength, as far as there is
    one."""
    grown = set(guards)
    for guard in wanted:
        strengths = (replace(guard, strength=strength) for strength in GuardStrength)
        grown.update([next((stronger for stronger in strengths if stronger not in guards), guard)])
    return frozenset(grown)


def statement_before(body: Sequence[ast.stmt], source: SourceText, place: TextPosition | None) -> int:
    """Number of the top-level statement before the one that begins at `place`, or of the one that holds it; the last
    one for `None`."""
    if place is None:
        return len(body) - 1
    return max(sum(source.start(statement) < place for statement in body) - 1, 0)


def guard_rewrites(
    body: Sequence[ast.stmt], number: int, source: SourceText, *, firm: bool = False
) -> tuple[list[Rewrite], set[int]]:
    """What makes a server believe that statement `number` of `body` may be followed by others.

    Args:
        body: all statements of a cell.
        number: which of them.
        source: the cell.
        firm: put all of it under a condition, whatever it is.

    Returns:
        The rewrites, and the numbers of the statements that they change: those that share its lines too.
    """
    light = [] if firm else list(_light_guard(body[number], source))
    if light:
        return light, {number}
    first, last = _sharing_lines(body, number, source)
    return list(enclose(body, body[first : last + 1], source)), set(range(first, last + 1))


def _light_guard(statement: ast.stmt, source: SourceText) -> Iterator[Rewrite]:
    match statement:
        case ast.Expr(value=value) if _is_plain(value):
            yield insertion(source.end(statement), f" if {FLAG} else 0")
        case ast.Assign(value=value) if _is_plain(value) and not any(map(_calls, statement.targets)):
            yield insertion(source.end(value), f" if {FLAG} else {CALL}()")
        case ast.AnnAssign(value=ast.expr() as value, target=ast.Name()) if _is_plain(value):
            if not _calls(statement.annotation):
                yield insertion(source.end(value), f" if {FLAG} else {CALL}()")
        case ast.Assert() if not any(isinstance(node, ast.NamedExpr) for node in ast.walk(statement)):
            yield insertion(source.start(statement.test), f"{FLAG} or (")
            yield insertion(source.end(statement.test), ")")


def _is_plain(value: ast.expr) -> bool:
    """Whether a condition may be written after an expression and is about all of it."""
    return isinstance(value, (ast.Call, ast.Await, ast.Attribute, ast.Subscript)) and not any(
        isinstance(node, ast.NamedExpr) for node in ast.walk(value)
    )


def _calls(node: ast.expr) -> bool:
    return not isinstance(node, ast.Name) and any(
        isinstance(inner, (ast.Call, ast.Await, ast.Attribute, ast.Subscript)) for inner in ast.walk(node)
    )


def _sharing_lines(body: Sequence[ast.stmt], number: int, source: SourceText) -> tuple[int, int]:
    """The first and the last of the statements that share lines with statement `number`."""
    first = last = number
    while first and _is_joined(body[first - 1], body[first], source):
        first -= 1
    while last + 1 < len(body) and _is_joined(body[last], body[last + 1], source):
        last += 1
    return first, last


def _is_joined(one: ast.stmt, other: ast.stmt, source: SourceText) -> bool:
    end, start = source.end(one).line, _first_line(other, source)
    return start <= end


def _first_line(statement: ast.stmt, source: SourceText) -> int:
    """The first line of a statement, decorators and lines that end in a backslash before it with it."""
    decorators = getattr(statement, "decorator_list", ())
    line = min([source.start(statement).line, *(source.start(node).line for node in decorators)])
    while line and source.lines[line - 1].endswith("\\"):
        line -= 1
    return line


def enclose(
    body: Sequence[ast.stmt], chosen: Sequence[ast.stmt], source: SourceText, further: Iterable[str] = ()
) -> Iterator[Rewrite]:
    """Put the lines of `chosen` under a condition, and bind their names, and `further` ones, where it is not met.

    All of a cell's lines are taken where `chosen` is all of `body`. Nothing is done where a form feed begins a line:
    Python counts blanks anew behind it.
    """
    whole = len(chosen) == len(body)
    first = 0 if whole else _first_line(chosen[0], source)
    last = len(source.lines) - 1 if whole else source.end(chosen[-1]).line
    if any(line.lstrip(" \t").startswith("\f") for line in source.lines[first : last + 1]):
        return
    names = collect_names(ast.Module([*chosen], []), source)
    defined = {definition.name for definition in names.definitions}.union(further)
    values = "".join(f"{name} = " for name in sorted(names.bound - defined))
    # What is imported from nowhere may stand for a class, which a value may not.
    types = f"; from {MISSING_MODULE} import {', '.join(sorted(defined))}" if defined else ""
    yield Glue(first, f"if {FLAG}:", outer=True)
    yield Indent(first, last)
    yield Glue(last, f"else: {values}{CALL}(){types}", after=True, outer=True)
