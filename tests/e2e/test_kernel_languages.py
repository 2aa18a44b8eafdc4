"""Notebooks of other kernels, and bodies of other languages in a Python notebook, judged by real servers.

For each language: an error at a known place in a later cell; nothing wrong; the kernel's own extensions.
"""

import json
import shutil
from pathlib import Path

import pytest

from jupyter_lsp_agent.diagnostics.report import Report
from jupyter_lsp_agent.service.requests import CheckRequest
from tests.support.real_servers import require_server, with_servers_on_path
from tests.support.services import opened_service, write_notebook

pytestmark = [pytest.mark.timeout(180)]

BASH = {"name": "bash", "language": "bash", "display_name": "Bash"}
DENO = {"name": "deno", "language": "typescript", "display_name": "Deno"}
JAVASCRIPT = {"name": "jslab", "language": "javascript", "display_name": "JavaScript"}
R = {"name": "ir", "language": "R", "display_name": "R"}
CPP = {"name": "xcpp17", "language": "C++17", "display_name": "C++17"}
RUST = {"name": "rust", "language": "rust", "display_name": "Rust"}
GO = {"name": "gonb", "language": "go", "display_name": "Go (gonb)"}

ERRORS = [
    pytest.param(
        "bash-language-server",
        BASH,
        ['x=1\necho "$x"', 'if [ "$x" = 1 ]; then\n  echo yes', "f() { echo hi; }\nf"],
        (1, 0),
        id="bash",
    ),
    pytest.param(
        "deno", DENO, ["const x: number = 1;\nx", "const y: string = x;\n(2).toString()", "y"], (1, 0), id="typescript"
    ),
    pytest.param("deno", DENO, ["const x = Math.max(1,", "const y = 2"], (0, 0), id="typescript, open bracket"),
    pytest.param(
        "typescript-native", JAVASCRIPT, ["const a = 1\na", "let b = ]", "console.log(a)"], (1, 0), id="javascript"
    ),
    pytest.param("arity", R, ["x <- c(1, 2)", "y <- function(a {\n a\n}", "mean(x)"], (1, 0), id="r"),
    pytest.param(
        "clangd", CPP, ["#include <iostream>\nint x = 1;", 'std::cout << x;\nint y = "a";', "x++;\nx"], (1, 1), id="c++"
    ),
    pytest.param(
        "gopls",
        GO,
        ['import "fmt"\nfunc f() int { return 1 }', "%%\nfmt.Println(f())\nvar s string = f()\n_ = s"],
        (1, 2),
        id="go",
    ),
    pytest.param("rust-analyzer", RUST, ["let x = 5;", "let y = = 3;", "x + 1"], (1, 0), id="rust"),
]

CLEAN = [
    pytest.param("bash-language-server", BASH, ["x=1", 'for i in 1 2; do echo "$i$x"; done'], id="bash"),
    pytest.param("deno", DENO, ["const x = 1\nx", "const f = (n: number) => n + x\nf(2)"], id="typescript"),
    pytest.param("typescript-native", JAVASCRIPT, ["const a = 1\na", "[a].map(n => n + 1)"], id="javascript"),
    pytest.param("arity", R, ["x <- c(1, 2)\nx", "mean(x)"], id="r"),
    pytest.param(
        "clangd",
        CPP,
        ["#include <vector>\nstd::vector<int> v;", "v.push_back(1);\nfor (auto i : v) { (void) i; }"],
        id="c++",
    ),
    pytest.param(
        "gopls", GO, ['import "fmt"\nfunc f() int { return 1 }', "func main() {\n\tfmt.Println(f())\n}"], id="go"
    ),
    pytest.param("rust-analyzer", RUST, ["fn f() -> i32 { 1 }", "let x = f();\nx + 1"], id="rust"),
]

EXTENSIONS = [
    pytest.param(
        "bash-language-server", BASH, ["f() {\n  echo 1\n}", "f", "f() {\n  echo 2\n}"], id="bash: defined again"
    ),
    pytest.param(
        "deno",
        DENO,
        ["const x = 1\nx", "Deno.jupyter.html`<b>hi</b>`\nawait Promise.resolve(x)", "const x = 2"],
        id="typescript: display, await, bound again",
    ),
    pytest.param(
        "typescript-native",
        JAVASCRIPT,
        ["const a = 1\na", "(2).toString()\nawait a", "const a = 2"],
        id="javascript: last expression, await, bound again",
    ),
    pytest.param("arity", R, ["?mean\nx <- 1", "x"], id="r: help"),
    pytest.param(
        "clangd",
        CPP,
        ["int x = 1;\nx", "%timeit x\nint x = 2;", "?x\nx++;\nx"],
        id="c++: statements, magics, bound again",
    ),
    pytest.param(
        "gopls",
        GO,
        [
            'import "fmt"\nfunc f() int { return 1 }',
            "!ls\n%%\nfmt.Println(f())",
            'import "os"\nfunc f() int { return 2 }',
        ],
        id="go: main, shell, imports, defined again",
    ),
    pytest.param(
        "rust-analyzer",
        RUST,
        [':dep serde = "1"\nlet x = 5;\nx', "let z = async { 1 }.await;\nx + z", "let x = 6;"],
        id="rust: commands, await, last expression",
    ),
]


async def check(folder: Path, kernelspec: dict[str, str], sources: list[str]) -> Report:
    path = write_notebook(folder / "n.ipynb", *sources, kernelspec=kernelspec)
    async with opened_service({}, folder) as service:
        return await service.check(CheckRequest(path=path, timeout_seconds=60.0))


