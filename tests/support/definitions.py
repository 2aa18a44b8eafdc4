"""Where names are defined, computed from `ast` alone: the truth that servers' definitions are compared with.

Cells are read as one module, in order, as a kernel runs them. Only a name whose definition is beyond doubt is given
one: bound once in the one scope that can be meant, before its use where that runs at once. What the truth leaves out,
and why, is counted, not hidden.
"""

import ast
import warnings
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

FUNCTIONS = (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda)
COMPREHENSIONS = (ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


@dataclass(frozen=True, order=True)
class Spot:
    """A name in a cell: 1-based line and column in code points, as the interface counts."""

    cell: int
    line: int
    column: int


@dataclass
class Scope:
    """A scope: what it binds, where, and what is declared to be another's."""

    node: ast.AST
    parent: "Scope | None"
    bound: dict[str, list[Spot]] = field(default_factory=dict)
    foreign: set[str] = field(default_factory=set)
    doubtful: set[str] = field(default_factory=set)

    @property
    def is_class(self) -> bool:
        return isinstance(self.node, ast.ClassDef)

    @property
    def is_module(self) -> bool:
        return isinstance(self.node, ast.Module)


@dataclass
class Truth:
    """`defined`: use → definition; `left_out`: why how many other names were left out."""

    defined: dict[Spot, Spot] = field(default_factory=dict)
    names: dict[Spot, str] = field(default_factory=dict)
    left_out: Counter[str] = field(default_factory=Counter)


class _Reader:
    """Reads cells into one module scope."""

    def __init__(self) -> None:
        self.module = Scope(ast.Module([], []), None)
        self.uses: list[tuple[str, Spot, Scope]] = []
        self.called: set[Spot] = set()
        self.code: set[Spot] = set()
        self.cell = 0
        self.lines: list[str] = []

    def read(self, index: int, source: str) -> None:
        self.cell, self.lines = index, source.split("\n")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            flags = ast.PyCF_ONLY_AST | ast.PyCF_ALLOW_TOP_LEVEL_AWAIT
            tree = compile(source, "<cell>", "exec", flags, dont_inherit=True)
        for statement in tree.body:
            self.visit(statement, self.module)

    def spot(self, line: int, byte_column: int) -> Spot:
        text = self.lines[line - 1].encode()[:byte_column].decode()
        return Spot(self.cell, line, len(text) + 1)

    def bind(self, scope: Scope, name: str, spot: Spot, *, doubtful: bool = False) -> None:
        scope.bound.setdefault(name, []).append(spot)
        if doubtful:
            scope.doubtful.add(name)

    def visit(self, node: ast.AST, scope: Scope) -> None:
        match node:
            case ast.Name():
                self.name(node, scope)
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                self.definition(node, scope)
            case ast.Lambda():
                self.function(node, scope)
            case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
                self.comprehension(node, scope)
            case ast.NamedExpr():
                self.visit(node.value, scope)
                self.visit(node.target, _outside_comprehensions(scope))
            case ast.Call(func=ast.Name() as callee):
                self.called.add(self.spot(callee.lineno, callee.col_offset))
                self.children(node, scope)
            case _:
                self.doubtful(node, scope)
                self.children(node, scope)

    def name(self, node: ast.Name, scope: Scope) -> None:
        spot = self.spot(node.lineno, node.col_offset)
        if isinstance(node.ctx, ast.Load):
            self.uses.append((node.id, spot, scope))
        else:
            self.bind(scope, node.id, spot, doubtful=isinstance(node.ctx, ast.Del))

    def doubtful(self, node: ast.AST, scope: Scope) -> None:
        """Bindings of which servers may have another view than ours, or whose place `ast` does not tell."""
        match node:
            case ast.Global() | ast.Nonlocal():
                scope.foreign.update(node.names)
                self.module.doubtful.update(node.names)
            case ast.alias():
                self.bind(scope, node.asname or node.name.partition(".")[0], self.nowhere(node), doubtful=True)
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)) | ast.MatchMapping(rest=str(name)):
                self.bind(scope, name, self.nowhere(node), doubtful=True)
            case ast.ExceptHandler(name=str(name)):
                self.bind(scope, name, self.nowhere(node), doubtful=True)

    def nowhere(self, node: ast.AST) -> Spot:
        return Spot(self.cell, node.lineno, 0)  # type: ignore[attr-defined]

    def children(self, node: ast.AST, scope: Scope) -> None:
        for child in ast.iter_child_nodes(node):
            self.visit(child, scope)

    def definition(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, scope: Scope) -> None:
        for decorator in node.decorator_list:
            self.visit(decorator, scope)
        word = "class " if isinstance(node, ast.ClassDef) else "def "
        line = self.lines[node.lineno - 1]
        column = line.index(word, len(line.encode()[: node.col_offset].decode())) + len(word)
        column = line.index(node.name, column)
        spot = Spot(self.cell, node.lineno, column + 1)
        self.code.add(spot)
        self.bind(scope, node.name, spot, doubtful=bool(node.decorator_list))
        if isinstance(node, ast.ClassDef):
            for base in (*node.bases, *node.keywords):
                self.visit(base, scope)
            inner = Scope(node, scope)
            for statement in node.body:
                self.visit(statement, inner)
        else:
            if node.returns is not None:
                self.visit(node.returns, scope)
            self.function(node, scope)

    def function(self, node: ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda, scope: Scope) -> None:
        arguments = node.args
        for default in (*arguments.defaults, *(one for one in arguments.kw_defaults if one is not None)):
            self.visit(default, scope)
        inner = Scope(node, scope)
        every = (*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg)
        for argument in every:
            if argument is not None:
                self.bind(inner, argument.arg, self.spot(argument.lineno, argument.col_offset))
                if argument.annotation is not None:
                    self.visit(argument.annotation, scope)
        body = [node.body] if isinstance(node, ast.Lambda) else node.body
        for statement in body:
            self.visit(statement, inner)

    def comprehension(self, node: ast.AST, scope: Scope) -> None:
        generators: list[ast.comprehension] = node.generators  # type: ignore[attr-defined]
        self.visit(generators[0].iter, scope)
        inner = Scope(node, scope)
        for number, generator in enumerate(generators):
            self.visit(generator.target, inner)
            if number:
                self.visit(generator.iter, inner)
            for condition in generator.ifs:
                self.visit(condition, inner)
        for part in ("key", "value", "elt"):
            if hasattr(node, part):
                self.visit(getattr(node, part), inner)


