"""Notebooks in odd places and under odd names: what lies beside them is found, and each error at its place."""

import functools
import json
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.support.command_line import run_command
from tests.support.notebooks import notebook_json
from tests.support.real_servers import TYPE_CHECKERS, require_server, servers_path

SOURCES = ("import helper\nhelper.f(1)", "helper.nope\nhelper.f('a')\nundefined_here")
ERRORS = {(1, 1), (1, 2), (1, 3)}
NAMES = (
    "plain.ipynb",
    "with blanks.ipynb",
    "hash #2.ipynb",
    "percent%20b.ipynb",
    "hundred%.ipynb",
    "brackets (1) [2] {3}.ipynb",
    "emoji 😀.ipynb",
    "umlaut ä e\u0301.ipynb",
    "question?.ipynb",
    "quotes ' \" `.ipynb",
    "amp & + = @ , ; ! $ ~ ^.ipynb",
    "colon: a.ipynb",
    "back\\slash.ipynb",
    "-dash.ipynb",
    "UPPER.IPYNB",
    "no_extension_twice.py.ipynb",
    "x" * 240 + ".ipynb",
    "ä" * 120 + ".ipynb",
)
FOLDERS = ("a b (c)", "#1", "%20", "😀?", "deep/dot.s/.hidden", "node [x]/ä")
pytestmark = pytest.mark.timeout(300)


def lay(folder: Path, name: str) -> Path:
    """A notebook with its module beside it."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "helper.py").write_text("def f(a: int) -> int: return a\n")
    path = folder / name
    path.write_text(json.dumps(notebook_json(*SOURCES)))
    return path


def places(root: Path) -> list[Path]:
    """All notebooks, made below `root`."""
    named = [lay(root / "names", name) for name in NAMES]
    below = [lay(root / "folders" / folder, "n #1%20.ipynb") for folder in FOLDERS]
    locked = lay(root / "locked", "n.ipynb")
    locked.parent.chmod(0o555)
    # A kernel runs in the folder of the name by which a notebook is opened, whatever it is a link to.
    target = root / "elsewhere" / "target.ipynb"
    target.parent.mkdir()
    target.write_text(json.dumps(notebook_json(*SOURCES)))
    link = root / "names" / "link.ipynb"
    link.symlink_to(target)
    linked = root / "linked folder"
    linked.symlink_to(lay(root / "linked to", "n.ipynb").parent, target_is_directory=True)
    return [*named, *below, locked, link, linked / "n.ipynb"]


@functools.cache
def found(server: str) -> dict[str, set[tuple[int, int]]]:
    """Notebook → places of its errors, all asked for in one command; what lay there lies there still."""
    with TemporaryDirectory() as folder:
        root = Path(folder).resolve()
        names = [str(path.relative_to(root)) for path in places(root)]
        before = sorted(root.rglob("*"))
        limits = ("--format", "json", "--server", server, "--max-per-cell", "0", "--max-total", "0", "--")
        done = run_command("check", *limits, *names, cwd=root, environ={"PATH": servers_path()})
        assert sorted(root.rglob("*")) == before
        (root / "locked").chmod(0o755)
    assert [report["path"] for report in done.reports] == names, done.errors
    return {
        report["path"]: {(cell["cell_index"], one["line"]) for cell in report["cells"] for one in cell["diagnostics"]}
        for report in done.reports
    }


@pytest.mark.parametrize("server", TYPE_CHECKERS)
def test_what_lies_beside_a_notebook_is_found_wherever_that_is(server: str) -> None:
    require_server(server)
    wrong = {name: errors for name, errors in found(server).items() if errors != ERRORS}
    assert wrong == {}
