import pytest

from jupyter_lsp_agent.core.behaviour import Freshness
from jupyter_lsp_agent.core.diagnostic import DiagnosticSeverity
from jupyter_lsp_agent.core.ids import CellId, ServerId
from jupyter_lsp_agent.core.positions import CellLine
from jupyter_lsp_agent.diagnostics.build import no_verdict_report
from jupyter_lsp_agent.diagnostics.facts import Finding, ViewOptions
from jupyter_lsp_agent.diagnostics.report import (
    CellReference,
    DocumentKind,
    EnvironmentReport,
    NoVerdictReason,
    OtherFile,
    ServerReport,
    Status,
    Unchecked,
)
from jupyter_lsp_agent.notebook.model import Cell, CellKind
from tests.support.reports import PYTHON, code_cells, diagnostic, facts, finding, report

ALL = ViewOptions(severity=DiagnosticSeverity.HINT, statuses=frozenset(Status), max_per_cell=0, max_total=0)


def excerpt(line, column, end_column):
    """The source line and the carets of a finding."""
    told = report(code_cells(line), finding(0, column=column, end_column=end_column)).to_text().split("\n")
    return told[2:]


def test_the_example_of_the_public_interface():
    cells = (
        *code_cells("a", "b", "c", "d"),
        Cell(4, CellId("9f2c"), CellKind.CODE, "df = 1\ndf2 = dff.head()"),
    )
    old = [finding(index, Status.PREEXISTING) for index in range(3)]
    new = finding(
        4,
        Status.INTRODUCED,
        line=1,
        column=6,
        end_column=9,
        message="Name `dff` used when not defined",
        code="unresolved-reference",
    )
    told = report(cells, *old, new, path="analysis/model.ipynb", baseline="session", elapsed_seconds=0.0231)
    assert told.to_text() == (
        "analysis/model.ipynb: 1 new error, 0 fixed; 3 older errors not shown (ty 0.0.108, 23 ms)\n"
        "cell 4 (9f2c) 2:7 error: Name `dff` used when not defined [unresolved-reference]\n"
        "    df2 = dff.head()\n"
        "          ^^^"
    )
    assert told.hint == "1 new error in cell 4."


def test_what_the_caps_cut_is_one_last_line():
    cells = code_cells(*["x\n" * 20] * 13)
    findings = [finding(index, line=line) for index, number in ((3, 11), (9, 19), (12, 7)) for line in range(number)]
    told = report(cells, *findings, view=ViewOptions(max_per_cell=0, max_total=0))
    assert "more" not in told.to_text()
    told = report(cells, *findings, view=ViewOptions(max_total=0, max_per_cell=1))
    assert told.to_text().split("\n")[-1] == "… 34 more in cells 3, 9, 12"


def test_nothing_found():
    assert report(code_cells("x"), elapsed_seconds=0.002).to_text() == "n.ipynb: no errors (ty 0.0.108, 2 ms)"
    assert report((), servers=()).to_text() == "n.ipynb: no errors"


def test_nothing_new():
    told = report(code_cells("x"), finding(0, Status.PREEXISTING), baseline="session")
    assert told.to_text().startswith("n.ipynb: no new errors, 0 fixed; 1 older error not shown (ty")


def test_no_verdict_is_one_line():
    told = no_verdict_report(facts(code_cells("x"), finding(0)), NoVerdictReason.TIMEOUT, "Raise\n--timeout.")
    assert told.to_text() == "n.ipynb: no verdict (timeout): Raise --timeout."


@pytest.mark.parametrize(
    ("status", "severity", "words"),
    [
        (Status.PRESENT, DiagnosticSeverity.ERROR, "error:"),
        (Status.INTRODUCED, DiagnosticSeverity.WARNING, "warning:"),
        (Status.OUTSTANDING, DiagnosticSeverity.ERROR, "error (still there):"),
        (Status.PREEXISTING, DiagnosticSeverity.HINT, "hint (older):"),
    ],
)
def test_severity_and_status(status, severity, words):
    told = report(code_cells("x"), finding(0, status, severity=severity), view=ALL).to_text()
    assert f"cell 0 (c0) 1:1 {words} it is wrong [some-code]" in told


def test_a_cell_without_id_and_a_finding_without_code():
    told = report((Cell(0, None, CellKind.CODE, "x"),), finding(0, code=None)).to_text()
    assert told.split("\n")[1] == "cell 0 1:1 error: it is wrong"


def test_a_hostile_cell_id_is_cleaned_and_cut():
    told = report((Cell(0, CellId("a\nb\x1b[2J" + "i" * 99), CellKind.CODE, "x"),), finding(0)).to_text()
    assert "\x1b" not in told
    assert len(told.split("\n")[1]) < 120


