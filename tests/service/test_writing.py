"""Writing a file: whole at every moment, and the same file to everybody else."""

import os
import stat
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from jupyter_lsp_agent.core.errors import ContentChangedError
from jupyter_lsp_agent.service.writing import write_file

_ROOT_USER = hasattr(os, "geteuid") and os.geteuid() == 0


@pytest.fixture
def notebook(tmp_path: Path) -> Path:
    path = tmp_path / "n.ipynb"
    path.write_bytes(b"old and longer")
    return path


def _names(folder: Path) -> list[str]:
    return [path.name for path in folder.iterdir()]


def test_the_content_is_replaced_and_nothing_is_left_beside_it(notebook):
    assert write_file(notebook, b"new").in_place_because is None
    assert notebook.read_bytes() == b"new"
    assert _names(notebook.parent) == ["n.ipynb"]


@pytest.mark.parametrize("mode", [0o600, 0o644, 0o664, 0o755])
def test_permissions_stay(notebook, mode):
    notebook.chmod(mode)
    write_file(notebook, b"new")
    assert stat.S_IMODE(notebook.stat().st_mode) == mode


def test_a_new_file_takes_the_place_of_the_old_one_in_one_step(notebook):
    with notebook.open("rb") as held:
        write_file(notebook, b"new")
        assert held.read() == b"old and longer"


def test_a_symbolic_link_stays_and_leads_to_the_new_content(notebook, tmp_path):
    (tmp_path / "other").mkdir()
    link = tmp_path / "other" / "link.ipynb"
    link.symlink_to("../n.ipynb")
    assert write_file(link, b"new").in_place_because is None
    assert link.is_symlink()
    assert notebook.read_bytes() == b"new"
    assert _names(link.parent) == ["link.ipynb"]


def test_a_file_with_two_names_is_written_in_place(notebook, tmp_path):
    other = tmp_path / "other.ipynb"
    other.hardlink_to(notebook)
    assert write_file(notebook, b"new").in_place_because == "it has 2 names"
    assert other.read_bytes() == b"new"


@pytest.mark.skipif(_ROOT_USER, reason="the superuser may write everywhere")
def test_in_a_folder_that_is_not_writable_it_is_written_in_place(notebook):
    notebook.parent.chmod(0o555)
    try:
        assert write_file(notebook, b"new").in_place_because == "its folder is not writable"
        assert notebook.read_bytes() == b"new"
    finally:
        notebook.parent.chmod(0o755)


@pytest.mark.parametrize("in_place", [False, True])
def test_what_may_not_be_written_is_refused(notebook, tmp_path, monkeypatch, in_place):
    if in_place:
        (tmp_path / "other.ipynb").hardlink_to(notebook)
    monkeypatch.setattr(os, "access", lambda path, mode: False)
    with pytest.raises(PermissionError, match=r"n\.ipynb"):
        write_file(notebook, b"new")
    assert notebook.read_bytes() == b"old and longer"


def test_a_folder_that_is_not_writable_is_told_from_one_that_is(notebook, monkeypatch):
    may = os.access
    monkeypatch.setattr(os, "access", lambda path, mode: Path(path) != notebook.parent and may(path, mode))
    assert write_file(notebook, b"new").in_place_because == "its folder is not writable"
    assert notebook.read_bytes() == b"new"


@pytest.mark.parametrize("in_place", [False, True])
def test_a_file_that_somebody_else_wrote_is_let_be(notebook, tmp_path, in_place):
    if in_place:
        (tmp_path / "other.ipynb").hardlink_to(notebook)
    with pytest.raises(ContentChangedError):
        write_file(notebook, b"new", expected=b"what it was")
    assert notebook.read_bytes() == b"old and longer"
    write_file(notebook, b"new", expected=b"old and longer")
    assert notebook.read_bytes() == b"new"
    assert not [name for name in _names(tmp_path) if name.startswith(".")]


def test_a_missing_file_is_not_made(tmp_path):
    with pytest.raises(FileNotFoundError):
        write_file(tmp_path / "none.ipynb", b"new")
    assert not _names(tmp_path)


def test_what_a_killed_writer_left_is_removed_an_hour_later(notebook):
    old, young = (notebook.parent / f".~n.ipynb.jupyter-lsp-agent.{name}" for name in ("old", "young"))
    other = notebook.parent / ".~other.ipynb.jupyter-lsp-agent.old"
    for path in (old, young, other):
        path.write_bytes(b"part")
    for path in (old, other):
        os.utime(path, (1, 1))
    write_file(notebook, b"new")
    assert not old.exists()
    assert young.exists()
    assert other.exists()


_WRITERS = """
    import os, signal, sys
    from pathlib import Path
    from jupyter_lsp_agent.service.writing import write_file

    path, calls = Path(sys.argv[1]), 0
    killed = finished = 0
    write_file(path, b"warmed up")
    for number in range(200):
        old, new = path.read_bytes(), (b"a" if number % 2 else b"b") * (300_000 + number)
        writer = os.fork()
        if not writer:
            def kill_at(frame, event, argument):
                global calls
                calls += event == "c_call"
                if calls > number:
                    os.kill(os.getpid(), signal.SIGKILL)
            sys.setprofile(kill_at)
            write_file(path, new)
            os._exit(0)
        died = os.waitstatus_to_exitcode(os.waitpid(writer, 0)[1]) == -signal.SIGKILL
        killed, finished = killed + died, finished + (not died)
        for left in path.parent.glob(".~*"):
            left.unlink()
        found = path.read_bytes()
        assert found in ((old, new) if died else (new,)), f"torn at call {number}: {len(found)} bytes"
    print(killed, finished)
"""


@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
def test_killed_in_the_middle_of_200_writes_the_notebook_is_whole(notebook):
    # Each writer is killed at another one of the calls into the system that a write is made of, until none is left.
    program = [sys.executable, "-c", textwrap.dedent(_WRITERS), str(notebook)]
    done = subprocess.run(program, capture_output=True, text=True, cwd=Path(__file__).parents[2], check=False)
    assert done.stderr == ""
    killed, finished = map(int, done.stdout.split())
    assert killed > 20
    assert finished > 0
