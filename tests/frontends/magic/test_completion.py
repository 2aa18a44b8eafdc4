"""Completion of paths where folders and users are not as one expects."""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from jupyter_lsp_agent.frontends.magic.completion import LspCheckCompleter

COMPLETER = LspCheckCompleter({"--all": None})


def completed(line: str, symbol: str = "") -> list[str]:
    found = COMPLETER(SimpleNamespace(text_until_cursor=f"%lsp_check {line}", token=symbol))
    return [completion.text for completion in found["completions"]]


@pytest.mark.parametrize("line", ["~no-such-user/a", "nowhere/", "a\0b/", "x" * 5000 + "/", "'~no-such-user/", '"a\0/'])
def test_a_folder_that_cannot_be_looked_into_has_no_completions(line: str) -> None:
    assert completed(line) == []


def test_entries_that_cannot_be_looked_at_are_no_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "loop").symlink_to("loop")
    (tmp_path / "b.ipynb").touch()
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "é ü").mkdir()
    assert completed("") == ["--all", "b.ipynb", "é\\ ü/"]


def test_a_home_is_looked_into_and_stays_as_it_is_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", str(tmp_path))
    (tmp_path / "b.ipynb").touch()
    assert completed("~/", symbol="~/") == ["~/b.ipynb"]
    assert completed("~/b", symbol="b") == ["b.ipynb"]


def test_elsewhere_nothing_is_offered() -> None:
    for line in ("lsp_check", "%lsp_checks --", "x = 1", "print(%lsp_check --", "%time --"):
        assert COMPLETER(SimpleNamespace(text_until_cursor=line, token="")) == {"completions": []}