def test_a_text_file_has_no_cells():
    told = report((), Finding(Status.PRESENT, diagnostic(1)), kind=DocumentKind.TEXT, text="a\nb", path="m.py")
    assert told.to_text().split("\n")[1:] == ["2:1 error: it is wrong [some-code]", "    b", "    ^"]
    many = [Finding(Status.PRESENT, diagnostic(line)) for line in range(25)]
    told = report((), *many, kind=DocumentKind.TEXT, text="a\n" * 25)
    assert told.to_text().split("\n")[-1] == "… 5 more"


def test_unchecked_cells_are_said():
    gaps = tuple(
        Unchecked(CellReference(index), CellLine(1), CellLine(2), f"cell magic %%{name} has no server")
        for index, name in ((0, "bash"), (0, "bash"), (1, "html"))
    )
    cells = code_cells("%%bash\na\nb", "%%html\na\nb", "x")
    told = "cell 0: cell magic %%bash has no server; cell 1: cell magic %%html has no server"
    assert f"; 2 cells not wholly checked ({told})" in report(cells, unchecked=gaps).to_text()
    assert ": cell magic %%bash has no server)" in report(cells, unchecked=gaps[:2]).to_text()


def test_a_mend_that_several_cells_share_is_told_once_and_whole():
    mend = "if its body is Python, add it to python_cell_magics"
    gaps = tuple(
        Unchecked(CellReference(index), CellLine(1), CellLine(1), f"cell magic %%{name} is not known; {mend}")
        for index, name in enumerate(("unknownmagic", "another_one", "third", "fourth", "third"))
    )
    head = report(code_cells(*["x"] * 6), unchecked=gaps).to_text()
    assert (
        "5 cells not wholly checked (cell 0: cell magic %%unknownmagic is not known; cell 1: cell magic %%another_one "
        f"is not known; cells 2, 4: cell magic %%third is not known; {mend}; … also cell 3)"
    ) in head
    other = Unchecked(
        CellReference(5), CellLine(0), CellLine(0), "its source is a number, not text; write it as a string"
    )
    two = report(code_cells(*["x"] * 6), unchecked=(gaps[0], other)).to_text()
    assert f"{mend}; cell 5: its source is a number, not text; write it as a string)" in two


ASKED = EnvironmentReport("/p/.venv/bin/python", ".venv")


@pytest.mark.parametrize("code", ["unresolved-import", "reportMissingImports", "import-not-found", "missing-import"])
def test_where_imports_were_looked_for_is_said_once_a_report(code):
    unresolved = [finding(index, code=code, message="Cannot resolve it") for index in range(3)]
    told = report(code_cells("x", "y", "z"), *unresolved, environment=ASKED, view=ViewOptions(max_total=2)).to_text()
    said = (
        "imports were looked for in /p/.venv/bin/python (.venv); "
        "`--python` on the command line or the notebook's kernel names another"
    )
    assert told.count("imports were looked for") == 1
    assert told.split("\n")[-2:] == [said, "… 1 more in cell 2"]


def test_where_imports_were_looked_for_is_said_of_shown_imports_alone():
    cells, unresolved = code_cells("x"), finding(0, code="unresolved-import")
    for told in (
        report(cells, finding(0), environment=ASKED),
        report(cells, unresolved),
        report(cells, finding(0, code="2307"), environment=ASKED),
        report(cells, finding(0, Status.PREEXISTING, code="unresolved-import"), environment=ASKED),
    ):
        assert "imports" not in told.to_text()
    long = EnvironmentReport("/deep" * 99 + "/python", "kernelspec " + "k" * 99)
    line = report(cells, unresolved, environment=long).to_text().split("\n")[-1]
    assert len(line) <= 250
    assert line.endswith("names another")
    plain = report(
        (),
        Finding(Status.PRESENT, diagnostic(0, code="import-error")),
        kind=DocumentKind.TEXT,
        text="x",
        environment=ASKED,
    ).to_text()
    assert plain.endswith("`--python` on the command line names another")


def test_what_is_fixed_is_named_and_at_most_five_of_it():
    gone = tuple(finding(0, message=f"Name `n{index}` used when not defined", code="name") for index in range(7))
    told = report(code_cells("x"), baseline="session", fixed=tuple(report(code_cells("x"), *gone[:2], view=ALL)))
    assert told.to_text().split("\n")[1:] == [
        "fixed: cell 0 (c0) 1:1 Name `n0` used when not defined [name]",
        "fixed: cell 0 (c0) 1:1 Name `n1` used when not defined [name]",
    ]
    many = report(code_cells("x"), baseline="session", fixed=tuple(report(code_cells("x"), *gone, view=ALL)))
    assert len(many.to_text().split("\n")) == 1 + 5 + 1
    assert many.to_text().endswith("\nfixed: 2 more")


