"""`install_strategy: "auto"`: missing servers are installed beside the checks. npm is a small script, which waits at a
gate where a test wants it to, and what it installs are scripted servers; nothing is fetched."""

import asyncio
import json
import logging
import os
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jupyter_lsp_agent import check_notebook, query_notebook
from jupyter_lsp_agent.core.clock import SystemClock
from jupyter_lsp_agent.diagnostics.report import Report
from jupyter_lsp_agent.frontends.cli import main
from jupyter_lsp_agent.servers.registry import ServerRegistry
from jupyter_lsp_agent.service.background_installs import BackgroundInstalls
from jupyter_lsp_agent.service.places import PlaceFinder
from jupyter_lsp_agent.service.requests import CheckRequest
from jupyter_lsp_agent.service.service import NotebookDiagnosticsService
from jupyter_lsp_agent.service.settings import load_settings
from tests.support.clock import ManualClock
from tests.support.processes import lives, processes_of
from tests.support.services import SCRIPT, command_of, opened_service

NPM = f"""#!{sys.executable}
import os, pathlib, sys
here = pathlib.Path(sys.argv[0]).parent
with open(here / "calls", "a") as file:
    file.write(" ".join(sys.argv[1:]) + "\\n")
(here / "pid").write_text(str(os.getpid()))
pathlib.Path("half").touch()
if (here / "gate").exists():
    open(here / "gate").read()
if (here / "broken").exists():
    sys.exit("npm error no such package")
folder = pathlib.Path(sys.argv[sys.argv.index("--prefix") + 1]) / "node_modules/.bin"
folder.mkdir(parents=True)
for name in ("vim-language-server", "pyright-langserver", "graphql-lsp", "bash-language-server"):
    (folder / name).write_text("#!/bin/sh\\nexec {sys.executable} {SCRIPT} push\\n")
    (folder / name).chmod(0o755)
"""


class Machine:
    """A machine whose only program is npm."""

    def __init__(self, folder: Path) -> None:
        self.tools = folder / "tools"
        self.project = folder / "project"
        self.servers = folder / "data/jupyter-lsp-agent/servers"

    @property
    def calls(self) -> int:
        """How often npm was run."""
        path = self.tools / "calls"
        return len(path.read_text().splitlines()) if path.exists() else 0

    def file(self, name: str, text: str = "BAD\n") -> Path:
        (self.project / name).write_text(text)
        return self.project / name

    def close_gate(self) -> None:
        """npm waits until the gate is opened."""
        os.mkfifo(self.tools / "gate")

    def open_gate(self) -> None:
        """Let the npm that waits go on; waits for one."""
        with (self.tools / "gate").open("w"):
            (self.tools / "gate").unlink()


@pytest.fixture
def machine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Machine:
    for folder in ("tools", "project", "data"):
        (tmp_path / folder).mkdir()
    (tmp_path / "tools/npm").write_text(NPM)
    (tmp_path / "tools/npm").chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path / "tools"))
    # The environment of the tests may have servers of its own.
    monkeypatch.setattr("jupyter_lsp_agent.servers.commands._own_scripts", lambda: iter(()))
    monkeypatch.setenv("JUPYTER_DATA_DIR", str(tmp_path / "data"))
    monkeypatch.setenv("JUPYTER_PATH", str(tmp_path / "data"))
    monkeypatch.chdir(tmp_path / "project")
    return Machine(tmp_path)


def auto(**settings: Any) -> dict[str, Any]:
    return {"install_strategy": "auto", **settings}


async def ask(service: NotebookDiagnosticsService, path: Path) -> Report:
    return await service.check(CheckRequest(path=path, timeout_seconds=20))


async def installs(service: NotebookDiagnosticsService) -> dict[str, str]:
    return {one["id"]: one["state"] for one in (await service.status())["installs"]}


async def test_a_missing_server_is_installed_beside_the_check_and_speaks_in_a_later_one(machine, caplog):
    caplog.set_level(logging.INFO, "jupyter_lsp_agent")
    machine.close_gate()
    path = machine.file("a.vim")
    async with opened_service(auto(), machine.project) as service:
        report = await ask(service, path)
        assert (report.verdict, report.reason) == ("no_verdict", "not_installed")
        assert "is being installed now" in report.detail
        assert await installs(service) == {"vimls": "installing"}
        assert (await ask(service, path)).reason == "not_installed"
        await asyncio.to_thread(machine.open_gate)
        await service.settle_installs()
        assert await installs(service) == {"vimls": "installed"}
        report = await ask(service, path)
        assert (report.verdict, report.servers[0].id) == ("errors", "vimls")
    assert machine.calls == 1
    told = [record.getMessage() for record in caplog.records if "install" in record.getMessage()]
    assert told == ["installing vimls, which a check missed", "vimls is installed"]


