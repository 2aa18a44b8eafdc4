"""What is noticed of the disk, and what is passed over."""

import os
from pathlib import Path

import pytest

from jupyter_lsp_agent.core.uris import uri_from_path
from jupyter_lsp_agent.lsp.client import FileChange, FileChangeKind
from jupyter_lsp_agent.pool import snapshots
from jupyter_lsp_agent.pool.snapshots import Watch, find_changes, take_snapshot


def write(root: Path, name: str, text: str = "") -> Path:
    path = root / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


@pytest.fixture
def watch(tmp_path: Path) -> Watch:
    write(tmp_path, "w/a.py", "1")
    write(tmp_path, "w/deep/below/b.py", "1")
    (tmp_path / "sp").mkdir()
    return Watch(tmp_path / "w", (".py", ".pyi"), ("pyproject.toml",), (tmp_path / "sp", tmp_path / "missing"))


def changed(watch: Watch, act) -> set[tuple[str, FileChangeKind]]:
    before = take_snapshot(watch)
    act()
    found = find_changes(before, take_snapshot(watch))
    base = uri_from_path(watch.root.parent)
    return {(one.uri.removeprefix(f"{base}/"), one.kind) for one in found.all}


def test_nothing_changed_is_nothing(watch):
    assert changed(watch, lambda: None) == set()


@pytest.mark.parametrize(
    ("name", "kind"),
    [
        ("w/a.py", FileChangeKind.CHANGED),
        ("w/deep/below/b.py", FileChangeKind.CHANGED),
        ("w/new.PY", FileChangeKind.CREATED),
        ("w/deep/new.pyi", FileChangeKind.CREATED),
        ("w/deep/pyproject.toml", FileChangeKind.CREATED),
        ("sp/package", FileChangeKind.CREATED),
    ],
)
def test_what_a_server_reads_is_noticed(watch, tmp_path, name, kind):
    assert changed(watch, lambda: write(tmp_path, name, "22")) == {(name, kind)}


def test_what_is_gone_is_noticed(watch):
    assert changed(watch, (watch.root / "a.py").unlink) == {("w/a.py", FileChangeKind.DELETED)}


def test_a_file_that_was_replaced_by_one_of_the_same_size_and_time_is_noticed(watch, tmp_path):
    path = watch.root / "a.py"
    status = path.stat()

    def replace() -> None:
        other = write(tmp_path, "other.py", "2")
        os.utime(other, ns=(status.st_atime_ns, status.st_mtime_ns))
        other.replace(path)

    assert changed(watch, replace) == {("w/a.py", FileChangeKind.CHANGED)}


@pytest.mark.parametrize(
    "name",
    [
        "w/data.csv",
        "w/.git/x.py",
        "w/.venv/x.py",
        "w/node_modules/x.py",
        "w/__pycache__/x.py",
        "other/x.py",
        "sp/__pycache__/x",
    ],
)
def test_what_no_server_reads_is_passed_over(watch, tmp_path, name):
    assert changed(watch, lambda: write(tmp_path, name)) == set()


def test_links_to_folders_are_not_followed(watch, tmp_path):
    (watch.root / "loop").symlink_to(watch.root)
    (tmp_path / "elsewhere").mkdir()
    (watch.root / "link").symlink_to(tmp_path / "elsewhere")
    assert changed(watch, lambda: write(tmp_path, "elsewhere/x.py")) == set()


def test_a_walk_ends_at_its_bound(watch, monkeypatch):
    monkeypatch.setattr(snapshots, "_MAX_ENTRIES", 3)
    for number in range(10):
        write(watch.root, f"many/{number}/x.py")
    assert len(take_snapshot(watch).files) < 5


def test_the_order_is_that_of_the_paths(watch):
    before = take_snapshot(watch)
    for name in ("z.py", "b.py", "m.py"):
        write(watch.root, name)
    names = [change.uri.rsplit("/", 1)[1] for change in find_changes(before, take_snapshot(watch)).files]
    assert names == ["b.py", "m.py", "z.py"]
    assert isinstance(find_changes(before, take_snapshot(watch)).files[0], FileChange)
