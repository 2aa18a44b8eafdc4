"""Which running servers are believed: files of the runtime folder may be stale, odd, or somebody else's."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from jupyter_lsp_agent.frontends.magic.jupyter_servers import ServerClient, running_servers
from jupyter_lsp_agent.frontends.magic.locate import NotebookFinder
from jupyter_lsp_agent.frontends.magic.surroundings import KernelSurroundings
from jupyter_lsp_agent.service.execution import Execution
from tests.support.kernels import notebook


@pytest.fixture
def runtime(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))
    return tmp_path


def write(folder: Path, name: str, **changes: object) -> None:
    content = {
        "url": "http://localhost:8888/base/",
        "token": "t",
        "root_dir": "/root/dir",
        "pid": os.getpid(),
        **changes,
    }
    (folder / f"jpserver-{name}.json").write_text(json.dumps(content))


def test_a_server_that_runs(runtime: Path) -> None:
    write(runtime, "1")
    (server,) = running_servers()
    assert (server.url, server.token, server.root) == ("http://localhost:8888/base/", "t", Path("/root/dir"))


def test_below_a_hub_the_hubs_token_is_used(runtime: Path) -> None:
    write(runtime, "1", token="")
    assert [server.token for server in running_servers("of the hub")] == ["of the hub"]


def test_what_is_passed_over(runtime: Path) -> None:
    ended = subprocess.Popen([sys.executable, "-c", ""])
    ended.wait()
    write(runtime, "ended", pid=ended.pid)
    write(runtime, "nobody", pid=2**40)
    write(runtime, "socket", url="http+unix://%2Ftmp%2Fx.sock/")
    write(runtime, "file", url="file:///etc/passwd")
    write(runtime, "typed", pid="1", url=5)
    (runtime / "jpserver-broken.json").write_text("{")
    (runtime / "jpserver-list.json").write_text("[]")
    (runtime / "jpserver-gone.json").symlink_to(runtime / "nowhere")
    if os.getuid() == 0:
        other = subprocess.Popen(["sleep", "60"], user=65534)
        write(runtime, "other", pid=other.pid)
    try:
        assert running_servers() == ()
    finally:
        if os.getuid() == 0:
            other.kill()
            other.wait()


@pytest.mark.parametrize(
    ("hint", "found"),
    [
        ("{root}/sub/n.ipynb", True),
        ("sub/n.ipynb", True),
        ("n.ipynb", True),
        ("{root}/sub/sub/n.ipynb", True),  # servers write it so: the name is all that is right
        ("{root}/sub/gone.ipynb", False),
        ("{root}/sub/other.ipynb", False),  # does not hold what ran
        ("{root}/sub/n.py", False),
        ("console-1-4f3a", False),
    ],
)
async def test_a_hint_is_verified(runtime: Path, tmp_path: Path, hint: str, found: bool) -> None:
    folder = tmp_path / "root" / "sub"
    folder.mkdir(parents=True)
    (folder / "n.ipynb").write_text(notebook("a = 1"))
    (folder / "other.ipynb").write_text(notebook("b = 1", ids=False))
    (folder / "n.py").write_text("a = 1")
    client = ServerClient()
    around = KernelSurroundings(folder, is_kernel=True, session_name=hint.format(root=tmp_path / "root"))
    own = await NotebookFinder(client).own(around, [Execution("a = 1", 1)])
    client.close()
    assert own.path == (folder / "n.ipynb" if found else None)
    assert "JPY_SESSION_NAME" in own.how
