import pytest

from jupyter_lsp_agent.core.diagnostic import DiagnosticSeverity
from jupyter_lsp_agent.core.ids import ServerId
from jupyter_lsp_agent.core.positions import CellLine
from jupyter_lsp_agent.diagnostics.build import no_verdict_report
from jupyter_lsp_agent.diagnostics.facts import ChainFailure, ViewOptions
from jupyter_lsp_agent.diagnostics.report import (
    CellReference,
    DocumentKind,
    EnvironmentReport,
    NoVerdictReason,
    OtherFile,
    ServerReport,
    Status,
    Unchecked,
    Verdict,
)
from tests.support.reports import PYTHON, code_cells, diagnostic, facts, finding, report

WARNING = DiagnosticSeverity.WARNING
FAILURE = ChainFailure(PYTHON, NoVerdictReason.TIMEOUT, "ty did not answer in 3 s; raise wait_ms.")
ONE = code_cells("x")


def unchecked(cell_index=0, first=0, last=0, **more):
    return Unchecked(CellReference(cell_index), CellLine(first), CellLine(last), "bash is not installed", **more)


@pytest.mark.parametrize(
    ("findings", "more", "expected"),
    [
        ([], {}, Verdict.CLEAN),
        ([finding(0, Status.PREEXISTING)], {}, Verdict.NOTHING_NEW),
        ([finding(0, Status.PRESENT)], {}, Verdict.ERRORS),
        ([finding(0, Status.INTRODUCED)], {}, Verdict.ERRORS),
        ([finding(0, Status.OUTSTANDING)], {}, Verdict.ERRORS),
        ([finding(0, severity=WARNING)], {}, Verdict.CLEAN),
        ([finding(0, Status.PREEXISTING, severity=WARNING)], {}, Verdict.CLEAN),
        ([], {"failures": (FAILURE,)}, Verdict.NO_VERDICT),
        ([finding(0, Status.PREEXISTING)], {"failures": (FAILURE,)}, Verdict.NO_VERDICT),
        ([finding(0, severity=WARNING)], {"failures": (FAILURE,)}, Verdict.NO_VERDICT),
        ([finding(0)], {"failures": (FAILURE,)}, Verdict.ERRORS),
    ],
)
def test_verdict_of_a_notebook(findings, more, expected):
    assert report(ONE, *findings, **more).verdict is expected


def test_a_notebook_without_code_cells_is_clean():
    assert report((), servers=()).verdict is Verdict.CLEAN


def test_errors_in_another_file_count():
    elsewhere = report(code_cells("y"), finding(0, Status.INTRODUCED)).cells
    other_files = {"m.ipynb": OtherFile(DocumentKind.NOTEBOOK, cells=elsewhere)}
    told = report(ONE, other_files=other_files)
    assert told.verdict is Verdict.ERRORS
    assert told.hint == "1 new error in other files."
    assert told


def test_an_empty_entry_of_another_file_is_no_error():
    told = report(ONE, other_files={"m.py": OtherFile(DocumentKind.TEXT)})
    assert told.verdict is Verdict.CLEAN
    assert not told
    assert told.to_dict()["other_files"] == {"m.py": {"diagnostics": [], "fixed": []}}


def test_a_warning_counts_where_warnings_are_asked_for():
    told = report(ONE, finding(0, severity=WARNING), view=ViewOptions(severity=WARNING))
    assert told.verdict is Verdict.ERRORS
    assert told.hint == "1 finding in cell 0."


def test_a_hint_speaks_of_findings_where_not_all_are_errors():
    told = report(ONE, finding(0), finding(0, severity=WARNING), view=ViewOptions(severity=WARNING))
    assert told.hint == "2 findings in cell 0."


@pytest.mark.parametrize(
    ("sources", "lines", "expected"),
    [
        (["%%bash\nls"], [(0, 0, 1)], Verdict.NO_VERDICT),
        (["%%bash\nls"], [(0, 1, 1)], Verdict.NO_VERDICT),
        (["%%bash\nls\nx = 1"], [(0, 1, 1)], Verdict.CLEAN),
        (["%%bash\nls\n\n"], [(0, 1, 1)], Verdict.NO_VERDICT),
        (["%%bash\nls", "   \n"], [(0, 1, 1)], Verdict.NO_VERDICT),
        (["%%bash\nls", "x = 1"], [(0, 1, 1)], Verdict.CLEAN),
        (["x = 1\n!ls"], [(0, 1, 1)], Verdict.CLEAN),
        (["%%bash\nls", "%%html\n<p>"], [(0, 1, 1)], Verdict.CLEAN),
    ],
)
def test_nothing_but_cells_that_no_server_could_look_at(sources, lines, expected):
    told = report(code_cells(*sources), unchecked=tuple(unchecked(*place) for place in lines))
    assert told.verdict is expected


def test_what_was_only_partly_judged_was_looked_at():
    assert report(ONE, unchecked=(unchecked(partial=True),)).verdict is Verdict.CLEAN


