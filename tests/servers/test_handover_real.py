"""How each Python server takes the interpreter that it is given: it sees its packages and its version, and what may
only be read is not run. The interpreters of the environments are traps that say when they run."""

import asyncio
import sys
from pathlib import Path

import pytest

from jupyter_lsp_agent.core.clock import SystemClock
from jupyter_lsp_agent.core.diagnostic import DiagnosticSeverity
from jupyter_lsp_agent.core.launch import ServerLaunch, TextDocument
from jupyter_lsp_agent.core.uris import uri_from_path
from jupyter_lsp_agent.lsp.client import LanguageClient
from jupyter_lsp_agent.servers.environments import read_own_environment
from jupyter_lsp_agent.servers.interpreters import Surroundings, resolve_interpreter
from tests.support.environments import kernelspec, real_venv, trap
from tests.support.real_servers import real_launch

pytestmark = pytest.mark.real_server
SERVERS = ["ty", "basedpyright", "pyright", "pyrefly", "zuban"]

TEXT = "import inproject\nimport inkernel\nimport neighbour\nimport nowhere\n"
"""What each line imports: the project's environment, the kernel's, the notebook's folder, nothing at all."""

HOSTILE = {
    "pyrightconfig.json": '{"venvPath": ".", "venv": ".venv", "pythonPath": ".venv/bin/python"}',
    "pyrefly.toml": 'python-interpreter-path = ".venv/bin/python"\n'
    '[build-system]\ntype = "custom"\ncommand = [".venv/bin/python", "--build"]\n',
    "mypy.ini": "[mypy]\npython_executable = .venv/bin/python\nplugins = evil.py\n",
    "ty.toml": '[environment]\npython = ".venv"\n',
    "setup.cfg": "[flake8]\nmax-complexity = 1\n[flake8:local-plugins]\nextension = X = evil:X\n",
    "pylintrc": "[MASTER]\ninit-hook=open('ran', 'w')\n",
    ".pylintrc": "[MASTER]\ninit-hook=open('ran', 'w')\n",
    ".jedi/project.json": '[1, {"path": ".", "environment_path": ".venv/bin/python"}]',
    "jedi.py": "open('ran', 'w')\n",
    "pyflakes.py": "open('ran', 'w')\n",
    "evil.py": "from pathlib import Path\nPath('ran').touch()\n",
    "sitecustomize.py": "from pathlib import Path\nPath('ran').touch()\n",
}


class World:
    """A project with a trapped `.venv` and a notebook in a package, and a kernel with a trapped environment."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.mark = folder / "mark"
        self.project = folder / "project"
        self.document = self.project / "nb/document.py"
        self.document.parent.mkdir(parents=True)
        for name in ("pyproject.toml", "nb/__init__.py", "nb/neighbour.py"):
            (self.project / name).touch()
        self.project_venv = trap(real_venv(self.project / ".venv", "inproject"), self.mark)
        self.kernel = trap(real_venv(folder / "kernel", "inkernel"), self.mark)

    def launch(self, server_id: str, kernel_name: str = "", trusted_roots: tuple[Path, ...] = ()) -> ServerLaunch:
        kernels = kernelspec(self.folder / "kernels", "mine", str(self.kernel / "bin/python"))
        surroundings = Surroundings({"PATH": "/usr/bin:/bin"}, (kernels,), trusted_roots, read_own_environment())
        interpreter = resolve_interpreter(
            self.document.parent, self.project, surroundings=surroundings, kernel_name=kernel_name, is_notebook=True
        )
        return real_launch(server_id, self.project, self.folder / "data", interpreter, trusted_roots)

    def who_ran(self) -> set[Path]:
        """The environments whose interpreter was run."""
        lines = self.mark.read_text().splitlines() if self.mark.exists() else []
        return {Path(line).parent.parent for line in lines}


@pytest.fixture
def world(tmp_path: Path) -> World:
    return World(tmp_path)


async def lines_with_errors(launch: ServerLaunch, document: Path, text: str) -> set[int]:
    client = LanguageClient(launch, clock=SystemClock())
    async with asyncio.timeout(45):
        await client.start()
        try:
            report = await client.diagnose(TextDocument(uri_from_path(document), "python", text))
        finally:
            await client.aclose()
    errors = (one for one in report.diagnostics if one.severity is DiagnosticSeverity.ERROR)
    return {one.range.start.line for one in errors}


def servers(*without: str, more: tuple[str, ...] = ()):
    chosen = [one for one in (*SERVERS, *more) if one not in without]
    return pytest.mark.parametrize("server_id", chosen)


@servers()
async def test_a_kernels_packages_are_seen_and_the_projects_are_not(world, server_id):
    assert await lines_with_errors(world.launch(server_id, "mine"), world.document, TEXT) == {0, 3}
    assert world.who_ran() <= {world.kernel}


@servers()
@pytest.mark.parametrize("trusted", [False, True])
async def test_a_projects_packages_are_seen_and_run_only_where_it_is_trusted(world, server_id, trusted):
    launch = world.launch(server_id, trusted_roots=(world.project,) if trusted else ())
    assert await lines_with_errors(launch, world.document, TEXT) == {1, 3}
    assert world.who_ran() <= ({world.project_venv} if trusted else set())


@servers(more=("pylsp", "jedi", "ruff"))
@pytest.mark.parametrize("kernel_name", ["mine", ""])
async def test_what_a_workspace_configures_is_not_run(world, server_id, kernel_name):
    for name, text in HOSTILE.items():
        path = world.project / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text)
    await lines_with_errors(world.launch(server_id, kernel_name), world.document, TEXT)
    assert world.who_ran() <= ({world.kernel} if kernel_name else set())
    assert not list(world.folder.rglob("ran"))


@servers("zuban")  # it knows no difference between the versions' syntax
@pytest.mark.parametrize("origin", ["kernel", "project"])
async def test_the_version_of_the_interpreter_is_told(world, server_id, origin):
    newer = "async def f():\n    return f'{f'{1}'}'\n" if sys.version_info < (3, 12) else "type X = int\n"
    found = await lines_with_errors(
        world.launch(server_id, "mine" if origin == "kernel" else ""), world.document, newer
    )
    assert found == ({1} if sys.version_info < (3, 12) else set())
