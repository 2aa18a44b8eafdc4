"""The folder that a server is given as its workspace, and how far up it may lie.

Paths are compared part by part, never as strings, and the answer is always a folder above the document as it was
named: where the boundary was named by another way to the same folder (a symlink), the document's own way to it is
used. Symlinks are otherwise not followed.
"""

import os
from collections.abc import Iterable, Iterator
from fnmatch import fnmatchcase
from pathlib import Path

from jupyter_lsp_agent.core.files import exists, is_file, is_folder, read_regular_file


def find_boundary(path: Path, *, named: Path | None = None, server_root: Path, home: Path | None = None) -> Path:
    """The folder above which no root of `path` may lie.

    The git worktree; else `server_root` where `path` is below it; else the folder that was `named`, or the folder of a
    named file. Where that is the home folder or the file system's root, the first folder below it towards the file.

    Args:
        path: the document, absolute; it need not exist.
        named: what the user named: the document itself, or a folder above it.
        server_root: the server's root over REST, the current folder elsewhere.
        home: the home folder; the user's own by default.
    """
    path = _absolute(path)
    boundary = (
        find_git_worktree(path)
        or _ancestor_that_is(path, _absolute(server_root))
        or (named and _ancestor_that_is(path, _absolute(named)))
        or path.parent
    )
    return _below_wide_folders(path, boundary, home or Path.home())


def find_root(
    path: Path, markers: Iterable[str], boundary: Path, *, exclusion_markers: Iterable[str] = ()
) -> Path | None:
    """The nearest folder above `path` with one of `markers`, not above `boundary`; without a marker, `boundary`.

    A package's folder (one with `__init__.py`) is no root, whatever lies in it. `None` where a folder with one of
    `exclusion_markers` comes first: the server is not the one for that folder.
    """
    markers, exclusion_markers = tuple(markers), tuple(exclusion_markers)
    for folder in folders_between(_absolute(path), boundary):
        if has_marker(folder, exclusion_markers):
            return None
        if has_marker(folder, markers) and not is_file(folder / "__init__.py"):
            return folder
    return _absolute(boundary)


def find_git_worktree(path: Path) -> Path | None:
    """The nearest folder above `path` that is a git worktree: the main one, a linked one, or a submodule."""
    return next((folder for folder in path.parents if _is_worktree(folder)), None)


def folders_between(path: Path, boundary: Path) -> Iterator[Path]:
    """The folders above `path`, the nearest first, up to and with `boundary`."""
    for folder in path.parents:
        yield folder
        if folder == boundary:
            return


def is_inside(path: Path, folder: Path) -> bool:
    """Whether `path` is `folder` or lies below it, by any way: as written, and with symlinks followed."""
    path, folder = _absolute(path), _absolute(folder)
    return path.is_relative_to(folder) or resolved(path).is_relative_to(resolved(folder))


def _is_worktree(folder: Path) -> bool:
    marker = folder / ".git"
    try:
        if is_folder(marker):
            return is_file(marker / "HEAD")
        return read_regular_file(marker, 7) == b"gitdir:"
    except OSError:
        return False


def _ancestor_that_is(path: Path, folder: Path) -> Path | None:
    if folder in path.parents:
        return folder
    wanted = resolved(folder)
    return next((parent for parent in path.parents if resolved(parent) == wanted), None)


def _below_wide_folders(path: Path, boundary: Path, home: Path) -> Path:
    # A folder that holds the home folder is as wide as it, so `/home` is no workspace either.
    resolved_home = resolved(home)
    below = [folder for folder in path.parents if folder.is_relative_to(boundary)]
    narrow = [folder for folder in below if not resolved_home.is_relative_to(resolved(folder))]
    # A file that lies in the home folder itself has no folder below it: then it stays that folder.
    return narrow[-1] if narrow else path.parent


def has_marker(folder: Path, markers: Iterable[str]) -> bool:
    """Whether one of `markers`, names or globs, lies in `folder`."""
    return any(_has(folder, marker) for marker in markers)


def _has(folder: Path, marker: str) -> bool:
    try:
        if "*" in marker:
            return any(fnmatchcase(entry.name, marker) for entry in folder.iterdir())
        return exists(folder / marker)
    except OSError:
        return False


def _absolute(path: Path) -> Path:
    return Path(os.path.abspath(path))  # noqa: PTH100 — Path.absolute() keeps `..`, and resolve() follows symlinks


def resolved(path: Path) -> Path:
    """`path` without symbolic links; as it is where they lead nowhere."""
    try:
        return path.resolve()
    except (OSError, RuntimeError):
        return path
