"""What a cell binds, and where it has modules looked for, by calls that no server follows, or not every one.

`exec(…)`, `globals()["x"] = …`, `get_ipython().push(…)` bind names; `sys.path.append("…")`, `os.chdir("…")` and `%cd`
make modules importable that are nowhere else. A name that only functions bind (`global x`) is undefined to some
servers, at least in comprehensions and classes. What is written out is taken at its word, anything else for anything.
"""

import ast
import posixpath
from collections.abc import Iterator
from dataclasses import dataclass, replace

from jupyter_lsp_agent.notebook.cell_translation import MagicOptions
from jupyter_lsp_agent.notebook.magics import translate_cell
from jupyter_lsp_agent.notebook.python_syntax import compiles
from jupyter_lsp_agent.notebook.run_files import names_bound_by_cell
from jupyter_lsp_agent.notebook.source_text import SourceText

_SIGNS = ("exec(", "globals()", "locals()", "vars()", "get_ipython()", "sys.path", "chdir(", "addsitedir(", "global ")
_NAMESPACES = frozenset({"globals()", "locals()", "vars()", "get_ipython().user_ns"})
_RUNNING_MAGICS = frozenset({"run_line_magic", "run_cell_magic", "magic"})
_RUNNING = _RUNNING_MAGICS | {"run_cell", "ex", "safe_execfile", "enable_pylab"}
_UNCHANGED = frozenset(
    {"str", "Path", "pathlib.Path", "os.path.abspath", "os.path.realpath", "os.path.normpath", "os.fspath", "abspath"}
)
_HERE = frozenset({"os.getcwd", "Path.cwd", "pathlib.Path.cwd", "getcwd"})
_JOINING = frozenset({"os.path.join", "join"})


@dataclass(frozen=True, slots=True)
class OpenEnds:
    """What a cell does beyond its text.

    Attributes:
        names: names that it binds so.
        binds_anything: it may bind names that nobody can tell.
        folders: paths, as from the notebook's folder, in which modules are looked for from then on.
        looks_anywhere: modules are looked for in a folder that nobody can tell.
    """

    names: frozenset[str] = frozenset()
    binds_anything: bool = False
    folders: tuple[str, ...] = ()
    looks_anywhere: bool = False


NO_OPEN_ENDS = OpenEnds()


def find_open_ends(tree: ast.Module, source: SourceText) -> OpenEnds:
    """The open ends of a cell, those inside its functions too: they may be called."""
    if not any(sign in line for line in source.lines for sign in _SIGNS):
        return NO_OPEN_ENDS
    names: list[str | None] = []
    folders: list[str | None] = []
    for node in ast.walk(tree):
        names += _bound(node)
        names += _bound_globally(node) if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) else ()
        folders += _added(node)
    return OpenEnds(
        frozenset(name for name in names if name is not None),
        None in names,
        tuple(dict.fromkeys(folder for folder in folders if folder is not None)),
        None in folders,
    )


def with_folder(ends: OpenEnds, folder: str) -> OpenEnds:
    """The same after `%cd FOLDER`."""
    if not folder or folder.startswith(("-", "~")) or "{" in folder or "$" in folder:
        return replace(ends, looks_anywhere=True)
    return replace(ends, folders=(*ends.folders, folder))


def _bound(node: ast.AST) -> Iterator[str | None]:
    """Names that a node binds in a namespace that it calls for; `None` for what cannot be told."""
    match node:
        case ast.Subscript(value=ast.Call() | ast.Attribute() as space, slice=key, ctx=ast.Store()):
            if ast.unparse(space) in _NAMESPACES:
                yield _text(key)
        case ast.Call(func=ast.Attribute(value=space, attr="update")) if ast.unparse(space) in _NAMESPACES:
            yield from _entries(node)
        case ast.Call(func=ast.Name(id="exec"), args=[_]):
            yield None
        case ast.Call(func=ast.Attribute(value=ast.Call(func=ast.Name(id="get_ipython")), attr=method)):
            if method == "push":
                yield from _entries(node)
            elif method in _RUNNING:
                yield from _run(method, node)


def _bound_globally(function: ast.FunctionDef | ast.AsyncFunctionDef) -> Iterator[str]:
    """Names that a function declares `global` and binds."""
    inside = list(ast.walk(function))
    declared = {name for node in inside if isinstance(node, ast.Global) for name in node.names}
    for node in inside if declared else ():
        match node:
            case ast.Name(id=name, ctx=ast.Store()) if name in declared:
                yield name
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
                if name in declared and node is not function:
                    yield name
            case ast.alias():
                bound = node.asname or node.name.partition(".")[0]
                yield from {bound} & declared


def _run(method: str, call: ast.Call) -> Iterator[str | None]:
    """What a magic that is called by its name binds, as `nbconvert` writes magics in scripts."""
    texts = [_text(argument) or "" for argument in call.args]
    if method not in _RUNNING_MAGICS or not call.args or not all(isinstance(one, ast.Constant) for one in call.args):
        yield None
        return
    signs = "%%" if method == "run_cell_magic" else "%"
    source = signs + " ".join(texts[:2]) + "".join(f"\n{body}" for body in texts[2:3])
    if compiles(translate_cell(source, MagicOptions()).text):
        names = names_bound_by_cell(source)
        yield from (None,) if names is None else names


def _entries(call: ast.Call) -> Iterator[str | None]:
    yield from (keyword.arg for keyword in call.keywords if keyword.arg != "interactive")
    for argument in call.args[:1]:
        if isinstance(argument, ast.Dict):
            yield from (None if key is None else _text(key) for key in argument.keys)
        else:
            yield None


def _added(node: ast.AST) -> Iterator[str | None]:
    """Folders in which a node has modules looked for; `None` for one that cannot be told."""
    match node:
        case ast.Call(func=ast.Attribute() as function, args=[*_, folder]):
            if ast.unparse(function) in {"sys.path.append", "sys.path.insert", "os.chdir", "site.addsitedir"}:
                yield _folder(folder)
            elif ast.unparse(function) == "sys.path.extend":
                yield from map(_folder, folder.elts) if isinstance(folder, ast.List | ast.Tuple) else (None,)
        case ast.AugAssign(target=ast.Attribute() as target, value=value) if ast.unparse(target) == "sys.path":
            yield from map(_folder, value.elts) if isinstance(value, ast.List) else (None,)


def _folder(node: ast.expr) -> str | None:
    """A path that is written out, as from the notebook's folder."""
    match node:
        case ast.Constant(value=str(path)):
            return path
        case ast.Call(func=function, args=[], keywords=[]) if ast.unparse(function) in _HERE:
            return "."
        case ast.Call(func=function, args=[inner]) if ast.unparse(function) in _UNCHANGED:
            return _folder(inner)
        case ast.Call(func=ast.Attribute(value=inner, attr="resolve" | "absolute"), args=[]):
            return _folder(inner)
        case ast.Call(func=function, args=parts) if ast.unparse(function) in _JOINING:
            return _joined(parts)
        case ast.Attribute(value=inner, attr="parent"):
            return _joined([inner, ast.Constant("..")])
        case ast.BinOp(left=left, op=ast.Div(), right=right):
            return _joined([left, right])
    return None


def _joined(parts: list[ast.expr]) -> str | None:
    found = [_folder(part) for part in parts]
    return None if None in found else posixpath.join(*(part for part in found if part is not None))


def _text(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None
