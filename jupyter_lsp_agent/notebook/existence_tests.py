"""Where a cell itself asks whether a name or a module exists.

`try: x` with `except NameError`, `"x" in globals()`, `try: import m` with `except ImportError`,
`if "m" in sys.modules: import m`. A cell may be run again, and on another machine, so such tests are a notebook's own
way; a server takes the name for undefined and the module for missing. A handler that catches everything is a test of
the names that it binds, and of no other; one that always leaves the cell is none.
"""

import ast
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jupyter_lsp_agent.core.positions import TextPosition, TextRange
from jupyter_lsp_agent.notebook.module_names import collect_names, module_statements
from jupyter_lsp_agent.notebook.reachability import find_cell_end
from jupyter_lsp_agent.notebook.source_text import SourceText

_NAMESPACES = frozenset({"globals", "locals", "vars", "dir"})
_NO_NAME = frozenset({"NameError", "UnboundLocalError"})
_NO_MODULE = frozenset({"ImportError", "ModuleNotFoundError"})
_EVERYTHING = frozenset({"Exception", "BaseException"})
_SIGNS = ("except", "suppress(", "find_spec", "' in ", '" in ', "' not in ", '" not in ')


@dataclass(frozen=True, slots=True)
class ExistenceTest:
    """A stretch of a cell in which something may be missing.

    Attributes:
        place: the stretch.
        names: the names that may be missing, or the top-level names of modules; empty: all.
        of_modules: whether it is modules.
    """

    place: TextRange
    names: frozenset[str] = frozenset()
    of_modules: bool = False


def find_existence_tests(tree: ast.Module, source: SourceText) -> Iterator[ExistenceTest]:
    """The tests in a cell, at any depth, in the cell's virtual coordinates."""
    asked = set()
    for node in _where_worth_it(tree, source):
        match node:
            case ast.Try():
                yield from _tried(node, source)
            case ast.With(items=[ast.withitem(context_expr=ast.Call(args=caught) as call)]) if _suppresses(call):
                yield from _caught(frozenset().union(*map(_exceptions, caught)), _extent(node.body, source))
            case ast.If() if _asked_modules(node.test):
                yield ExistenceTest(_extent(node.body, source), _asked_modules(node.test), of_modules=True)
            case ast.Compare(left=ast.Constant(value=str(name)), comparators=[where]) if _is_namespace(where):
                asked.add(name)
    if asked:
        last = len(source.lines) - 1
        whole = TextRange(TextPosition(0, 0), TextPosition(last, len(source.lines[last])))
        yield ExistenceTest(whole, frozenset(asked))


def find_asked_modules(tree: ast.Module, source: SourceText) -> frozenset[str]:
    """Top-level names of the modules that a cell asks for in any of these ways."""
    found: set[str] = set()
    for node in _where_worth_it(tree, source):
        if isinstance(node, ast.Try) and any(test.of_modules for test in _tried(node, source)):
            found |= collect_names(ast.Module(node.body, []), source).imported
        elif isinstance(node, ast.Compare | ast.Call):
            found |= _asked_modules(node)
    return frozenset(found)


def find_conditional_imports(tree: ast.Module, source: SourceText) -> Iterator[TextRange]:
    """The imports outside functions that only run under an `if`."""
    if not any("import" in line and line[:1].isspace() for line in source.lines):
        return
    for node in tree.body:
        if isinstance(node, ast.If):
            for statement in module_statements([node]):
                if isinstance(statement, (ast.Import, ast.ImportFrom)):
                    yield source.range(statement)


def _where_worth_it(tree: ast.Module, source: SourceText) -> Iterator[ast.AST]:
    """All nodes of cells that may hold a test; most hold none, and walking costs."""
    if any(sign in line for line in source.lines for sign in _SIGNS):
        yield from ast.walk(tree)


def _tried(node: ast.Try, source: SourceText) -> Iterator[ExistenceTest]:
    place = _extent(node.body, source)
    for handler in node.handlers:
        if find_cell_end(handler.body) is not None:
            continue
        caught = _exceptions(handler.type) if handler.type is not None else _EVERYTHING
        yield from _caught(caught - _EVERYTHING, place)
        if caught & _EVERYTHING:
            yield ExistenceTest(place, of_modules=True)
            bound = collect_names(ast.Module(handler.body, []), source).bound
            if bound:
                yield ExistenceTest(place, bound)


def _caught(caught: frozenset[str], place: TextRange) -> Iterator[ExistenceTest]:
    if caught & _NO_NAME:
        yield ExistenceTest(place)
    if caught & (_NO_MODULE | _EVERYTHING):
        yield ExistenceTest(place, of_modules=True)


def _exceptions(caught: ast.expr) -> frozenset[str]:
    match caught:
        case ast.Name(id=name):
            return frozenset({name})
        case ast.Tuple(elts=parts):
            return frozenset().union(*map(_exceptions, parts))
    return frozenset()


def _suppresses(call: ast.Call) -> bool:
    return ast.unparse(call.func) in {"suppress", "contextlib.suppress"}


def _asked_modules(test: ast.expr) -> frozenset[str]:
    """Top-level names of modules whose name as a text is looked for (`"m" in sys.modules`, `find_spec("m")`)."""
    found: set[str] = set()
    for node in ast.walk(test):
        match node:
            case ast.Compare(left=ast.Constant(value=str(name)), ops=[ast.In()]):
                found.add(name.partition(".")[0])
            case ast.Call(func=ast.Name(id="find_spec") | ast.Attribute(attr="find_spec")):
                names = (one.value for one in node.args[:1] if isinstance(one, ast.Constant))
                found.update(str(name).partition(".")[0] for name in names)
    return frozenset(found)


def _is_namespace(node: ast.expr) -> bool:
    """Whether it is `globals()` and its like, or `globals().keys()`."""
    match node:
        case ast.Call(func=ast.Name(id=name), args=[]):
            return name in _NAMESPACES
        case ast.Call(func=ast.Attribute(value=inner, attr="keys"), args=[]):
            return _is_namespace(inner)
    return False


def _extent(body: Sequence[ast.stmt], source: SourceText) -> TextRange:
    return TextRange(source.start(body[0]), source.end(body[-1]))
