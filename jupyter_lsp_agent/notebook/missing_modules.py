"""Imports of modules that are missing although a server thinks otherwise.

A folder beside the notebook that only has the name of a package (`datasets/` with data in it) is taken for a namespace
package by every server; then the import is fine and each use of it wrong. A relative import is fine to some servers,
and fails in every notebook, which is in no package. Such imports are told by us, and in the virtual document they
name a module that does not exist, which makes everything from it anything.
"""

import ast
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

from jupyter_lsp_agent.core.positions import TextPosition, TextRange
from jupyter_lsp_agent.notebook.reserved_names import MISSING_MODULE
from jupyter_lsp_agent.notebook.rewrite import Replace
from jupyter_lsp_agent.notebook.source_text import SourceText


@dataclass(frozen=True, slots=True)
class MissingImport:
    """One import of a missing module.

    Attributes:
        module: its name.
        reason: why it is missing; empty where that is no error, since the notebook makes the module or expects that.
        place: where the name is written.
        rewrite: what stands there instead.
        extent: where servers put their own finding: at the name, or from the statement's start to there.
    """

    module: str
    reason: str
    place: TextRange
    rewrite: Replace
    extent: TextRange


_FOLDER = "a folder of that name holds no Python"
_RELATIVE = "a notebook is in no package, so nothing is relative to it"
_MADE_HERE = ""
_DOTS = re.compile(r"from[ \t]*(\.[. \t]*(?:(?!import\b)\w+(?:\.\w+)*)?)")


def find_missing_imports(
    tree: ast.Module, source: SourceText, missing: frozenset[str], unseen: frozenset[str] = frozenset()
) -> Iterator[MissingImport]:
    """The imports in `tree`, at any depth, whose top-level module is one of `missing`, those of `unseen` modules, and
    the relative ones.

    Of imports that may fail (in a `try` with handlers) a relative one is left as it is, and nothing is told of others.
    """
    expected = {id(node) for node in _tried(tree)}
    for node in ast.walk(tree):
        may_fail = id(node) in expected
        found: Iterator[MissingImport] = iter(())
        if isinstance(node, ast.Import):
            found = _plain(node, source, missing, unseen)
        elif isinstance(node, ast.ImportFrom) and node.level and not may_fail:
            found = _relative(node, source)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            reason = _reason(node.module or "", missing, unseen, [alias.name for alias in node.names])
            found = _member(node, source, reason) if reason is not None else found
        yield from (replace(one, reason=_MADE_HERE) if may_fail else one for one in found)


def _tried(tree: ast.Module) -> Iterator[ast.AST]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Try) and node.handlers:
            for statement in node.body:
                yield from ast.walk(statement)


def _relative(node: ast.ImportFrom, source: SourceText) -> Iterator[MissingImport]:
    start = source.start(node)
    found = _DOTS.match(source.lines[start.line], start.column)
    if found is not None and node.names[0].name != "*":
        written = found[1].rstrip()
        first = TextPosition(start.line, found.start(1))
        place = TextRange(first, TextPosition(start.line, first.column + len(written)))
        yield MissingImport(
            written, _RELATIVE, place, Replace(place, f" {MISSING_MODULE} "), TextRange(start, place.end)
        )


def _reason(module: str, missing: frozenset[str], unseen: frozenset[str], members: Sequence[str] = ()) -> str | None:
    """Why a module is not to be looked for; `None` where it is."""
    if _top(module) in missing:
        return _FOLDER
    names = (module, *(f"{module}.{member}" for member in members))
    made_here = any(name == made or name.startswith(f"{made}.") for name in names for made in unseen)
    return _MADE_HERE if made_here else None


def _plain(
    node: ast.Import, source: SourceText, missing: frozenset[str], unseen: frozenset[str]
) -> Iterator[MissingImport]:
    for alias in node.names:
        top, reason = _top(alias.name), _reason(alias.name, missing, unseen)
        if reason is not None:
            start = source.start(alias)
            place = TextRange(start, TextPosition(start.line, start.column + len(alias.name)))
            bound = alias.asname or top
            rewrite = Replace(source.range(alias), f"{MISSING_MODULE} as {bound}")
            yield MissingImport(alias.name, reason, place, rewrite, place)


def _member(node: ast.ImportFrom, source: SourceText, reason: str) -> Iterator[MissingImport]:
    module = node.module or ""
    start = source.start(node)
    after_from = TextPosition(start.line, start.column + len("from"))
    place = source.find(module, TextRange(after_from, source.end(node)))
    if place is not None:
        yield MissingImport(module, reason, place, Replace(place, MISSING_MODULE), TextRange(start, place.end))


def _top(module: str) -> str:
    return module.partition(".")[0]
