"""Names that only functions bind, held against Python, which runs the cells."""

from pathlib import Path

import pytest

from tests.support.imports import said_and_failing
from tests.support.real_servers import TYPE_CHECKERS

pytestmark = pytest.mark.timeout(300)
BINDING = (
    "def h():\n    global NAME\n    NAME = 1\nh()\n",
    "def h():\n    global NAME\n    import os as NAME\nh()\n",
    "def h():\n    global NAME\n    for NAME in [1]: pass\nh()\n",
)
USES = (
    "NAME",
    "[NAME for _ in [1]]",
    "{NAME: NAME for _ in [1]}",
    "class Q:\n    z = NAME",
    "[(lambda e=NAME: 1)() for _ in [1]]",
    "def u(): return [NAME for _ in [1]]\nu()",
)
UNBOUND = (
    "[NAME for _ in [1]]",
    "def h():\n    global NAME\n    return 1\n[NAME for _ in [1]]",
    "def h():\n    NAME = 1\nh()\n[NAME for _ in [1]]",
)
SOURCES = (*(binding + use for binding in BINDING for use in USES), *UNBOUND)


@pytest.mark.parametrize("server", TYPE_CHECKERS)
def test_what_functions_bind_is_no_error(server: str, tmp_path: Path) -> None:
    # A name of its own in each cell: what one binds, the others have.
    sources = tuple(source.replace("NAME", f"name_{number}") for number, source in enumerate(SOURCES))
    said, failing = said_and_failing(server, tmp_path, {}, {"n.ipynb": sources})["n.ipynb"]
    assert failing == set(range(len(SOURCES) - len(UNBOUND), len(SOURCES)))
    assert said == failing
