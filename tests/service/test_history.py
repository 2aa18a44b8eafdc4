"""Reading a file at a revision: right content, true sentences, and nothing of the repository's own is run."""

import os
import shutil
import stat
import subprocess
from pathlib import Path

import pytest

from jupyter_lsp_agent.core.errors import InvalidRequestError
from jupyter_lsp_agent.servers.commands import read_command_search
from jupyter_lsp_agent.service.history import GitProgram, RevisionError, find_git, read_at_revision

pytestmark = pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")


class Repository:
    """A repository made by git itself."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.folder = folder
        folder.mkdir(parents=True)
        self.environ = {"PATH": os.environ["PATH"], "HOME": str(home)}
        self.git("init", "-q", "-b", "main")

    def git(self, *arguments: str) -> str:
        command = ["git", "-c", "user.name=t", "-c", "user.email=t@t", "-c", "core.autocrlf=false", *arguments]
        return subprocess.run(
            command, cwd=self.folder, env=self.environ, check=True, capture_output=True, text=True
        ).stdout.strip()

    def write(self, name: str, content: bytes) -> Path:
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content)
        return path

    def commit(self) -> str:
        self.git("add", "-A")
        self.git("commit", "-q", "-m", "a state")
        return self.git("rev-parse", "HEAD")

    @property
    def program(self) -> GitProgram:
        return find_git(self.environ, self.environ["PATH"].split(os.pathsep))


@pytest.fixture
def repository(tmp_path: Path) -> Repository:
    home = tmp_path / "home"
    home.mkdir()
    return Repository(tmp_path / "work", home)


def test_the_content_at_each_revision(repository: Repository) -> None:
    path = repository.write("notes/a b.ipynb", b"one\r\n\xff\n")
    first = repository.commit()
    path.write_bytes(b"two")
    repository.commit()
    path.write_bytes(b"three")
    read = [read_at_revision(path, revision, repository.program) for revision in ("HEAD", "HEAD~1", first, "main")]
    assert read == [b"two", b"one\r\n\xff\n", b"one\r\n\xff\n", b"two"]


@pytest.mark.parametrize("name", ["[a].ipynb", ":(top)a.ipynb", "-a.ipynb", "a*.ipynb", "ä .ipynb", "a\\b.ipynb"])
def test_names_that_git_could_take_for_something_else(repository: Repository, name: str) -> None:
    path = repository.write(name, b"this")
    repository.write("a.ipynb", b"that")
    repository.commit()
    assert read_at_revision(path, "HEAD", repository.program) == b"this"


def test_a_file_that_was_not_there_has_no_content(repository: Repository) -> None:
    repository.write("a.ipynb", b"one")
    repository.commit()
    assert read_at_revision(repository.write("b.ipynb", b"new"), "HEAD", repository.program) is None


def test_what_was_a_folder_or_a_link_was_no_file(repository: Repository) -> None:
    repository.write("a/inner", b"one")
    (repository.folder / "b").symlink_to("a/inner")
    repository.commit()
    shutil.rmtree(repository.folder / "a")
    (repository.folder / "b").unlink()
    for name in ("a", "b"):
        assert read_at_revision(repository.write(name, b"now"), "HEAD", repository.program) is None


@pytest.mark.parametrize(
    "revision", ["nowhere", "-h", "--all", "HEAD^{tree}", "HEAD:a.ipynb", "", "a\nb", "HEAD --", "@{u}"]
)
def test_a_revision_that_is_none_is_told(repository: Repository, revision: str) -> None:
    path = repository.write("a.ipynb", b"one")
    repository.commit()
    with pytest.raises(InvalidRequestError, match=r"name a commit|a commit's name"):
        read_at_revision(path, revision, repository.program)


def test_a_repository_without_commits_has_no_head(repository: Repository) -> None:
    with pytest.raises(InvalidRequestError, match="no revision 'HEAD'"):
        read_at_revision(repository.write("a.ipynb", b"one"), "HEAD", repository.program)


def test_outside_a_repository_is_told_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(RevisionError, match=r"in no git repository.*: ask without one$"):
        read_at_revision(tmp_path / "a.ipynb", "HEAD", find_git({}, os.environ["PATH"].split(os.pathsep)))


def test_no_git_is_told_with_what_to_do(tmp_path: Path) -> None:
    with pytest.raises(RevisionError, match="install git"):
        find_git({}, [str(tmp_path)])


@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give a folder away")
def test_a_repository_of_another_user_is_refused_with_the_mend(repository: Repository) -> None:
    path = repository.write("a.ipynb", b"one")
    repository.commit()
    for each in [repository.folder, *repository.folder.rglob("*")]:
        os.chown(each, 12345, 12345)
    with pytest.raises(RevisionError, match=r"git config --global --add safe\.directory .*work"):
        read_at_revision(path, "HEAD", repository.program)


def test_variables_of_ours_do_not_lead_git_elsewhere(repository: Repository, tmp_path: Path) -> None:
    path = repository.write("a.ipynb", b"here")
    repository.commit()
    other = Repository(tmp_path / "other", tmp_path / "home")
    other.write("a.ipynb", b"there")
    other.commit()
    environ = repository.environ | {"GIT_DIR": str(other.folder / ".git"), "GIT_WORK_TREE": str(other.folder)}
    assert read_at_revision(path, "HEAD", find_git(environ, environ["PATH"].split(os.pathsep))) == b"here"


def hostile(repository: Repository, marks: Path) -> str:
    """Put into the repository everything known that git would run, each leaving a mark; returns a mark's command."""
    marks.mkdir()
    mark = marks.parent / "leave-mark"
    mark.write_text(f'#!/bin/sh\ntouch "{marks}/$(basename "$0")-$1"\ncat\n')
    mark.chmod(mark.stat().st_mode | stat.S_IXUSR)
    hooks = repository.folder / ".git" / "hooks"
    for name in ("post-checkout", "post-index-change", "reference-transaction", "fsmonitor-watchman", "pre-auto-gc"):
        (hooks / name).write_text(f'#!/bin/sh\ntouch "{marks}/hook-{name}"\n')
        (hooks / name).chmod(0o755)
    included = repository.folder / ".git" / "included"
    included.write_text(f"[core]\n\tfsmonitor = {mark}\n\tpager = {mark}\n")
    settings = {
        "core.fsmonitor": str(mark),
        "core.hooksPath": str(hooks),
        "core.pager": str(mark),
        "core.editor": str(mark),
        "core.askPass": str(mark),
        "core.sshCommand": str(mark),
        "core.gitProxy": str(mark),
        "core.alternateRefsCommand": str(mark),
        "pager.cat-file": str(mark),
        "pager.ls-tree": str(mark),
        "pager.rev-parse": str(mark),
        "alias.cat-file": f"!{mark} alias",
        "alias.rev-parse": f"!{mark} alias",
        "alias.ls-tree": f"!{mark} alias",
        "diff.external": str(mark),
        "diff.all.textconv": str(mark),
        "filter.all.smudge": str(mark),
        "filter.all.clean": str(mark),
        "filter.all.process": str(mark),
        "filter.all.required": "true",
        "credential.helper": f"!{mark}",
        "gpg.program": str(mark),
        "uploadpack.packObjectsHook": str(mark),
        "protocol.allow": "always",
        "protocol.ext.allow": "always",
        "remote.origin.url": f"ext::{mark} fetch",
        "remote.origin.vcs": "mark",
        "remote.origin.promisor": "true",
        "remote.origin.uploadpack": str(mark),
        "remote.origin.partialclonefilter": "blob:none",
        "includeIf.gitdir:**.path": str(included),
    }
    for name, value in settings.items():
        repository.git("config", name, value)
    repository.git("config", "core.repositoryformatversion", "1")
    repository.git("config", "extensions.partialClone", "origin")
    return str(mark)


