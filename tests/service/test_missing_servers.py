"""What is said of a language whose server is not here: the server, the reason, and the command that brings it."""

import json
import shlex
from pathlib import Path

import pytest

from jupyter_lsp_agent.frontends.cli_arguments import parse_arguments
from jupyter_lsp_agent.servers.registry import ServerRegistry
from jupyter_lsp_agent.service.requests import CheckRequest
from jupyter_lsp_agent.service.settings import load_settings
from tests.support.services import command_of, opened_service, write_notebook

CHOSEN = {"sql": "postgres-language-server", "html": "vscode-html-language-server"}
"""Languages that no default chain has, and the server that a user may choose for them."""


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A machine without any server but our own environment's."""
    monkeypatch.setenv("PATH", "/nowhere")
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "data"))


def install_commands(text: str) -> list[str]:
    """The servers that commands quoted in `text` would install; each has to be a command that there is."""
    found = []
    for quoted in text.split("`")[1::2]:
        if quoted.startswith("jupyter lsp-agent install "):
            options, _ = parse_arguments(shlex.split(quoted)[2:])
            found += [ServerRegistry().get(name).server_id for name in options.ids]
    return found


async def check(path: Path, **settings: object):
    python = {"server_settings": {"ty": {"command": command_of("good")}}}
    async with opened_service({**python, **settings}, path.parent) as service:
        return await service.check(CheckRequest(path=path, timeout_seconds=5))


@pytest.mark.parametrize(
    ("magic", "server_id"),
    [
        *(("sql", CHOSEN["sql"]), ("html", CHOSEN["html"])),
        *(("bash", "bash-language-server"), ("javascript", "typescript-native"), ("R", "arity")),
    ],
)
async def test_an_unchecked_cell_says_how_to_get_its_server(tmp_path, magic, server_id):
    report = await check(write_notebook(tmp_path / "n.ipynb", "x = 1", f"%%{magic}\nx\n"))
    assert report.verdict == "clean"
    (unchecked,) = report.unchecked
    assert f"cell magic %%{magic}: " in unchecked.reason
    assert install_commands(unchecked.reason) == [server_id] or "shellcheck" in unchecked.reason


@pytest.mark.parametrize("language", CHOSEN)
@pytest.mark.parametrize("kind", ["cell", "file", "notebook"])
async def test_a_server_that_has_to_be_chosen_is_told_with_the_setting_that_chooses_it(tmp_path, language, kind):
    paths = {
        "cell": lambda: write_notebook(tmp_path / "n.ipynb", f"%%{language}\nx\n"),
        "file": lambda: _written(tmp_path / f"a.{language}"),
        "notebook": lambda: write_notebook(
            tmp_path / "n.ipynb", "x", kernelspec={"name": language, "language": language, "display_name": language}
        ),
    }
    report = await check(paths[kind]())
    said = report.unchecked[0].reason if kind == "cell" else report.detail
    setting, _ = json.JSONDecoder().raw_decode(said, said.index("{"))
    assert setting == {language: [CHOSEN[language]]}
    settings = load_settings({"servers": setting}, environ={}, configuration=[])
    assert ServerRegistry(settings.servers).chains(language)
    assert install_commands(said) == [CHOSEN[language]]


async def test_one_that_is_there_needs_no_install(tmp_path):
    there = {"server_settings": {CHOSEN["sql"]: {"command": command_of("good")}}}
    report = await check(_written(tmp_path / "a.sql"), **there)
    assert report.reason == "unsupported_language"
    assert install_commands(report.detail) == []
    chosen = await check(_written(tmp_path / "a.sql"), **there, servers={"sql": [CHOSEN["sql"]]})
    assert chosen.verdict == "clean"


def _written(path: Path) -> Path:
    path.write_text("x\n")
    return path