def test_reason_of_a_notebook_of_other_languages():
    told = report(
        code_cells("%%bash\nls"), unchecked=(unchecked(first=1, last=1, cause=NoVerdictReason.NOT_INSTALLED),)
    )
    assert told.reason is NoVerdictReason.NOT_INSTALLED
    assert "bash is not installed" in told.detail


@pytest.mark.parametrize("reason", list(NoVerdictReason))
def test_without_a_verdict_there_are_no_counts_and_no_cells(reason):
    told = no_verdict_report(facts(ONE, finding(0)), reason, "Do this.")
    as_dict = told.to_dict()
    assert (as_dict["verdict"], as_dict["reason"], as_dict["detail"]) == ("no_verdict", reason.value, "Do this.")
    assert as_dict["hint"] == "Do this."
    assert as_dict["cells"] == as_dict["fixed"] == []
    assert set(as_dict["counts"].values()) == {None}
    assert not told


def test_reasons_are_those_of_the_public_interface():
    assert sorted(NoVerdictReason) == [
        "broken", "busy", "disabled", "not_installed", "outside_workspace", "starting", "timeout", "too_large",
        "unreadable", "unsupported_language", "untrusted",
    ]  # fmt: skip


@pytest.mark.parametrize(
    ("findings", "hint"),
    [
        ([finding(4, Status.INTRODUCED)], "1 new error in cell 4."),
        ([finding(4, Status.INTRODUCED), finding(1, Status.INTRODUCED)], "2 new errors in cells 1, 4."),
        ([finding(0), finding(0, line=1), finding(2)], "3 errors in cells 0, 2."),
        ([finding(0, Status.OUTSTANDING), finding(3, Status.OUTSTANDING)], "2 errors still there (cells 0, 3)."),
        ([finding(0, Status.OUTSTANDING), finding(3, Status.INTRODUCED)], "1 new error in cell 3."),
        ([], "No errors."),
        ([finding(2, Status.PREEXISTING)], "Nothing new. 1 older error remains (cell 2)."),
        ([finding(2, Status.PREEXISTING), finding(3, Status.PREEXISTING)],
         "Nothing new. 2 older errors remain (cells 2, 3)."),
        ([finding(8), finding(1)], "2 errors in cells 1, 8."),
        ([finding(index) for index in range(12)], "12 errors in cells 0, 1, 2, 3, 4, 5, 6, 7, 8, 9 and 2 more."),
    ],
)  # fmt: skip
def test_hint(findings, hint):
    assert report(code_cells(*["x\ny"] * 12), *findings).hint == hint


def test_hint_of_what_was_fixed():
    gone = report(ONE, finding(0)).cells[0].diagnostics
    assert report(ONE, fixed=gone).hint == "1 fixed, none new."
    assert report(ONE, finding(0, Status.PREEXISTING), fixed=gone).hint == "1 fixed, none new."
    assert report(ONE, finding(0, Status.OUTSTANDING), fixed=gone).hint == "1 error still there (cell 0)."


@pytest.mark.parametrize(
    ("unmapped", "findings", "view", "expected"),
    [
        (diagnostic(), [], ViewOptions(), Verdict.NO_VERDICT),
        (diagnostic(), [finding(0, Status.PREEXISTING)], ViewOptions(), Verdict.NO_VERDICT),
        (diagnostic(), [finding(0)], ViewOptions(), Verdict.ERRORS),
        (diagnostic(severity=WARNING), [], ViewOptions(severity=WARNING), Verdict.CLEAN),
        (diagnostic(), [], ViewOptions(ignore=frozenset({"some-code"})), Verdict.CLEAN),
        (diagnostic(code=None), [], ViewOptions(ignore=frozenset({"some-code"})), Verdict.NO_VERDICT),
    ],
)
def test_an_error_of_no_cell_is_never_clean(unmapped, findings, view, expected):
    told = report(ONE, *findings, view=view, unmapped=(unmapped,))
    assert told.verdict is expected
    if expected is Verdict.NO_VERDICT:
        assert told.reason is NoVerdictReason.BROKEN
        assert "it is wrong" in told.detail
        assert told.counts is None
    assert [one.message for one in told.unmapped] == ["it is wrong"]


def test_all_that_a_report_quotes_is_bounded_and_on_one_printable_line():
    odd = "\x1b[31m\n\ud800" + "x" * 100_000
    told = report(
        ONE,
        finding(0, code=odd, source=odd),
        language=odd,
        servers=(ServerReport(ServerId("ty"), odd, version=odd, reason=odd),),
        environment=EnvironmentReport(odd[:50], odd),
        unchecked=(Unchecked(CellReference(0), CellLine(0), CellLine(0), odd),),
    )
    [server], [one] = told.servers, told
    names = [told.language, server.language, server.version, one.code, one.source]
    assert all(len(name) <= 200 for name in names)
    sentences = [server.reason, told.environment.origin, told.unchecked[0].reason]
    assert all(len(text) <= 2000 for text in sentences)
    assert all(text.isprintable() for text in [*names, *sentences, told.environment.python])
