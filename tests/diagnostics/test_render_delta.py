"""Consequences under their cause, and floods summed up; JSON stays as it is."""

from datetime import UTC, datetime

from jupyter_lsp_agent.core.diagnostic import CellDiagnostic
from jupyter_lsp_agent.diagnostics.build import build_report
from jupyter_lsp_agent.diagnostics.facts import Finding, ReportFacts, ViewOptions
from jupyter_lsp_agent.diagnostics.report import Report
from tests.support.states import CellSpec, cells, run


def report(before: list[CellSpec], after: list[CellSpec]) -> Report:
    """The report on an edit, as the toy checker sees it."""
    [delta] = run([cells(*before), cells(*after)])
    findings = tuple(
        Finding(item.status, CellDiagnostic(item.finding.cell_index, item.finding.diagnostic), item.caused_by)
        for item in delta.findings
    )
    facts = ReportFacts(
        path="a.ipynb",
        cells=cells(*after),
        findings=findings,
        baseline="session",
        checked_at=datetime(2026, 1, 1, tzinfo=UTC),
    )
    return build_report(facts, ViewOptions())


def test_what_one_change_broke_is_one_line() -> None:
    text = report(
        [("a", "x = 1"), ("b", "print(x)"), ("c", "y = 2\nprint(x)"), ("d", "z = 3")],
        [("a", "w = 1"), ("b", "print(x)"), ("c", "y = 2\nprint(x)"), ("d", "z = 3\nprint(q)")],
    ).to_text()
    assert text.split("\n")[1:] == [
        "2 new errors through the change of cell 0 (a), in cell 1 (b) 1:7, cell 2 (c) 2:7: "
        "Name `x` used when not defined [undefined]",
        "cell 3 (d) 2:7 error: Name `q` used when not defined [undefined]",
        "    print(q)",
        "          ^",
    ]


def test_two_causes_are_two_lines() -> None:
    text = report(["x = 1", "y = 2", "print(x, y)"], ["", "", "print(x, y)"]).to_text()
    assert [line.partition(",")[0] for line in text.split("\n")[1:]] == [
        "1 new error through the change of cell 0",
        "1 new error through the change of cell 1",
    ]


def test_a_flood_is_summed_up_by_kind_and_cell_in_text_alone() -> None:
    many = [f"print(a{number})\nprint(b{number})" for number in range(20)]
    found = report(["x = 1"], ["x = 1", *many, "print(c)", "y = ("])
    assert found.to_text().split("\n")[1:] == [
        "41 × undefined in cells 1 (2), 2 (2), 3 (2), 4 (2), 5 (2), 6 (2), 7 (2), 8 (2), 9 (2), 10 (2), 11 (2), 12 (2)"
        " and 9 more; the first: cell 1 1:7 Name `a0` used when not defined",
        "1 × invalid-syntax in cell 22 (1); the first: cell 22 1:5 '(' was never closed",
    ]
    assert sum(len(cell["diagnostics"]) for cell in found.to_dict()["cells"]) == 20


def test_forty_new_findings_are_no_flood() -> None:
    many = [f"print(a{number})\nprint(b{number})" for number in range(20)]
    lines = report(["x = 1"], ["x = 1", *many]).to_text().split("\n")
    assert lines[1] == "cell 1 1:7 error: Name `a0` used when not defined [undefined]"
    assert lines[-1].startswith("… 20 more in cells")
