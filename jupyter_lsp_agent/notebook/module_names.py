"""What a cell binds at module level, and how: by definition, by annotation, by anything else."""

import ast
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from jupyter_lsp_agent.core.positions import TextPosition, TextRange
from jupyter_lsp_agent.notebook.source_text import SourceText

DefinitionNode = ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef


@dataclass(frozen=True, slots=True)
class Definition:
    """A `def` or `class` at module level; `start` is its first decorator's `@`, or the statement's first character."""

    name: str
    start: TextPosition


@dataclass(frozen=True, slots=True)
class Annotation:
    """`name: annotation [= value]` at module level, with the places of its parts."""

    name: str
    text: str
    statement: TextRange
    colon_to_end: TextRange
    """From the name's end to the annotation's end."""
    has_value: bool


@dataclass(slots=True)
class ModuleNames:
    """The bindings of one cell; treated as frozen once collected."""

    definitions: list[Definition] = field(default_factory=list)
    annotations: list[Annotation] = field(default_factory=list)
    assigned: set[str] = field(default_factory=set)
    """Bound by anything but `def`, `class` and annotated assignment."""
    imported: set[str] = field(default_factory=set)
    """Top-level names of absolutely imported modules."""
    imported_paths: set[str] = field(default_factory=set)
    """Dotted names of everything that is absolutely imported and may be a module."""
    star_imports: list[TextRange] = field(default_factory=list)
    has_relative_imports: bool = False

    @property
    def bound(self) -> frozenset[str]:
        """Everything that the cell binds."""
        return self.declared | self.assigned

    @property
    def declared(self) -> frozenset[str]:
        """What the cell defines or annotates."""
        defined = [definition.name for definition in self.definitions]
        return frozenset(defined + [annotation.name for annotation in self.annotations])

    @property
    def rebound(self) -> frozenset[str]:
        """What it defines or annotates, and binds again."""
        ways = Counter(definition.name for definition in self.definitions)
        ways.update(annotation.name for annotation in self.annotations)
        return frozenset(name for name, count in ways.items() if count > 1 or name in self.assigned)


def collect_names(tree: ast.Module, source: SourceText) -> ModuleNames:
    """What `tree` binds at module level, inside of `if`, `for`, `try` and their like too, and by `global`."""
    names = ModuleNames()
    has_walrus = any(":=" in line for line in source.lines)
    has_global = any("global " in line for line in source.lines)
    for statement in module_statements(tree.body):
        _collect_statement(statement, source, names)
    if has_walrus:
        names.assigned.update(_walrus_targets(tree))
    if has_global:
        names.assigned.update(_global_names(tree))
    names.imported_paths.update(_inner_imports(tree))
    names.imported.update(path.partition(".")[0] for path in names.imported_paths)
    names.has_relative_imports = any(
        isinstance(statement, ast.ImportFrom) and statement.level for statement in _all_statements(tree.body)
    )
    return names


def module_statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    """The statements of `body` and of its blocks, those inside definitions left out."""
    for statement in body:
        yield statement
        if isinstance(statement, (ast.FunctionDef, ast.AsyncFunctionDef, ast.ClassDef)):
            continue
        for block in ("body", "orelse", "finalbody"):
            yield from module_statements(getattr(statement, block, ()))
        for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            yield from module_statements(part.body)


def _collect_statement(statement: ast.stmt, source: SourceText, names: ModuleNames) -> None:
    match statement:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            names.definitions.append(Definition(statement.name, _definition_start(statement, source)))
        case ast.AnnAssign(target=ast.Name(id=name)) if statement.simple:
            names.annotations.append(_annotation(name, statement, source))
        case ast.Import():
            names.assigned.update(_bound_by_import(statement.names))
        case ast.ImportFrom():
            _collect_import_from(statement, source, names)
        case ast.Try():
            names.assigned.update(handler.name for handler in statement.handlers if handler.name)
        case ast.Match():
            names.assigned.update(_captures(statement))
        case _:
            names.assigned.update(_targets(statement))


def _definition_start(statement: DefinitionNode, source: SourceText) -> TextPosition:
    start = source.start(statement)
    if not statement.decorator_list:
        return start
    first = source.start(statement.decorator_list[0])
    return TextPosition(first.line, source.lines[first.line].rfind("@", 0, first.column))


def _annotation(name: str, statement: ast.AnnAssign, source: SourceText) -> Annotation:
    after_name, annotation = source.end(statement.target), source.range(statement.annotation)
    text = source.slice(annotation)
    return Annotation(
        name=name,
        text=" ".join(text.split("\n")),
        statement=source.range(statement),
        colon_to_end=TextRange(after_name, annotation.end),
        has_value=statement.value is not None,
    )


def _bound_by_import(aliases: Iterable[ast.alias]) -> Iterator[str]:
    for alias in aliases:
        yield alias.asname or alias.name.partition(".")[0]


def _collect_import_from(statement: ast.ImportFrom, source: SourceText, names: ModuleNames) -> None:
    if statement.names[0].name == "*":
        names.star_imports.append(source.range(statement))
    elif statement.module != "__future__":
        names.assigned.update(_bound_by_import(statement.names))


def _targets(statement: ast.stmt) -> Iterator[str]:
    match statement:
        case ast.Assign():
            for target in statement.targets:
                yield from _stored(target)
        case ast.AugAssign() | ast.For() | ast.AsyncFor():
            yield from _stored(statement.target)
        case ast.With() | ast.AsyncWith():
            for item in statement.items:
                if item.optional_vars is not None:
                    yield from _stored(item.optional_vars)
        case _ if type(statement).__name__ == "TypeAlias":
            yield from _stored(statement.name)  # type: ignore[attr-defined] # Python 3.12's `type X = …`


def _stored(target: ast.expr) -> Iterator[str]:
    match target:
        case ast.Name(id=name):
            yield name
        case ast.Tuple(elts=parts) | ast.List(elts=parts):
            for part in parts:
                yield from _stored(part)
        case ast.Starred(value=inner):
            yield from _stored(inner)


def _captures(statement: ast.Match) -> Iterator[str]:
    for case in statement.cases:
        for node in ast.walk(case.pattern):
            name = getattr(node, "name", None) or getattr(node, "rest", None)
            if isinstance(name, str):
                yield name


def _walrus_targets(tree: ast.Module) -> Iterator[str]:
    """A walrus binds in the nearest function; one inside a function too is taken for the module's: it only softens."""
    for node in ast.walk(tree):
        if isinstance(node, ast.NamedExpr):
            yield node.target.id


def _global_names(tree: ast.Module) -> Iterator[str]:
    """What functions declare `global`; at module level it says nothing."""
    outside = set(map(id, module_statements(tree.body)))
    for node in ast.walk(tree):
        if isinstance(node, ast.Global) and id(node) not in outside:
            yield from node.names


def _inner_imports(tree: ast.Module) -> Iterator[str]:
    """What may be a module of what is imported anywhere in the cell."""
    for statement in _all_statements(tree.body):
        if isinstance(statement, ast.Import):
            yield from (alias.name for alias in statement.names)
        elif isinstance(statement, ast.ImportFrom) and statement.module and not statement.level:
            yield statement.module
            yield from (f"{statement.module}.{alias.name}" for alias in statement.names if alias.name != "*")


def _all_statements(body: Sequence[ast.stmt]) -> Iterator[ast.stmt]:
    for statement in body:
        yield statement
        for block in ("body", "orelse", "finalbody"):
            yield from _all_statements(getattr(statement, block, ()))
        for part in (*getattr(statement, "handlers", ()), *getattr(statement, "cases", ())):
            yield from _all_statements(part.body)
