"""What a cell does to the notebook's names, in the order in which Python does it: reads, bindings, deletions.

`module_names` says what a cell binds; for what a kernel knows and a file does not, the order matters too: whether a
name is read before the cell binds it, only when a function is called, or only on some way through the cell. Where the
tree does not tell, the events say so (`certain`), and what nobody can see in the text is one event of its own.
"""

import ast
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from jupyter_lsp_agent.notebook.namespace_calls import gives_unseen_names, names_given_by_call
from jupyter_lsp_agent.notebook.source_text import SourceText

FunctionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
ComprehensionNode = ast.ListComp | ast.SetComp | ast.DictComp | ast.GeneratorExp


class EventKind(StrEnum):
    """What happens to a name."""

    READ = "read"
    """It is looked up when the cell runs."""
    LATE_READ = "late_read"
    """It is looked up when a function of the cell is called."""
    BIND = "bind"
    DELETE = "delete"
    LOOP = "loop"
    """What follows may have been run before: the loop binds the name somewhere."""
    HIDDEN = "hidden"
    """Names that nobody can see may be bound; `name` is empty."""


@dataclass(frozen=True, slots=True)
class NameEvent:
    """One thing that happens to one of the notebook's names.

    Attributes:
        kind: what.
        name: to which.
        certain: it happens whenever the cell runs to its end.
        node: where, of reads.
        text: of bindings, the statement that binds, as written, or an import in one form; `None` where that is unclear.
    """

    kind: EventKind
    name: str = ""
    certain: bool = True
    node: ast.Name | None = None
    text: str | None = None


@dataclass(frozen=True, slots=True)
class _Scope:
    """Where a statement stands: `local` names are those of functions and classes around it, `outer` those that the
    innermost function declares global."""

    source: SourceText
    read: EventKind = EventKind.READ
    reads_surely: bool = True
    binds_surely: bool = True
    is_inside: bool = False
    local: frozenset[str] = frozenset()
    outer: frozenset[str] = frozenset()
    text: str | None = None
    tells_loops: bool = True

    def maybe(self) -> "_Scope":
        """The same, on one way of several."""
        return replace(self, reads_surely=False, binds_surely=False)

    def bind(self, name: str, text: str | None = None) -> Iterator[NameEvent]:
        """A binding at this place: the module's, a function's that is declared global, or none of the module's."""
        if not self.is_inside:
            yield NameEvent(EventKind.BIND, name, self.binds_surely, text=text or self.text)
        elif name in self.outer:
            yield NameEvent(EventKind.BIND, name, certain=False)


def name_events(tree: ast.Module, source: SourceText) -> Iterator[NameEvent]:
    """What a cell does to the notebook's names, in order.

    Raises:
        RecursionError: an expression is too deep for us.
    """
    return _body(tree.body, _Scope(source))


def _body(statements: Iterable[ast.stmt], scope: _Scope) -> Iterator[NameEvent]:
    for statement in statements:
        yield from _statement(statement, scope)


def _statement(statement: ast.stmt, scope: _Scope) -> Iterator[NameEvent]:
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield from _definition(statement, scope)
        case ast.Assign() | ast.AugAssign() | ast.AnnAssign():
            yield from _assignment(statement, scope)
        case ast.Import() | ast.ImportFrom():
            yield from _import(statement, scope)
        case ast.Delete():
            yield from _delete(statement, scope)
        case _ if type(statement).__name__ == "TypeAlias":
            yield from _expression(statement.name, replace(scope, reads_surely=False))  # type: ignore[attr-defined] # 3.12
        case _:
            yield from _compound(statement, scope)


def _compound(statement: ast.stmt, scope: _Scope) -> Iterator[NameEvent]:
    match statement:
        case ast.For() | ast.AsyncFor():
            yield from _expression(statement.iter, scope)
            yield from _loop(statement, scope)
            yield from _expression(statement.target, scope.maybe())
            yield from _body(statement.body, replace(scope, binds_surely=False))
            yield from _body(statement.orelse, scope.maybe())
        case ast.While():
            yield from _loop(statement, scope)
            yield from _expression(statement.test, scope)
            yield from _body([*statement.body, *statement.orelse], scope.maybe())
        case ast.If():
            yield from _expression(statement.test, scope)
            yield from _body([*statement.body, *statement.orelse], scope.maybe())
        case ast.With() | ast.AsyncWith():
            for item in statement.items:
                yield from _expressions([item.context_expr, item.optional_vars], scope)
            yield from _body(statement.body, scope)
        case ast.Match():
            yield from _expression(statement.subject, scope)
            yield from _cases(statement.cases, scope.maybe())
        case _:
            yield from _try_or_simple(statement, scope)


