"""Where `await` and `async` stand outside every function, as the servers that refuse them there mark them."""

import ast
from collections.abc import Iterator

from jupyter_lsp_agent.core.positions import TextPosition, TextRange
from jupyter_lsp_agent.notebook.source_text import SourceText

_FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)


def find_top_level_awaits(tree: ast.Module, source: SourceText) -> frozenset[TextPosition]:
    """The starts of `await`, `async for`, `async with` and async comprehensions at module level.

    Of a comprehension, its own start, each `async` and each `for` are given: servers choose differently.
    """
    if not any("await" in line or "async" in line for line in source.lines):
        return frozenset()
    return frozenset(place for node in _outside_functions(tree) for place in _places(node, source))


def find_await_words(tree: ast.Module, source: SourceText) -> frozenset[TextPosition]:
    """Where CPython finds fault with awaiting outside functions: the start of each statement or expression of it."""
    nodes = (ast.Await, ast.AsyncFor, ast.AsyncWith)
    return frozenset(source.start(node) for node in _outside_functions(tree) if isinstance(node, nodes))


def _outside_functions(node: ast.AST) -> Iterator[ast.AST]:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, _FUNCTIONS):
            continue
        yield child
        yield from _outside_functions(child)


def _places(node: ast.AST, source: SourceText) -> Iterator[TextPosition]:
    match node:
        case ast.Await() | ast.AsyncFor() | ast.AsyncWith():
            yield source.start(node)
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            if any(generator.is_async for generator in node.generators):
                yield source.start(node)
                yield from _async_words(node, source)


def _async_words(
    node: ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp, source: SourceText
) -> Iterator[TextPosition]:
    before = source.end(node.value if isinstance(node, ast.DictComp) else node.elt)
    for generator in node.generators:
        target = source.start(generator.target)
        word = source.find("async", TextRange(before, target)) if generator.is_async else None
        if word is not None:
            yield word.start
        last = generator.ifs[-1] if generator.ifs else generator.iter
        before = source.end(last)
