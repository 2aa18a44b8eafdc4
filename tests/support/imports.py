"""Imports of notebooks as real servers and Python see them, cell by cell."""

import json
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.support.command_line import run_command
from tests.support.notebooks import notebook_json
from tests.support.real_servers import require_server, servers_path


def failing_cells(folder: Path, sources: tuple[str, ...]) -> set[int]:
    """The cells that Python cannot run in that folder, each in a namespace of its own."""
    code = (
        "import json, sys\nfailed = []\n"
        "for n, source in enumerate(json.loads(sys.stdin.read())):\n"
        "    try: exec(source, {})\n"
        "    except (ImportError, AttributeError, NameError): failed.append(n)\n"
        "print(failed)"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], input=json.dumps(sources), cwd=folder, capture_output=True, text=True, check=True
    )
    return set(json.loads(done.stdout))


def said_and_failing(
    server: str, root: Path, files: Mapping[str, str | bytes], notebooks: Mapping[str, tuple[str, ...]]
) -> dict[str, tuple[set[int], set[int]]]:
    """Notebook → the cells in which this server has errors, and those that fail.

    Args:
        server: one of `TYPE_CHECKERS`.
        root: a folder of its own, in which everything is made.
        files: path → content of what lies beside the notebooks.
        notebooks: path → sources.
    """
    require_server(server)
    stored = {path: json.dumps(notebook_json(*sources)) for path, sources in notebooks.items()}
    for name, content in {**files, **stored}.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_bytes(content if isinstance(content, bytes) else content.encode())
    limits = ("--format", "json", "--server", server, "--max-total", "0")
    done = run_command("check", *limits, *notebooks, cwd=root, environ={"PATH": servers_path()})
    assert {report["verdict"] for report in done.reports} <= {"clean", "errors"}, done.errors
    said = {report["path"]: {cell["cell_index"] for cell in report["cells"]} for report in done.reports}
    return {path: (said[path], failing_cells((root / path).parent, one)) for path, one in notebooks.items()}