def _outside_comprehensions(scope: Scope) -> Scope:
    while isinstance(scope.node, COMPREHENSIONS) and scope.parent is not None:
        scope = scope.parent
    return scope


def find_truth(cells: Sequence[tuple[int, str]]) -> Truth:
    """The definitions of the names that the cells read; (index, source) of each, all of them plain Python."""
    reader = _Reader()
    for index, source in cells:
        reader.read(index, source)
    truth = Truth()
    for name, use, scope in reader.uses:
        found = _resolve(name, use, scope)
        if use in reader.called and isinstance(found, Spot) and found not in reader.code:
            found = "a value that is called, whose class's method may be meant"
        if isinstance(found, Spot):
            truth.defined[use], truth.names[use] = found, name
        else:
            truth.left_out[found] += 1
    return truth


def _resolve(name: str, use: Spot, scope: Scope) -> Spot | str:
    """The definition, or why it is in doubt."""
    home = next((one for one in _seen_from(scope) if name in one.bound or name in one.foreign), None)
    if home is None:
        return "not bound in the notebook"
    if name in home.foreign or name in home.doubtful:
        return "imported, decorated, deleted, or another scope's"
    spots = home.bound[name]
    if len(spots) > 1:
        return "bound more than once"
    if home.is_module and any(True for _ in _classes(scope, name)):
        return "bound in a class too"
    if spots[0] >= use and (home is scope or _runs_at_once(scope, home)):
        return "read before it is bound"
    return spots[0]


def _seen_from(scope: Scope) -> Iterator[Scope]:
    yield scope
    outer = scope.parent
    while outer is not None:
        if not outer.is_class:
            yield outer
        outer = outer.parent


def _classes(scope: Scope, name: str) -> Iterator[Scope]:
    step: Scope | None = scope
    while step is not None:
        if step.is_class and name in step.bound:
            yield step
        step = step.parent


def _runs_at_once(scope: Scope, home: Scope) -> bool:
    """Whether what is in `scope` runs where it stands, seen from `home`."""
    step: Scope | None = scope
    while step is not None and step is not home:
        if isinstance(step.node, FUNCTIONS):
            return False
        step = step.parent
    return True