@pytest.mark.parametrize(("server_id", "kernelspec", "sources", "place"), ERRORS)
async def test_an_error_is_found_in_its_cell_and_in_no_other(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    server_id: str,
    kernelspec: dict[str, str],
    sources: list[str],
    place: tuple[int, int],
) -> None:
    with_servers_on_path(monkeypatch)
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    require_server(server_id)
    report = await check(tmp_path, kernelspec, sources)
    assert report.verdict == "errors", report.to_text()
    assert {cell.cell_index for cell in report.cells} == {place[0]}
    assert place[1] in {d.range.start.line for d in report.cells[0].diagnostics}


@pytest.mark.parametrize(("server_id", "kernelspec", "sources"), [*CLEAN, *EXTENSIONS])
async def test_a_sound_notebook_is_clean(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, server_id: str, kernelspec: dict[str, str], sources: list[str]
) -> None:
    with_servers_on_path(monkeypatch)
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    require_server(server_id)
    report = await check(tmp_path, kernelspec, sources)
    assert report.verdict == "clean", report.to_text()
    assert report.servers[0].freshness is not None


@pytest.mark.parametrize(
    ("body", "lines"),
    [("select 1 fro x where;", {1}), ("select 1;", set()), ("select 2 as value\nfrom (select 1) as t;", set())],
    ids=["wrong", "right", "over two lines"],
)
async def test_sql_is_judged_by_the_server_that_one_chose(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, body: str, lines: set[int]
) -> None:
    """SQL has many dialects, so nobody is asked until a user says which."""
    with_servers_on_path(monkeypatch)
    require_server("postgres-language-server")
    path = write_notebook(tmp_path / "n.ipynb", "x = 1", f"%%sql\n{body}")
    async with opened_service({"servers": {"sql": ["postgres-language-server"]}}, tmp_path) as service:
        report = await service.check(CheckRequest(path=path, timeout_seconds=60.0))
    assert {d.range.start.line for cell in report.cells for d in cell.diagnostics} == lines, report.to_text()
    assert not report.unchecked


async def test_a_cell_that_says_its_language_is_judged_in_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_servers_on_path(monkeypatch)
    require_server("typescript-native")
    path = write_notebook(tmp_path / "n.ipynb", "let a = ]", "x = 1")
    notebook = json.loads(path.read_text())
    notebook["cells"][0]["metadata"]["vscode"] = {"languageId": "javascript"}
    path.write_text(json.dumps(notebook))
    async with opened_service({}, tmp_path) as service:
        report = await service.check(CheckRequest(path=path, timeout_seconds=60.0))
    assert [(cell.cell_index, cell.diagnostics[0].range.start.column) for cell in report.cells] == [(0, 8)]


async def test_bodies_of_other_languages_are_judged_each_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with_servers_on_path(monkeypatch)
    require_server("bash-language-server", "typescript-native", "arity")
    sources = ["%%bash\nif true; then", "%%sh\necho ok", "%%javascript\nlet a = ]", "%%R\nx <- function(a {", "x = 1"]
    path = write_notebook(tmp_path / "n.ipynb", *sources)
    async with opened_service({}, tmp_path) as service:
        report = await service.check(CheckRequest(path=path, timeout_seconds=60.0))
    assert {cell.cell_index for cell in report.cells} == {0, 2, 3}
    assert all(d.range.start.line >= 1 for cell in report.cells for d in cell.diagnostics), "never on the magic's line"


@pytest.mark.parametrize(
    ("sources", "reason"),
    [
        (["%%html\n<b>x", "x = 1"], "cell magic %%html"),
        (["%%sql\nselect 1", "x = 1"], "cell magic %%sql"),
        (["%%ruby\nputs 1", "x = 1"], "cell magic %%ruby"),
    ],
)
async def test_bodies_that_nobody_can_look_at_are_unchecked_and_prevent_nothing(
    tmp_path: Path, sources: list[str], reason: str
) -> None:
    path = write_notebook(tmp_path / "n.ipynb", *sources)
    settings = {"server_settings": {"vscode-html-language-server": {"enabled": False}, "ruby-lsp": {"enabled": False}}}
    async with opened_service(settings, tmp_path) as service:
        report = await service.check(CheckRequest(path=path, timeout_seconds=60.0))
    assert report.verdict == "clean"
    assert [(lines.cell.cell_index, lines.reason.partition(":")[0]) for lines in report.unchecked] == [(0, reason)]


async def test_a_language_that_nobody_speaks_says_so(tmp_path: Path) -> None:
    report = await check(tmp_path, {"name": "logo", "language": "logo", "display_name": "Logo"}, ["forward 100"])
    assert (report.verdict, report.reason) == ("no_verdict", "unsupported_language")


async def test_a_language_whose_notebooks_are_not_understood_is_no_reason_to_install(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", str(tmp_path / "nowhere"))
    julia = {"name": "julia-1.11", "language": "julia", "display_name": "Julia"}
    report = await check(tmp_path, julia, ["x = 1"])
    assert (report.verdict, report.reason) == ("no_verdict", "unsupported_language")
    assert "install" not in (report.detail or "")


async def test_a_language_whose_server_is_not_there_names_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(Path(shutil.which("true") or "/bin/true").parent / "nowhere"))
    report = await check(tmp_path, R, ["x <- 1"])
    assert (report.verdict, report.reason) == ("no_verdict", "not_installed")
    assert "`jupyter lsp-agent install arity`" in (report.detail or "")
