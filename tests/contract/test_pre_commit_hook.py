import shlex
from pathlib import Path

import pytest

from jupyter_lsp_agent.frontends.cli_arguments import parse_arguments

yaml = pytest.importorskip("yaml")  # comes with jupyter-server
HOOKS = Path(__file__).parents[2] / ".pre-commit-hooks.yaml"


def test_the_hook_is_a_command_that_we_understand():
    [hook] = yaml.safe_load(HOOKS.read_text())
    assert hook["id"] == "jupyter-lsp-agent"
    assert hook["language"] == "python"
    assert hook["types_or"] == ["jupyter"]
    assert hook["require_serial"] is True
    program, *arguments = shlex.split(hook["entry"])
    assert program == "jupyter-lsp-agent"
    options, _ = parse_arguments([*arguments, "a.ipynb", "b.ipynb"])
    assert options.paths == ["a.ipynb", "b.ipynb"]
