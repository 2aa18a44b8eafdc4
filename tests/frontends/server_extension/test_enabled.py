"""The extension in a server: enabled by installing it, cheap to start, and with every route behind authentication."""

import importlib.metadata
import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.jupyter_server import PACKAGE_ROOT, jupyter_server
from tests.support.small_notebooks import write_notebook

_STARTED = """
import json, sys
import jupyter_lsp_agent
jupyter_lsp_agent._jupyter_server_extension_points()
print(json.dumps([name for name in sys.modules if name.startswith("jupyter_lsp_agent")]))
"""


def test_a_server_that_starts_loads_nothing_that_checks():
    done = subprocess.run(
        [sys.executable, "-c", _STARTED], capture_output=True, text=True, check=True, cwd=PACKAGE_ROOT
    )
    layers = {name.split(".")[1] for name in json.loads(done.stdout) if "." in name}
    assert layers <= {"_version", "core", "frontends"}


def test_importing_the_package_loads_no_server():
    program = (
        "import sys, jupyter_lsp_agent; print([n for n in sys.modules if n.startswith(('jupyter_server', 'tornado'))])"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True, cwd=PACKAGE_ROOT)
    assert done.stdout == "[]\n"


def test_every_route_asks_who_is_there(tmp_path):
    # The server warns of each handler that does not, where it is to refuse access without authentication.
    with jupyter_server(tmp_path, "--ServerApp.allow_unauthenticated_access=False") as server:
        assert server.get("status").status == 200
        assert server.send("GET", "jupyter-lsp-agent/status", token=None).status == 403
    assert "jupyter_lsp_agent | extension was successfully loaded" in server.log.text
    assert "registered for /b@se/jupyter-lsp-agent" not in server.log.text


def test_what_the_wheel_puts_into_jupyters_configuration_enables_it():
    (found,) = (PACKAGE_ROOT / "labextension-config" / "jupyter_server_config.d").iterdir()
    assert json.loads(found.read_text()) == {"ServerApp": {"jpserver_extensions": {"jupyter_lsp_agent": True}}}
    pyproject = (PACKAGE_ROOT / "pyproject.toml").read_text()
    assert '"labextension-config/jupyter_server_config.d" = "etc/jupyter/jupyter_server_config.d"' in pyproject


def _is_installed() -> bool:
    try:
        files = importlib.metadata.files("jupyter-lsp-agent") or []
    except importlib.metadata.PackageNotFoundError:
        return False
    return any(str(file).endswith("jupyter_server_config.d/jupyter_lsp_agent.json") for file in files)


@pytest.mark.skipif(not _is_installed(), reason="the package is not installed here, it runs from its folder")
def test_the_installed_extension_is_listed_as_sound():
    done = subprocess.run(
        [sys.executable, "-m", "jupyter_server.extension.serverextension", "list"],
        capture_output=True, text=True, check=False, cwd=Path(sys.prefix),
    )  # fmt: skip
    listed = done.stdout + done.stderr
    assert "jupyter_lsp_agent" in listed
    assert "OK" in listed.split("- Validating jupyter_lsp_agent...")[1].splitlines()[1]


_ACTIVITY = "c.ServerApp.shutdown_no_activity_timeout = 0"


def test_checks_are_no_activity_and_edits_are(tmp_path):
    write_notebook(tmp_path / "n.ipynb", "a = 1")
    with jupyter_server(tmp_path, config=_ACTIVITY) as server:

        def last_activity() -> str:
            return server.send("GET", "api/status").json["last_activity"]

        before = last_activity()
        server.check("n.ipynb", session="s")
        server.get("cells", path="n.ipynb")
        server.get("status")
        assert last_activity() == before
        server.edit("n.ipynb", {"op": "replace", "cell": 0, "source": "a = 2"})
        assert last_activity() > before
