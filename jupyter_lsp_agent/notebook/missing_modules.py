"""Imports of modules that are missing although a server thinks otherwise.

A folder beside the notebook that only has the name of a package (`datasets/` with data in it) is taken for a namespace
package by every server; then the import is fine and each use of it wrong. Such an import is told by us, and in the
virtual document it names a module that does not exist, which makes everything from it anything.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from jupyter_lsp_agent.core.positions import TextPosition, TextRange
from jupyter_lsp_agent.notebook.reserved_names import MISSING_MODULE
from jupyter_lsp_agent.notebook.rewrite import Replace
from jupyter_lsp_agent.notebook.source_text import SourceText


@dataclass(frozen=True, slots=True)
class MissingImport:
    """One import of a missing module: its name, where it is written, and what stands there instead."""

    module: str
    place: TextRange
    rewrite: Replace


def find_missing_imports(tree: ast.Module, source: SourceText, missing: frozenset[str]) -> Iterator[MissingImport]:
    """The imports in `tree`, at any depth, whose top-level module is one of `missing`."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from _plain(node, source, missing)
        elif isinstance(node, ast.ImportFrom) and not node.level and _top(node.module or "") in missing:
            yield from _member(node, source)


def _plain(node: ast.Import, source: SourceText, missing: frozenset[str]) -> Iterator[MissingImport]:
    for alias in node.names:
        top = _top(alias.name)
        if top in missing:
            start = source.start(alias)
            place = TextRange(start, TextPosition(start.line, start.column + len(alias.name)))
            bound = alias.asname or top
            yield MissingImport(alias.name, place, Replace(source.range(alias), f"{MISSING_MODULE} as {bound}"))


def _member(node: ast.ImportFrom, source: SourceText) -> Iterator[MissingImport]:
    module = node.module or ""
    start = source.start(node)
    after_from = TextPosition(start.line, start.column + len("from"))
    place = source.find(module, TextRange(after_from, source.end(node)))
    if place is not None:
        yield MissingImport(module, place, Replace(place, MISSING_MODULE))


def _top(module: str) -> str:
    return module.partition(".")[0]
