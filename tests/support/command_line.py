"""The command line as a user runs it: a process of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Finished:
    """A command that ended."""

    code: int
    output: str
    errors: str

    @property
    def reports(self) -> list[dict[str, Any]]:
        """Its JSON."""
        return json.loads(self.output)


def run_command(
    *arguments: str,
    cwd: Path,
    environ: Mapping[str, str] | None = None,
    stdin: str = "",
    python_options: tuple[str, ...] = (),
) -> Finished:
    """`jupyter lsp-agent ARGUMENTS` in `cwd`; with `-P` for Python as its console script runs, away from `cwd`."""
    package = Path(__file__).parents[2]
    environment = {**os.environ, "PYTHONPATH": str(package), "PYTHONUTF8": "1", **(environ or {})}
    done = subprocess.run(
        [sys.executable, *python_options, "-m", "jupyter_lsp_agent.frontends.cli", *arguments],
        cwd=cwd,
        env=environment,
        input=stdin,
        capture_output=True,
        encoding="utf-8",
        timeout=300,
        check=False,
    )
    return Finished(done.returncode, done.stdout, done.stderr)


def settings_in_environment(settings: Mapping[str, Any]) -> dict[str, str]:
    """Settings as environment variables."""
    return {f"JUPYTER_LSP_AGENT_{name.upper()}": json.dumps(value) for name, value in settings.items()}
