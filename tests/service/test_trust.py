"""Trust of folders: kept where no workspace can write, taken back, and seen by the next check."""

import json
from pathlib import Path

import pytest

from jupyter_lsp_agent.core.errors import SettingsError
from jupyter_lsp_agent.frontends.cli import main
from jupyter_lsp_agent.service.places import PlaceFinder
from jupyter_lsp_agent.service.settings import load_settings
from jupyter_lsp_agent.service.trust import distrust, read_trusted_roots, trust


@pytest.fixture(autouse=True)
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    (tmp_path / "project/below").mkdir(parents=True)
    return tmp_path / "project"


def test_the_next_check_sees_it_and_its_end(project):
    finder = PlaceFinder(load_settings({}, configuration=(), environ={}), project)
    notebook = project / "below/a.ipynb"
    assert not finder.find(notebook).search.is_trusted(project)
    trust(project)
    place = finder.find(notebook)
    assert place.search.is_trusted(project / "below")
    assert place.surroundings.trusted_roots == (project,)
    assert not place.search.is_trusted(project.parent)
    assert distrust(project)
    assert not finder.find(notebook).search.is_trusted(project)


def test_trusting_twice_is_trusting_once_and_links_are_followed(project):
    (project.parent / "link").symlink_to(project)
    trust(project)
    assert trust(project.parent / "link") == project
    assert read_trusted_roots() == (project,)


@pytest.mark.parametrize("folder", ["/", "~", "/no/such/folder"])
def test_what_is_too_wide_or_not_there_is_not_trusted(folder):
    with pytest.raises(SettingsError):
        trust(Path(folder).expanduser())
    assert read_trusted_roots() == ()


@pytest.mark.parametrize("text", ["", "{}", "[1, null]", '["relative"]'])
def test_a_file_that_says_nothing_trusts_nothing(tmp_path, text):
    file = tmp_path / "trusted.json"
    file.write_text(text)
    assert read_trusted_roots(file) == ()


def test_the_command(project, capsys):
    assert main(["trust", str(project)]) == 0
    assert capsys.readouterr().out == f"trusted: {project}\n"
    assert main(["trust"]) == 0
    assert capsys.readouterr().out == f"{project}\n"
    assert main(["--LspAgent.trusted_roots=" + json.dumps([str(project / "below")]), "trust"]) == 0
    assert capsys.readouterr().out == f"{project}\n{project}/below (the setting `trusted_roots`)\n"
    assert main(["trust", "--remove", str(project)]) == 0
    assert capsys.readouterr().out == f"no longer trusted: {project}\n"
    assert main(["trust"]) == 0
    assert capsys.readouterr() == ("", "no folder is trusted; `jupyter lsp-agent trust PATH` trusts one\n")
    assert main(["trust", "--remove"]) == 2
    assert main(["trust", "--remove", str(project)]) == 2
    assert main(["trust", str(project / "missing")]) == 2
