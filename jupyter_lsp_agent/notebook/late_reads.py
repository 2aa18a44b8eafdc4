"""Reads of the notebook's names that happen when a function is called: their type is that of the moment.

A server gives such a name the types of all assignments at once; a kernel gives it the last one that was run. Where
several cells bind the name, what a server finds wrong with one of the types is therefore no error yet.
"""

import ast
from collections.abc import Iterator

from jupyter_lsp_agent.core.positions import TextPosition, TextRange
from jupyter_lsp_agent.notebook.python_syntax import parse
from jupyter_lsp_agent.notebook.source_text import SourceText

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def find_late_reads(text: str) -> list[tuple[str, TextRange]]:
    """Each read of a name inside a function that does not bind it itself, with the place of what is done with it.

    A name gives several places: itself, each attribute, item and call that hangs on it, and an operation on it.

    Args:
        text: a cell's virtual text; nothing is found where it does not parse.
    """
    tree = parse(text)
    return [] if tree is None else list(_reads(tree, SourceText(text), frozenset(), is_late=False))


def _reads(
    node: ast.AST, source: SourceText, local: frozenset[str], *, is_late: bool
) -> Iterator[tuple[str, TextRange]]:
    if isinstance(node, _FUNCTIONS):
        local, is_late = local | _bound_in(node), True
    for child in ast.iter_child_nodes(node):
        if is_late and isinstance(child, ast.expr):
            for name in _operands(child):
                if name not in local:
                    yield from ((name, place) for place in _places(child, source))
        yield from _reads(child, source, local, is_late=is_late)


def _operands(node: ast.expr) -> list[str]:
    """The names that an expression is about: the root of a chain, or of either side of an operation."""
    sides: list[ast.expr] = [node]
    if isinstance(node, ast.BinOp):
        sides = [node.left, node.right]
    elif isinstance(node, ast.Compare):
        sides = [node.left, *node.comparators]
    return [root.id for side in sides if (root := _root(side)) is not None]


def _root(node: ast.expr) -> ast.Name | None:
    """The name that a chain of attributes, items and calls begins with."""
    while isinstance(node, (ast.Attribute, ast.Subscript, ast.Call)):
        node = node.func if isinstance(node, ast.Call) else node.value
    return node if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) else None


def _places(node: ast.expr, source: SourceText) -> Iterator[TextRange]:
    whole = source.range(node)
    yield whole
    if isinstance(node, ast.Attribute):
        yield TextRange(TextPosition(whole.end.line, whole.end.column - len(node.attr)), whole.end)


def _bound_in(function: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda) -> frozenset[str]:
    arguments = function.args
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs]
    names = {argument.arg for argument in [*named, arguments.vararg, arguments.kwarg] if argument is not None}
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and not isinstance(node.ctx, ast.Load):
            names.add(node.id)
        elif isinstance(node, ast.Global):
            names.difference_update(node.names)
    return frozenset(names)
