"""Hidden state beside a file that may be behind: what is not saved yet is not held against it."""

import json
import math

import pytest

from jupyter_lsp_agent.service.kernel_view import Execution, hidden_findings, open_document
from jupyter_lsp_agent.service.settings import Settings
from tests.support.small_notebooks import notebook_object


@pytest.mark.parametrize(
    ("ends", "written", "expected"),
    [
        ([10.0, 20.0], 30.0, ["x"]),  # saved since: the cell that bound `x` is gone
        ([10.0, 20.0], 15.0, ["x"]),
        ([10.0, 20.0], 5.0, []),  # it may be a new cell that only the front end has
        ([None, 20.0], 30.0, ["x"]),  # nobody listened, and it ended before the next one
        ([None, 20.0], 15.0, []),
        ([None, None], 15.0, []),
        ([None, None], math.inf, ["x"]),  # a shared document is never behind
    ],
)
def test_only_what_was_written_since_is_told(ends, written, expected):
    document = open_document(json.dumps(notebook_object(["print(x)"])).encode(), "n.ipynb")
    runs = [
        Execution("x = 1", 1, "gone", failed=False, ended_seconds=ends[0]),
        Execution("print(x)", 2, "c0", failed=False, ended_seconds=ends[1]),
    ]
    found = hidden_findings(document, runs, {"x"}, Settings(), written)
    assert [one.name for one in found] == expected
