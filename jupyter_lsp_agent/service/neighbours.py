"""The other documents that an asker may see: how they are named to him, their texts, and notebooks that use a name.

A server names files wherever they lie. What lies outside the asker's root, or is hidden there, is told by its place and
never quoted; who decides is the front end's store, or, without one, the rule below.
"""

import asyncio
import json
import os
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

from jupyter_lsp_agent.core.files import read_regular_file
from jupyter_lsp_agent.service.documents import NOTEBOOK_SUFFIX
from jupyter_lsp_agent.service.stores import DocumentStore

MAX_FILE_BYTES = 5_000_000
"""A larger file is not read for the sake of another's question."""

_MAX_ENTRIES = 10_000
_MAX_NOTEBOOKS_READ = 300
_PASSED_OVER = frozenset({"node_modules", "__pycache__", "site-packages", "venv", "env"})


class Neighbours(Protocol):
    """What an asker may see beside the document that he asks about."""

    def name_of(self, path: Path) -> str:
        """How he names a file: relative to his root where it lies below that, else absolute."""
        ...

    async def read(self, path: Path) -> bytes | None:
        """Its content as it is now; `None` where he may not read it, or there is none."""
        ...

    def within(self, boundary: Path) -> "Neighbours":
        """The same for a document of this boundary."""
        ...


@dataclass(frozen=True, slots=True)
class LocalNeighbours:
    """The files below a folder, but for hidden ones: those of a command's current folder, or of a program's.

    Attributes:
        root: that folder; names are relative to it.
        boundary: the folder that bounds the document, whose files may be read as well.
    """

    root: Path
    boundary: Path | None = None

    def name_of(self, path: Path) -> str:
        """Relative to the folder where it lies below that, or within the boundary."""
        relative = relative_to(path, self.root)
        if relative is not None:
            return relative.as_posix()
        is_near = self.boundary is not None and relative_to(path, self.boundary) is not None
        return Path(os.path.relpath(path, self.root)).as_posix() if is_near else str(path)

    async def read(self, path: Path) -> bytes | None:
        """The file as it is on the disk."""
        for root in (self.root, self.boundary):
            relative = None if root is None else relative_to(path, root)
            if root is not None and relative is not None and not any(part.startswith(".") for part in relative.parts):
                return await asyncio.to_thread(read_inside, path, root)
        return None

    def within(self, boundary: Path) -> "LocalNeighbours":
        """With the files of this boundary too."""
        return replace(self, boundary=boundary)


@dataclass(frozen=True, slots=True)
class StoredNeighbours:
    """The documents of a store, under the names and with the permissions that it has."""

    store: DocumentStore

    def name_of(self, path: Path) -> str:
        """As the store names it; absolute where it is none of its documents."""
        return self.store.name_of(path) or str(path)

    def within(self, boundary: Path) -> "StoredNeighbours":
        """The same: the store says what may be read."""
        return self

    async def read(self, path: Path) -> bytes | None:
        """As the store gives it."""
        name = self.store.name_of(path)
        document = None if name is None else await self.store.read_if_allowed(name)
        return None if document is None else document.data


def relative_to(path: Path, root: Path) -> Path | None:
    """The path below `root`, which may be spelled with symlinks or without; `None` where it is not below."""
    for base in (root, Path(os.path.realpath(root))):
        if path.is_relative_to(base) and ".." not in path.parts:
            return path.relative_to(base)
    return None


def read_inside(path: Path, root: Path) -> bytes | None:
    """A file's content, where it is one of moderate size and lies below `root`, symlinks followed."""
    inside = Path(os.path.realpath(path)).is_relative_to(os.path.realpath(root))
    return _read(path) if inside else None


def read_anywhere(path: Path) -> str | None:
    """A file's text, for counting its columns alone."""
    data = _read(path)
    return None if data is None else data.decode("utf-8-sig", "replace")


def notebooks_with(word: str, boundary: Path, but: Path, most: int) -> list[Path]:
    """Notebooks below a folder whose text has `word` in it, the near ones first; hidden folders are passed over.

    Args:
        word: a name, or a part of one.
        boundary: the folder.
        but: this one is not meant.
        most: so many at most.
    """
    wanted = {word.encode("utf-8", "replace"), json.dumps(word)[1:-1].encode("ascii")}
    found: list[Path] = []
    for number, path in enumerate(_notebooks(boundary)):
        if number >= _MAX_NOTEBOOKS_READ or len(found) >= most:
            break
        data = None if path == but else _read(path)
        if data is not None and any(one in data for one in wanted):
            found.append(path)
    return found


def _notebooks(boundary: Path) -> Iterator[Path]:
    folders, entries_left = [boundary], _MAX_ENTRIES
    while folders and entries_left > 0:
        entries = _entries(folders.pop(0))
        entries_left -= len(entries)
        for entry in entries:
            if entry.name.startswith(".") or entry.name in _PASSED_OVER:
                continue
            if entry.is_dir(follow_symlinks=False):
                folders.append(Path(entry.path))
            elif entry.name.lower().endswith(NOTEBOOK_SUFFIX):
                yield Path(entry.path)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return sorted(entries, key=lambda entry: entry.name)
    except OSError:
        return []


def _read(path: Path) -> bytes | None:
    try:
        data = read_regular_file(path, MAX_FILE_BYTES + 1)
    except OSError:
        return None
    return data if len(data) <= MAX_FILE_BYTES else None
