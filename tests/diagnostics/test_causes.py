"""Which cell's change made a finding in another one."""

from dataclasses import replace

import pytest

from jupyter_lsp_agent.diagnostics.report import CellReference, Status
from jupyter_lsp_agent.notebook.model import CellKind
from tests.support.states import CellSpec, cells, run, short

MARKDOWN = "as Markdown: x = 1"


def caused(before: list[CellSpec], after: list[CellSpec]) -> dict[str, CellReference | None]:
    now = (
        replace(cell, kind=CellKind.MARKDOWN, source="x = 1") if cell.source == MARKDOWN else cell
        for cell in cells(*after)
    )
    [delta] = run([cells(*before), tuple(now)])
    return {short(item.finding): item.caused_by for item in delta.findings if item.status is Status.INTRODUCED}


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param(
            ["x = 1", "y = 2", "print(x)"], ["z = 1", "y = 2", "print(x)"], {"2:0:6 x": (0, None)}, id="renamed"
        ),
        pytest.param(
            [("a", "x = 1"), ("b", "print(x)")], [("b", "print(x)")], {"0:0:6 x": (0, "a")}, id="deleted: its old place"
        ),
        pytest.param(
            [("a", "x = 1"), ("b", "print(x)")],
            [("b", "print(x)"), ("a", "x = 1")],
            {"0:0:6 x": (1, "a")},
            id="swapped with its use",
        ),
        pytest.param(
            ["x = 1", "a = 2", "print(x)"],
            ["a = 2", "print(x)", "x = 1"],
            {"1:0:6 x": (2, None)},
            id="moved behind its use",
        ),
        pytest.param(
            ["x = 1\ny = 2", "print(x)\nprint(y)"],
            ["x = 1", "print(x)\nprint(y)"],
            {"1:1:6 y": (0, None)},
            id="one of two definitions deleted",
        ),
        pytest.param(
            ["x = 1", "y = 2", "print(x, y)"],
            ["", "k = 2", "print(x, y)"],
            {"2:0:6 x": (0, None), "2:0:9 y": (1, None)},
            id="two definitions deleted, each finding has its own",
        ),
        pytest.param(["x = 1", "print(x)"], [MARKDOWN, "print(x)"], {"1:0:6 x": (0, None)}, id="made Markdown"),
        pytest.param(["x = 1"], ["x = 1\nprint(z)"], {"0:1:6 z": None}, id="the edit itself"),
        pytest.param(["x = 1\nprint(x)"], ["y = 1\nprint(x)"], {"0:1:6 x": None}, id="its own cell"),
        pytest.param(
            ["x = 1", "def f():\n    return x\nprint(x)"],
            ["", "def f():\n    return x\n\nprint(x)"],
            {"1:1:11 x": (0, None), "1:3:6 x": (0, None)},
            id="on untouched lines of a cell that changed too",
        ),
        pytest.param(
            ["%time x = 1", "x = 1", "print(x)"], ["%time x = 1", "!ls", "print(x)"], {}, id="magics do not disturb"
        ),
    ],
)
def test_cause(
    before: list[CellSpec], after: list[CellSpec], expected: dict[str, tuple[int, str | None] | None]
) -> None:
    found = caused(before, after)
    plain = {name: None if cause is None else (cause.cell_index, cause.cell_id) for name, cause in found.items()}
    assert {name: cause for name, cause in plain.items() if not name.endswith("syntax")} == expected
