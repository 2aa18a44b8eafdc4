"""What an asker may see beside the document he asks about."""

import json
from pathlib import Path

import pytest

from jupyter_lsp_agent.service.neighbours import (
    MAX_FILE_BYTES,
    LocalNeighbours,
    notebooks_with,
    read_anywhere,
    relative_to,
)


@pytest.fixture
def root(tmp_path: Path) -> Path:
    root = tmp_path / "root"
    for folder in (root / "sub", root / ".hidden", tmp_path / "root2"):
        folder.mkdir(parents=True)
    for path in (root / "a.py", root / "sub/b.py", root / ".hidden/c.py", root / ".d.py", tmp_path / "root2/e.py"):
        path.write_text(path.name)
    (root / "link.py").symlink_to(tmp_path / "root2" / "e.py")
    (root / "linked").symlink_to(tmp_path / "root2")
    (root / "inner.py").symlink_to(root / "a.py")
    (tmp_path / "way").symlink_to(root)
    return root


@pytest.mark.parametrize(
    ("path", "name", "is_read"),
    [
        ("root/a.py", "a.py", True),
        ("root/sub/b.py", "sub/b.py", True),
        ("root/inner.py", "inner.py", True),
        ("root/.hidden/c.py", ".hidden/c.py", False),
        ("root/.d.py", ".d.py", False),
        ("root/link.py", "link.py", False),
        ("root/linked/e.py", "linked/e.py", False),
        ("root/gone.py", "gone.py", False),
        ("root/sub", "sub", False),
        ("root2/e.py", None, False),
        ("root/../root2/e.py", None, False),
        ("/dev/zero", None, False),
    ],
)
@pytest.mark.parametrize("spelling", ["root", "way"])
async def test_what_is_below_is_named_by_its_parts_and_what_is_hidden_or_elsewhere_is_not_read(
    root, spelling, path, name, is_read
):
    whole = root.parent / path
    neighbours = LocalNeighbours(root.parent / spelling)
    assert neighbours.name_of(whole) == (name or str(whole))
    data = await neighbours.read(whole)
    assert data == (whole.read_bytes() if is_read else None)


async def test_a_command_reads_within_the_documents_boundary_too(root):
    neighbours = LocalNeighbours(root / "sub").within(root)
    assert neighbours.name_of(root / "a.py") == "../a.py"
    assert neighbours.name_of(root / "sub/b.py") == "b.py"
    assert neighbours.name_of(root.parent / "root2/e.py") == str(root.parent / "root2/e.py")
    assert await neighbours.read(root / "a.py") == b"a.py"
    assert await neighbours.read(root / ".hidden/c.py") is None
    assert await neighbours.read(root / "link.py") is None
    assert await LocalNeighbours(root / "sub").read(root / "a.py") is None


def test_the_root_itself_is_below_itself(root):
    assert relative_to(root, root) == Path()
    assert relative_to(Path(f"{root}2") / "e.py", root) is None


async def test_a_very_large_file_is_not_read_for_a_line_of_it(root):
    (root / "a.py").write_bytes(b"x" * (MAX_FILE_BYTES + 1))
    assert await LocalNeighbours(root).read(root / "a.py") is None
    assert read_anywhere(root / "a.py") is None


def test_notebooks_with_a_name_are_found_however_json_writes_it(root):
    def write(name: str, text: str, *, ascii_only: bool = True) -> None:
        (root / name).write_text(json.dumps({"cells": [{"source": text}]}, ensure_ascii=ascii_only), encoding="utf-8")

    write("one.ipynb", "größe = 1")
    write("two.IPYNB", "größe = 1", ascii_only=False)
    write("sub/three.ipynb", "größe")
    write("none.ipynb", "grösse")
    write(".hidden/four.ipynb", "größe")
    write("own.ipynb", "größe")
    found = notebooks_with("größe", root, root / "own.ipynb", 10)
    assert [path.relative_to(root).as_posix() for path in found] == ["one.ipynb", "two.IPYNB", "sub/three.ipynb"]
    assert notebooks_with("größe", root, root / "own.ipynb", 1) == found[:1]
    assert notebooks_with("x", root / "nowhere", root, 10) == []
