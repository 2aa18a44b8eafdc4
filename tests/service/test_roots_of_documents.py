"""Which server is started for which folder, through the whole service: repositories as git itself makes them, with
linked worktrees, submodules, nested projects and monorepos; packages; symlinks; a home folder; Deno and TypeScript."""

import subprocess
from pathlib import Path

import pytest

from jupyter_lsp_agent.service.requests import CheckRequest
from tests.support.services import command_of, opened_service, write_notebook

SETTINGS = {
    "servers": {"python": ["ty"], "typescript": ["typescript-native", "deno"]},
    "server_settings": {name: {"command": command_of("good")} for name in ("ty", "typescript-native", "deno")},
}


def git(folder: Path, *arguments: str) -> None:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "protocol.file.allow=always"]
    subprocess.run(["git", *identity, *arguments], cwd=folder, check=True, capture_output=True)


def write(folder: Path, *names: str) -> None:
    for name in names:
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".ipynb":
            write_notebook(path, "x = 1")
        else:
            path.write_text("{}\n" if path.suffix == ".json" else "")


def commit(folder: Path) -> None:
    git(folder, "init", "-q")
    git(folder, "add", ".")
    git(folder, "commit", "-qm", "one")


@pytest.fixture
def workspace(tmp_path: Path) -> Path:
    """A server's root with a monorepo, its linked worktree and its submodule, and folders of no repository."""
    root = tmp_path / "srv"
    write(root / "other", "x.ipynb", "deep/x.py")
    commit(root / "other")
    write(
        root / "mono",
        *("pyproject.toml", "x.ipynb", "packages/a/pyproject.toml", "packages/a/src/x.ipynb", "packages/b/x.py"),
        *("pkg/__init__.py", "pkg/setup.py", "pkg/x.ipynb", "pkg/inner/__init__.py", "pkg/inner/x.py"),
        *("web/package.json", "web/src/a.ts", "web/edge/deno.json", "web/edge/a.ts", "scripts/deno.jsonc"),
        *("scripts/node/tsconfig.json", "scripts/node/a.ts", "scripts/a.ts"),
    )
    commit(root / "mono")
    git(root / "mono", "submodule", "add", "-q", str(root / "other"), "vendor/sub")
    git(root / "mono", "worktree", "add", "-q", str(root / "linked"))
    write(root / "mono/nested", "x.py", "deep/x.py")
    commit(root / "mono/nested")
    write(root, "loose/x.py", "loose/project/setup.cfg", "loose/project/deep/x.py")
    (root / "link").symlink_to(root / "mono/packages/a")
    return root


@pytest.mark.parametrize(
    ("document", "server", "folder"),
    [
        ("mono/x.ipynb", "ty", "mono"),
        # A monorepo: each package that has a marker is its own root, the others belong to the whole.
        ("mono/packages/a/src/x.ipynb", "ty", "mono/packages/a"),
        ("mono/packages/b/x.py", "ty", "mono"),
        # The folder of a Python package is none, whatever lies in it.
        ("mono/pkg/x.ipynb", "ty", "mono"),
        ("mono/pkg/inner/x.py", "ty", "mono"),
        # A linked worktree, a submodule and a nested repository end where they end.
        ("linked/x.ipynb", "ty", "linked"),
        ("linked/packages/a/src/x.ipynb", "ty", "linked/packages/a"),
        ("mono/vendor/sub/x.ipynb", "ty", "mono/vendor/sub"),
        ("mono/vendor/sub/deep/x.py", "ty", "mono/vendor/sub"),
        ("mono/nested/deep/x.py", "ty", "mono/nested"),
        # Outside any repository: the nearest marker, else the server's root.
        ("loose/project/deep/x.py", "ty", "loose/project"),
        ("loose/x.py", "ty", ""),
        # A symlink is a place of its own: its documents lie below it.
        ("link/src/x.ipynb", "ty", "link"),
        # Deno's marker, where it is nearer, keeps TypeScript's server out; where it is not, it does not.
        ("mono/web/src/a.ts", "typescript-native", "mono/web"),
        ("mono/web/edge/a.ts", "deno", "mono/web/edge"),
        ("mono/scripts/a.ts", "deno", "mono/scripts"),
        ("mono/scripts/node/a.ts", "typescript-native", "mono/scripts/node"),
    ],
)
async def test_the_server_and_the_folder_that_it_is_started_for(workspace, document, server, folder):
    path = workspace / document
    async with opened_service(SETTINGS, workspace) as service:
        report = await service.check(CheckRequest(path=path, timeout_seconds=20))
        running = (await service.status())["running"]
    assert report.verdict == "clean"
    assert [(one["id"], Path(one["root"])) for one in running] == [(server, workspace / folder)]
    assert path.is_relative_to(running[0]["root"])


@pytest.mark.parametrize(
    ("document", "folder"),
    [("project/deep/x.py", "project"), ("project/marked/x.py", "project/marked"), ("x.py", ".")],
)
async def test_the_home_folder_is_no_root_of_what_lies_below(tmp_path, monkeypatch, document, folder):
    home = tmp_path / "home/u"
    write(home, "pyproject.toml", "project/marked/setup.cfg", document)
    commit(home)
    monkeypatch.setenv("HOME", str(home))
    async with opened_service(SETTINGS, home) as service:
        await service.check(CheckRequest(path=home / document, timeout_seconds=20))
        (running,) = (await service.status())["running"]
    assert Path(running["root"]) == home / folder


async def test_documents_of_one_root_share_a_server_and_those_of_others_do_not(workspace):
    async with opened_service(SETTINGS, workspace) as service:
        for name in ("mono/x.ipynb", "mono/packages/b/x.py", "mono/pkg/x.ipynb", "linked/x.ipynb"):
            await service.check(CheckRequest(path=workspace / name, timeout_seconds=20))
        roots = sorted(Path(one["root"]).name for one in (await service.status())["running"])
    # A notebook in a package imports from its own folder, so it has a server of its own.
    assert roots == ["linked", "mono", "mono"]
