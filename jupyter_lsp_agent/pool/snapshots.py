"""What the files beside the documents look like, and what has changed since.

Servers read modules, configuration and packages from the disk, and most of them leave it to their client to notice
that these have changed. A look costs a walk over the workspace (names only; what matters is stat'ed), so it is bounded.
"""

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from jupyter_lsp_agent.core.files import read_regular_file
from jupyter_lsp_agent.core.launch import TextDocument
from jupyter_lsp_agent.core.uris import path_from_uri, uri_from_path
from jupyter_lsp_agent.lsp.client import FileChange, FileChangeKind

_MAX_ENTRIES = 10_000
"""So many directory entries are looked at in one workspace; what lies beyond is not noticed."""

_PASSED_OVER = frozenset({"node_modules", "__pycache__", "site-packages", "venv", "env"})

Stamp = tuple[int, int, int]
"""Time of the last change in ns, size in bytes, inode: a file with the same stamp is the same."""


@dataclass(frozen=True, slots=True)
class Watch:
    """What is looked at for one server.

    Attributes:
        root: its workspace.
        extensions: of the files that it reads there, with the dot.
        names: of files that configure it, anywhere in the workspace.
        package_folders: where packages are installed; their entries are looked at, not what is below.
    """

    root: Path
    extensions: tuple[str, ...] = ()
    names: tuple[str, ...] = ()
    package_folders: tuple[Path, ...] = ()


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What there was at one moment."""

    files: Mapping[Path, Stamp] = field(default_factory=dict)
    configuration: Mapping[Path, Stamp] = field(default_factory=dict)
    packages: Mapping[Path, Stamp] = field(default_factory=dict)
    package_folders: Mapping[Path, Stamp] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Changes:
    """What differs between two moments."""

    files: tuple[FileChange, ...] = ()
    configuration: tuple[FileChange, ...] = ()
    packages: tuple[FileChange, ...] = ()

    @property
    def all(self) -> tuple[FileChange, ...]:
        """All of it."""
        return (*self.files, *self.configuration, *self.packages)


def take_snapshot(watch: Watch, before: Snapshot | None = None) -> Snapshot:
    """Look at the disk now. What cannot be read is passed over.

    Args:
        watch: what to look at.
        before: an earlier look: package folders that are as they were then are not looked into again, since every
            install and removal changes a name in them.
    """
    found = dict(_files(watch))
    configuration = {path: found.pop(path) for path in tuple(found) if path.name in watch.names}
    folders = {folder: stamp for folder in watch.package_folders if (stamp := _stamp_of(folder))}
    if before is not None and before.package_folders == folders:
        return Snapshot(found, configuration, before.packages, folders)
    return Snapshot(found, configuration, dict(_packages(watch)), folders)


def find_changes(before: Snapshot, after: Snapshot) -> Changes:
    """What came, went or changed."""
    return Changes(
        _difference(before.files, after.files),
        _difference(before.configuration, after.configuration),
        _difference(before.packages, after.packages),
    )


def without_changed(documents: Iterable[TextDocument]) -> list[TextDocument]:
    """The documents, without those that lie on the disk with another text than this."""
    return [document for document in documents if not _lies_otherwise(document)]


def _lies_otherwise(document: TextDocument) -> bool:
    path = path_from_uri(document.uri)
    try:
        return path is not None and read_regular_file(path) != document.text.encode("utf-8", "replace")
    except OSError:
        return False


def _difference(before: Mapping[Path, Stamp], after: Mapping[Path, Stamp]) -> tuple[FileChange, ...]:
    kinds = dict.fromkeys(before.keys() - after.keys(), FileChangeKind.DELETED)
    for path, stamp in after.items():
        if path not in before:
            kinds[path] = FileChangeKind.CREATED
        elif before[path] != stamp:
            kinds[path] = FileChangeKind.CHANGED
    return tuple(FileChange(uri_from_path(path), kind) for path, kind in sorted(kinds.items()))


def _files(watch: Watch) -> Iterator[tuple[Path, Stamp]]:
    # Folder by folder, the near ones first: what is cut off by the bound is what lies deepest.
    folders, entries_left = [watch.root], _MAX_ENTRIES
    while folders and entries_left > 0:
        entries = _entries(folders.pop(0))
        entries_left -= len(entries)
        for entry in entries:
            if _is_folder(entry):
                if not _is_passed_over(entry):
                    folders.append(Path(entry.path))
            elif entry.name in watch.names or entry.name.lower().endswith(watch.extensions):
                yield from _stamped(entry)


def _packages(watch: Watch) -> Iterator[tuple[Path, Stamp]]:
    for folder in watch.package_folders:
        for entry in _entries(folder):
            if entry.name != "__pycache__":
                yield from _stamped(entry)


def _entries(folder: Path) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError:
        return []


def _is_folder(entry: os.DirEntry[str]) -> bool:
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _is_passed_over(entry: os.DirEntry[str]) -> bool:
    return entry.name.startswith(".") or entry.name in _PASSED_OVER


def _stamped(entry: os.DirEntry[str]) -> Iterator[tuple[Path, Stamp]]:
    if (stamp := _stamp_of(entry)) is not None:
        yield Path(entry.path), stamp


def _stamp_of(entry: os.DirEntry[str] | Path) -> Stamp | None:
    try:
        status = entry.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size, status.st_ino
