"""Trees are built in threads beside the event loop, several at a time."""

import gc
import sys
import threading
from collections.abc import Iterator

import pytest

from jupyter_lsp_agent.notebook.python_syntax import parse

SOURCE = "\n".join(f"def f{n}(a, b=[1, (2, {{3: 4}})]):\n    return [x for x in a if x > {n}]" for n in range(60))


class Cycle:
    """Runs Python code when it is collected, which lets another thread in while a tree is being built."""

    def __init__(self) -> None:
        self.me = self

    def __del__(self) -> None:
        sum(range(5))


@pytest.fixture
def threads_take_turns_often() -> Iterator[None]:
    interval, threshold = sys.getswitchinterval(), gc.get_threshold()
    sys.setswitchinterval(1e-6)
    gc.set_threshold(5, 2, 2)
    yield
    sys.setswitchinterval(interval)
    gc.set_threshold(*threshold)


def test_threads_that_build_trees_at_once_all_get_theirs(threads_take_turns_often: None) -> None:
    """`ast.parse` itself fails here now and then, up to Python 3.12 (python/cpython#106905)."""
    lengths: list[int] = []

    def build() -> None:
        for _ in range(40):
            Cycle()
            tree = parse(SOURCE)
            lengths.append(0 if tree is None else len(tree.body))

    threads = [threading.Thread(target=build) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert lengths == [60] * 160
