"""Which running servers are believed: files of the runtime folder may be stale, odd, or somebody else's."""

import json
import os
import socket
import subprocess
import sys
from pathlib import Path

import pytest

from jupyter_lsp_agent.frontends.magic.jupyter_servers import ServerClient, running_servers
from jupyter_lsp_agent.frontends.magic.locate import NotebookFinder
from jupyter_lsp_agent.frontends.magic.surroundings import HubToken, KernelSurroundings
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


@pytest.mark.parametrize(
    ("url", "prefix", "token"),
    [
        ("http://127.0.0.1:8888/user/ann/", "/user/ann/", "of the hub"),
        ("http://localhost:8888/user/ann", "/user/ann/", "of the hub"),
        ("http://127.0.0.1:8888/", "/user/ann/", ""),  # somebody's server without a token
        ("http://127.0.0.1:8888/user/eve/", "/user/ann/", ""),
        ("http://127.0.0.1:8888/user/ann/", None, ""),
    ],
)
def test_the_hubs_token_goes_to_the_server_of_the_hub_alone(
    runtime: Path, url: str, prefix: str | None, token: str
) -> None:
    write(runtime, "1", url=url, token="")
    assert [server.token for server in running_servers(HubToken("of the hub", prefix))] == [token]
    write(runtime, "1", url=url, token="its own")
    assert [server.token for server in running_servers(HubToken("of the hub", prefix))] == ["its own"]


@pytest.mark.parametrize("host", ["127.0.0.1", "127.0.0.3", "[::1]", "localhost", socket.gethostname()])
def test_addresses_of_this_machine(runtime: Path, host: str) -> None:
    write(runtime, "1", url=f"http://{host}:8888/")
    assert len(running_servers()) == 1


@pytest.mark.parametrize(
    "host",
    ["example.org", "203.0.113.7", "localhost.example.org", "127.0.0.1.example.org", "[2001:db8::1]", "", "me@x"],
)
def test_a_token_goes_to_no_other_machine(runtime: Path, host: str) -> None:
    """The process of a file lives here, so its server does."""
    write(runtime, "1", url=f"http://{host}:8888/")
    assert running_servers() == ()


def test_hostile_files_keep_nobody_waiting(runtime: Path) -> None:
    write(runtime, "good")
    os.mkfifo(runtime / "jpserver-pipe.json")
    (runtime / "jpserver-loop.json").symlink_to(runtime / "jpserver-loop.json")
    (runtime / "jpserver-endless.json").symlink_to("/dev/zero")
    (runtime / "jpserver-folder.json").mkdir()
    (runtime / "jpserver-deep.json").write_text("[" * 60_000)
    with (runtime / "jpserver-huge.json").open("wb") as file:
        file.truncate(2**32)
    assert [server.token for server in running_servers()] == ["t"]


@pytest.mark.skipif(os.getuid() != 0, reason="only root gives files away")
def test_a_file_of_somebody_else_is_not_believed(runtime: Path) -> None:
    write(runtime, "1")
    os.chown(runtime / "jpserver-1.json", 65534, 65534)
    assert running_servers() == ()


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
