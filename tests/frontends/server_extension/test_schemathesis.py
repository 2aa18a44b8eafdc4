"""Requests made up from `openapi.yaml`: no 5xx, and every answer is in the schema.

Runs where schemathesis is installed, which has an environment of its own.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

pytest.importorskip("schemathesis", reason="schemathesis has an environment of its own")

from tests.support.jupyter_server import PACKAGE_ROOT, TOKEN, jupyter_server
from tests.support.small_notebooks import write_notebook

_DESCRIPTION = PACKAGE_ROOT / "jupyter_lsp_agent" / "frontends" / "server_extension" / "openapi.yaml"
_CHECKS = "not_a_server_error,status_code_conformance,content_type_conformance,response_schema_conformance"
_REQUESTS = 2_000


@pytest.mark.timeout(900)
def test_made_up_requests_are_answered_as_described(tmp_path):
    root = tmp_path / "root"
    (root / "analysis").mkdir(parents=True)
    (root / "src").mkdir()
    write_notebook(root / "analysis" / "model.ipynb", "a = 1", "print(b)", "c = 3")
    (root / "src" / "api.py").write_text("retrun = 1\n")
    with jupyter_server(root) as server:
        done = subprocess.run(
            [str(Path(sys.executable).parent / "st"), "run", str(_DESCRIPTION), f"--url={server.url}",
             f"--header=Authorization: token {TOKEN}", f"--checks={_CHECKS}", "--phases=examples,coverage,fuzzing",
             f"--max-examples={_REQUESTS // 8}", "--continue-on-failure", "--generation-deterministic",
             "--suppress-health-check=all", "--request-timeout=60"],
            capture_output=True, text=True, check=False, cwd=tmp_path, env={**os.environ, "NO_COLOR": "1"},
        )  # fmt: skip
        assert server.process.poll() is None
    assert done.returncode == 0, done.stdout + server.log.text[-8000:]
    generated = re.search(r"(\d+) generated", done.stdout)
    assert generated is not None, done.stdout
    assert int(generated[1]) >= _REQUESTS
