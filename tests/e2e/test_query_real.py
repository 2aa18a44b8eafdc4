"""Questions about code, answered by real servers: into a module and back, behind emoji, through guards and magics."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from jupyter_lsp_agent.service.requests import CheckRequest
from jupyter_lsp_agent.service.service import NotebookDiagnosticsService
from tests.support.queries import SCRIPT, lines, query, servers
from tests.support.real_servers import with_servers_on_path
from tests.support.services import opened_service, write_notebook

pytestmark = pytest.mark.timeout(120)
PYTHON_SERVERS = [
    pytest.param("ty", marks=pytest.mark.real_server("ty")),
    pytest.param("basedpyright", marks=pytest.mark.real_server("basedpyright")),
]
MODULE = '''"""Helpers."""


def clean(prices: list[int], *, limit: int = 3) -> list[int]:
    """Without what is too dear 😀."""
    return [one for one in prices if one < limit]


WORD = "😀"; EMOJI = clean([1])
'''


@asynccontextmanager
async def asked(*chain: str, root: Path) -> AsyncIterator[NotebookDiagnosticsService]:
    async with opened_service({"servers": {"python": [list(chain)]}}, root) as service:
        yield service


def write_project(root: Path) -> Path:
    (root / "helpers.py").write_text(MODULE, encoding="utf-8")
    write_notebook(root / "other.ipynb", "import helpers", "'👨‍👩‍👧', helpers.clean([5])")
    write_notebook(root / "unrelated.ipynb", "x = 1")
    return write_notebook(
        root / "n.ipynb",
        "from helpers import EMOJI, clean",
        "# 😀\n'𝔘😀é', clean([1, 2], limit=2), EMOJI",
        "raise SystemExit",
        "%time total = sum(clean([3]))\nprint(total)",
    )


AT_CLEAN = {"cell": 1, "line": 2, "column": 8}


@pytest.mark.parametrize("server_id", PYTHON_SERVERS)
async def test_into_a_module_and_back(tmp_path, monkeypatch, server_id):
    with_servers_on_path(monkeypatch)
    path = write_project(tmp_path)
    async with asked(server_id, root=tmp_path) as service:
        definition = await query(service, path, "definition", **AT_CLEAN)
        emoji = await query(service, path, "definition", cell=1, line=2, column=32)
        back = await query(service, tmp_path / "helpers.py", "references", line=4, column=5)
        behind_guard = await query(service, path, "definition", cell="c3", line=2, column=7)
        in_magic = await query(service, path, "definition", cell=3, line=1, column=19)
    assert lines(definition) == ["helpers.py:4:5: def clean(prices: list[int], *, limit: int = 3) -> list[int]:"]
    assert lines(emoji) == ['helpers.py:9:13: WORD = "😀"; EMOJI = clean([1])']
    assert lines(behind_guard) == ["n.ipynb:cell 3 (c3):1:7: %time total = sum(clean([3]))"]
    assert lines(in_magic) == lines(definition)
    assert set(lines(back)) == {
        "helpers.py:4:5: def clean(prices: list[int], *, limit: int = 3) -> list[int]:",
        'helpers.py:9:21: WORD = "😀"; EMOJI = clean([1])',
        "n.ipynb:cell 0 (c0):1:28: from helpers import EMOJI, clean",
        "n.ipynb:cell 1 (c1):2:8: '𝔘😀é', clean([1, 2], limit=2), EMOJI",
        "n.ipynb:cell 3 (c3):1:19: %time total = sum(clean([3]))",
        "other.ipynb:cell 1 (c1):1:18: '👨‍👩‍👧', helpers.clean([5])",
    }
    assert lines(back)[:2] == [line for line in lines(back) if line.startswith("helpers")]


@pytest.mark.parametrize("server_id", PYTHON_SERVERS)
async def test_what_is_known_of_a_place(tmp_path, monkeypatch, server_id):
    with_servers_on_path(monkeypatch)
    path = write_project(tmp_path)
    async with asked(server_id, root=tmp_path) as service:
        hover = await query(service, path, "hover", **AT_CLEAN)
        signature = await query(service, path, "signature_help", cell=1, line=2, column=14)
        symbols = await query(service, path, "workspace_symbols", query="clean")
        outline = await query(service, tmp_path / "helpers.py", "document_symbols")
    [known] = hover.to_dict()["results"]
    assert "limit: int" in known["text"]
    assert "Without what is too dear 😀." in known["text"]
    assert (known["cell_index"], known["line"], known["column"], known["end_column"]) == (1, 2, 8, 13)
    assert known["range"]["start"] == {"line": 1, "character": 9}
    [call] = signature.to_dict()["results"]
    assert call["parameters"][call["active_parameter"]]["label"].startswith("prices")
    assert "helpers.py:4:5: function clean" in lines(symbols)
    assert {line.split(": ")[1].split()[-1] for line in lines(outline)} >= {"clean", "WORD", "EMOJI"}


@pytest.mark.parametrize("server_id", PYTHON_SERVERS)
async def test_a_module_that_was_asked_about_and_changed_is_read_anew(tmp_path, monkeypatch, server_id):
    with_servers_on_path(monkeypatch)
    path = write_project(tmp_path)
    async with asked(server_id, root=tmp_path) as service:
        await query(service, tmp_path / "helpers.py", "document_symbols")
        before = await query(service, path, "definition", **AT_CLEAN)
        (tmp_path / "helpers.py").write_text("\n\n\n" + MODULE, encoding="utf-8")
        after = await query(service, path, "definition", **AT_CLEAN)
    assert lines(before)[0].startswith("helpers.py:4:5: def clean")
    assert lines(after)[0].startswith("helpers.py:7:5: def clean")


@pytest.mark.real_server("bash-language-server")
async def test_a_body_of_another_language_is_asked_at_its_own_server(tmp_path, monkeypatch):
    with_servers_on_path(monkeypatch)
    path = write_notebook(tmp_path / "n.ipynb", "foo = 1", "%%bash\n# 😀\ngreet() {\n  echo hi\n}\n: '😀'; greet")
    async with asked("ty", root=tmp_path) as service:
        definition = await query(service, path, "definition", cell=1, line=6, column=8)
        symbols = await query(service, path, "document_symbols")
    assert lines(definition) == ["n.ipynb:cell 1 (c1):3:1: greet() {"]
    assert (definition.language, servers(definition)) == ("shellscript", [("bash-language-server", True, False)])
    assert [line.split(": ")[0] for line in lines(symbols)] == ["n.ipynb:cell 0 (c0):1:1", "n.ipynb:cell 1 (c1):3:1"]


@pytest.mark.real_server("bash-language-server")
async def test_a_notebook_of_another_kernel(tmp_path, monkeypatch):
    with_servers_on_path(monkeypatch)
    kernel = {"kernelspec": {"name": "bash", "language": "bash", "display_name": "Bash"}}
    path = write_notebook(tmp_path / "n.ipynb", "greet() { echo hi; }", "'😀'; greet", **kernel)
    async with opened_service({}, tmp_path) as service:
        definition = await query(service, path, "definition", cell=1, line=1, column=6)
        references = await query(service, path, "references", cell=0, line=1, column=1)
    assert lines(definition) == ["n.ipynb:cell 0 (c0):1:1: greet() { echo hi; }"]
    assert "n.ipynb:cell 1 (c1):1:6: '😀'; greet" in lines(references)


# ── one server in the place of another ──────────────────────────────────────────────────────────────────────────────


@pytest.mark.real_server("ruff", "ty")
@pytest.mark.parametrize("method", ["document_symbols", "workspace_symbols", "definition"])
async def test_a_real_server_that_does_not_know_the_question_makes_room(tmp_path, monkeypatch, method):
    with_servers_on_path(monkeypatch)
    path = write_project(tmp_path)
    about = {"query": "clean"} if method == "workspace_symbols" else AT_CLEAN if method == "definition" else {}
    async with asked("ruff", "ty", root=tmp_path) as service:
        answer = await query(service, path, method, **about)
    assert servers(answer) == [("ruff", False, False), ("ty", True, True)]
    assert answer.fallback_used
    assert answer
    assert f"(ruff: it does not answer {method})" in answer.to_text()


@pytest.mark.real_server("ty", "basedpyright")
async def test_a_real_server_without_symbols_makes_room(tmp_path, monkeypatch):
    """Symbols of a lambda's parameters are basedpyright's alone; for a text without any name both find none."""
    with_servers_on_path(monkeypatch)
    path = write_notebook(tmp_path / "n.ipynb", "print(1)")
    async with asked("ty", "basedpyright", root=tmp_path) as service:
        nothing = await query(service, path, "document_symbols")
        write_notebook(path, "f = 1")
        something = await query(service, path, "document_symbols")
    assert (nothing.was_answered, nothing.results, nothing.fallback_used) == (True, (), False)
    assert servers(nothing) == [("ty", True, False), ("basedpyright", False, False)]
    assert (servers(something), lines(something)) == ([("ty", True, False)], ["n.ipynb:cell 0 (c0):1:1: variable f"])


@pytest.mark.real_server("ty")
@pytest.mark.parametrize("behaviour", ["empty", "refuses", "dies", "missing"])
@pytest.mark.parametrize("method", ["document_symbols", "workspace_symbols"])
async def test_a_real_server_speaks_where_another_has_nothing(tmp_path, behaviour, method):
    import sys

    path = write_project(tmp_path)
    command = ["no-such-program"] if behaviour == "missing" else [sys.executable, str(SCRIPT), behaviour]
    settings = {
        "servers": {"python": [["basedpyright", "ty"]]},
        "server_settings": {"basedpyright": {"command": command}},
    }
    about = {"query": "clean"} if method == "workspace_symbols" else {}
    async with opened_service(settings, tmp_path) as service:
        answer = await query(service, path, method, **about)
    assert servers(answer) == [("basedpyright", False, False), ("ty", True, True)]
    assert answer.fallback_used
    assert answer


@pytest.mark.real_server("bash-language-server")
async def test_a_question_leaves_no_text_without_the_verdict_of_a_later_check(tmp_path, monkeypatch):
    """This server drops its verdict on a text for the one that comes after; a question shows several at once."""
    with_servers_on_path(monkeypatch)
    path = write_notebook(tmp_path / "n.ipynb", "x = 1", *(f"%%bash\nrm $name_{number}" for number in range(3)))
    async with asked("ty", root=tmp_path) as service:
        symbols = await query(service, path, "document_symbols", wait_seconds=30.0)
        report = await service.check(CheckRequest(path=path, wait_seconds=30.0))
    assert [one.reason for one in symbols.servers] == [None] * 4
    assert report.unchecked == ()
    assert [one.reason for one in report.servers] == [None] * 4


@pytest.mark.parametrize("server_id", PYTHON_SERVERS)
async def test_what_is_behind_a_cell_that_ends_the_file_is_known(tmp_path, monkeypatch, server_id):
    """A server takes all behind it for unreachable, and says `Never`: the kernel runs the next cell all the same."""
    with_servers_on_path(monkeypatch)
    dies = "from typing import NoReturn\ndef die() -> NoReturn: raise SystemExit\ndie()"
    path = write_notebook(tmp_path / "n.ipynb", dies, "value = 1\nvalue", "while True:\n    pass", "value")
    async with asked(server_id, root=tmp_path) as service:
        hovers = [
            await query(service, path, "hover", cell=cell, line=line, column=1) for cell, line in [(1, 2), (3, 1)]
        ]
        references = await query(service, path, "references", cell=1, line=1, column=1)
    for hover in hovers:
        assert "Literal[1]" in hover.to_text()
        assert "Never" not in hover.to_text()
    assert [line.split(": ")[0] for line in lines(references)] == [
        "n.ipynb:cell 1 (c1):1:1",
        "n.ipynb:cell 1 (c1):2:1",
        "n.ipynb:cell 3 (c3):1:1",
    ]
