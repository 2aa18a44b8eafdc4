"""Reading files that others wrote, or named: regular files alone, and never more than is asked for.

A pipe, a socket or a device may give nothing for ever, or bytes without end, and a thread that waits in `open` hears
no signal. So what a path names is looked at before it is opened, opened without waiting, and looked at again.
"""

import errno
import os
import stat
from pathlib import Path

_FLAGS = os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0) | getattr(os, "O_CLOEXEC", 0)
DEFAULT_MAX_BYTES = 16 * 1024 * 1024
"""The most that is read where nobody says: no configuration file is larger."""


class NotRegularFileError(OSError):
    """The path names a pipe, a socket or a device."""

    def __init__(self, path: Path) -> None:
        super().__init__(errno.EINVAL, "it is a pipe, a socket or a device, not a regular file", str(path))


def read_regular_file(path: Path, max_bytes: int = DEFAULT_MAX_BYTES) -> bytes:
    """The first `max_bytes` bytes of a regular file, or all of it where it is shorter; never waits for another process.

    Raises:
        NotRegularFileError: it is a pipe, a socket or a device.
        OSError: it cannot be read, or there can be no such path.
    """
    try:
        _require_regular(path, path.stat())
        descriptor = os.open(path, _FLAGS)
    except ValueError as error:  # a NUL, or half a surrogate pair, in the name
        raise OSError(errno.EINVAL, "no file can have this name", str(path)) from error
    with os.fdopen(descriptor, "rb") as file:
        _require_regular(path, os.fstat(descriptor))
        return file.read(max_bytes)


def read_regular_text(path: Path, *, errors: str = "strict", max_bytes: int = DEFAULT_MAX_BYTES) -> str:
    """The same as text in UTF-8, whose line ends are made `\\n`.

    Raises:
        OSError: see `read_regular_file`.
        UnicodeDecodeError: it is no UTF-8, and `errors` is `strict`.
    """
    text = read_regular_file(path, max_bytes).decode("utf-8", errors)
    return text.replace("\r\n", "\n").replace("\r", "\n")


def is_file(path: Path) -> bool:
    """Whether it is a regular file, links followed. Whatever stands in the way of looking means no."""
    try:
        return path.is_file()
    except OSError:
        return False


def is_folder(path: Path) -> bool:
    """Whether it is a folder, links followed. Whatever stands in the way of looking means no."""
    try:
        return path.is_dir()
    except OSError:
        return False


def exists(path: Path) -> bool:
    """Whether there is anything, links followed. Whatever stands in the way of looking means no."""
    try:
        return path.exists()
    except OSError:
        return False


def _require_regular(path: Path, status: os.stat_result) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    if not stat.S_ISREG(status.st_mode):
        raise NotRegularFileError(path)


def display_name(name: str) -> str:
    """A file as the user named it, tidied up; a URL, which names none, as it stands."""
    return name if "://" in name else os.path.normpath(name)
