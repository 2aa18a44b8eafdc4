"""The commands of `docs/REST.md`, run one after the other as they stand."""

import json
import os
import re
import shutil
import subprocess

import pytest

from tests.support.jupyter_server import PACKAGE_ROOT, TOKEN
from tests.support.small_notebooks import sources_of, write_notebook

_PAGE = (PACKAGE_ROOT / "docs" / "REST.md").read_text()
_BLOCKS = [block for block in re.findall(r"```bash\n(.*?)```", _PAGE, re.DOTALL) if "export" not in block]


@pytest.mark.skipif(shutil.which("curl") is None, reason="curl is not installed")
@pytest.mark.timeout(180)
def test_the_documented_commands_work(server):
    (server.root / "analysis").mkdir()
    write_notebook(server.root / "analysis" / "model.ipynb", "df = 1", "print(df)")
    environment = {**os.environ, "JUPYTER": server.url.rstrip("/"), "TOKEN": TOKEN}
    said = []
    for block in _BLOCKS:
        script = f"set -euo pipefail\n{block.replace('curl -sS', 'curl -sS --fail-with-body')}"
        done = subprocess.run(["bash", "-c", script], env=environment, capture_output=True, text=True, check=False)
        assert done.returncode == 0, block + done.stdout + done.stderr
        said.append(done.stdout)
    assert len(said) == _PAGE.count("```bash") - 1
    cells, check, text, proposed, definition, references, edit, by_hash, dry_run, sessions, status = said
    assert [cell["source"] for cell in json.loads(cells)["cells"]] == ["df = 1", "print(df)"]
    assert json.loads(check)["verdict"] == "clean"
    assert text.startswith("analysis/model.ipynb: ")
    assert json.loads(proposed)["counts"]["present"] == 1
    [found] = json.loads(definition)["results"]
    assert (found["cell_index"], found["line"], found["source_line"]) == (0, 1, "df = 1")
    assert references.splitlines() == [
        "analysis/model.ipynb:cell 0 (c0):1:1: df = 1",
        "analysis/model.ipynb:cell 1 (c1):1:7: print(df)",
    ]
    assert json.loads(edit)["report"]["counts"]["introduced"] == 1
    assert json.loads(by_hash)["report"]["counts"]["fixed"] == 1
    assert json.loads(dry_run)["written"] is False
    assert '"agent-1"' in sessions
    assert "openapi: 3.1.0" in status
    assert sources_of(server.root / "analysis" / "model.ipynb") == ["# Model", "df = 1", "print(df)"]
