"""Put each fault of `*.toml` beside this file into a copy of the package, and see its test turn red.

    python -m tests.faults.replay [ROW…]

A test that stays green with its fault in place guards nothing. Run by `.ci/run --full`; `tests/contract/` checks in
every run that each fault still fits the code and names a test that there is.
"""

import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parents[2]
PACKAGE = "jupyter_lsp_agent"
_PYTEST = (sys.executable, "-m", "pytest", "-q", "-x", "-p", "no:cacheprovider", "--timeout=20", "--no-header")
_TESTS_FAILED = 1
"""pytest's exit code; others say that the test was not found or could not be run."""


@dataclass(frozen=True, slots=True)
class Fault:
    """A wrong line: `old`, which stands once in `file`, becomes `new`, and `test` fails."""

    row: str
    file: str
    old: str
    new: str
    test: str


def read_faults() -> list[Fault]:
    """All faults that are kept."""
    files = sorted(Path(__file__).parent.glob("*.toml"))
    return [Fault(**entry) for path in files for entry in tomllib.loads(path.read_text(encoding="utf-8"))["fault"]]


def find_misfit(fault: Fault) -> str | None:
    """Why a fault no longer fits the code; `None` where it does."""
    path = CHECKOUT / PACKAGE / fault.file
    if not path.is_file():
        return f"there is no {fault.file}"
    n_places = path.read_text(encoding="utf-8").count(fault.old)
    return None if n_places == 1 else f"{fault.old!r} stands {n_places} times in {fault.file}"


def main(rows: list[str]) -> int:
    """Replay the faults of these rows, all without any; 0 where each turned its test red."""
    faults = [fault for fault in read_faults() if not rows or fault.row in rows]
    with tempfile.TemporaryDirectory() as folder:
        copy = copy_checkout(Path(folder))
        green = run_tests(copy, sorted({fault.test for fault in faults}))
        if green.returncode != 0:
            print(green.stdout)
            print("the tests are red without any fault")
            return 2
        survivors = [fault for fault in faults if not replay(copy, fault)]
    print(f"{len(faults) - len(survivors)} of {len(faults)} faults turned their test red")
    return 1 if survivors else 0


def copy_checkout(folder: Path) -> Path:
    """The package and its tests, to be spoilt."""
    ignored = shutil.ignore_patterns("__pycache__", "*.pyc")
    for name in (PACKAGE, "tests"):
        shutil.copytree(CHECKOUT / name, folder / name, ignore=ignored)
    shutil.copy(CHECKOUT / "pyproject.toml", folder)
    return folder


def replay(copy: Path, fault: Fault) -> bool:
    """Whether the fault turns its test red."""
    path = copy / PACKAGE / fault.file
    sound = path.read_text(encoding="utf-8")
    spoilt = sound.replace(fault.old, fault.new)
    if sound.count(fault.old) != 1:
        print(f"{fault.row}: {find_misfit(fault)}")
        return False
    path.write_text(spoilt, encoding="utf-8")
    try:
        is_red = run_tests(copy, [fault.test]).returncode == _TESTS_FAILED
    finally:
        path.write_text(sound, encoding="utf-8")
    print(f"{fault.row:4} {'red' if is_red else 'GREEN, and should be red'}: {fault.test}", flush=True)
    return is_red


def run_tests(copy: Path, tests: Iterable[str]) -> "subprocess.CompletedProcess[str]":
    """pytest in the copy, which is first on the path there."""
    return subprocess.run(
        [*_PYTEST, *tests], cwd=copy, check=False, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
