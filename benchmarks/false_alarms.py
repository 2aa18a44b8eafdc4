"""Errors that we tell of real notebooks and `ty check` does not tell of the same: each is a false alarm, or is right.

Run with `python -m benchmarks.false_alarms FOLDER [--list]`: every Python notebook below FOLDER is checked by us with
ty alone, and by `ty check` in its own notebook mode, with the same interpreter. Errors are held against each other by
cell, line and code. What is left, imports apart, is counted by code and notebook, or told one by one (`--list`), to be
looked at by hand: nothing is decided here. `--without NOTEBOOK:CELL` takes a cell out of what `ty check` is shown, to
see whether that cell is what keeps it silent.
"""

import argparse
import json
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

_TOLD_BY_TY = re.compile(r"(?P<path>.+\.ipynb)(?::cell (?P<cell>\d+))?:(?P<line>\d+):\d+: error\[(?P<code>[\w-]+)\]")
_IMPORTS = frozenset({"unresolved-import", "import-not-found"})
_FILES_AT_ONCE = 50


@dataclass(frozen=True, slots=True)
class Told:
    """One error: cells from 0, lines from 1."""

    path: str
    cell: int
    line: int
    code: str
    message: str = ""
    source_line: str = ""

    @property
    def place(self) -> tuple[str, int, int, str]:
        return self.path, self.cell, self.line, self.code


def run(command: list[str], folder: Path) -> str:
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False).stdout


def our_reports(folder: Path, python: str) -> list[dict[str, Any]]:
    command = [sys.executable, "-m", "jupyter_lsp_agent", "check", "--format", "jsonl", "--server", "ty"]
    command += ["--python", python, "--exit-zero", "--max-per-cell", "0", "--max-total", "0", "--timeout", "120", "."]
    reports = [json.loads(line) for line in run(command, folder).splitlines()]
    return [report for report in reports if report["language"] == "python"]


def our_errors(report: dict[str, Any]) -> Iterator[Told]:
    for cell in report["cells"]:
        for found in cell["diagnostics"]:
            if found["severity"] == "error":
                place = (report["path"], cell["cell_index"], found["line"])
                yield Told(*place, found["code"] or "", found["message"], found["source_line"] or "")


def their_errors(paths: list[str], folder: Path, python: str) -> Iterator[Told]:
    for start in range(0, len(paths), _FILES_AT_ONCE):
        command = [sys.executable, "-m", "ty", "check", "--output-format", "concise", "--python", python]
        for line in run([*command, *paths[start : start + _FILES_AT_ONCE]], folder).splitlines():
            found = _TOLD_BY_TY.match(line)
            if found:
                yield Told(found["path"], int(found["cell"] or 1) - 1, int(found["line"]), found["code"])


def their_errors_without(path: str, left_out: int, folder: Path, python: str) -> Iterator[Told]:
    """What `ty check` tells of a copy of a notebook without one cell, in the places of the whole notebook."""
    notebook = json.loads((folder / path).read_bytes())
    del notebook["cells"][left_out]
    with TemporaryDirectory() as copies:
        Path(copies, "copy.ipynb").write_text(json.dumps(notebook), encoding="utf-8")
        for error in their_errors(["copy.ipynb"], Path(copies), python):
            yield replace(error, path=path, cell=error.cell + (error.cell >= left_out))


def main(arguments: argparse.Namespace) -> None:
    folder, python = arguments.folder, arguments.python
    reports = our_reports(folder, python)
    checked = [report for report in reports if report["verdict"] != "no_verdict"]
    print(f"{len(reports)} Python notebooks, {len(checked)} with a verdict; none, for want of Python in them:")
    for report in reports:
        if report not in checked:
            print(f"      {report['path']}: {report['detail']}")
    ours = [error for report in checked for error in our_errors(report)]
    theirs = {error.place for error in their_errors([report["path"] for report in checked], folder, python)}
    for path, _, cell in (text.rpartition(":") for text in arguments.without):
        theirs |= {error.place for error in their_errors_without(path, int(cell), folder, python)}
    alone = [error for error in ours if error.code not in _IMPORTS and error.place not in theirs]
    print(f"{len(ours)} errors told by us, {len(theirs)} by `ty check`; by us alone, imports left out: {len(alone)}")
    for (path, code), count in Counter((error.path, error.code) for error in alone).most_common():
        print(f"{count:5} {code:24} {path}")
    for error in alone if arguments.list else ():
        print(f"{error.path} cell {error.cell}:{error.line} [{error.code}] {error.message}\n    {error.source_line}")


def read_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--python", default=sys.executable, help="the interpreter whose packages both use")
    parser.add_argument("--list", action="store_true", help="tell each error with its line")
    parser.add_argument("--without", action="append", default=[], metavar="NOTEBOOK:CELL")
    return parser.parse_args()


if __name__ == "__main__":
    main(read_arguments())
