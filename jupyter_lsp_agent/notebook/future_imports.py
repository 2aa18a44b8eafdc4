"""`from __future__ import …` is legal in any cell, and in a file only at its start: it is moved there."""

import ast
from dataclasses import dataclass

from jupyter_lsp_agent.notebook.rewrite import Replace
from jupyter_lsp_agent.notebook.source_text import SourceText


@dataclass(frozen=True, slots=True)
class FutureImports:
    """The features that a cell asks for, and what takes their imports out of it."""

    features: frozenset[str]
    rewrites: tuple[Replace, ...]


_NONE = FutureImports(frozenset(), ())


def find_future_imports(tree: ast.Module, source: SourceText) -> FutureImports:
    """The future imports of a cell that compiles."""
    found = [
        statement
        for statement in tree.body
        if isinstance(statement, ast.ImportFrom) and statement.module == "__future__"
    ]
    if not found:
        return _NONE
    return FutureImports(
        features=frozenset(alias.name for statement in found for alias in statement.names),
        rewrites=tuple(Replace(source.range(statement), "pass") for statement in found),
    )
