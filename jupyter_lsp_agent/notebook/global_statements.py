"""`global x` at the top of a cell says nothing, and in a file where `x` was used above it is an error: it is taken
out."""

import ast
from collections.abc import Iterator

from jupyter_lsp_agent.notebook.module_names import module_statements
from jupyter_lsp_agent.notebook.rewrite import Replace
from jupyter_lsp_agent.notebook.source_text import SourceText


def global_rewrites(tree: ast.Module, source: SourceText) -> Iterator[Replace]:
    """What takes the `global` statements outside functions out of a cell."""
    if any("global" in line for line in source.lines):
        for statement in module_statements(tree.body):
            if isinstance(statement, ast.Global):
                yield Replace(source.range(statement), "pass")
