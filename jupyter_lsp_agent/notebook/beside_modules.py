"""Imports of modules that lie beside the notebook and have a namesake where servers look first.

A kernel looks into the notebook's own folder before all others. A server looks into the standard library, the root and
what is installed, and beside the file last. In the virtual document such an import is written as from the root, where
no namesake can be meant. A relative import would say it better, and some servers know none in a notebook.
"""

import ast
from collections.abc import Iterator
from dataclasses import dataclass

from jupyter_lsp_agent.core.positions import TextPosition, TextRange
from jupyter_lsp_agent.notebook.rewrite import Replace, insertion
from jupyter_lsp_agent.notebook.source_text import SourceText


@dataclass(frozen=True, slots=True)
class BesideModules:
    """Modules in the notebook's folder that servers would take for another of that name.

    Attributes:
        known: top-level names of those that the kernel takes from that folder.
        package: that folder as a package, as from the servers' root: `chapters.first`.
        unknown: top-level names of those of which nobody can tell what the kernel takes.
    """

    known: frozenset[str] = frozenset()
    package: str = ""
    unknown: frozenset[str] = frozenset()


def parts_imported(tree: ast.Module, beside: frozenset[str]) -> frozenset[str]:
    """What `import beside.part` names, at any depth: under another name it would not bind `beside` and load `part`."""
    aliases = (alias for node in ast.walk(tree) if isinstance(node, ast.Import) for alias in node.names)
    return frozenset(
        alias.name for alias in aliases if "." in alias.name and not alias.asname and _top(alias.name) in beside
    )


def imports_from_root(
    tree: ast.Module, source: SourceText, beside: BesideModules, unseen: frozenset[str]
) -> Iterator[Replace]:
    """What has the imports of `beside` in `tree` looked for in its folder, at any depth; those of `unseen` modules
    stay."""
    package = f"{beside.package}."
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if _top(alias.name) in beside.known and alias.name not in unseen:
                    yield insertion(source.start(alias), package)
                    if not alias.asname:
                        yield insertion(source.end(alias), f" as {alias.name}")
        elif isinstance(node, ast.ImportFrom) and not node.level and _top(node.module or "") in beside.known:
            names = {node.module or "", *(f"{node.module}.{alias.name}" for alias in node.names)}
            start = source.start(node)
            after_from = TextPosition(start.line, start.column + len("from"))
            place = source.find(_top(node.module or ""), TextRange(after_from, source.end(node)))
            if place is not None and unseen.isdisjoint(names):
                yield insertion(place.start, package)


def _top(module: str) -> str:
    return module.partition(".")[0]
