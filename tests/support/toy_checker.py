"""A checker that is small enough to be believed: undefined names over a notebook's code cells, by the ast.

It stands in for a server where laws of comparing states are tested: it runs in microseconds, and what it says of a
notebook depends on the notebook alone. A name is undefined where it is loaded and neither a builtin nor bound before:
earlier in its cell or in a cell above; inside functions, anywhere. A cell that does not parse has one finding,
and binds what its words might bind.
"""

import ast
import builtins
import functools
import re
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from jupyter_lsp_agent.core.diagnostic import Diagnostic, DiagnosticSeverity
from jupyter_lsp_agent.core.ids import ServerId
from jupyter_lsp_agent.core.positions import TextPosition, TextRange, split_lines
from jupyter_lsp_agent.diagnostics.baseline import OWN_CHAIN, ChainId, Finding, Judge, Judges, StateVerdict
from jupyter_lsp_agent.notebook.model import Cell, CellKind

CHAIN = ChainId("python/0")
JUDGES = Judges({CHAIN: Judge(ServerId("toy"), "1")})
BUILTINS = frozenset(dir(builtins)) | {"display", "get_ipython", "In", "Out", "_", "__", "___"}


@dataclass(frozen=True)
class _Load:
    name: str
    line: int
    column: int
    deferred: bool
    """Inside a function or class: looked up when all cells have run."""


@dataclass(frozen=True)
class _Statement:
    loads: tuple[_Load, ...]
    bound: frozenset[str]
    local: frozenset[str]
    """Bound in its functions, classes and comprehensions, and nowhere else."""
    bound_before_loads: frozenset[str]


@dataclass(frozen=True)
class _Analysis:
    """What the toy knows of one source, whatever stands around it."""

    statements: tuple[_Statement, ...]
    bound: frozenset[str]
    error: SyntaxError | None = None


def judge(cells: Sequence[Cell], judges: Judges = JUDGES, *, word: str = "Name") -> StateVerdict:
    """The toy's verdict. `word` begins its messages, to make another checker of it."""
    code = {cell.index: _analyse(cell.source) for cell in cells if cell.kind is CellKind.CODE}
    everywhere = BUILTINS.union(*(analysis.bound for analysis in code.values()))
    bound = set(BUILTINS)
    findings: list[Finding] = []
    for index, analysis in code.items():
        if analysis.error:
            findings.append(_syntax_finding(index, analysis.error))
            bound |= analysis.bound
        for statement in analysis.statements:
            known = bound | statement.bound_before_loads
            findings += (
                _finding(index, load, word)
                for load in statement.loads
                if load.name not in (everywhere if load.deferred else known)
            )
            bound |= statement.bound
    unparsed = frozenset(index for index, analysis in code.items() if analysis.error)
    return StateVerdict(tuple(cells), tuple(findings), judges, unparsed)


@functools.lru_cache(maxsize=50_000)
def _analyse(source: str) -> _Analysis:
    lines = split_lines(source)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            tree = ast.parse("\n".join(lines))
        except (SyntaxError, ValueError) as error:
            fault = error if isinstance(error, SyntaxError) else SyntaxError(str(error))
            return _Analysis((), frozenset(re.findall(r"\w+", source)), fault)
    statements = tuple(_statement(node, lines) for node in tree.body)
    return _Analysis(statements, frozenset().union(*(one.bound | one.local for one in statements)))


def _statement(statement: ast.stmt, lines: list[str]) -> _Statement:
    nodes = list(ast.walk(statement))
    scopes = [
        node for node in nodes if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef, ast.Lambda, ast.ClassDef))
    ]
    deferred = {inner for node in scopes for inner in ast.walk(node)}
    inside = {inner for node in scopes for inner in ast.walk(node) if inner is not node}
    inside |= {inner for node in nodes if isinstance(node, ast.comprehension) for inner in ast.walk(node.target)}
    bound = frozenset(name for node in nodes if node not in inside for name in _binds(node))
    local = frozenset(name for node in inside for name in _binds(node))
    loads = (node for node in nodes if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load))
    return _Statement(
        tuple(_Load(node.id, node.lineno - 1, _column(lines, node), node in deferred) for node in loads),
        bound,
        local,
        (bound | local) - _stored_only(statement),
    )


def _column(lines: list[str], node: ast.Name) -> int:
    before = lines[node.lineno - 1].encode("utf-8", "surrogatepass")[: node.col_offset]
    return len(before.decode("utf-8", "surrogatepass"))


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


def _stored_only(statement: ast.stmt) -> set[str]:
    """What a plain assignment binds: it is not there yet while its value is computed."""
    if not isinstance(statement, (ast.Assign, ast.AnnAssign, ast.AugAssign)):
        return set()
    targets = statement.targets if isinstance(statement, ast.Assign) else [statement.target]
    return {name for target in targets for node in ast.walk(target) for name in _binds(node)}


def _finding(index: int, load: _Load, word: str) -> Finding:
    where = TextRange(TextPosition(load.line, load.column), TextPosition(load.line, load.column + len(load.name)))
    message = f"{word} `{load.name}` used when not defined"
    return Finding(index, Diagnostic(where, DiagnosticSeverity.ERROR, message, "toy", "undefined"), CHAIN)


def _syntax_finding(index: int, error: SyntaxError) -> Finding:
    line, column = max(0, (error.lineno or 1) - 1), max(0, (error.offset or 1) - 1)
    where = TextRange(TextPosition(line, column), TextPosition(line, column + 1))
    diagnostic = Diagnostic(where, DiagnosticSeverity.ERROR, error.msg, "jupyter-lsp-agent", "invalid-syntax")
    return Finding(index, diagnostic, OWN_CHAIN)
