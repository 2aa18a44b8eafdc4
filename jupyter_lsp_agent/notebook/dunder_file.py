"""`__file__` does not exist in a notebook, and every server believes that it does."""

import ast

from jupyter_lsp_agent.core.positions import TextRange
from jupyter_lsp_agent.notebook.source_text import SourceText

_NAME = "__file__"


def find_dunder_file_uses(tree: ast.Module, source: SourceText) -> list[TextRange]:
    """Where `__file__` is read; nothing in a cell that knows that it may be missing."""
    if not any(_NAME in line for line in source.lines) or _is_expected(tree):
        return []
    return [source.range(node) for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id == _NAME]


def _is_expected(tree: ast.Module) -> bool:
    """Whether the cell binds it, catches `NameError` or looks for the name as a string (`"__file__" in globals()`)."""
    for node in ast.walk(tree):
        match node:
            case ast.Name(id="NameError") | ast.Name(id="__file__", ctx=ast.Store()) | ast.Constant(value="__file__"):
                return True
    return False
