"""What a build costs grows with a cell's length, not with its square: told by counting calls, which no load changes."""

import cProfile
import pstats

import pytest

from jupyter_lsp_agent.notebook.virtual_document import BuildOptions, build_virtual_documents
from tests.support.notebooks import python_notebook

LINES = {
    "classic prompts": ">>> x\n",
    "continued classic prompts": ">>> f(x,\n...   y)\n",
    "prompts of IPython": "In [1]: x\n",
    "line magics": "%time x\n",
    "assigned magics": "x = %time y\n",
    "shell": "!ls\n",
    "a shell line that goes on": "!ls \\\n",
    "help": "x?\n",
    "files that run": "%run x.py\n",
    "star imports": "from x import *\n",
    "relative imports": "from . import x\n",
    "annotations": "x: int = 1\n",
    "global statements": "global x\n",
    "broken lines": "x = = 1\n",
    "future imports": "from __future__ import annotations\n",
    "awaits": "await x\n",
    "directives": "# type: ignore\n",
}


def calls(source: str) -> int:
    """How many calls it takes to build a notebook of one cell and another that reads and annotates its names."""
    notebook = python_notebook(source, "x: str = 'a'")
    options = BuildOptions(missing_modules=frozenset({"x"}), run_names={"x.py": frozenset({"x"})})
    profile = cProfile.Profile()
    profile.runcall(build_virtual_documents, notebook, options)
    return pstats.Stats(profile).total_calls  # type: ignore[attr-defined, no-any-return]


@pytest.mark.parametrize("line", LINES.values(), ids=LINES)
def test_a_cell_twice_as_long_costs_twice_as_much(line: str) -> None:
    assert calls(line * 800) < 2.3 * calls(line * 400)
