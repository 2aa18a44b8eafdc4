"""A workspace that tries to have its own programs run (`tests/support/hostile.py`), and that none of them is: by the
real servers, each started as the catalogue starts it for a folder that is not trusted, and by the command line."""

import asyncio
import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from jupyter_lsp_agent.core.clock import SystemClock
from jupyter_lsp_agent.core.errors import UntrustedError
from jupyter_lsp_agent.core.launch import TextDocument
from jupyter_lsp_agent.core.uris import uri_from_path
from jupyter_lsp_agent.lsp.client import LanguageClient
from jupyter_lsp_agent.servers.commands import CommandSource, ResolvedCommand, read_command_search
from jupyter_lsp_agent.servers.environments import read_own_environment
from jupyter_lsp_agent.servers.interpreters import Surroundings, resolve_interpreter
from jupyter_lsp_agent.servers.launch import build_launch
from tests.support.command_line import run_command
from tests.support.hostile import CLEAN_PATH, CONFIGURATION, CONTROLS, PLUGIN_RAN, hostile_path, make_hostile, who_ran
from tests.support.real_servers import INSTALLED, REGISTRY, real_launch, servers_path
from tests.support.server_cases import CASES
from tests.support.services import write_notebook

CLEAN = {**os.environ, "PATH": CLEAN_PATH}
UNTRUSTED = sorted(spec.server_id for spec in REGISTRY if spec.runs_workspace_programs)
ASKED = sorted(set(CASES) - set(UNTRUSTED))


