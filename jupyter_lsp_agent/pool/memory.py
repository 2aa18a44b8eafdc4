"""The memory of a server: of its process and of everything that it started."""

import psutil


def process_tree_rss_bytes(pid: int) -> int:
    """Resident memory of a process and its descendants, in bytes; 0 where the process is gone.

    Pages that they share are counted once for each: an upper bound.
    """
    try:
        root = psutil.Process(pid)
        processes = [root, *root.children(recursive=True)]
    except psutil.Error:
        return 0
    return sum(_rss_bytes(process) for process in processes)


def _rss_bytes(process: psutil.Process) -> int:
    try:
        return int(process.memory_info().rss)
    except psutil.Error:
        return 0
