"""`query` on the command line, and from Python."""

import io
import json
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from jupyter_lsp_agent import QueryAnswer, async_query_notebook, query_notebook
from jupyter_lsp_agent.core.errors import InvalidRequestError
from jupyter_lsp_agent.core.positions import TextPosition
from jupyter_lsp_agent.diagnostics.report import NoVerdictReason
from jupyter_lsp_agent.frontends.cli_arguments import UsageError, parse_arguments
from jupyter_lsp_agent.frontends.cli_console import Console
from jupyter_lsp_agent.frontends.cli_query import run_query
from jupyter_lsp_agent.navigation.answer import FoundHover, QueryMethod
from jupyter_lsp_agent.service.settings import Settings
from tests.support.command_line import run_command, settings_in_environment
from tests.support.services import write_notebook


class Told:
    """A service that notes what it is asked, and answers as it is told."""

    def __init__(self, **answer) -> None:
        self.answer = QueryAnswer(path="n.ipynb", method=QueryMethod.HOVER, **answer)
        self.requests = []

    async def settle_installs(self, tell):
        return False

    async def query(self, request):
        self.requests.append(request)
        return self.answer


async def run(*arguments, **answer):
    service, output, errors = Told(**answer), io.BytesIO(), io.StringIO()

    @asynccontextmanager
    async def opened(_settings):
        yield service

    options, _ = parse_arguments(["query", *arguments])
    code = await run_query(options, Settings(), opened, Console(output, errors, encoding="utf-8"))
    return code, output.getvalue().decode(), errors.getvalue(), service


@pytest.mark.parametrize(
    ("answer", "code", "out", "err"),
    [
        ({"results": (FoundHover("known", None),)}, 0, "known\n", ""),
        ({"results": ()}, 1, "", "Nothing found.\n"),
        (
            {"reason": NoVerdictReason.TIMEOUT, "detail": "Ask again."},
            2,
            "",
            "n.ipynb: no answer (timeout): Ask again.\n",
        ),
    ],
)
async def test_exit_codes_and_where_it_is_written(answer, code, out, err):
    assert (await run("hover", "n.ipynb", "0:1:1", **answer))[:3] == (code, out, err)
    found, written, noted, _ = await run("hover", "n.ipynb", "0:1:1", "--json", **answer)
    assert (found, noted) == (code, "")
    assert (json.loads(written)["results"] is None) == (code == 2)


@pytest.mark.parametrize(
    ("place", "cell", "line", "column"),
    [("4:2:7", 4, 2, 7), ("9f2c:2:7", "9f2c", 2, 7), ("a:b:2:7", "a:b", 2, 7), ("123456:1:1", "123456", 1, 1)],
)
async def test_a_place_is_cell_line_and_column(place, cell, line, column):
    *_, service = await run("definition", "n.ipynb", place, results=())
    question = service.requests[0].question
    assert (question.cell, question.position) == (cell, TextPosition(line - 1, column - 1))


async def test_options_reach_the_service():
    options = ["--server", "ty", "--timeout", "5", "--max-results", "0", "--python", "py"]
    *_, service = await run("workspace_symbols", "n.ipynb", "12:1", *options, results=())
    [request] = service.requests
    assert (request.question.query, request.question.max_results) == ("12:1", 0)
    assert (request.document.server, request.document.timeout_seconds) == ("ty", 5.0)
    assert request.document.python == Path.cwd() / "py"


@pytest.mark.parametrize(
    ("arguments", "word"),
    [
        (["hover", "n.ipynb"], "needs a PLACE"),
        (["hover", "n.ipynb", "here"], "is no place"),
        (["hover", "n.ipynb", "1:0:1"], '"line"'),
        (["rename", "n.ipynb", "1:1:1"], '"method"'),
        (["document_symbols", "n.ipynb", "1:1"], '"line"'),
        (["workspace_symbols", "n.ipynb"], '"query"'),
        (["hover"], "PATH"),
    ],
)
async def test_wrong_usage_is_told_by_its_name(arguments, word):
    with pytest.raises((UsageError, InvalidRequestError)) as refused:
        await run(*arguments, results=())
    assert word in str(refused.value)


@pytest.mark.real_server("ty")
def test_the_command_as_a_user_runs_it(tmp_path):
    (tmp_path / "helpers.py").write_text("def clean(x): ...\n")
    write_notebook(tmp_path / "sub dir.ipynb", "from helpers import clean", "'😀', clean(1)", "nothing")
    found = run_command("query", "definition", "sub dir.ipynb", "1:1:6", cwd=tmp_path)
    nothing = run_command("query", "definition", "sub dir.ipynb", "2:1:1", cwd=tmp_path)
    wrong = run_command("query", "definition", "sub dir.ipynb", "9:1:1", cwd=tmp_path)
    missing = settings_in_environment({"server_settings": {"ty": {"command": ["no-such-program"]}}})
    silent = run_command(
        "query", "definition", "sub dir.ipynb", "1:1:6", "--server", "ty", cwd=tmp_path, environ=missing
    )
    assert (found.code, found.output, found.errors) == (0, "helpers.py:1:5: def clean(x): ...\n", "")
    assert (nothing.code, nothing.output) == (1, "")
    assert nothing.errors.startswith("Nothing found (ty ")
    assert (wrong.code, wrong.output) == (2, "")
    assert "no cell 9" in wrong.errors
    assert (silent.code, silent.output) == (2, "")
    assert "no answer (not_installed)" in silent.errors


@pytest.fixture
def notebook(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("JUPYTER_CONFIG_DIR", str(tmp_path / "config"))
    return write_notebook(tmp_path / "n.ipynb", "def load(): ...", "load()")


@pytest.mark.real_server("ty")
async def test_from_python_in_both_forms(notebook):
    blocking = query_notebook("n.ipynb", "definition", cell=1, line=1, column=1)
    awaited = await async_query_notebook(notebook, "definition", cell="c1", line=1, column=1, timeout_seconds=None)
    assert blocking
    assert len(blocking) == 1
    assert blocking.to_text() == "n.ipynb:cell 0 (c0):1:5: def load(): ..."
    assert [one.range for one in blocking] == [one.range for one in awaited]
    assert not query_notebook("n.ipynb", "workspace_symbols", query="no_such_name_anywhere")


@pytest.mark.parametrize("ask", [query_notebook, async_query_notebook])
async def test_options_that_are_none(notebook, ask):
    for wrong in ({"lin": 1}, {"content": "x"}):
        with pytest.raises(TypeError, match="query_notebook"):
            await ask("n.ipynb", "hover", cell=0, line=1, column=1, **wrong)
    with pytest.raises(InvalidRequestError):
        await ask("n.ipynb", "hover", cell=0, line=True, column=1)
