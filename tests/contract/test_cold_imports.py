"""What is not needed is not loaded: an agent calls the command often, and each import is waited for."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
TOUR = ROOT / "notebooks" / "tour.ipynb"
HEAVY = {"jupyter_server", "nbformat", "tornado", "jupyter_client", "zmq", "jsonschema", "lsprotocol"}
IPYTHON = {"IPython.terminal", "IPython.core.interactiveshell", "IPython.core.shellapp", "IPython.display"}
LOOP = {"asyncio"}
OWN = {"jupyter_lsp_agent.service", "jupyter_lsp_agent.diagnostics", "jupyter_lsp_agent.notebook"}


def loaded_by(code):
    """The modules that a new interpreter has loaded after running `code`."""
    environ = {**os.environ, "PYTHONPATH": str(ROOT)}
    script = f"import sys\n{code}\nprint('\\n'.join(sorted(sys.modules)), file=sys.stderr)"
    done = subprocess.run([sys.executable, "-c", script], env=environ, capture_output=True, text=True, check=True)
    return set(done.stderr.split())


def main(*arguments):
    return f"""
from jupyter_lsp_agent.frontends.cli import main
try:
    main({list(arguments)!r})
except SystemExit:
    pass
"""


@pytest.mark.parametrize(
    ("code", "forbidden"),
    [
        ("import jupyter_lsp_agent", HEAVY | IPYTHON | LOOP | OWN | {"IPython", "dataclasses", "tqdm"}),
        (main("--version"), HEAVY | IPYTHON | LOOP | OWN | {"IPython", "tqdm"}),
        (main("--help"), HEAVY | IPYTHON | LOOP | OWN | {"IPython", "tqdm"}),
        (main("check", "--help"), HEAVY | IPYTHON | LOOP | OWN | {"IPython", "tqdm"}),
        (main("check", "--no-such-option"), HEAVY | IPYTHON | LOOP | OWN | {"IPython", "tqdm"}),
    ],
    ids=["import", "version", "help", "check help", "usage"],
)
def test_not_loaded(code, forbidden):
    assert loaded_by(code) & forbidden == set()


@pytest.mark.real_server("ty")
def test_not_loaded_by_the_check_of_a_usual_notebook():
    loaded = loaded_by(main("check", "--exit-zero", str(TOUR)))
    assert "jupyter_lsp_agent.service.service" in loaded
    assert loaded & (HEAVY | IPYTHON | {"tqdm"}) == set()
