import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from traitlets.config import Config

from jupyter_lsp_agent.core.errors import SettingsError
from jupyter_lsp_agent.service.jupyter_config import read_configuration
from jupyter_lsp_agent.service.settings import describe_settings, merge_settings
from jupyter_lsp_agent.service.traits import LspAgent, configured_source

ROOT = Path(__file__).parents[2]


def write(folder, name, content):
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / name
    path.write_text(json.dumps({"LspAgent": content}) if isinstance(content, dict) else content)
    return path


def settings_of(*folders):
    return merge_settings(read_configuration(folders))


def test_both_names_and_both_kinds_of_file(tmp_path):
    write(tmp_path, "jupyter_config.json", {"wait_ms": 1, "max_servers": 1})
    write(tmp_path, "jupyter_config.py", "c.LspAgent.max_open_documents = 2")
    write(tmp_path, "jupyter_lsp_agent_config.json", {"wait_ms": 3})
    write(tmp_path, "jupyter_lsp_agent_config.py", "c.LspAgent.first_wait_ms = 4\nc.LspAgent.wait_ms = 5")
    settings = settings_of(tmp_path)
    assert (settings.wait_ms, settings.max_servers, settings.max_open_documents, settings.first_wait_ms) == (3, 1, 2, 4)


def test_the_first_folder_wins(tmp_path):
    write(tmp_path / "user", "jupyter_config.json", {"wait_ms": 1})
    write(tmp_path / "system", "jupyter_config.json", {"wait_ms": 2, "max_servers": 2})
    settings = settings_of(tmp_path / "user", tmp_path / "system")
    assert (settings.wait_ms, settings.max_servers) == (1, 2)


def test_relative_folders_are_passed_over(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path, "jupyter_config.json", {"wait_ms": 1})
    write(tmp_path / "user", "jupyter_config.json", {"wait_ms": 2})
    assert settings_of(".", tmp_path / "user").wait_ms == 2


def test_a_list_may_be_appended_to(tmp_path):
    write(tmp_path, "jupyter_config.py", "c.LspAgent.ignore_cell_tags.append('mine')")
    assert settings_of(tmp_path).ignore_cell_tags == ("skip-lsp-check", "mine")


def test_other_classes_and_missing_folders_say_nothing(tmp_path):
    write(tmp_path, "jupyter_config.json", '{"ServerApp": {"port": 1}}')
    assert read_configuration([tmp_path, tmp_path / "none"]) == ()


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("jupyter_config.json", "{"),
        ("jupyter_config.py", "1/0"),
        ("jupyter_config.py", "def"),
        ("jupyter_config.py", "raise SystemExit(3)"),
    ],
)
def test_a_file_that_cannot_be_used_is_named(tmp_path, name, content):
    path = write(tmp_path, name, content)
    with pytest.raises(SettingsError, match=str(path)):
        read_configuration([tmp_path])


def test_a_wrong_value_names_the_file(tmp_path):
    path = write(tmp_path, "jupyter_config.json", {"wait_ms": "x"})
    with pytest.raises(SettingsError, match=f"^{path}: wait_ms is 'x'"):
        settings_of(tmp_path)


@pytest.mark.parametrize("search_path", ["", ".", "here", "." + os.pathsep + "/nowhere"])
def test_the_current_folder_is_never_looked_into(tmp_path, search_path):
    for folder in (tmp_path, tmp_path / "here"):
        for name in ("jupyter_config.py", "jupyter_lsp_agent_config.py"):
            write(folder, name, "open('executed', 'w'); c.LspAgent.wait_ms = 666")
    environ = {**os.environ, "JUPYTER_CONFIG_PATH": search_path, "PYTHONPATH": str(ROOT)}
    code = "from jupyter_lsp_agent.service.settings import load_settings; print(load_settings().wait_ms)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, env=environ, capture_output=True, text=True, check=True
    )
    assert done.stdout == "3000\n"
    assert not (tmp_path / "executed").exists()


def test_traits_are_the_settings():
    assert set(LspAgent.class_own_traits(config=True)) == set(describe_settings())


def test_a_configured_instance_gives_what_was_said():
    agent = LspAgent(config=Config({"LspAgent": {"wait_ms": 7}}))
    assert configured_source(agent).values == {"wait_ms": 7}
