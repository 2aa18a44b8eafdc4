"""How long the long tests are: a fixed sample in the usual run, the whole with `JUPYTER_LSP_AGENT_FULL=1`."""

import os
from typing import TypeVar

FULL: bool = os.environ.get("JUPYTER_LSP_AGENT_FULL", "") not in {"", "0"}
"""Whether the long tests run whole."""

T = TypeVar("T")


def sample(whole: T, short: T) -> T:
    """`whole` in the full run, else `short`."""
    return whole if FULL else short
