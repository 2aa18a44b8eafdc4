"""`install` and `uninstall` on the command line. npm is a small script, so that nothing is fetched."""

import sys
import tomllib
from importlib import resources
from pathlib import Path

import pytest

from jupyter_lsp_agent.frontends.cli import main
from tests.support.services import write_notebook

NPM = f"""#!{sys.executable}
import pathlib, sys
if any("stylelint" in argument for argument in sys.argv):
    sys.exit("no such package")
folder = pathlib.Path(sys.argv[sys.argv.index("--prefix") + 1]) / "node_modules/.bin"
folder.mkdir(parents=True)
for name in ("prisma-language-server", "vim-language-server"):
    (folder / name).write_text("#!/bin/sh\\n")
    (folder / name).chmod(0o755)
"""


@pytest.fixture(autouse=True)
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A machine whose only program is npm, and an empty project as the current folder."""
    for folder in ("tools", "project", "data"):
        (tmp_path / folder).mkdir()
    (tmp_path / "tools/npm").write_text(NPM)
    (tmp_path / "tools/npm").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "tools"))
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path / "project")
    return tmp_path


def folders(machine: Path) -> list[str]:
    home = machine / "data/jupyter-lsp-agent/servers"
    return sorted(entry.name for entry in home.iterdir() if entry.is_dir()) if home.is_dir() else []


def test_a_named_server_is_installed_listed_and_removed(machine, capsys):
    catalogue = tomllib.loads((resources.files("jupyter_lsp_agent.servers") / "catalogue.toml").read_text("utf-8"))
    [package] = catalogue["servers"]["prisma"]["install"]["npm"]
    for _ in range(2):  # the second time it is there
        assert main(["install", "prisma"]) == 0
        assert capsys.readouterr().out == f"installed: prisma {package.rpartition('@')[2]}\n"
    assert folders(machine) == ["prisma"]
    assert main(["install", "--list"]) == 0
    listed = capsys.readouterr().out.splitlines()
    assert [line.split()[:2] for line in listed if line.startswith("prisma")] == [["prisma", "installed"]]
    assert main(["uninstall", "prisma"]) == 0
    assert capsys.readouterr().out == "removed: prisma\n"
    assert folders(machine) == []
    assert main(["uninstall", "prisma"]) == 2


def test_without_a_name_it_takes_what_the_files_below_are_written_in(machine, capsys):
    bash, julia = ({"name": name, "language": name, "display_name": name} for name in ("bash", "julia"))
    (machine / "project/a.vim").touch()
    write_notebook(machine / "project/b.ipynb", "echo 1", kernelspec=bash)
    write_notebook(machine / "project/in_a_cell.ipynb", "%%dockerfile\nFROM x", "%%bash\necho 1", "%%svg\n<svg/>")
    # Its notebooks are not understood, and its server would have nothing to do.
    write_notebook(machine / "project/c.ipynb", "x = 1", kernelspec=julia)
    main(["install", "--dry-run"])
    assert {line.partition(":")[0] for line in capsys.readouterr().out.splitlines()} == {
        "vimls",
        "bash-language-server",
    }


def test_a_server_that_is_there_without_this_command_is_not_called_missing(machine, capsys):
    program = machine / "tools/prisma-language-server"
    assert main(["install", "--list"]) == 0
    assert "prisma not installed" in " ".join(capsys.readouterr().out.split())
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert main(["install", "--list"]) == 0
    assert "prisma elsewhere" in " ".join(capsys.readouterr().out.split())


def test_an_administrator_installs_for_all_users_of_the_environment(machine, monkeypatch):
    monkeypatch.setattr(sys, "prefix", str(machine / "prefix"))
    assert main(["install", "--sys-prefix", "prisma"]) == 0
    assert (machine / "prefix/share/jupyter/jupyter-lsp-agent/servers/prisma/installed.json").is_file()
    assert folders(machine) == []
    assert main(["uninstall", "--sys-prefix", "prisma"]) == 0
    assert not (machine / "prefix/share/jupyter/jupyter-lsp-agent/servers/prisma").exists()


def test_a_dry_run_tells_what_it_can_and_what_it_cannot(machine, capsys):
    assert main(["install", "prisma", "texlab", "vimls", "--dry-run"]) == 2
    told = capsys.readouterr()
    assert [line.split(":")[0] for line in told.out.splitlines()] == ["prisma", "vimls"]
    assert "TexLab cannot be installed by this command" in told.err
    assert folders(machine) == []


def test_without_a_name_it_is_what_the_files_here_need(machine):
    for name in ("a.py", "schema.prisma", "deep/b.vim", "node_modules/Dockerfile"):
        path = machine / "project" / name
        path.parent.mkdir(exist_ok=True)
        path.touch()
    # Python's own server is part of this package.
    assert main(["install"]) == 0
    assert folders(machine) == ["prisma", "vimls"]
    assert main(["install"]) == 0


def test_a_dry_run_changes_nothing(machine, capsys):
    assert main(["install", "prisma", "--dry-run"]) == 0
    assert "npm install --prefix" in capsys.readouterr().out
    assert folders(machine) == []


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["install", "nonsense"], "nonsense"),
        (["install", "texlab"], "texlab"),
        (["install", "stylelint"], "no such package"),
        (["install", "docker-langserver"], "is not among it"),
        (["--LspAgent.install_strategy=off", "install", "prisma"], "install_strategy"),
        (["install", "--nonsense"], "--help"),
    ],
)
def test_what_cannot_be_installed_is_one_line_and_exit_code_2(machine, capsys, arguments, said):
    assert main(arguments) == 2
    captured = capsys.readouterr()
    assert captured.out == ""
    assert said in captured.err
    assert "Traceback" not in captured.err


def test_one_that_fails_does_not_keep_the_others(machine, capsys):
    assert main(["install", "stylelint", "prisma"]) == 2
    assert "no such package" in capsys.readouterr().err
    assert "prisma" in folders(machine)


def test_nothing_to_install_is_said(machine, capsys):
    assert main(["install"]) == 0
    told = capsys.readouterr()
    assert told.out == ""
    assert told.err.startswith("nothing to install: ")


def test_one_that_is_there_without_this_command_is_named_once(machine, capsys):
    program = machine / "tools/prisma-language-server"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert main(["install", "prisma"]) == 0
    assert f"prisma is on this machine already ({program})" in capsys.readouterr().err
    assert main(["install", "prisma"]) == 0
    assert "on this machine" not in capsys.readouterr().err


def test_what_was_not_installed_here_is_told_with_the_folder(machine, capsys):
    assert main(["uninstall", "ruff"]) == 2
    told = capsys.readouterr().err
    assert told.startswith("jupyter lsp-agent: ruff was not installed into ")
    assert str(machine / "data/jupyter-lsp-agent/servers") in told