async def test_the_next_of_the_chain_answers_meanwhile_and_gives_way(machine):
    machine.close_gate()
    path = machine.file("a.py")
    settings = auto(servers={"python": ["pyright", "ty"]}, server_settings={"ty": {"command": command_of("good")}})
    async with opened_service(settings, machine.project) as service:
        report = await ask(service, path)
        assert (report.verdict, report.fallback_used) == ("errors", True)
        assert [one.id for one in report.servers] == ["pyright", "ty"]
        assert "is being installed now" in (report.servers[0].reason or "")
        await asyncio.to_thread(machine.open_gate)
        await service.settle_installs()
        report = await ask(service, path)
        assert ([one.id for one in report.servers], report.fallback_used) == (["pyright"], False)


async def test_only_one_server_of_a_chain_is_installed(machine):
    machine.close_gate()
    path = machine.file("a.py")
    async with opened_service(auto(servers={"python": ["pyright", "vimls"][:1]}), machine.project) as service:
        await ask(service, path)
        assert list(await installs(service)) == ["pyright"]
    settings = auto(servers={"typescript": ["vtsls", "deno", "biome"]})
    async with opened_service(settings, machine.project) as service:
        await ask(service, machine.file("a.ts"))
        assert list(await installs(service)) == ["vtsls"]


async def test_a_failure_is_remembered_told_and_not_repeated(machine, caplog):
    (machine.tools / "broken").touch()
    path = machine.file("a.vim")
    async with opened_service(auto(), machine.project) as service:
        await ask(service, path)
        await service.settle_installs()
        report = await ask(service, path)
        assert report.reason == "not_installed"
        assert "no such package" in report.detail
        assert "`jupyter lsp-agent install vimls`" in report.detail
        assert await installs(service) == {"vimls": "failed"}
    assert any("no such package" in record.getMessage() for record in caplog.records)
    async with opened_service(auto(), machine.project) as later:
        assert "no such package" in (await ask(later, path)).detail
        assert machine.calls == 1
        (machine.tools / "broken").unlink()
        # By hand it is tried at once, and the failure is forgotten.
        assert await asyncio.to_thread(main, ["install", "vimls"]) == 0
        assert (await ask(later, path)).verdict == "errors"
    assert [entry.name for entry in machine.servers.iterdir()] == ["vimls"]


async def test_a_failure_is_tried_again_after_a_day_or_a_restart(machine):
    (machine.tools / "broken").touch()
    path = machine.file("a.vim")
    async with opened_service(auto(), machine.project) as service:
        await ask(service, path)
        await service.settle_installs()
        await service.restart("vimls")
        await ask(service, path)
        await service.settle_installs()
    assert machine.calls == 2
    (record,) = machine.servers.glob(".*.failed.json")
    old = record.stat().st_mtime - 24 * 60 * 60
    os.utime(record, (old, old))
    async with opened_service(auto(), machine.project) as service:
        await ask(service, path)
        await service.settle_installs()
    assert machine.calls == 3


async def test_the_end_of_the_service_ends_an_install_and_leaves_nothing(machine):
    machine.close_gate()
    async with opened_service(auto(), machine.project) as service:
        await ask(service, machine.file("a.vim"))
        # Opened once npm stands at the gate; it stays there, since nothing is written and it is not closed.
        gate = await asyncio.to_thread((machine.tools / "gate").open, "w")
        assert list(machine.servers.rglob("half")) != []
        (npm,) = processes_of([int((machine.tools / "pid").read_text())])
        assert lives(npm)
    gate.close()
    assert not lives(npm)
    assert list(machine.servers.iterdir()) == []


async def test_an_install_that_takes_too_long_is_ended_and_told(machine):
    machine.close_gate()
    clock, settings = ManualClock(), load_settings(auto(), environ={}, configuration=[])
    place = PlaceFinder(settings, machine.project).find(machine.file("a.vim"))
    installs = BackgroundInstalls(place.registry, machine.servers, place.search, clock)
    spec = place.registry.get("vimls")
    installs.want(spec, (spec,), place, machine.project)
    gate = await asyncio.to_thread((machine.tools / "gate").open, "w")
    clock.advance(900)
    await installs.settle(10)
    gate.close()
    (attempt,) = installs.attempts
    assert (attempt.state, "within 900 s" in (attempt.problem or "")) == ("failed", True)
    assert not (machine.servers / "vimls").exists()
    await installs.aclose()


async def test_two_services_install_it_once(machine):
    machine.close_gate()
    path = machine.file("a.vim")
    async with opened_service(auto(), machine.project) as one, opened_service(auto(), machine.project) as other:
        for service in (one, other):
            assert (await ask(service, path)).reason == "not_installed"
        await asyncio.to_thread(machine.open_gate)
        await asyncio.gather(one.settle_installs(), other.settle_installs())
        assert await installs(one) == await installs(other) == {"vimls": "installed"}
    assert machine.calls == 1


@pytest.mark.parametrize("strategy", ["manual", "off"])
async def test_nothing_is_installed_unasked_otherwise(machine, strategy):
    (machine.project / "pyproject.toml").write_text('[tool.jupyter-lsp-agent]\ninstall_strategy = "auto"\n')
    async with opened_service({"install_strategy": strategy}, machine.project) as service:
        report = await ask(service, machine.file("a.vim"))
        assert report.reason == "not_installed"
        await service.settle_installs()
        assert await installs(service) == {}
    assert machine.calls == 0


