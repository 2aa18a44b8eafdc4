"""Roots and boundaries, on real folders; worktrees are made by git itself."""

import subprocess
from pathlib import Path

import pytest

from jupyter_lsp_agent.servers.roots import find_boundary, find_git_worktree, find_root, is_inside


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def make(folder: Path, *names: str) -> Path:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    return folder


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    """A repository with one commit, a linked worktree `linked` beside it, and a submodule `sub` in it."""
    other, main = tmp_path / "other", tmp_path / "main"
    for folder in (other, main):
        folder.mkdir()
        git(folder, "init", "-q")
        make(folder, "a.py")
        git(folder, "add", ".")
        git(folder, "commit", "-qm", "one")
    git(main, "submodule", "add", "-q", str(other), "sub")
    git(main, "worktree", "add", "-q", str(tmp_path / "linked"))
    return main


@pytest.mark.parametrize(
    ("document", "worktree"),
    [
        ("main/deep/below/x.ipynb", "main"),
        ("linked/x.ipynb", "linked"),
        ("main/sub/x.ipynb", "main/sub"),
        ("beside/x.ipynb", None),
    ],
)
def test_the_worktree_is_the_nearest_one_linked_or_submodule(repository, document, worktree):
    tmp_path = repository.parent
    assert find_git_worktree(tmp_path / document) == (tmp_path / worktree if worktree else None)


def test_a_folder_named_git_without_a_head_is_no_worktree(tmp_path):
    (tmp_path / "a/.git").mkdir(parents=True)
    assert find_git_worktree(tmp_path / "a/x.py") is None


def test_the_boundary_is_the_worktree_even_below_the_servers_root(repository):
    assert find_boundary(repository / "deep/x.py", server_root=repository.parent) == repository


@pytest.mark.parametrize(
    ("document", "server_root", "named", "boundary"),
    [
        ("srv/a/x.py", "srv", None, "srv"),
        ("else/a/x.py", "srv", "else/a/x.py", "else/a"),
        ("else/a/x.py", "srv", "else", "else"),
        ("else/a/x.py", "srv", None, "else/a"),
        # A folder whose name only begins with the other's name is another folder.
        ("proj2/a/x.py", "proj", None, "proj2/a"),
    ],
)
def test_without_a_worktree_it_is_the_servers_root_else_what_was_named(
    tmp_path, document, server_root, named, boundary
):
    make(tmp_path, document)
    (tmp_path / server_root).mkdir(exist_ok=True)
    found = find_boundary(
        tmp_path / document, server_root=tmp_path / server_root, named=tmp_path / named if named else None
    )
    assert found == tmp_path / boundary


@pytest.mark.parametrize(
    ("document", "boundary"),
    [
        ("home/u/project/deep/x.py", "home/u/project"),
        ("home/u/x.py", "home/u"),
    ],
)
def test_the_home_folder_is_too_wide(tmp_path, document, boundary):
    home = tmp_path / "home/u"
    home.mkdir(parents=True)
    git(home, "init", "-q")
    make(tmp_path, document, "home/u/.git/HEAD")
    assert find_boundary(tmp_path / document, server_root=home, home=home) == tmp_path / boundary


def test_the_file_systems_root_is_too_wide(tmp_path):
    path = tmp_path / "a/x.py"
    assert find_boundary(path, server_root=Path("/"), home=tmp_path / "home") == _first_not_above(
        path, tmp_path / "home"
    )


def _first_not_above(path: Path, home: Path) -> Path:
    """The topmost folder above `path` that does not hold the home folder."""
    return next(folder for folder in reversed(path.parents) if folder not in home.parents)


def test_a_boundary_by_another_way_is_the_documents_own_way(tmp_path):
    make(tmp_path, "real/a/x.py")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    document = tmp_path / "link/a/x.py"
    assert find_boundary(document, server_root=tmp_path / "real") == tmp_path / "link"


@pytest.mark.parametrize(
    ("files", "root"),
    [
        ((), ""),
        (("pyproject.toml",), ""),
        (("pyproject.toml", "a/setup.py"), "a"),
        (("a/b/pyproject.toml", "a/pyproject.toml"), "a/b"),
        (("a/b/other.txt",), ""),
        (("a/b/x.cabal",), "a/b"),
        (("a/b/prisma/schema.prisma",), "a/b"),
        # A package's folder is no root, whatever lies in it.
        (("a/b/__init__.py", "a/b/setup.py", "a/pyproject.toml"), "a"),
        (("a/b/__init__.py", "a/b/setup.py"), ""),
        (("a/b/deno.json", "a/pyproject.toml"), None),
        (("a/b/pyproject.toml", "a/deno.json"), "a/b"),
        (("a/b/pyproject.toml", "a/b/deno.json"), None),
    ],
)
def test_the_root_is_the_nearest_folder_with_a_marker(tmp_path, files, root):
    boundary = tmp_path / "w"
    # A marker above the boundary never counts.
    make(tmp_path, "pyproject.toml", "w/a/b/x.py", *(f"w/{file}" for file in files))
    markers = ("pyproject.toml", "setup.py", "*.cabal", "prisma/schema.prisma")
    found = find_root(boundary / "a/b/x.py", markers, boundary, exclusion_markers=("deno.json",))
    assert found == (None if root is None else boundary / root)


@pytest.mark.parametrize(
    ("path", "folder", "inside"),
    [("a/b", "a", True), ("a", "a", True), ("ab", "a", False), ("a/../c", "a", False), ("link/b", "a", True)],
)
def test_inside_is_told_by_parts_and_through_links(tmp_path, path, folder, inside):
    (tmp_path / "a").mkdir()
    (tmp_path / "link").symlink_to(tmp_path / "a")
    assert is_inside(tmp_path / path, tmp_path / folder) is inside
