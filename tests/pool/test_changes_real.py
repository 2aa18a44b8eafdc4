"""Between two checks a module, a package or a configuration file changes on disk: the second verdict is right."""

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

import pytest

from jupyter_lsp_agent.core.clock import SystemClock
from jupyter_lsp_agent.core.diagnostic import DiagnosticSeverity
from jupyter_lsp_agent.core.launch import TextDocument
from jupyter_lsp_agent.core.uris import uri_from_path
from jupyter_lsp_agent.lsp.client import LanguageClient
from jupyter_lsp_agent.pool.changes import ChangeTracker
from jupyter_lsp_agent.pool.fallback import Candidate, ask_first_working
from jupyter_lsp_agent.pool.keys import ClientKey, PoolLimits
from jupyter_lsp_agent.pool.pool import ClientPool
from jupyter_lsp_agent.pool.snapshots import Watch
from jupyter_lsp_agent.pool.starting import starter
from jupyter_lsp_agent.servers.environments import read_own_environment
from jupyter_lsp_agent.servers.interpreters import Surroundings, resolve_interpreter
from tests.support.environments import add_package, real_venv, site_packages
from tests.support.real_servers import REGISTRY, real_launch

pytestmark = pytest.mark.real_server
SERVERS = ["ty", "basedpyright", "pyright", "pyrefly", "zuban"]
TEXT = "import helper\nhelper.value\nimport package\npackage.value\n"


class World:
    """A project whose notebook imports a neighbour and a package, and a pool that asks one server about it."""

    def __init__(self, folder: Path, server_id: str, *, trusted: bool) -> None:
        self.root = folder / "project"
        self.document = self.root / "nb/document.py"
        self.document.parent.mkdir(parents=True)
        (self.root / "pyproject.toml").touch()
        self.helper = self.root / "nb/helper.py"
        self.helper.write_text("value: int = 1\n")
        self.venv = real_venv(self.root / ".venv", "package")
        surroundings = Surroundings(
            {"PATH": "/usr/bin:/bin"}, (), (self.root,) if trusted else (), read_own_environment()
        )
        found = resolve_interpreter(self.document.parent, self.root, surroundings=surroundings, is_notebook=True)
        launch = real_launch(server_id, self.root, folder / "data", found, surroundings.trusted_roots)
        spec = REGISTRY.get(server_id)
        watch = Watch(self.root, spec.extensions, spec.root_markers, found.site_packages)
        self.candidate = Candidate(ClientKey(launch.server_id, launch.root_uri, found.key), lambda: launch, watch)
        limits, clock = PoolLimits(), SystemClock()
        self.pool = ClientPool(limits, clock, starter(limits, clock))
        self.tracker = ChangeTracker(self.pool)

    async def check(self, document: Path | None = None) -> list[int]:
        """The lines with errors, of the document or of a file as it is stored."""
        path = document or self.document
        text = await asyncio.to_thread(path.read_text) if document else TEXT

        async def ask(client: LanguageClient):
            return await client.diagnose(TextDocument(uri_from_path(path), "python", text))

        async with asyncio.timeout(45):
            answer = await ask_first_working(self.pool, [self.candidate], ask, freshener=self.tracker)
        errors = (one for one in answer.value.diagnostics if one.severity is DiagnosticSeverity.ERROR)
        return sorted({one.range.start.line for one in errors})


@asynccontextmanager
async def world(folder: Path, server_id: str, *, trusted: bool = False) -> AsyncIterator[World]:
    made = World(folder, server_id, trusted=trusted)
    try:
        yield made
    finally:
        await made.pool.aclose()


servers = pytest.mark.parametrize("server_id", SERVERS)


@servers
async def test_a_module_that_changed_goes_and_comes_back(tmp_path, server_id):
    async with world(tmp_path, server_id) as it:
        assert await it.check() == []
        it.helper.write_text("other: int = 1\n")
        assert await it.check() == [1]
        it.helper.unlink()
        assert await it.check() == [0]
        it.helper.write_text("value: int = 1\n")
        assert await it.check() == []


@servers
async def test_a_module_that_was_checked_itself_and_then_changed_on_disk(tmp_path, server_id):
    """The server has it open, and believes what it has; whoever changed it on the disk told nobody."""
    async with world(tmp_path, server_id) as it:
        assert await it.check(it.helper) == []
        assert await it.check() == []
        it.helper.write_text("other: int = 1\n")
        assert await it.check() == [1]
        it.helper.unlink()
        assert await it.check() == [0]
        it.helper.write_text("value: int = 1\nvalue.nope\n")
        assert await it.check(it.helper) == [1]
        assert await it.check() == []


@servers
@pytest.mark.parametrize("trusted", [False, True])
async def test_a_package_that_goes_and_comes_back(tmp_path, server_id, trusted):
    async with world(tmp_path, server_id, trusted=trusted) as it:
        assert await it.check() == []
        for entry in site_packages(it.venv).glob("package*"):
            shutil.rmtree(entry)
        assert await it.check() == [2]
        add_package(it.venv, "package")
        assert await it.check() == []


@servers
async def test_nothing_changed_starts_nothing_anew(tmp_path, server_id):
    async with world(tmp_path, server_id) as it:
        await it.check()
        (first,) = (await it.pool.status()).running
        (it.root / "data.csv").write_text("1,2\n")
        await it.check()
        (second,) = (await it.pool.status()).running
        assert first.pid == second.pid


@pytest.mark.parametrize(
    ("server_id", "name", "text"),
    [
        ("ty", "ty.toml", '[rules]\nunresolved-attribute = "ignore"\n'),
        (
            "basedpyright",
            "pyrightconfig.json",
            '{"typeCheckingMode": "off", "reportAttributeAccessIssue": "none"}',
        ),
    ],
)
async def test_a_configuration_that_comes_and_goes(tmp_path, server_id, name, text):
    async with world(tmp_path, server_id) as it:
        it.helper.write_text("other: int = 1\n")
        assert await it.check() == [1]
        (it.root / name).write_text(text)
        assert await it.check() == []
        (it.root / name).unlink()
        assert await it.check() == [1]