PYTHON_IS_THERE = {"server_settings": {"ty": {"command": command_of("good")}}}


@pytest.mark.parametrize(
    ("name", "settings", "workspace"),
    [
        ("a.py", PYTHON_IS_THERE, 'servers = { python = ["pyright"] }'),
        ("a.py", PYTHON_IS_THERE, 'servers = { python = ["pyright", "ty"] }'),
        ("a.vim", {}, 'enabled = false\ninstall_strategy = "auto"'),
        # It would run programs of the workspace, which is not trusted: it would not be started either.
        ("a.graphql", {}, ""),
        # It finds nothing without shellcheck, which is not here.
        ("a.sh", {}, ""),
        # Another command is meant than the one that the recipe brings.
        ("a.vim", {"server_settings": {"vimls": {"command": ["no-such-program"]}}}, ""),
        ("a.vim", {"server_settings": {"vimls": {"enabled": False}}}, ""),
        # No recipe.
        ("a.zig", {}, ""),
        ("notebook.ipynb", {}, ""),
    ],
)
async def test_what_is_not_the_users_choice_or_would_not_help_is_not_installed(machine, name, settings, workspace):
    (machine.project / "pyproject.toml").write_text(f"[tool.jupyter-lsp-agent]\n{workspace}\n")
    text = "BAD\n" if name != "notebook.ipynb" else json.dumps({"cells": [], "nbformat": 4, "nbformat_minor": 5})
    async with opened_service(auto(**settings), machine.project) as service:
        report = await ask(service, machine.file(name, text))
        await service.settle_installs()
        assert await installs(service) == {}
    assert "being installed" not in (report.detail or "")
    assert machine.calls == 0
    assert not machine.servers.exists()


async def test_a_server_that_only_a_workspace_names_is_never_installed(machine):
    """Its choice is narrowed to what is there long before; this holds even where that were not so."""
    own, narrowed = ServerRegistry({"python": ["ty"]}), ServerRegistry({"python": ["pyright"]})
    place = PlaceFinder(load_settings(environ={}, configuration=[]), machine.project).find(machine.file("a.py"))
    spec = own.get("pyright")
    installs = BackgroundInstalls(own, machine.servers, place.search, SystemClock())
    assert installs.want(spec, (spec,), replace(place, registry=narrowed), machine.project) is None
    assert installs.attempts == ()
    # The user's own word, such as `--server pyright`.
    assert "being installed" in (installs.want(spec, (spec,), replace(place, registry=own), machine.project) or "")
    await installs.aclose()


def test_a_check_of_the_command_line_waits_for_the_install_and_has_its_verdict(machine, capsys):
    machine.file("a.vim")
    arguments = ["--LspAgent.install_strategy=auto", "check", "a.vim"]
    assert main(arguments) == 1
    told = capsys.readouterr()
    assert "(vimls" in told.out
    assert "being installed" not in told.out
    assert told.err.count("waiting for its end") == told.err.count("vimls was missing and is installed now") == 1
    assert main(arguments) == 1
    assert capsys.readouterr().out.splitlines()[1:] == told.out.splitlines()[1:]
    assert machine.calls == 1


def test_several_files_wait_for_one_install(machine, capsys):
    for name in ("a.vim", "b.vim"):
        machine.file(name)
    assert main(["--LspAgent.install_strategy=auto", "check", "a.vim", "b.vim"]) == 1
    told = capsys.readouterr()
    assert told.out.count("(vimls") == 2
    assert told.err.count("waiting for its end") == told.err.count("vimls was missing and is installed now") == 1
    assert machine.calls == 1


def test_a_check_of_the_command_line_tells_a_failure_once(machine, capsys):
    (machine.tools / "broken").touch()
    machine.file("a.vim")
    arguments = ["--LspAgent.install_strategy=auto", "check", "a.vim"]
    assert [main(arguments), main(arguments)] == [2, 2]
    told = capsys.readouterr()
    assert "no such package" in told.err
    assert "Traceback" not in told.err
    assert machine.calls == 1


def test_python_waits_for_the_install_too(machine, monkeypatch):
    monkeypatch.setenv("JUPYTER_LSP_AGENT_INSTALL_STRATEGY", "auto")
    report = check_notebook(machine.file("a.vim"))
    assert (report.verdict, [one.id for one in report.servers]) == ("errors", ["vimls"])
    assert machine.calls == 1


def test_a_question_waits_for_the_install_too(machine, monkeypatch, capsys):
    """The server that is there then does not hover, which is an answer of its own."""
    monkeypatch.setenv("JUPYTER_LSP_AGENT_INSTALL_STRATEGY", "auto")
    machine.file("a.vim")
    main(["query", "hover", "a.vim", "1:1"])
    assert "vimls was missing and is installed now" in capsys.readouterr().err
    assert query_notebook(machine.project / "a.vim", "hover", line=1, column=1).reason != "not_installed"
    (machine.servers / "vimls").rename(machine.servers / "gone")
    assert query_notebook(machine.project / "a.vim", "hover", line=1, column=1).reason != "not_installed"
    assert machine.calls == 2
