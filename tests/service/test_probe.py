import pytest

from jupyter_lsp_agent.servers.registry import ServerRegistry
from jupyter_lsp_agent.service.requests import CheckRequest
from tests.support.services import command_of, opened_service, write_notebook


@pytest.fixture
def settings():
    """One server that works, one that fails, one that is not there, and one that is switched off; no others."""
    chosen = {
        "ty": {"command": command_of("good")},
        "ruff": {"command": command_of("die_at_start")},
        "zuban": {"command": command_of("missing")},
        "pyrefly": {"command": command_of("good"), "enabled": False},
    }
    off = {spec.server_id: {"enabled": False} for spec in ServerRegistry() if spec.server_id not in chosen}
    return {"server_settings": {**off, **chosen}}


async def test_a_running_server_gives_its_version(tmp_path, settings):
    async with opened_service(settings, tmp_path) as service:
        report = await service.check(CheckRequest(path=write_notebook(tmp_path / "n.ipynb", "x = 1"), server="ty"))
        servers = {server["id"]: server["version"] for server in (await service.status())["servers"]}
    assert [server.version for server in report.servers] == ["1.2.3"]
    assert (servers["ty"], servers["ruff"]) == ("1.2.3", None)


async def test_probe_tries_what_is_installed(tmp_path, settings):
    async with opened_service(settings, tmp_path) as service:
        before = {server["id"]: server for server in (await service.status())["servers"]}
        after = {server["id"]: server for server in (await service.probe())["servers"]}
        running = (await service.status())["running"]
    assert before["ty"]["version"] is None
    assert after["ty"]["version"] == "1.2.3"
    assert after["ty"]["detail"] is None
    assert "exit code 3" in after["ruff"]["detail"]
    assert after["zuban"]["installed"] is False
    assert after["pyrefly"] == before["pyrefly"]
    assert running == []
    assert list(tmp_path.iterdir()) == []
