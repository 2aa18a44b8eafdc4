"""Where a server's program is taken from, and from where it never is."""

import os
import sysconfig
from dataclasses import replace
from pathlib import Path

import pytest

from jupyter_lsp_agent.core.errors import ServerNotFoundError
from jupyter_lsp_agent.core.ids import LanguageId, ServerId
from jupyter_lsp_agent.servers.commands import CommandSearch, CommandSource, read_command_search, resolve_command
from jupyter_lsp_agent.servers.installed import write_record
from jupyter_lsp_agent.servers.registry import ServerRegistry
from jupyter_lsp_agent.servers.spec import DocumentKind, InstallRecipe, ServerOverride, ServerSpec

SPEC = ServerSpec(
    server_id=ServerId("served"),
    title="Served",
    documents=(DocumentKind("python", LanguageId("python"), (".py",)),),
    command=("served", "--stdio"),
    install=InstallRecipe(pypi=("served==1.0",)),
)


def program(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("#!/bin/sh\n")
    path.chmod(0o755)
    return path


@pytest.fixture
def search(tmp_path: Path) -> CommandSearch:
    return CommandSearch(
        data_folders=(tmp_path / "data",),
        path=(str(tmp_path / "bin"),),
        own_scripts=(tmp_path / "own",),
        workspace=(tmp_path / "work",),
    )


def record(folder: Path) -> None:
    """Have the install in folder `1` count."""
    home = folder / "data/jupyter-lsp-agent/servers/served"
    if home.is_dir():
        write_record(home, "1", SPEC.install)


PLACES = [
    (CommandSource.INSTALLED, "data/jupyter-lsp-agent/servers/served/1/bin/served"),
    (CommandSource.INSTALLED, "data/jupyter-lsp-agent/servers/served/1/node_modules/.bin/served"),
    (CommandSource.WORKSPACE, "work/.venv/bin/served"),
    (CommandSource.WORKSPACE, "work/node_modules/.bin/served"),
    (CommandSource.OWN_ENVIRONMENT, "own/served"),
    (CommandSource.PATH, "bin/served"),
]


@pytest.mark.parametrize("first", range(len(PLACES)))
def test_the_places_in_their_order(tmp_path, search, first):
    for _source, place in PLACES[first:]:
        program(tmp_path / place)
    record(tmp_path)
    trusting = replace(search, trusted_roots=(tmp_path / "work",))
    found = resolve_command(SPEC, trusting, root=tmp_path / "work")
    assert (found.argv, found.source) == ((str(tmp_path / PLACES[first][1]), "--stdio"), PLACES[first][0])


@pytest.mark.parametrize("place", [place for source, place in PLACES if source is CommandSource.WORKSPACE])
def test_a_workspace_that_is_not_trusted_gives_no_programs(tmp_path, search, place):
    program(tmp_path / place)
    with pytest.raises(ServerNotFoundError):
        resolve_command(SPEC, search, root=tmp_path / "work")


@pytest.mark.parametrize("entry", ["", ".", "node_modules/.bin", "{tmp}/work/bin", "{tmp}/link/bin"])
def test_path_entries_that_a_workspace_could_fill_are_passed_over(tmp_path, search, monkeypatch, entry):
    for folder in ("work", "work/node_modules/.bin", "work/bin"):
        program(tmp_path / folder / "served")
    (tmp_path / "link").symlink_to(tmp_path / "work")
    monkeypatch.chdir(tmp_path / "work")
    path = (entry.replace("{tmp}", str(tmp_path)),)
    if "{tmp}" not in entry:
        # Also where the current folder guards nothing, as the home folder does.
        search = replace(search, workspace=())
    with pytest.raises(ServerNotFoundError):
        resolve_command(SPEC, replace(search, path=path))
    good = program(tmp_path / "bin/served")
    assert resolve_command(SPEC, replace(search, path=(*path, *search.path))).argv[0] == str(good)


def test_a_file_that_cannot_be_run_is_no_program(tmp_path, search):
    program(tmp_path / "bin/served").chmod(0o644)
    with pytest.raises(ServerNotFoundError):
        resolve_command(SPEC, search)


def test_what_is_missing_is_told_with_the_way_to_get_it(search):
    with pytest.raises(
        ServerNotFoundError, match=r"Served .*not installed.*`jupyter lsp-agent install served`"
    ) as raised:
        resolve_command(SPEC, search)
    assert raised.value.reason == "not_installed"
    by_hand = replace(SPEC, install=InstallRecipe(hint="apt-get install served"))
    with pytest.raises(ServerNotFoundError, match="apt-get install served"):
        resolve_command(by_hand, search)


@pytest.mark.parametrize("command", [("{tmp}/mine/it", "-x"), ("it", "-x")])
def test_a_configured_command_comes_before_all(tmp_path, search, command):
    program(tmp_path / "data/jupyter-lsp-agent/servers/served/1/bin/served")
    record(tmp_path)
    mine = program(tmp_path / "mine/it")
    search = replace(search, path=(str(tmp_path / "mine"),))
    override = ServerOverride(command=tuple(part.replace("{tmp}", str(tmp_path)) for part in command))
    found = resolve_command(SPEC, search, override=override)
    assert (found.argv, found.source) == ((str(mine), "-x"), CommandSource.CONFIGURATION)


@pytest.mark.parametrize("command", [("/no/such/program",), ("./relative/program",), ("unheard-of",)])
def test_a_configured_command_that_is_not_there_falls_back_to_nothing(tmp_path, search, command):
    program(tmp_path / "bin/served")
    with pytest.raises(ServerNotFoundError, match="server_settings"):
        resolve_command(SPEC, search, override=ServerOverride(command=command))


def test_a_proxy_of_rustup_counts_only_where_a_toolchain_has_the_component(tmp_path, search):
    rustup = program(tmp_path / "cargo/rustup")
    (tmp_path / "cargo/served").symlink_to(rustup)
    real = program(tmp_path / "bin/served")
    path = (str(tmp_path / "cargo"), str(tmp_path / "bin"))
    search = replace(search, path=path, environ={"RUSTUP_HOME": str(tmp_path / "rustup")})
    assert resolve_command(SPEC, search).argv[0] == str(real)
    program(tmp_path / "rustup/toolchains/stable/bin/served")
    assert resolve_command(SPEC, search).argv[0] == str(tmp_path / "cargo/served")


def test_the_embedded_server_is_found_without_path(monkeypatch):
    monkeypatch.setenv("PATH", "")
    found = resolve_command(ServerRegistry().get("ty"), read_command_search())
    assert Path(found.argv[0]).samefile(Path(sysconfig.get_path("scripts")) / ("ty.exe" if os.name == "nt" else "ty"))


def test_the_home_folder_as_current_folder_guards_nothing(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    monkeypatch.chdir(tmp_path)
    local = program(tmp_path / ".local/bin/served").parent
    monkeypatch.setenv("PATH", str(local))
    assert resolve_command(SPEC, read_command_search()).argv[0] == str(local / "served")


def test_a_program_that_it_needs_beside_it_is_part_of_being_installed(tmp_path, search):
    program(tmp_path / "bin/served")
    spec = replace(SPEC, needs=("helper",), install=InstallRecipe(pypi=("served==1.0",), hint="apt-get install helper"))
    with pytest.raises(ServerNotFoundError, match=r"finds nothing without `helper`.*apt-get install helper"):
        resolve_command(spec, search)
    helper = program(tmp_path / "own/helper")
    assert resolve_command(spec, search).needs == (helper,)


def test_the_packages_beside_a_program_are_found_through_links(tmp_path, search):
    real = program(tmp_path / "lib/node_modules/served/cli.js")
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin/served").symlink_to(real)
    assert resolve_command(SPEC, search).node_modules == tmp_path / "lib/node_modules"


def test_an_install_without_its_record_does_not_count(tmp_path, search):
    program(tmp_path / "data/jupyter-lsp-agent/servers/served/1/bin/served")
    with pytest.raises(ServerNotFoundError):
        resolve_command(SPEC, search)
    record(tmp_path)
    assert resolve_command(SPEC, search).source is CommandSource.INSTALLED


def test_a_script_of_nodejs_needs_nodejs(tmp_path, search):
    program(tmp_path / "bin/served").write_text("#!/usr/bin/env node\n")
    with pytest.raises(ServerNotFoundError, match=r"needs Node\.js"):
        resolve_command(SPEC, search)
    node = program(tmp_path / "bin/node")
    assert resolve_command(SPEC, search).needs == (node,)
