"""Imports of modules that are missing although a server thinks otherwise.

A folder beside the notebook that only has the name of a package (`datasets/` with data in it) is taken for a namespace
package by every server; then the import is fine and each use of it wrong. A relative import is fine to some servers,
and fails in every notebook, which is in no package. Such imports are told by us, and in the virtual document they
name a module that does not exist, which makes everything from it anything.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from jupyter_lsp_agent.core.positions import TextPosition, TextRange
from jupyter_lsp_agent.notebook.reserved_names import MISSING_MODULE
from jupyter_lsp_agent.notebook.rewrite import Replace
from jupyter_lsp_agent.notebook.source_text import SourceText


@dataclass(frozen=True, slots=True)
class MissingImport:
    """One import of a missing module: its name, why it is missing, where it is written, and what stands there
    instead."""

    module: str
    reason: str
    place: TextRange
    rewrite: Replace


_FOLDER = "a folder of that name holds no Python"
_RELATIVE = "a notebook is in no package, so nothing is relative to it"
_DOTS = re.compile(r"from[ \t]*(\.[. \t]*(?:(?!import\b)\w+(?:\.\w+)*)?)")


def find_missing_imports(tree: ast.Module, source: SourceText, missing: frozenset[str]) -> Iterator[MissingImport]:
    """The imports in `tree`, at any depth, whose top-level module is one of `missing`, and the relative ones.

    A relative import that may fail (in a `try` with handlers) is left as it is.
    """
    expected = {id(node) for node in _tried(tree)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from _plain(node, source, missing)
        elif isinstance(node, ast.ImportFrom) and node.level and id(node) not in expected:
            yield from _relative(node, source)
        elif isinstance(node, ast.ImportFrom) and not node.level and _top(node.module or "") in missing:
            yield from _member(node, source)


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
        yield MissingImport(written, _RELATIVE, place, Replace(place, f" {MISSING_MODULE} "))


def _plain(node: ast.Import, source: SourceText, missing: frozenset[str]) -> Iterator[MissingImport]:
    for alias in node.names:
        top = _top(alias.name)
        if top in missing:
            start = source.start(alias)
            place = TextRange(start, TextPosition(start.line, start.column + len(alias.name)))
            bound = alias.asname or top
            yield MissingImport(
                alias.name, _FOLDER, place, Replace(source.range(alias), f"{MISSING_MODULE} as {bound}")
            )


def _member(node: ast.ImportFrom, source: SourceText) -> Iterator[MissingImport]:
    module = node.module or ""
    start = source.start(node)
    after_from = TextPosition(start.line, start.column + len("from"))
    place = source.find(module, TextRange(after_from, source.end(node)))
    if place is not None:
        yield MissingImport(module, _FOLDER, place, Replace(place, MISSING_MODULE))


def _top(module: str) -> str:
    return module.partition(".")[0]
