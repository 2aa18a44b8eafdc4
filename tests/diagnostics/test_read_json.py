"""A report goes through JSON and is itself again."""

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_lsp_agent.core.diagnostic import CellDiagnostic, DiagnosticSeverity, DiagnosticTag, RelatedInformation
from jupyter_lsp_agent.core.errors import InvalidReportError
from jupyter_lsp_agent.core.ids import CellId, DocumentUri, LanguageId, ServerId
from jupyter_lsp_agent.core.positions import CellLine, TextPosition, TextRange, WirePosition, WireRange
from jupyter_lsp_agent.diagnostics.build import no_verdict_report
from jupyter_lsp_agent.diagnostics.facts import Finding, ViewOptions
from jupyter_lsp_agent.diagnostics.read_json import report_from_dict
from jupyter_lsp_agent.diagnostics.report import (
    CellReference,
    DocumentKind,
    EnvironmentReport,
    NoVerdictReason,
    OtherFile,
    Report,
    ServerReport,
    Status,
    Unchecked,
)
from tests.diagnostics.test_report_laws import checks
from tests.support.reports import TY, code_cells, diagnostic, facts, finding, report

PLACE = TextRange(TextPosition(0, 1), TextPosition(0, 2))
WIRE = WireRange(WirePosition(3, 1), WirePosition(3, 2))


def carried(told: Report) -> Report:
    """The report as far as JSON carries it: to the tenth of a millisecond, and only what is shown."""
    rounded = {"elapsed_seconds": round(told.elapsed_seconds * 1000, 1) / 1000}
    return replace(
        told,
        counted=tuple(item for item in told if item.severity <= told.severity),
        unchecked=tuple(replace(one, cause=None, partial=False) for one in told.unchecked),
        **rounded,
    )


def check(told: Report) -> None:
    value = json.loads(json.dumps(told.to_dict()))
    read = report_from_dict(value, severity=told.severity)
    assert read == carried(told)
    assert read.other_files == told.other_files
    assert read.to_dict() == value


@given(checks(), st.none() | st.sampled_from(["session", "git:HEAD"]))
def test_every_report_is_itself_again(made, baseline):
    cells, findings, view = made
    check(report(cells, *findings, view=view, baseline=baseline or "none"))


def rich() -> Report:
    """A report in which nothing is left out."""
    related = (
        RelatedInformation(DocumentUri("file:///e/lib.py"), WIRE, "there"),
        RelatedInformation(DocumentUri("file:///n.py"), WIRE, "here", PLACE, 1),
    )
    full = replace(
        diagnostic(code="c", end_column=3),
        tags=(DiagnosticTag.UNNECESSARY, DiagnosticTag.DEPRECATED),
        related_information=related,
        code_description="https://example.org/c",
    )
    cells = code_cells("x😀 = 1", "y = 2")
    caused = Finding(Status.INTRODUCED, CellDiagnostic(0, full), caused_by=CellReference(1, CellId("c1")))
    whole = report(
        cells,
        caused,
        finding(1, Status.PREEXISTING, severity=DiagnosticSeverity.HINT),
        view=ViewOptions(severity=DiagnosticSeverity.HINT, statuses=frozenset(Status)),
        servers=(TY, ServerReport(ServerId("ruff"), LanguageId("python"), reason="gone", fallback=True)),
        environment=EnvironmentReport("/e/bin/python", "kernelspec python3"),
        unchecked=(Unchecked(CellReference(1, CellId("c1")), CellLine(0), CellLine(3), "why", partial=True),),
        unmapped=(diagnostic(message="of the whole"),),
        elapsed_seconds=0.02312,
        carried=2,
        baseline="session",
    )
    gone = tuple(replace(item, status=Status.OUTSTANDING, caused_by=None) for item in whole)
    in_text = replace(gone[0], status=Status.INTRODUCED, cell=None, related_information=())
    files = {
        "a.py": OtherFile(
            DocumentKind.TEXT, diagnostics=(in_text,), fixed=(replace(in_text, status=Status.OUTSTANDING),)
        ),
        "b.ipynb": OtherFile(DocumentKind.NOTEBOOK, cells=whole.cells),
        "c.ipynb": OtherFile(DocumentKind.NOTEBOOK),
    }
    return replace(whole, fixed=gone, other_files=files)


def test_everything_that_a_report_may_hold_is_carried():
    check(rich())


def test_a_text_and_a_report_without_a_verdict_are_carried():
    in_text = Finding(Status.PRESENT, diagnostic())
    check(report((), in_text, kind=DocumentKind.TEXT, text="abc", path="a.py"))
    check(no_verdict_report(facts(), NoVerdictReason.TIMEOUT, "wait longer"))
    check(no_verdict_report(replace(facts(), path=None, language=None, text=None), NoVerdictReason.BUSY, "later"))


def test_unknown_keys_are_let_be():
    value = rich().to_dict()
    more = {**value, "new": 1, "cells": [{**cell, "new": {}} for cell in value["cells"]]}
    severity = DiagnosticSeverity.HINT
    assert report_from_dict(more, severity=severity) == report_from_dict(value, severity=severity)


def test_a_moment_of_another_zone_is_understood():
    value = {**rich().to_dict(), "checked_at": "2026-11-30T14:00:00+02:00"}
    assert report_from_dict(value).checked_at == datetime(2026, 11, 30, 12, tzinfo=UTC)


def _paths(value, path=()):
    """The way to every value inside of JSON."""
    yield path
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield from _paths(inner, (*path, key))


def _changed(value, path, new):
    if not path:
        return new
    copy = dict(value) if isinstance(value, dict) else list(value)
    copy[path[0]] = _changed(value[path[0]], path[1:], new)
    return copy


WHOLE = rich().to_dict()


@pytest.mark.parametrize("path", list(_paths(WHOLE)), ids=lambda path: ".".join(map(str, path)) or "all")
def test_a_wrong_value_anywhere_is_one_clear_error_or_harmless(path):
    """Whatever stands anywhere: a report, or `InvalidReportError` that names the place; no other error."""
    for wrong in (None, 1.5, -1, True, "\x00", [], {}, [None], {"x": 1}):
        said = refusal(_changed(WHOLE, path, wrong))
        assert said is None or said.startswith(("This is no report", "The report is of version"))


def refusal(value) -> str | None:
    """What is said against a value; `None` where it is a report."""
    try:
        report_from_dict(value)
    except InvalidReportError as error:
        return str(error)
    return None


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"schema_version": 2}, "is of version 2"),
        ({"verdict": "fine"}, "`report.verdict` must be one of clean, nothing_new, errors, no_verdict"),
        ({"cells": None}, "`report.cells` must be a list, not null"),
        ({"cells": [7]}, "`report.cells[0]` must be an object, not 7"),
        ({"checked_at": "soon"}, "`report.checked_at` must be a moment"),
        ({"checked_at": "2026-11-30T12:00:00"}, "`report.checked_at` must be a moment"),
        ({"hint": 1}, "`report.hint` must be a string, not 1"),
    ],
)
def test_an_error_says_where_and_what(change, says):
    assert says in (refusal({**WHOLE, **change}) or "")


def test_a_missing_key_is_named():
    with pytest.raises(InvalidReportError, match=r"`report` has no `hint`"):
        report_from_dict({key: value for key, value in WHOLE.items() if key != "hint"})
    with pytest.raises(InvalidReportError, match=r"`report` must be an object"):
        report_from_dict([])
