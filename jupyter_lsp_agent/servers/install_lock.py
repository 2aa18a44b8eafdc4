"""The lock of one server's install, across processes.

It is a file that is locked, so that it is given back by whatever death of its holder, and removed by who gives it back.
Who waits for it looks again and again instead of waiting in the system, so that the wait can be ended.
"""

import contextlib
import os
from collections.abc import Callable, Iterator
from io import TextIOWrapper
from pathlib import Path

if os.name == "posix":
    import fcntl


@contextlib.contextmanager
def install_lock(path: Path, wait: Callable[[], None]) -> Iterator[None]:
    """Hold the only lock on `path` for the block; its folder is made.

    Args:
        path: the file that stands for the lock.
        wait: is called before each further look while somebody else holds it; may raise.

    Raises:
        OSError: the file cannot be made.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    while (held := _take(path)) is None:
        wait()
    with held:
        try:
            yield
        finally:
            path.unlink(missing_ok=True)


def is_locked(path: Path) -> bool:
    """Whether somebody holds the lock on `path` right now."""
    try:
        with path.open("r") as file:
            return not _lock(file, shared=True)
    except OSError:
        return False


def _take(path: Path) -> TextIOWrapper | None:
    """The locked file; `None` where somebody else has it."""
    file = path.open("a")
    try:
        if _lock(file) and _is_still(path, file):
            return file
    except OSError:
        file.close()
        raise
    file.close()
    return None


def _is_still(path: Path, file: TextIOWrapper) -> bool:
    """Whether the file that was locked is the one that others would lock: its last holder may have removed it."""
    try:
        return os.path.samestat(path.stat(), os.fstat(file.fileno()))
    except FileNotFoundError:
        return False


def _lock(file: TextIOWrapper, *, shared: bool = False) -> bool:
    """Lock an open file until it is closed; false where it is locked. On other systems nothing is locked."""
    if os.name != "posix":
        return True
    try:
        fcntl.flock(file.fileno(), (fcntl.LOCK_SH if shared else fcntl.LOCK_EX) | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True
