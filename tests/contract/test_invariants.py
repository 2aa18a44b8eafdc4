"""The architecture's invariants, read off the source: each sentence of `docs/ARCHITECTURE.md` names its test here.

Which package may import which is import-linter's (`lint-imports`, part of the gates).
"""

import ast
import subprocess
import sys
import tomllib
from collections.abc import Callable, Collection, Iterator
from pathlib import Path

import pytest

import jupyter_lsp_agent

PACKAGE = Path(jupyter_lsp_agent.__file__).parent
MODULES = sorted(path for path in PACKAGE.rglob("*.py"))
PURE = ("notebook", "diagnostics", "navigation")
STARTS_PROCESSES = {"jsonrpc/transport.py", "jsonrpc/supervisor.py", "servers/install.py", "service/history.py"}
STARTS_PROCESSES |= {"servers/install_guard.py"}
"""The supervisor starts servers on behalf of the transport, the guard pip and npm on behalf of the installs."""
READS_ENVIRONMENT = {
    "service/settings.py",
    "servers/commands.py",
    "servers/interpreters.py",
    "frontends/magic/surroundings.py",
}
SHOWS_NUMBERS = {"notebook/unreadable.py"}
"""Places in a file that cannot be read are told as editors count, like those of `json` itself."""


def name_of(path: Path) -> str:
    return path.relative_to(PACKAGE).as_posix()


def tree_of(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"), str(path))


def imports_at_run_time(path: Path) -> Iterator[str]:
    """Modules that a file imports, but for those that only the type checker sees."""
    tree = tree_of(path)
    for_types = {
        node
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and ast.unparse(block.test) == "TYPE_CHECKING"
        for node in ast.walk(block)
    }
    for node in ast.walk(tree):
        if node in for_types:
            continue
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module


def calls_in(path: Path) -> set[str]:
    return {ast.unparse(node.func) for node in ast.walk(tree_of(path)) if isinstance(node, ast.Call)}


def offenders(offends: Callable[[Path], object], *, but: Collection[str] = ()) -> list[str]:
    """The modules that break an invariant, and are not exempt from it."""
    return [name_of(path) for path in MODULES if name_of(path) not in but and offends(path)]


def test_only_three_places_start_processes() -> None:
    starters = {"subprocess.Popen", "subprocess.run", "os.fork", "os.execvpe", "os.posix_spawn", "os.system"}

    def starts(path: Path) -> object:
        return {call for call in calls_in(path) if call in starters or call.startswith("asyncio.create_subprocess")}

    assert not offenders(starts, but=STARTS_PROCESSES)


def test_the_notebook_side_is_pure() -> None:
    forbidden = {"asyncio", "subprocess", "socket", "threading", "multiprocessing", "selectors"}

    def is_impure(path: Path) -> object:
        names = {name.partition(".")[0] for name in imports_at_run_time(path)}
        return path.parent.name in PURE and forbidden & names

    assert not offenders(is_impure)


def test_no_server_is_named_outside_the_catalogue() -> None:
    ids = set(tomllib.loads((PACKAGE / "servers" / "catalogue.toml").read_text(encoding="utf-8"))["servers"])

    def names_one(path: Path) -> object:
        texts = {node.value for node in ast.walk(tree_of(path)) if isinstance(node, ast.Constant)}
        # The notebook side has languages, some of which are called like their servers, and no way to a server.
        return path.parent.name not in {"servers", "notebook"} and ids & texts

    assert not offenders(names_one)


def test_the_environment_is_read_in_few_places() -> None:
    def reads(path: Path) -> object:
        return [node for node in ast.walk(tree_of(path)) if ast.unparse(node) in {"os.environ", "os.getenv"}]

    assert not offenders(reads, but=READS_ENVIRONMENT)


def test_only_rendering_makes_numbers_that_start_at_one() -> None:
    """`line + 1` in a text that is shown is the sign of it."""

    def shows(path: Path) -> object:
        return not path.name.startswith("render") and [
            part
            for node in ast.walk(tree_of(path))
            if isinstance(node, ast.FormattedValue)
            for part in ast.walk(node.value)
            if isinstance(part, ast.BinOp) and ast.unparse(part).endswith((".line + 1", ".column + 1"))
        ]

    assert not offenders(shows, but=SHOWS_NUMBERS)


def test_nobody_sleeps() -> None:
    assert not offenders(lambda path: calls_in(path) & {"asyncio.sleep", "time.sleep"})


HEAVY = {
    "import jupyter_lsp_agent": {"asyncio", "traitlets", "IPython", "nbformat", "jupyter_server", "tornado", "json"},
    "from jupyter_lsp_agent.frontends.cli import main; main(['--help'])": {
        *("IPython", "nbformat", "jupyter_server", "tornado", "asyncio"),
    },
    "from jupyter_lsp_agent.frontends.cli import main; main(['check', 'notebooks/tour.ipynb'])": {
        *("nbformat", "jupyter_server", "tornado", "IPython.core.interactiveshell", "jupyter_client"),
    },
    "import jupyter_lsp_agent.frontends.magic.extension": {
        *("nbformat", "jupyter_server", "tornado", "psutil", "jupyter_lsp_agent.service.service"),
        *("jupyter_lsp_agent.notebook.model", "jupyter_lsp_agent.diagnostics.report"),
    },
}


@pytest.mark.parametrize("statement", HEAVY)
def test_what_is_not_needed_is_not_loaded(statement: str) -> None:
    code = f"import sys\ntry:\n    {statement}\nexcept SystemExit: pass\nprint('|'.join(sys.modules), file=sys.stderr)"
    done = subprocess.run(
        [sys.executable, "-c", code], cwd=PACKAGE.parent, capture_output=True, text=True, check=True, timeout=60
    )
    loaded = set(done.stderr.strip().splitlines()[-1].split("|"))
    assert not HEAVY[statement] & loaded
    assert "jupyter_lsp_agent" in loaded