@pytest.fixture
def root(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that is the current one, with `PATH` leading into it."""
    folder = tmp_path / "work"
    folder.mkdir()
    monkeypatch.chdir(folder)
    monkeypatch.setenv("PATH", hostile_path(folder, os.environ["PATH"]))
    monkeypatch.setenv("PYTHONPATH", "")
    return folder


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    """What a trap writes to."""
    return tmp_path / "mark"


@pytest.mark.parametrize("kind", CONTROLS)
def test_the_traps_go_off_when_they_are_touched(tmp_path, mark, kind):
    make_hostile(tmp_path / "work", mark, {})
    command = CONTROLS[kind](tmp_path / "work")
    if shutil.which(command[0]) is None or (kind == "a shared library" and not (tmp_path / "work/evil.so").exists()):
        pytest.skip(f"{command[0]} is not on this machine")
    subprocess.run(command, check=False, capture_output=True)
    assert who_ran(mark)


@pytest.mark.timeout(120)
@pytest.mark.real_server
@pytest.mark.parametrize("server_id", ASKED)
async def test_a_server_runs_nothing_of_a_workspace_that_is_not_trusted(tmp_path, root, mark, server_id):
    case, spec = CASES[server_id], REGISTRY.get(server_id)
    make_hostile(root, mark, {name: text for name, text in case.files.items() if name not in CONFIGURATION})
    path = root / case.file_name
    path.write_text(case.bad)
    language = REGISTRY.language_of(path)
    if language is None or not spec.takes(language):
        language = spec.languages[0]
    surroundings = Surroundings({"PATH": os.environ["PATH"]}, (), (), read_own_environment())
    interpreter = resolve_interpreter(root, root, surroundings=surroundings) if spec.interpreter else None
    assert interpreter is None or (interpreter.prefix, interpreter.may_run) == (root / ".venv", False)
    client = LanguageClient(real_launch(server_id, root, tmp_path / "data", interpreter), clock=SystemClock())
    async with asyncio.timeout(100):
        await client.start()
        try:
            for text in (case.bad, case.good):
                document = TextDocument(uri_from_path(path), spec.language_id(language, path.suffix), text)
                report = await client.diagnose(document)
                assert not [one for one in report.diagnostics if PLUGIN_RAN in one.message]
        finally:
            await client.aclose()
    assert who_ran(mark) == []


@pytest.mark.parametrize("server_id", UNTRUSTED)
def test_a_server_that_would_is_not_started(tmp_path, root, server_id):
    command = ResolvedCommand(("/bin/true",), CommandSource.PATH)
    with pytest.raises(UntrustedError, match="jupyter lsp-agent trust"):
        build_launch(REGISTRY.get(server_id), command, root, search=read_command_search((root,)))


COMMANDS = [
    ("check", "a.ipynb"),
    ("check", ".", "--include", "*.py"),
    ("check", "a.ipynb", "--since", "HEAD"),
    ("query", "document_symbols", "a.py"),
    ("status", "--probe"),
    ("install", "--dry-run"),
    ("install", "--list"),
]


@pytest.mark.timeout(180)
@pytest.mark.parametrize("arguments", COMMANDS, ids=" ".join)
def test_the_command_line_runs_nothing_of_the_folder_it_is_used_in(tmp_path, root, mark, arguments):
    make_hostile(root, mark, {"a.ipynb": NOTEBOOK, "a.py": "name = missing\n"})
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org"]
    for words in (["init", "-q"], ["add", "a.ipynb"], [*identity, "commit", "-qm", "one"]):
        subprocess.run(["git", *words], check=True, env=CLEAN)
    with (root / ".git/config").open("a") as file:
        file.write(f'[core]\n\tfsmonitor = "{root}/evil.sh"\n\thooksPath = {root}\n')
    for name in ("post-index-change", "post-checkout", "reference-transaction"):
        (root / name).write_text(f"#!/bin/sh\necho {name} >>{mark}\n")
        (root / name).chmod(0o755)
    assert who_ran(mark) == []
    environ = {"JUPYTER_DATA_DIR": str(tmp_path / "data"), "PATH": os.environ["PATH"]}
    done = run_command(*arguments, cwd=root, environ=environ, python_options=("-P",))
    assert "Traceback" not in done.errors
    assert done.output
    assert who_ran(mark) == []


KERNELS = {
    "rust": ("rust", "fn f( {"),
    "deno": ("typescript", 'const a: number = "x";'),
    "javascript": ("javascript", "const a = ;"),
    "xcpp17": ("c++", "int x = missing;"),
    "ir": ("R", "f <- function(x { x }"),
    "bash": ("bash", "if then"),
}
"""Kernel → its language, and a cell with a mistake in it."""


@pytest.mark.timeout(180)
@pytest.mark.parametrize("kernel", KERNELS)
def test_a_notebook_of_another_kernel_has_nothing_run_either(tmp_path, root, mark, kernel):
    language, source = KERNELS[kernel]
    make_hostile(root, mark, {})
    (root / "deno.json").unlink()
    spec = {"name": kernel, "language": language, "display_name": kernel}
    path = write_notebook(root / "a.ipynb", source, kernelspec=spec)
    environ = {
        "JUPYTER_DATA_DIR": str(tmp_path / "data"),
        "JUPYTER_PATH": str(INSTALLED),
        "PATH": hostile_path(root, servers_path(CLEAN_PATH)),
    }
    done = run_command("check", path.name, "--format", "json", cwd=root, environ=environ, python_options=("-P",))
    assert who_ran(mark) == []
    (report,) = done.reports
    if report["reason"] == "not_installed":
        pytest.skip(report["detail"])
    assert report["verdict"] == "errors", report["detail"]


NOTEBOOK = json.dumps(
    {
        "cells": [
            {
                "cell_type": "code",
                "id": f"c{number}",
                "metadata": {},
                "outputs": [],
                "execution_count": None,
                "source": one,
            }
            for number, one in enumerate(["import evil\nprint(missing)", "%%bash\nrm $x"])
        ],
        "metadata": {"kernelspec": {"name": "python3", "language": "python", "display_name": "Python 3"}},
        "nbformat": 4,
        "nbformat_minor": 5,
    }
)


def test_git_as_it_comes_would_have_run_something(tmp_path, root, mark):
    make_hostile(root, mark, {})
    subprocess.run(["git", "init", "-q"], check=True, env=CLEAN)
    command = ["git", "-c", f"core.fsmonitor={root}/evil.sh", "status"]
    subprocess.run(command, check=False, capture_output=True, env=CLEAN)
    assert "evil.sh" in who_ran(mark)
