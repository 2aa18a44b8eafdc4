import asyncio
import json
from pathlib import Path

import pytest

from jupyter_lsp_agent import (
    CheckOptions,
    Counts,
    QueryOptions,
    Report,
    ReportedDiagnostic,
    SettingsError,
    Verdict,
    async_check_notebook,
    check_notebook,
    query_notebook,
)
from jupyter_lsp_agent.diagnostics.report import DocumentKind


def notebook(*sources):
    """The text of a notebook with these code cells."""
    cells = [
        {
            "cell_type": "code",
            "id": f"c{index}",
            "metadata": {},
            "execution_count": None,
            "outputs": [],
            "source": source,
        }
        for index, source in enumerate(sources)
    ]
    metadata = {"language_info": {"name": "python"}}
    return json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5})


@pytest.fixture(autouse=True)
def own_folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "config"))
    return tmp_path


@pytest.mark.real_server("ty")
def test_check_notebook(own_folder):
    (own_folder / "n.ipynb").write_text(notebook("x = 1", "x\nmissing_name"))
    report = check_notebook("n.ipynb")
    assert isinstance(report, Report)
    assert report
    assert report.verdict is Verdict.ERRORS
    [error] = report.errors
    assert (error.cell.cell_index, error.range.start.line) == (1, 1)
    assert report.path == "n.ipynb"


@pytest.mark.real_server("ty")
async def test_the_blocking_form_works_where_a_loop_is_running():
    report = check_notebook("n.ipynb", content=notebook("missing_name"))
    assert len(report.errors) == 1
    assert asyncio.get_running_loop().is_running()


@pytest.mark.real_server("ty")
async def test_the_awaited_form_and_its_options(own_folder):
    text = notebook("\n".join(f"missing_{number}" for number in range(30)))
    whole = await async_check_notebook(own_folder / "n.ipynb", content=text.encode())
    assert len(whole.errors) == 30
    some = await async_check_notebook(own_folder / "n.ipynb", content=text, max_total=3)
    assert len(some.errors) == 3
    assert some.counts.omitted == 27
    [code] = {error.code for error in whole}
    none = await async_check_notebook(own_folder / "n.ipynb", content=text, ignore=[code])
    assert none.verdict is Verdict.CLEAN
    assert not none


@pytest.mark.real_server("ty")
def test_a_text_file():
    report = check_notebook("m.py", content="import os\nmissing_name\n")
    assert (report.kind, len(report.diagnostics)) == (DocumentKind.TEXT, 1)


@pytest.mark.parametrize("options", [{"severity": "fatal"}, {"ignore": "F401"}])
def test_a_wrong_option(options):
    with pytest.raises(SettingsError, match=f"^check_notebook: {next(iter(options))} "):
        check_notebook("n.ipynb", **options)


@pytest.mark.parametrize("seconds", [-1, 0, True, "5", float("nan")])
def test_a_wait_that_is_none(seconds):
    with pytest.raises(SettingsError, match=r"^timeout_seconds must be a number of seconds above 0"):
        check_notebook("n.ipynb", content=notebook("x"), timeout_seconds=seconds)
    with pytest.raises(SettingsError, match=r"^timeout_seconds "):
        query_notebook("n.ipynb", "document_symbols", timeout_seconds=seconds)


def test_an_interpreter_that_is_none_is_named_as_the_caller_did():
    with pytest.raises(SettingsError, match=r"^python /nope: there is no Python interpreter"):
        check_notebook("n.ipynb", content=notebook("x"), python="/nope")


def test_a_missing_file_has_no_verdict():
    report = check_notebook("none.ipynb")
    assert (report.verdict, report.reason) == ("no_verdict", "unreadable")
    assert not report


def test_an_unknown_option_is_refused(tmp_path: Path) -> None:
    with pytest.raises(TypeError, match="timeout_seconds"):
        check_notebook(tmp_path / "n.ipynb", timeout=1)  # type: ignore[call-arg]


def test_a_report_is_short_where_it_is_shown(tmp_path: Path) -> None:
    report = check_notebook(tmp_path / "gone.ipynb")
    assert repr(report).startswith("<Report on ")
    assert len(repr(report)) < 300


PAGE = Path(__file__).parents[2] / "docs/PYTHON.md"


@pytest.mark.parametrize(("function", "options"), [(check_notebook, CheckOptions), (query_notebook, QueryOptions)])
def test_every_option_is_in_the_functions_help_and_on_the_page_for_python(function, options):
    page = PAGE.read_text("utf-8")
    for name in options.__annotations__:
        assert f"`{name}`" in function.__doc__
        assert f"`{name}`" in page


@pytest.mark.parametrize("shown", [ReportedDiagnostic, Counts])
def test_every_attribute_is_on_the_page_for_python(shown):
    page = PAGE.read_text("utf-8")
    assert [name for name in shown.__slots__ if f"`{name}`" not in page] == []
