"""A checker that is small enough to be believed: undefined names over a notebook's code cells, by the ast.

It stands in for a server where laws of comparing states are tested: it runs in microseconds, and what it says of a
notebook depends on the notebook alone. A name is undefined where it is loaded and neither a builtin nor bound before:
earlier in its cell or in a cell above; inside functions, anywhere. A cell that does not parse has one finding,
and binds what its words might bind.
"""

import ast
import builtins
import re
import warnings
from collections.abc import Iterator, Sequence

from jupyter_lsp_agent.core.diagnostic import Diagnostic, DiagnosticSeverity
from jupyter_lsp_agent.core.ids import ServerId
from jupyter_lsp_agent.core.positions import TextPosition, TextRange, split_lines
from jupyter_lsp_agent.diagnostics.baseline import OWN_CHAIN, ChainId, Finding, Judge, Judges, StateVerdict
from jupyter_lsp_agent.notebook.model import Cell, CellKind

CHAIN = ChainId("python/0")
JUDGES = Judges({CHAIN: Judge(ServerId("toy"), "1")})
BUILTINS = frozenset(dir(builtins))


def judge(cells: Sequence[Cell], judges: Judges = JUDGES, *, word: str = "Name") -> StateVerdict:
    """The toy's verdict. `word` begins its messages, to make another checker of it."""
    trees = {cell.index: _parse(cell.source) for cell in cells if cell.kind is CellKind.CODE}
    everywhere = set(BUILTINS).union(*(_bound_anywhere(cells[index], tree) for index, tree in trees.items()))
    bound = set(BUILTINS)
    findings: list[Finding] = []
    for index, tree in trees.items():
        if isinstance(tree, SyntaxError):
            findings.append(_syntax_finding(index, tree))
            bound |= set(re.findall(r"\w+", cells[index].source))
        else:
            lines = split_lines(cells[index].source)
            findings += (_finding(index, lines, name, word) for name in _undefined(tree, bound, everywhere))
    unparsed = frozenset(index for index, tree in trees.items() if isinstance(tree, SyntaxError))
    return StateVerdict(tuple(cells), tuple(findings), judges, unparsed)


def _parse(source: str) -> ast.Module | SyntaxError:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return ast.parse("\n".join(split_lines(source)))
        except SyntaxError as error:
            return error
        except ValueError as error:
            return SyntaxError(str(error))


def _bound_anywhere(cell: Cell, tree: ast.Module | SyntaxError) -> set[str]:
    if isinstance(tree, SyntaxError):
        return set(re.findall(r"\w+", cell.source))
    return {name for node in ast.walk(tree) for name in _binds(node)}


def _binds(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield node.name
        case ast.Name(ctx=ast.Store() | ast.Del()):
            yield node.id
        case ast.arg():
            yield node.arg
        case ast.alias():
            yield node.asname or node.name.partition(".")[0]
        case ast.ExceptHandler(name=str(name)) | ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
            yield name
        case _:
            pass


def _undefined(tree: ast.Module, bound: set[str], everywhere: set[str]) -> Iterator[ast.Name]:
    for statement in tree.body:
        deferred = {
            inner
            for node in ast.walk(statement)
            if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef))
            for inner in ast.walk(node)
        }
        own = {name for node in ast.walk(statement) for name in _binds(node)}
        late = own - _stored_only(statement)
        for node in ast.walk(statement):
            if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load):
                known = everywhere if node in deferred else bound | late
                if node.id not in known:
                    yield node
        bound |= own


def _stored_only(statement: ast.stmt) -> set[str]:
    """What a plain assignment binds: it is not there yet while its value is computed."""
    if not isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        return set()
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return {name for target in targets for node in ast.walk(target) for name in _binds(node)}


def _finding(index: int, lines: list[str], node: ast.Name, word: str) -> Finding:
    line = node.lineno - 1
    column = len(lines[line].encode("utf-8", "surrogatepass")[: node.col_offset].decode("utf-8", "surrogatepass"))
    where = TextRange(TextPosition(line, column), TextPosition(line, column + len(node.id)))
    message = f"{word} `{node.id}` used when not defined"
    return Finding(index, Diagnostic(where, DiagnosticSeverity.ERROR, message, "toy", "undefined"), CHAIN)


def _syntax_finding(index: int, error: SyntaxError) -> Finding:
    line, column = max(0, (error.lineno or 1) - 1), max(0, (error.offset or 1) - 1)
    where = TextRange(TextPosition(line, column), TextPosition(line, column + 1))
    diagnostic = Diagnostic(where, DiagnosticSeverity.ERROR, error.msg, "jupyter-lsp-agent", "invalid-syntax")
    return Finding(index, diagnostic, OWN_CHAIN)
