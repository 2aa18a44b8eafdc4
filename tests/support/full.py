"""How long the long tests are: a fixed sample in the usual run, the whole with `JUPYTER_LSP_AGENT_FULL=1`."""

import os
from typing import TypeVar

FULL: bool = os.environ.get("JUPYTER_LSP_AGENT_FULL", "") not in {"", "0"}
"""Whether the long tests run whole."""

SEEDS = {
    "deltas (toy judge)": 20261130,
    "deltas (ty)": 20261201,
    "stale verdicts": 20261130,
    "many tasks": 20261130,
    "definitions": 20261130,
    "edits": 7,
    "edits (REST)": 11,
    "kills while writing": 20261130,
    "kills of the owner": int(os.environ.get("JUPYTER_LSP_AGENT_SEED", "20261130")),
}
"""Of what is drawn at random, by law; every run's summary tells them."""

T = TypeVar("T")


def sample(whole: T, short: T) -> T:
    """`whole` in the full run, else `short`."""
    return whole if FULL else short