def test_long_reasons_are_each_told_and_end_with_a_word():
    reasons = [f"{number} " + "abcdefgh " * 40 for number in range(5)]
    gaps = tuple(
        Unchecked(CellReference(number % 2), CellLine(0), CellLine(0), why) for number, why in enumerate(reasons)
    )
    head = report(code_cells("x", "y", "z"), unchecked=gaps).to_text()
    told = head[head.index("(cell 0: 0 ") + 1 :].partition(")")[0].split("; ")
    assert [one[:10] for one in told] == ["cell 0: 0 ", "cell 1: 1 ", "cell 0: 2 ", "…"]
    for one in told[:3]:
        assert set(one.split()[3:-1]) == {"abcdefgh"}
        assert one.endswith(" …")
        assert len(one) <= 90


def test_other_files_follow():
    elsewhere = report(code_cells("y"), finding(0, Status.INTRODUCED))
    mixed = (*elsewhere, *report(code_cells("y"), finding(0, severity=DiagnosticSeverity.WARNING), view=ALL))
    other_files = {
        "m.py": OtherFile(DocumentKind.TEXT, diagnostics=mixed),
        "o.py": OtherFile(DocumentKind.TEXT),
    }
    told = report(code_cells("x"), other_files=other_files).to_text().split("\n")
    assert told[1] == "m.py: 2 new findings"
    assert told[-1] == "o.py: no errors any more"


def test_a_chain_that_failed_beside_errors_is_said():
    servers = (
        ServerReport(ServerId("ty"), PYTHON, version="1", freshness=Freshness.PULL),
        ServerReport(ServerId("ruff"), PYTHON, reason="it is not installed"),
    )
    told = report(code_cells("x"), finding(0), servers=servers).to_text()
    assert told.startswith("n.ipynb: 1 error; ruff gave no answer (it is not installed) (ty 1, ")


def test_a_server_that_answered_gave_an_answer_whatever_its_reason():
    servers = (ServerReport(ServerId("ty"), PYTHON, version="1", reason="slow", freshness=Freshness.PULL),)
    assert "gave no answer" not in report(code_cells("x"), servers=servers).to_text()


def test_a_fallback_is_said():
    servers = (ServerReport(ServerId("pyright"), PYTHON, version="1", fallback=True, freshness=Freshness.PUSH),)
    told = report(code_cells("x"), servers=servers, elapsed_seconds=0.001).to_text()
    assert told == "n.ipynb: no errors (pyright 1 as fallback, 1 ms)"


def test_a_long_message_is_cut():
    told = report(code_cells("x"), finding(0, message="m" * 400, code=None)).to_text()
    assert told.split("\n")[1] == "cell 0 (c0) 1:1 error: " + "m" * 299 + "…"


@pytest.mark.parametrize(
    ("line", "column", "end_column", "before", "carets"),
    [
        ("abc def", 4, 7, 4, 3),
        ("\tdef", 1, 4, 1, 3),
        ("    def", 4, 7, 4, 3),
        ("日本 = dff", 5, 8, 7, 3),
        ("x = 日本", 4, 6, 4, 4),
        ("e\u0301 = dff", 5, 8, 4, 3),
        ("\U0001f469\u200d\U0001f4bb = dff", 6, 9, 7, 3),
        ("abc", 3, 3, 3, 1),
        ("abc", 1, 9, 1, 2),
    ],
)
def test_carets_stand_under_what_is_meant(line, column, end_column, before, carets):
    shown, marks = excerpt(line, column, end_column)
    assert shown == "    " + line.replace("\t", " ")
    assert marks == "    " + " " * before + "^" * carets


@pytest.mark.parametrize("column", [0, 50, 150, 199, 500, 990])
def test_a_long_line_is_cut_around_what_is_meant(column):
    line = "".join(f"{number:04d}," for number in range(200))
    shown, marks = excerpt(line, column, column + 4)
    assert len(shown) <= 200
    assert len(marks) <= 200
    under = shown[len(marks) - len(marks.lstrip()) : len(marks)]
    assert under == line[column : column + 4]


def test_a_range_of_several_lines_is_marked_to_the_end_of_the_first():
    told = report(code_cells("f(a,\n  b)"), finding(0, column=2, end_column=4)).to_text()
    assert told.endswith("    f(a,\n      ^^")


def test_a_finding_on_a_blank_line_has_no_excerpt():
    assert len(report(code_cells("\n  \n"), finding(0, line=1)).to_text().split("\n")) == 2