def test_a_hostile_repository_runs_nothing(repository: Repository, tmp_path: Path) -> None:
    path = repository.write("a.ipynb", b"one")
    repository.write(".gitattributes", b"* filter=all diff=all\n")
    repository.commit()
    marks = tmp_path / "marks"
    hostile(repository, marks)
    path.write_bytes(b"two")
    assert read_at_revision(path, "HEAD", repository.program) == b"one"
    assert read_at_revision(repository.write("b.ipynb", b"new"), "HEAD", repository.program) is None
    with pytest.raises(InvalidRequestError):
        read_at_revision(path, "nowhere", repository.program)
    assert list(marks.iterdir()) == []


def test_a_missing_object_is_not_fetched(repository: Repository, tmp_path: Path) -> None:
    path = repository.write("a.ipynb", b"one")
    repository.commit()
    blob = repository.git("rev-parse", "HEAD:a.ipynb")
    marks = tmp_path / "marks"
    hostile(repository, marks)
    (repository.folder / ".git" / "objects" / blob[:2] / blob[2:]).unlink()
    with pytest.raises(RevisionError, match="git could not read the revision"):
        read_at_revision(path, "HEAD", repository.program)
    assert list(marks.iterdir()) == []


def test_the_hostile_repository_would_have_run_something(repository: Repository, tmp_path: Path) -> None:
    """The traps are real: git as usual walks into them."""
    path = repository.write("a.ipynb", b"one")
    repository.write(".gitattributes", b"* filter=all diff=all\n")
    repository.commit()
    marks = tmp_path / "marks"
    hostile(repository, marks)
    path.write_bytes(b"two")
    for command in (["status"], ["diff", "--textconv"], ["cat-file", "--filters", "HEAD:a.ipynb"]):
        subprocess.run(
            ["git", *command], cwd=repository.folder, env=repository.environ, capture_output=True, check=False
        )
    assert list(marks.iterdir())


def test_the_repositorys_own_git_is_not_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    repository = Repository(tmp_path / "work", tmp_path)
    repository.write("a.ipynb", b"one")
    repository.commit()
    own = repository.write("git", f"#!/bin/sh\ntouch {tmp_path}/ran\n".encode())
    own.chmod(0o755)
    monkeypatch.chdir(repository.folder)
    entries = [".", "", str(repository.folder), *os.environ["PATH"].split(os.pathsep)]
    monkeypatch.setenv("PATH", os.pathsep.join(entries))
    search = read_command_search([repository.folder])
    assert read_at_revision(repository.folder / "a.ipynb", "HEAD", find_git(search.environ, search.safe_path)) == b"one"
    assert not (tmp_path / "ran").exists()
