"""Which documents another file's edit can change the verdict of.

A module is known to its importers by name, so the names that a document imports (and the files that it `%run`s) are
all that is needed: no server is asked, nothing is imported. A name is taken for a file where the file's path ends
in it, wherever the search for it would begin; that finds too much rather than too little, and what is found is only
checked again. Effects go on through modules between: those that were checked, and those that the caller adds.
"""

import re
from collections import OrderedDict
from collections.abc import Hashable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import PurePath
from typing import Generic, TypeVar

MAX_REMEMBERED = 64
"""How many checked documents are remembered."""

_START = r"(?:^|[;:]|^[ \t]*%%?\w+)[ \t]*"
"""Where a statement may begin: on a line, behind another, behind `try:`, as the argument of a magic."""
_REST = r"(?:\\\r?\n|[^#\r\n;])+"
_IMPORT = re.compile(rf"{_START}import[ \t]+({_REST})", re.MULTILINE)
_FROM = re.compile(rf"{_START}from[ \t]+(\.*)[ \t]*([\w.]*)[ \t]+import[ \t]+(\([^)]*\)|{_REST})", re.MULTILINE)
_RUN = re.compile(r"^[ \t]*%run[ \t]+(?:-\w+[ \t]+)*(['\"]?)([^'\"\n]+?)\1(?:[ \t]|$)", re.MULTILINE)
_NAME = re.compile(r"[^\W\d]\w*(?:\.[^\W\d]\w*)*")


@dataclass(frozen=True, slots=True)
class Reference:
    """A module that a document names: the parts of its dotted name; `level` dots before it (0: absolute)."""

    parts: tuple[str, ...]
    level: int = 0


def find_references(sources: Iterable[str]) -> frozenset[Reference]:
    """The modules and files that the sources of a document's cells, or a module's text, name.

    Imports anywhere count, in functions too. A file that is run is named like a module.
    """
    found: set[Reference] = set()
    for source in sources:
        for names in _IMPORT.findall(source):
            found |= {Reference(tuple(name.split("."))) for name in _names(names)}
        for dots, module, names in _FROM.findall(source):
            base = tuple(module.split(".")) if module else ()
            found |= {Reference((*base, *name.split(".")), len(dots)) for name in _names(names)}
            found |= {Reference(base, len(dots))} if base else set()
        for _, path in _RUN.findall(source):
            found |= {Reference((PurePath(path).name.partition(".")[0],))}
    return frozenset(found)


def affected_documents(edited: PurePath, documents: Mapping[PurePath, frozenset[Reference]]) -> tuple[PurePath, ...]:
    """The documents that an edit of one file can reach, nearest first; the file itself is not among them.

    Args:
        edited: the file, absolute.
        documents: what each known document names; those between count too.
    """
    reached = [edited]
    for module in reached:
        ending = _dotted(module)
        reached += [
            path
            for path, references in documents.items()
            if path not in reached and any(_may_mean(reference, path, ending) for reference in references)
        ]
    return tuple(reached[1:])


def _names(imported: str) -> list[str]:
    """The names of `a.b as c, d`, without what they are bound to."""
    names = (part.strip(" \t\n()\\").partition(" ")[0] for part in imported.split(","))
    return [name for name in names if _NAME.fullmatch(name)]


def _dotted(path: PurePath) -> tuple[str, ...]:
    """The parts of the longest dotted name that a file can have; a package is named by its folder."""
    parts = (*path.parent.parts, path.name.partition(".")[0])
    return parts[:-1] if parts[-1] == "__init__" else parts


def _may_mean(reference: Reference, importer: PurePath, module: tuple[str, ...]) -> bool:
    """Whether a name, or a package that it is in, can be a module."""
    if reference.level:
        package = (*importer.parent.parts,)[: len(importer.parent.parts) - reference.level + 1]
        return any(module == (*package, *reference.parts[:n]) for n in range(1, len(reference.parts) + 1))
    return any(module[-n:] == reference.parts[:n] for n in range(1, len(reference.parts) + 1))


K = TypeVar("K", bound=Hashable)
V = TypeVar("V")


class RecentDocuments(Generic[K, V]):
    """What was checked last, the newest `max_documents` of it."""

    def __init__(self, max_documents: int = MAX_REMEMBERED) -> None:
        self._documents: OrderedDict[K, V] = OrderedDict()
        self._max_documents = max_documents

    def remember(self, key: K, value: V) -> None:
        """Add a document, or move it to the front."""
        self._documents[key] = value
        self._documents.move_to_end(key)
        while len(self._documents) > self._max_documents:
            self._documents.popitem(last=False)

    def replace(self, key: K, value: V) -> None:
        """Change what is remembered of a document, where it is; that does not move it."""
        if key in self._documents:
            self._documents[key] = value

    def forget(self, key: K) -> None:
        """Drop a document, if it is there."""
        self._documents.pop(key, None)

    def get(self, key: K) -> V | None:
        """What is remembered of a document; that does not move it."""
        return self._documents.get(key)

    def keys(self) -> list[K]:
        """Their names, the newest first."""
        return list(reversed(self._documents))

    def items(self) -> list[tuple[K, V]]:
        """All of them, the newest first."""
        return list(reversed(self._documents.items()))
