"""Writing a file so that it is whole at every moment: the old one until the new one is safe on disk.

A new file is written beside the old one, brought to disk, and takes its place in one step. A symbolic link stays, and
the file that it leads to is replaced. Mode, owner and extended attributes are kept. Where that cannot be done (the
folder is not writable, the file has several names, it belongs to somebody else) the file is written in place, which is
said in the answer. Everything here blocks; call it from a thread.
"""

import os
import stat
import tempfile
import time
from contextlib import suppress
from dataclasses import dataclass
from io import FileIO
from pathlib import Path

from jupyter_lsp_agent.core.errors import ContentChangedError

_MARK = ".jupyter-lsp-agent."
_STALE_AFTER_SECONDS = 3600
_LONGEST_NAME_PART = 80


@dataclass(frozen=True, slots=True)
class WrittenFile:
    """How a file was written. `in_place_because`: why it was not replaced in one step; `None`: it was."""

    in_place_because: str | None = None


def write_file(path: Path, data: bytes, *, expected: bytes | None = None) -> WrittenFile:
    """Give the existing file at `path` the content `data`.

    Args:
        path: the file, or a symbolic link to it.
        data: its new content.
        expected: what it is thought to hold; it is read again right before it is written.

    Raises:
        ContentChangedError: it does not hold `expected`.
        PermissionError: it may not be written.
        OSError: it cannot be written; it is as it was.
    """
    target = Path(os.path.realpath(path, strict=True))
    status = target.stat()
    if not os.access(target, os.W_OK):
        raise PermissionError(f"{path.name} may not be written: change its permissions")
    because = _why_in_place(target, status)
    if because is not None:
        _check(target, expected, path.name)
        _write_in_place(target, data)
        return WrittenFile(because)
    _remove_stale(target)
    return _replace(target, status, data, expected)


def _replace(target: Path, status: os.stat_result, data: bytes, expected: bytes | None) -> WrittenFile:
    descriptor, name = tempfile.mkstemp(prefix=_prefix(target), dir=target.parent)
    temporary = Path(name)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            if not _take_over(file.fileno(), target, status):
                _check(target, expected, target.name)
                _write_in_place(target, data)
                return WrittenFile("it belongs to another owner")
            file.flush()
            os.fsync(file.fileno())
        _check(target, expected, target.name)
        temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)
    _sync_folder(target.parent)
    return WrittenFile()


def _why_in_place(target: Path, status: os.stat_result) -> str | None:
    if not stat.S_ISREG(status.st_mode):
        return "it is no regular file"
    if status.st_nlink > 1:
        return f"it has {status.st_nlink} names"
    if not os.access(target.parent, os.W_OK | os.X_OK):
        return "its folder is not writable"
    return None


def _check(target: Path, expected: bytes | None, name: str) -> None:
    if expected is not None and target.read_bytes() != expected:
        raise ContentChangedError(f"{name} was written by somebody else in this moment: read it again")


def _write_in_place(target: Path, data: bytes) -> None:
    # Without a buffer, which would try to write again what could not be written.
    with target.open("r+b", buffering=0) as file:
        old = file.readall()
        try:
            _overwrite(file, data)
        except OSError:
            # The disk may be full. What it held before fits where it was.
            _overwrite(file, old)
            raise


def _overwrite(file: FileIO, data: bytes) -> None:
    file.seek(0)
    left = memoryview(data)
    while left:
        left = left[file.write(left) :]
    file.truncate()
    os.fsync(file.fileno())


def _take_over(descriptor: int, target: Path, status: os.stat_result) -> bool:
    """Give the new file mode, owner and attributes of the old one; false where it cannot have the owner."""
    if os.name != "posix":
        return True
    mine = os.fstat(descriptor)
    if (mine.st_uid, mine.st_gid) != (status.st_uid, status.st_gid):
        try:
            os.fchown(descriptor, status.st_uid, status.st_gid)
        except PermissionError:
            return False
    os.fchmod(descriptor, stat.S_IMODE(status.st_mode))
    _copy_attributes(descriptor, target)
    return True


def _copy_attributes(descriptor: int, target: Path) -> None:
    """Access lists and tags, as far as the file system lets them be set."""
    if not hasattr(os, "listxattr"):
        return
    try:
        for name in os.listxattr(target):
            os.setxattr(descriptor, name, os.getxattr(target, name))
    except OSError:
        # Some are the system's own, some file systems have none: the content matters more.
        return


def _sync_folder(folder: Path) -> None:
    if os.name != "posix":
        return
    # The file is in its place already, and some file systems have no such call.
    with suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


def _prefix(target: Path) -> str:
    # The first characters keep synchronising programs and notebook lists from seeing it.
    return ".~" + target.name[:_LONGEST_NAME_PART] + _MARK


def _remove_stale(target: Path) -> None:
    """What a killed process left beside the file; young ones may be another server's at work."""
    prefix = _prefix(target)
    with os.scandir(target.parent) as entries:
        for entry in entries:
            if entry.name.startswith(prefix) and entry.stat(follow_symlinks=False).st_mtime < _stale_before():
                Path(entry.path).unlink(missing_ok=True)


def _stale_before() -> float:
    return time.time() - _STALE_AFTER_SECONDS