def _try_or_simple(statement: ast.stmt, scope: _Scope) -> Iterator[NameEvent]:
    if not isinstance(statement, ast.Try | ast.TryStar):
        yield from _children(statement, scope)
        return
    caught = scope.maybe() if statement.handlers else scope
    yield from _body(statement.body, caught)
    for handler in statement.handlers:
        yield from _expressions([handler.type], scope.maybe())
        if handler.name:
            yield from scope.maybe().bind(handler.name)
        yield from _body(handler.body, scope.maybe())
    yield from _body(statement.orelse, caught)
    yield from _body(statement.finalbody, scope)


def _loop(statement: ast.For | ast.AsyncFor | ast.While, scope: _Scope) -> Iterator[NameEvent]:
    if scope.tells_loops and not scope.is_inside:
        for name in sorted(_bound_in([statement], scope)):
            yield NameEvent(EventKind.LOOP, name)


def _cases(cases: Sequence[ast.match_case], scope: _Scope) -> Iterator[NameEvent]:
    for case in cases:
        for node in ast.walk(case.pattern):
            name = getattr(node, "name", None) or getattr(node, "rest", None)
            if isinstance(name, str):
                yield from scope.bind(name)
            elif isinstance(node, ast.expr):
                yield from _names_in([node], scope)
        yield from _expressions([case.guard], scope)
        yield from _body(case.body, scope)


def _names_in(nodes: Iterable[ast.expr], scope: _Scope) -> Iterator[NameEvent]:
    for node in nodes:
        if isinstance(node, ast.Name):
            yield from _name(node, scope)


def _definition(statement: ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef, scope: _Scope) -> Iterator[NameEvent]:
    yield from _expressions(statement.decorator_list, scope)
    local = scope.local | {parameter.name for parameter in getattr(statement, "type_params", ())}
    if isinstance(statement, ast.ClassDef):
        yield from _expressions([*statement.bases, *(word.value for word in statement.keywords)], scope)
        bound = _bound_in(statement.body, scope)
        inside = replace(scope, local=local | bound, is_inside=True, outer=frozenset(), text=None)
        yield from _body(statement.body, inside)
    else:
        yield from _function(statement, replace(scope, local=local))
    yield from scope.bind(statement.name, scope.source.slice(scope.source.range(statement)))


def _function(function: FunctionNode, scope: _Scope) -> Iterator[NameEvent]:
    arguments = function.args
    yield from _expressions([*arguments.defaults, *arguments.kw_defaults], scope)
    late = replace(scope, read=EventKind.LATE_READ, reads_surely=False, binds_surely=False, is_inside=True, text=None)
    named = [*arguments.posonlyargs, *arguments.args, *arguments.kwonlyargs, arguments.vararg, arguments.kwarg]
    present = [argument for argument in named if argument is not None]
    local = {argument.arg for argument in present}
    if isinstance(function, ast.Lambda):
        yield from _expression(function.body, replace(late, local=scope.local | local))
        return
    yield from _expressions([*(argument.annotation for argument in present), function.returns], late)
    outer = frozenset(_declared_global(function.body))
    local |= _bound_in(function.body, scope)
    yield from _body(function.body, replace(late, local=(scope.local | local) - outer, outer=outer))


def _declared_global(body: Iterable[ast.stmt]) -> Iterator[str]:
    waiting: list[ast.AST] = list(body)
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Global):
            yield from node.names
        if isinstance(node, ast.stmt | ast.excepthandler | ast.match_case) and not isinstance(
            node, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef
        ):
            waiting.extend(ast.iter_child_nodes(node))


def _bound_in(body: Iterable[ast.stmt], scope: _Scope) -> frozenset[str]:
    """What statements would bind at module level."""
    events = _body(body, _Scope(scope.source, tells_loops=False))
    return frozenset(event.name for event in events if event.kind in {EventKind.BIND, EventKind.DELETE})


