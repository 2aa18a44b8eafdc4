"""The servers that the catalogue calls proven: which of them every run has to have, and what a run showed.

    python -m tests.support.server_runs

prints the ids that `.ci/run` installs with our own `install`: eight, and with `JUPYTER_LSP_AGENT_FULL=1` all that have
a recipe. The others come from Debian (`tests/e2e/install_servers.sh`).
"""

from dataclasses import dataclass

from jupyter_lsp_agent.servers.install import is_installable
from jupyter_lsp_agent.servers.registry import ServerRegistry
from tests.support.full import FULL

IN_EVERY_RUN = ("arity", "badness", "docker-langserver", "fatou", "just-lsp", "ruff", "tombi", "vimls")
"""Small ones, six from PyPI and two from npm."""


@dataclass(frozen=True)
class ServerRun:
    """What one server did with a project that has one mistake.

    Attributes:
        server_id: the server.
        version: as it gave it.
        source: where its program was found.
        file_name: of the document with the mistake.
        findings: how many it had on the mistake, without it, and on both again.
        seconds: how long each of the four answers took.
        survivors: how many of its processes lived on after the farewell.
    """

    server_id: str
    version: str
    source: str
    file_name: str
    findings: tuple[int, ...]
    seconds: tuple[float, ...]
    survivors: int


RUNS: list[ServerRun] = []
"""Of this run of the tests, in their order."""
MISSING: list[str] = []
"""Servers that were skipped, since they are not on this machine."""

HEAD = (
    "| server | version | from | document | found | mended | found again | gone again | ms | stopped |",
    "|---|---|---|---|---|---|---|---|---|---|",
)


def render_runs() -> list[str]:
    """The table of this run, as `docs/SERVERS.md` keeps it."""
    rows = [_row(run) for run in sorted(RUNS, key=lambda run: run.server_id)]
    named = f": {', '.join(sorted(MISSING))}" if MISSING else ""
    return [*HEAD, *rows, "", f"{len(rows)} servers ran, {len(MISSING)} were skipped{named}."]


def _row(run: ServerRun) -> str:
    milliseconds = " · ".join(f"{1000 * one:.0f}" for one in run.seconds)
    stopped = "yes" if run.survivors == 0 else f"{run.survivors} left"
    cells = (f"`{run.server_id}`", run.version, run.source, f"`{run.file_name}`", *map(str, run.findings))
    return f"| {' | '.join((*cells, milliseconds, stopped))} |"


def installable_ids() -> list[str]:
    """What our own `install` is to bring for this run."""
    proven = [spec.server_id for spec in ServerRegistry() if spec.proven and is_installable(spec)]
    return [one for one in proven if FULL or one in IN_EVERY_RUN]


if __name__ == "__main__":
    print(*installable_ids())
