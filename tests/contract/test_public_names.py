import inspect

import pytest

import jupyter_lsp_agent

NAMES = {
    "CellReport", "CheckOptions", "Counts", "DiagnosticSeverity", "JupyterLspAgentError", "NoVerdictReason",
    "QueryAnswer", "QueryOptions", "Report", "ReportedDiagnostic", "ServerReport", "SettingsError", "Status",
    "Unchecked", "Verdict", "__version__", "async_check_notebook", "async_query_notebook", "check_notebook",
    "query_notebook",
}  # fmt: skip


def test_public_names():
    assert set(jupyter_lsp_agent.__all__) == NAMES
    assert list(jupyter_lsp_agent.__all__) == sorted(jupyter_lsp_agent.__all__)


@pytest.mark.parametrize("name", sorted(NAMES))
def test_each_is_there_and_listed(name):
    assert getattr(jupyter_lsp_agent, name) is not None
    assert name in dir(jupyter_lsp_agent)


def test_another_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no_such_name"):
        jupyter_lsp_agent.no_such_name  # noqa: B018


def test_the_awaited_form_is_awaited():
    assert inspect.iscoroutinefunction(jupyter_lsp_agent.async_check_notebook)
    assert not inspect.iscoroutinefunction(jupyter_lsp_agent.check_notebook)


def test_what_a_report_offers():
    report = jupyter_lsp_agent.Report
    for name in ("verdict", "cells", "errors", "to_dict", "to_text", "__iter__", "__bool__"):
        assert hasattr(report, name)
