import re

import pytest

from jupyter_lsp_agent.core.diagnostic import DiagnosticSeverity
from jupyter_lsp_agent.core.positions import CellLine
from jupyter_lsp_agent.diagnostics.build import no_verdict_report
from jupyter_lsp_agent.diagnostics.facts import Finding, ViewOptions
from jupyter_lsp_agent.diagnostics.render_github import render_github
from jupyter_lsp_agent.diagnostics.report import CellReference, DocumentKind, NoVerdictReason, Status, Unchecked
from tests.support.reports import code_cells, diagnostic, facts, finding, report


def parse(line):
    """A workflow command taken apart as GitHub's runner does it."""
    name, properties, data = re.fullmatch(r"::(\w+)(?: ([^:]*))?::(.*)", line, re.DOTALL).groups()
    pairs = dict(pair.split("=", 1) for pair in properties.split(","))
    undone = {key: undo(value.replace("%3A", ":").replace("%2C", ",")) for key, value in pairs.items()}
    return name, undone, undo(data)


def undo(text):
    return text.replace("%0D", "\r").replace("%0A", "\n").replace("%25", "%")


def test_a_finding_of_a_notebook_names_its_cell():
    [line] = render_github(report(code_cells("a", "x\ny"), finding(1, line=1), path="a/n.ipynb")).split("\n")
    assert parse(line) == (
        "error",
        {"title": "ty (some-code) cell 1, 2:1", "file": "a/n.ipynb"},
        "cell 1, 2:1: it is wrong",
    )


def test_a_finding_of_a_text_file_stands_at_its_line():
    told = report(
        (), Finding(Status.PRESENT, diagnostic(1, 2, 5)), kind=DocumentKind.TEXT, text="a\nb = c", path="m.py"
    )
    assert (
        render_github(told) == "::error title=ty (some-code),file=m.py,line=2,endLine=2,col=3,endColumn=6::it is wrong"
    )


@pytest.mark.parametrize(
    ("severity", "command"),
    [
        (DiagnosticSeverity.ERROR, "error"),
        (DiagnosticSeverity.WARNING, "warning"),
        (DiagnosticSeverity.INFORMATION, "notice"),
        (DiagnosticSeverity.HINT, "notice"),
    ],
)
def test_severities(severity, command):
    told = report(code_cells("x"), finding(0, severity=severity), view=ViewOptions(severity=DiagnosticSeverity.HINT))
    assert parse(render_github(told))[0] == command


def test_nothing_can_end_a_command_or_a_property():
    told = report(
        code_cells("x"),
        finding(0, message="100% ::error file=x::\r\nno", code="a,b=c:d"),
        path="we%ird,na:me.ipynb",
    )
    rendered = render_github(told)
    assert "\n" not in rendered
    name, properties, data = parse(rendered)
    assert (name, properties["file"], properties["title"]) == (
        "error",
        "we%ird,na:me.ipynb",
        "ty (a,b=c:d) cell 0, 1:1",
    )
    assert data == "cell 0, 1:1: 100% ::error file=x::  no"


def test_no_verdict_is_an_error_and_a_clean_file_is_silent():
    told = no_verdict_report(facts(), NoVerdictReason.BROKEN, "Restart it.")
    assert parse(render_github(told)) == ("error", {"title": "no verdict (broken)", "file": "n.ipynb"}, "Restart it.")
    assert render_github(report(code_cells("x"))) == ""


def test_a_cell_that_nobody_looked_at_is_told():
    gap = Unchecked(CellReference(1), CellLine(0), CellLine(1), "no server for it")
    told = report(code_cells("x", "%%bash\nls"), unchecked=(gap,))
    assert parse(render_github(told)) == (
        "notice",
        {"title": "not checked", "file": "n.ipynb"},
        "1 cell not wholly checked (cell 1: no server for it)",
    )


def test_what_the_caps_cut_is_said():
    told = report(code_cells("x\ny"), finding(0), finding(0, line=1), view=ViewOptions(max_total=1))
    assert parse(render_github(told).split("\n")[-1]) == (
        "notice",
        {"title": "not shown", "file": "n.ipynb"},
        "1 more in n.ipynb",
    )
