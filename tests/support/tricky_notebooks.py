"""Notebooks that use IPython's and Python's odder ways, for every server: `tricky_notebooks.txt`.

A notebook begins with `===== name errors 0:4 1:1 tolerated 1:2 python 3.13.1` (places: cell from 0, line from 1; what
is tolerated differs between servers); `-----` parts its cells. They were run by IPython 9.18 where that does no harm.
"""

import re
from collections.abc import Iterator
from pathlib import Path

from tests.support.leak_cases import LeakCase

_HEAD = re.compile(
    r"===== (?P<name>\S+) errors ?(?P<errors>[\d: ]*?)(?: tolerated (?P<tolerated>[\d: ]+?))?"
    r"(?: python (?P<version>[\d.]+))?(?: open (?P<open>[\w ]+))?"
)


def read_notebooks() -> Iterator[LeakCase]:
    """The notebooks of the file, in order."""
    text = Path(__file__).with_suffix(".txt").read_text(encoding="utf-8")
    for part in re.split(r"^(?======)", text, flags=re.MULTILINE)[1:]:
        head, _, cells = part.removesuffix("\n").partition("\n")
        found = _HEAD.fullmatch(head)
        assert found is not None, head
        yield LeakCase(
            found["name"],
            tuple(cells.split("\n-----\n")),
            _places(found["errors"]),
            _places(found["tolerated"] or ""),
            frozenset((found["open"] or "").split()),
            found["version"],
        )


def _places(text: str) -> frozenset[tuple[int, int]]:
    return frozenset((int(cell), int(line)) for cell, _, line in (place.partition(":") for place in text.split()))


TRICKY = tuple(read_notebooks())
