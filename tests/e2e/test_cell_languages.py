"""Cells of other languages in Python notebooks, judged by real servers: magics, and cells that say their language.

For each: an error at a known place in a later cell; nothing wrong; what the magic adds to the language.
"""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

from jupyter_lsp_agent.diagnostics.report import Report
from jupyter_lsp_agent.service.requests import CheckRequest
from tests.support.real_servers import require_server, with_servers_on_path
from tests.support.services import opened_service, write_notebook

pytestmark = [pytest.mark.timeout(180)]

HTML_SERVER = "vscode-html-language-server"


@dataclass(frozen=True)
class CellLanguage:
    """A language in cells.

    Attributes:
        server_id: who judges it.
        wrong: a notebook whose only errors are in one cell, at these lines of it (from 0).
        right: one without errors.
        extended: one with what the magic adds, without errors.
        settings: the service's, where a user has to choose the server.
        metadata: of every cell that has no magic and is not Python's.
    """

    server_id: str
    wrong: list[str]
    place: tuple[int, set[int]]
    right: list[str]
    extended: list[str]
    settings: dict[str, Any] = field(default_factory=dict)
    language_id: str | None = None


LANGUAGES = {
    "%%bash": CellLanguage(
        "bash-language-server",
        ["x = 1", "%%bash\necho start", "%%bash\necho one\nif true; then\n  echo two"],
        (2, {2, 3}),
        ['%%bash\nset -e\nfor f in *.txt; do\n  echo "$f"\ndone', "%%sh\necho hi", "x = 1"],
        ["n = 1", '%%bash -s "$n" --out got\necho "$1"', '%%script bash --bg --proc p\necho "$HOME"', "got.upper(); p"],
    ),
    "%%javascript": CellLanguage(
        "typescript-native",
        ["x = 1", "%%javascript\nlet a = 1", "%%javascript\nlet b = 2\nlet c = ]"],
        (2, {2}),
        ["%%javascript\nlet a = [1].map(n => n + 1)", "%%js\nlet a = 3", "x = 1"],
        [
            '%%javascript\nelement.append("hi")\nJupyter.notebook.kernel.execute("1")',
            '%%javascript\nrequire(["d3"], function(d3) { d3.select(element) })\n$(element).html("x")',
            '%%js --isolated\nawait fetch("x")\nconsole.log(document.title)',
        ],
    ),
    "%%R": CellLanguage(
        "arity",
        ["x = 1", "%%R\ny <- c(1, 2)", "%%R -o z\nz <- 1\nf <- function(a {\n  a\n}"],
        (2, {2, 4}),
        ["%%R\nx <- c(1, 2)\nmean(x)", "%%R\nprint(1)", "x = 1"],
        ["%load_ext rpy2.ipython", "%%R -i df -o res -w 5 --units in\nres <- df\n?mean\nres", "v = %R 1 + 1", "res, v"],
    ),
    "%%sql": CellLanguage(
        "postgres-language-server",
        ["x = 1", "%%sql\nselect 1", "%%sql res <<\nselect 1\nfrom a where where", "res"],
        (2, {1}),
        ["%%sql\nselect a, b from t where a = 1", "%%sql postgresql://\nselect 2", "x = 1"],
        [
            "low = 3",
            "%%sql\nselect * from t where a = :low and b in {{ids}}",
            "%%sql res <<\nselect * from {{table}} where b > {low}",
            "%%sql --save q --no-execute\n-- comment\nselect $low",
            "res",
        ],
        {"servers": {"sql": ["postgres-language-server"]}},
    ),
    "%%html": CellLanguage(
        HTML_SERVER,
        ["x = 1", "%%html\n<p>one", "%%html\n<script>\nlet a = ];\n</script>\n<style>\np { color: ; }\n</style>"],
        (2, {2, 5}),
        ["%%html\n<p>ok</p>\n<script>let b = 1;</script>\n<style>p { color: red; }</style>", "x = 1"],
        [
            "%%html --isolated\n<div id='a'></div>\n<script>require(['d3'], d3 => d3.select('#a'))</script>",
            "%%HTML\n<b>",
        ],
        {"servers": {"html": [HTML_SERVER]}},
    ),
    "vscode.languageId shellscript": CellLanguage(
        "bash-language-server",
        ["x = 1", "echo start", "echo one\nif true; then\n  echo two"],
        (2, {1, 2}),
        ["x = 1", 'for f in *.txt; do\n  echo "$f"\ndone'],
        ["x = 1", "%%bash\necho 1", "! grep -q a b\n%time 1 || true"],
        language_id="shellscript",
    ),
    "vscode.languageId javascript": CellLanguage(
        "typescript-native",
        ["x = 1", "let a = 1", "let b = 2\nlet c = ]"],
        (2, {1}),
        ["x = 1", "let a = [1].map(n => n + 1)"],
        ["x = 1", "a = 1; b = a % 2\nawait a", "let x = !a"],
        language_id="javascript",
    ),
}


async def check(folder: Path, language: CellLanguage, sources: list[str]) -> Report:
    path = write_notebook(folder / "n.ipynb", *sources)
    if language.language_id is not None:
        notebook = json.loads(path.read_text())
        for cell in notebook["cells"][1:]:
            cell["metadata"]["vscode"] = {"languageId": language.language_id}
        path.write_text(json.dumps(notebook))
    async with opened_service(language.settings, folder) as service:
        return await service.check(CheckRequest(path=path, timeout_seconds=60.0))


@pytest.fixture(params=LANGUAGES.values(), ids=list(LANGUAGES))
def language(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> CellLanguage:
    with_servers_on_path(monkeypatch)
    chosen: CellLanguage = request.param
    require_server(chosen.server_id)
    return chosen


async def test_an_error_is_found_in_its_cell_and_in_no_other(tmp_path: Path, language: CellLanguage) -> None:
    report = await check(tmp_path, language, language.wrong)
    places = {(cell.cell_index, d.range.start.line) for cell in report.cells for d in cell.diagnostics}
    assert places == {(language.place[0], line) for line in language.place[1]}, report.to_text()
    assert not report.unchecked


async def test_a_sound_notebook_is_clean(tmp_path: Path, language: CellLanguage) -> None:
    report = await check(tmp_path, language, language.right)
    assert (report.verdict, report.unchecked) == ("clean", ()), report.to_text()
    assert len({server.id for server in report.servers}) == 2


async def test_what_the_magic_adds_is_no_error(tmp_path: Path, language: CellLanguage) -> None:
    report = await check(tmp_path, language, language.extended)
    assert (report.verdict, report.unchecked) == ("clean", ()), report.to_text()
