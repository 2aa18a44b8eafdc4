import logging

import pytest

from jupyter_lsp_agent.core.diagnostic import DiagnosticSeverity
from jupyter_lsp_agent.service.settings import Settings, describe_settings
from jupyter_lsp_agent.service.workspace import (
    ALLOWED,
    WorkspaceReader,
    WorkspaceSettings,
    narrow,
    workspace_settings,
)


@pytest.fixture
def workspace(tmp_path, caplog):
    caplog.set_level(logging.WARNING, "jupyter_lsp_agent")

    def read(text, table="[tool.jupyter-lsp-agent]"):
        (tmp_path / "pyproject.toml").write_text(f"{table}\n{text}\n")
        return workspace_settings(tmp_path)

    return read


def narrowed(read, settings=None, runnable=("ty", "ruff")):
    return narrow(settings or Settings(), read, is_runnable=lambda name: name in runnable)


def test_what_is_allowed_is_read(workspace, caplog):
    settings = narrowed(
        workspace(
            'enabled = false\nseverity = "warning"\nexclude = ["a"]\nignore = ["F401"]\nkernel_names = ["spark"]\n'
            'python_cell_magics = ["fit"]\nservers = {python = ["ruff"]}'
        )
    )
    assert settings == Settings(
        enabled=False,
        severity=DiagnosticSeverity.WARNING,
        exclude=("a",),
        ignore=("F401",),
        kernel_names=("spark",),
        python_cell_magics=("fit",),
        servers={"python": (("ruff",),)},
    )
    assert caplog.records == []


@pytest.mark.parametrize("name", sorted(set(describe_settings()) - ALLOWED))
def test_nothing_else_is(workspace, caplog, name):
    value = {"server_settings": "{ty = {command = ['./evil']}}", "trusted_roots": "['/']"}.get(name, "1")
    assert narrowed(workspace(f"{name} = {value}")) == Settings()
    assert len(caplog.records) == 1
    assert f"{name} is not a workspace's to set" in caplog.text


def test_one_warning_for_all_that_is_ignored(workspace, caplog):
    assert workspace("wait_ms = 1\nmax_servers = 1\nseverity = 'fatal'").values == {}
    assert len(caplog.records) == 1
    for part in ("wait_ms", "max_servers", "severity is 'fatal'", "pyproject.toml"):
        assert part in caplog.text


def test_a_glob_that_is_none_stops_nothing(workspace, caplog):
    assert workspace("exclude = ['!']").values == {}
    assert len(caplog.records) == 1


def test_enabled_can_only_be_switched_off(workspace):
    assert narrowed(workspace("enabled = true"), Settings(enabled=False)).enabled is False


def test_stronger_sources_win(workspace):
    given = Settings(ignore=("X",), severity=DiagnosticSeverity.ERROR, given=frozenset({"ignore", "severity"}))
    assert narrowed(workspace('severity = "hint"\nignore = ["Y"]\nexclude = ["z"]'), given) == Settings(
        ignore=("X",), severity=DiagnosticSeverity.ERROR, exclude=("z",), given=frozenset({"ignore", "severity"})
    )


def test_servers_are_chosen_among_those_that_run_anyway(workspace):
    chosen = narrowed(workspace('servers = {python = [["evil", "ruff"], ["evil"]], r = ["evil"]}'))
    assert chosen.servers == {"python": (("ruff",),)}


@pytest.mark.parametrize(
    "table", ["[tool]\njupyter-lsp-agent = 3", "not toml jupyter-lsp-agent", "tool = 'jupyter-lsp-agent'"]
)
def test_a_broken_file_stops_nothing(workspace, caplog, table):
    assert workspace("", table).values == {}
    assert len(caplog.records) == 1


def test_a_project_that_says_nothing(workspace, caplog, tmp_path):
    assert workspace("line-length = 1", "[tool.ruff]") == WorkspaceSettings()
    assert workspace_settings(tmp_path / "none") == WorkspaceSettings()
    assert caplog.records == []


def test_a_reader_warns_once_and_sees_changes(workspace, caplog, tmp_path):
    reader = WorkspaceReader()
    path = tmp_path / "pyproject.toml"
    assert reader.settings_of(tmp_path).values == {}
    path.write_text("[tool.jupyter-lsp-agent]\nwait_ms = 1\n")
    reader.settings_of(tmp_path)
    reader.settings_of(tmp_path)
    assert len(caplog.records) == 1
    path.write_text("[tool.jupyter-lsp-agent]\nignore = ['a', 'b']\n")
    assert reader.settings_of(tmp_path).values == {"ignore": ("a", "b")}