def _assignment(statement: ast.Assign | ast.AugAssign | ast.AnnAssign, scope: _Scope) -> Iterator[NameEvent]:
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    if isinstance(statement, ast.AugAssign) and isinstance(statement.target, ast.Name):
        yield from _name(ast.copy_location(ast.Name(statement.target.id, ast.Load()), statement.target), scope)
    if isinstance(statement, ast.AnnAssign):
        yield from _expression(statement.annotation, replace(scope, read=EventKind.LATE_READ, reads_surely=False))
    if statement.value is None:
        return
    yield from _expression(statement.value, scope)
    text = scope.source.slice(scope.source.range(statement))
    yield from _expressions(targets, replace(scope, text=text))


def _import(statement: ast.Import | ast.ImportFrom, scope: _Scope) -> Iterator[NameEvent]:
    module = f"{'.' * statement.level}{statement.module or ''}" if isinstance(statement, ast.ImportFrom) else ""
    if module == "__future__":
        return
    for alias in statement.names:
        if alias.name == "*":
            yield NameEvent(EventKind.HIDDEN)
            continue
        # `import a.b` binds `a`, which is the same thing after `import a.c`.
        what = alias.name if alias.asname or module else alias.name.partition(".")[0]
        yield from scope.bind(alias.asname or what, f"from {module} import {what}")


def _delete(statement: ast.Delete, scope: _Scope) -> Iterator[NameEvent]:
    for target in statement.targets:
        if not isinstance(target, ast.Name):
            yield from _children(target, scope)
        elif not scope.is_inside:
            yield from _name(target, scope)  # what is deleted must be there
            yield NameEvent(EventKind.DELETE, target.id, scope.binds_surely)


def _expressions(nodes: Iterable[ast.expr | None], scope: _Scope) -> Iterator[NameEvent]:
    for node in nodes:
        if node is not None:
            yield from _expression(node, scope)


def _expression(node: ast.AST, scope: _Scope) -> Iterator[NameEvent]:
    match node:
        case ast.Name():
            yield from _name(node, scope)
        case ast.NamedExpr():
            yield from _expressions([node.value, node.target], scope)
        case ast.Lambda():
            yield from _function(node, scope)
        case ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            yield from _comprehension(node, scope)
        case ast.BoolOp(values=[first, *rest]):
            yield from _expression(first, scope)
            yield from _expressions(rest, scope.maybe())
        case ast.IfExp():
            yield from _expression(node.test, scope)
            yield from _expressions([node.body, node.orelse], scope.maybe())
        case ast.Call() | ast.Attribute():
            yield from _children(node, scope)
            yield from _reaching(node, scope)
        case _:
            yield from _children(node, scope)


def _children(node: ast.AST, scope: _Scope) -> Iterator[NameEvent]:
    for child in ast.iter_child_nodes(node):
        yield from _statement(child, scope) if isinstance(child, ast.stmt) else _expression(child, scope)


def _name(node: ast.Name, scope: _Scope) -> Iterator[NameEvent]:
    if isinstance(node.ctx, ast.Store):
        yield from scope.bind(node.id)
    elif node.id not in scope.local:
        yield NameEvent(scope.read, node.id, scope.reads_surely, node)
        if gives_unseen_names(node):
            yield NameEvent(EventKind.HIDDEN)


def _reaching(node: ast.Call | ast.Attribute, scope: _Scope) -> Iterator[NameEvent]:
    if gives_unseen_names(node):
        yield NameEvent(EventKind.HIDDEN)
    for name in names_given_by_call(node):
        yield from replace(scope.maybe(), is_inside=False, text=None).bind(name)


def _comprehension(node: ComprehensionNode, scope: _Scope) -> Iterator[NameEvent]:
    first, *_ = node.generators
    yield from _expression(first.iter, scope)
    local = frozenset(
        name.id
        for generator in node.generators
        for name in ast.walk(generator.target)
        if isinstance(name, ast.Name) and isinstance(name.ctx, ast.Store)
    )
    inner = replace(scope, local=scope.local | local)
    if isinstance(node, ast.GeneratorExp):
        inner = replace(inner, read=EventKind.LATE_READ, reads_surely=False, binds_surely=False)
    for generator in node.generators:
        yield from _expressions([None if generator is first else generator.iter, *generator.ifs], inner)
    elements = [node.key, node.value] if isinstance(node, ast.DictComp) else [node.elt]
    yield from _expressions(elements, replace(inner, reads_surely=inner.reads_surely and not first.ifs))
