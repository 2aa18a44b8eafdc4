import os
import random
import shutil
import subprocess
from pathlib import Path

import pytest

from jupyter_lsp_agent.core.errors import SettingsError
from jupyter_lsp_agent.service.discovery import DiscoveryOptions, discover, path_in_repository

needs_git = pytest.mark.skipif(shutil.which("git") is None, reason="needs git")


def plant(root, *names):
    """Empty files, and folders where a name ends with a slash."""
    for name in names:
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.mkdir(exist_ok=True) if name.endswith("/") else path.touch()


def find(root, *names, **options):
    return discover(names or ["."], DiscoveryOptions(current=root, **options))


def shown(root, *names, **options):
    return [file.display_path for file in find(root, *names, **options).files]


def test_a_folder_stands_for_the_notebooks_below_it_sorted(tmp_path):
    plant(tmp_path, "b.ipynb", "a/z.IPYNB", "a/y.ipynb", "a-b/x.ipynb", "m.py", "ipynb", "a/n.ipynb.txt")
    assert shown(tmp_path) == ["a/y.ipynb", "a/z.IPYNB", "a-b/x.ipynb", "b.ipynb"]


def test_what_is_nobodys_work_is_left_out(tmp_path):
    plant(
        tmp_path,
        "good.ipynb",
        ".hidden/good.ipynb",
        ".ipynb_checkpoints/n.ipynb",
        "a/.ipynb_checkpoints/n.ipynb",
        ".git/n.ipynb",
        "node_modules/p/n.ipynb",
        "env/pyvenv.cfg",
        "env/lib/n.ipynb",
        "conda/conda-meta/",
        "conda/share/n.ipynb",
    )
    assert shown(tmp_path) == [".hidden/good.ipynb", "good.ipynb"]


def test_a_named_folder_is_meant_whatever_it_is(tmp_path):
    plant(tmp_path, "env/pyvenv.cfg", "env/n.ipynb", ".ipynb_checkpoints/n.ipynb")
    assert shown(tmp_path, "env", ".ipynb_checkpoints") == ["env/n.ipynb", ".ipynb_checkpoints/n.ipynb"]


@pytest.mark.parametrize(
    ("glob", "left"),
    [
        ("b.ipynb", ["a/a.ipynb", "c/c.ipynb"]),
        ("a/", ["b.ipynb", "c/b.ipynb", "c/c.ipynb"]),
        ("/b.ipynb", ["a/a.ipynb", "c/b.ipynb", "c/c.ipynb"]),
        ("c/*", ["a/a.ipynb", "b.ipynb"]),
        ("**/c.ipynb", ["a/a.ipynb", "b.ipynb", "c/b.ipynb"]),
    ],
)
def test_exclude(tmp_path, glob, left):
    plant(tmp_path, "a/a.ipynb", "b.ipynb", "c/b.ipynb", "c/c.ipynb")
    assert shown(tmp_path, exclude=(glob,)) == left
    assert shown(tmp_path, never=(glob,)) == left


def test_a_glob_may_be_meant_from_the_named_folder_or_from_here(tmp_path):
    plant(tmp_path, "nbs/drafts/a.ipynb", "nbs/b.ipynb")
    for glob in ("nbs/drafts/*", "drafts/*", "/drafts/"):
        assert shown(tmp_path, "nbs", exclude=(glob,)) == ["nbs/b.ipynb"]


def test_exclude_is_about_folders_and_the_setting_about_everything(tmp_path):
    plant(tmp_path, "a.ipynb")
    assert shown(tmp_path, "a.ipynb", exclude=("a.ipynb",)) == ["a.ipynb"]
    never = find(tmp_path, "a.ipynb", never=("a.ipynb",))
    assert never.files == ()
    assert never.notes == ("a.ipynb is not checked: the setting `exclude` names it",)


def test_include_adds_other_files(tmp_path):
    plant(tmp_path, "a.ipynb", "m.py", "sub/m.py", "m.txt")
    assert shown(tmp_path, include=("*.py",)) == ["a.ipynb", "m.py", "sub/m.py"]
    assert shown(tmp_path, include=("/*.py",)) == ["a.ipynb", "m.py"]


def test_a_glob_that_is_none_is_told(tmp_path):
    plant(tmp_path, "a.ipynb")
    with pytest.raises(SettingsError, match="--include"):
        find(tmp_path, include=("!",))


def test_named_files_of_any_kind_in_their_order_each_once(tmp_path):
    plant(tmp_path, "b.py", "a.ipynb", "sub/c.ipynb")
    (tmp_path / "link.ipynb").symlink_to("a.ipynb")
    assert shown(tmp_path, "b.py", "./a.ipynb", "sub/../a.ipynb", ".") == ["b.py", "a.ipynb", "sub/c.ipynb"]


def test_display_path_is_as_it_was_named(tmp_path):
    plant(tmp_path, "x/n.ipynb", "here/")
    here = tmp_path / "here"
    assert shown(here, "../x") == ["../x/n.ipynb"]
    assert shown(here, str(tmp_path / "x")) == [str(tmp_path / "x" / "n.ipynb")]
    file = find(here, "../x").files[0]
    assert (file.path, file.named, file.is_explicit) == (tmp_path / "x" / "n.ipynb", tmp_path / "x", False)
    assert find(here, "../x/n.ipynb").files[0].is_explicit


def test_a_missing_file_is_left_to_who_reads_it(tmp_path):
    assert shown(tmp_path, "none.ipynb") == ["none.ipynb"]


def test_a_name_that_cannot_be_looked_at_is_left_to_who_reads_it(tmp_path):
    plant(tmp_path, "a.ipynb")
    name = "x" * 300 + ".ipynb"
    assert shown(tmp_path, name, "a.ipynb") == [name, "a.ipynb"]


def test_a_folder_with_a_notebooks_name_is_a_folder(tmp_path):
    plant(tmp_path, "a.ipynb/b.ipynb", "empty.ipynb/")
    assert shown(tmp_path) == ["a.ipynb/b.ipynb"]
    assert find(tmp_path, "empty.ipynb").files == ()


def test_links(tmp_path):
    plant(tmp_path, "top/real/n.ipynb", "elsewhere/m.ipynb")
    (tmp_path / "top" / "loop").symlink_to(tmp_path / "top")
    (tmp_path / "top" / "other").symlink_to(tmp_path / "elsewhere")
    (tmp_path / "top" / "file.ipynb").symlink_to(tmp_path / "elsewhere" / "m.ipynb")
    (tmp_path / "top" / "broken.ipynb").symlink_to("nowhere")
    (tmp_path / "entry").symlink_to("top")
    assert shown(tmp_path, "top") == ["top/broken.ipynb", "top/file.ipynb", "top/real/n.ipynb"]
    assert shown(tmp_path, "entry") == ["entry/broken.ipynb", "entry/file.ipynb", "entry/real/n.ipynb"]


@pytest.mark.skipif(os.name != "posix", reason="POSIX permissions")
def test_an_unreadable_folder_is_told(tmp_path, monkeypatch):
    plant(tmp_path, "good.ipynb", "shut/n.ipynb")
    scandir = os.scandir

    def refuse(path):
        if Path(path).name == "shut":
            raise PermissionError(13, "Permission denied")
        return scandir(path)

    monkeypatch.setattr(os, "scandir", refuse)  # a test may run as root, whom no permission stops
    found = find(tmp_path)
    assert [file.display_path for file in found.files] == ["good.ipynb"]
    assert len(found.problems) == 1
    assert str(tmp_path / "shut") in found.problems[0]


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="needs named pipes")
def test_a_pipe_is_told_and_not_read(tmp_path):
    os.mkfifo(tmp_path / "pipe.ipynb")
    found = find(tmp_path)
    assert found.files == ()
    assert "pipe.ipynb" in found.problems[0]


@pytest.mark.skipif(os.name != "posix", reason="names of bytes")
def test_a_name_that_is_no_utf_8(tmp_path):
    name = os.fsdecode(b"caf\xe9.ipynb")
    (tmp_path / name).touch()
    assert shown(tmp_path) == [name]


def test_the_exclude_of_a_folder_without_a_repository(tmp_path):
    plant(tmp_path, "a.ipynb", "b.ipynb")
    (tmp_path / "pyproject.toml").write_text("[tool.jupyter-lsp-agent]\nexclude = ['a.ipynb']\n")
    assert shown(tmp_path, "a.ipynb", "b.ipynb") == ["b.ipynb"]
    assert shown(tmp_path) == ["b.ipynb"]


@needs_git
def test_the_workspaces_own_exclude(tmp_path):
    plant(tmp_path, "old/a.ipynb", "new/b.ipynb", "sub/old/c.ipynb", "sub/d.ipynb")
    git(tmp_path, "init", "-q")
    (tmp_path / "pyproject.toml").write_text("[tool.jupyter-lsp-agent]\nexclude = ['/old']\n")
    (tmp_path / "sub" / "pyproject.toml").write_text("[tool.jupyter-lsp-agent]\nexclude = ['d.ipynb']\n")
    assert shown(tmp_path) == ["new/b.ipynb", "sub/old/c.ipynb"]
    assert shown(tmp_path, "old") == []
    assert shown(tmp_path, "sub/d.ipynb", "sub/old/c.ipynb") == ["sub/old/c.ipynb"]
    assert len(shown(tmp_path, use_workspace=False)) == 4


@needs_git
class TestGit:
    """Against git itself, where it is there: what it ignores is left out."""

    @pytest.fixture
    def repository(self, tmp_path):
        git(tmp_path, "init", "-q")
        return tmp_path

    def check(self, root, folder="."):
        """Ours must be git's: what is neither tracked nor ignored below the folder."""
        listed = git(root, "ls-files", "-z", "--others", "--exclude-standard", "--", folder).split("\0")
        ours = shown(root, folder)
        assert sorted(ours) == sorted(name for name in listed if name.endswith(".ipynb"))
        return ours

    def test_nested_files_and_negation(self, repository):
        plant(
            repository,
            "a.ipynb", "tmp.ipynb", "out/a.ipynb", "keep/tmp.ipynb", "keep/deep/tmp.ipynb", "logs/keep/a.ipynb",
            "sub/out/a.ipynb", "sub/a.ipynb", "sub/only/b.ipynb", "x y/a.ipynb", "build/a.ipynb", "sub/build/a.ipynb",
        )  # fmt: skip
        (repository / ".gitignore").write_bytes(
            b"\xef\xbb\xbf# comment\r\ntmp.ipynb\r\n/out/\r\nlogs/*\r\n!logs/keep\r\nx\\ y/\r\nbuild\r\n"
        )
        (repository / "keep" / ".gitignore").write_text("!tmp.ipynb\n/deep\n")
        (repository / "sub" / ".gitignore").write_text("/only/*\n!/build\n")
        ours = self.check(repository)
        assert "keep/tmp.ipynb" in ours
        assert "tmp.ipynb" not in ours
        self.check(repository, "sub")

    def test_the_repositorys_own_exclude_file(self, repository):
        plant(repository, "a.ipynb", "b.ipynb")
        (repository / ".git" / "info").mkdir(exist_ok=True)
        (repository / ".git" / "info" / "exclude").write_text("b.ipynb\n")
        assert self.check(repository) == ["a.ipynb"]

    def test_a_linked_worktree_shares_it(self, repository):
        plant(repository, "a.txt")
        git(repository, "add", "a.txt")
        git(repository, "-c", "user.name=n", "-c", "user.email=e@x", "commit", "-qm", "m")
        (repository / ".git" / "info").mkdir(exist_ok=True)
        (repository / ".git" / "info" / "exclude").write_text("b.ipynb\nlinked\n")
        git(repository, "worktree", "add", "-q", "linked")
        plant(repository / "linked", "a.ipynb", "b.ipynb")
        assert self.check(repository / "linked") == ["a.ipynb"]

    def test_a_repository_within_another_has_rules_of_its_own(self, repository):
        (repository / ".gitignore").write_text("*.ipynb\n")
        plant(repository, "a.ipynb", "inner/b.ipynb", "inner/c.ipynb")
        git(repository / "inner", "init", "-q")
        (repository / "inner" / ".gitignore").write_text("c.ipynb\n")
        assert shown(repository) == ["inner/b.ipynb"]

    def test_a_named_ignored_folder_is_meant(self, repository):
        plant(repository, "build/a.ipynb", "build/tmp.ipynb", "build/sub/b.ipynb")
        (repository / ".gitignore").write_text("build/\ntmp.ipynb\n")
        assert shown(repository) == []
        assert shown(repository, "build") == ["build/a.ipynb", "build/sub/b.ipynb"]
        assert shown(repository, "build/sub") == ["build/sub/b.ipynb"]
        assert shown(repository, "build/tmp.ipynb") == ["build/tmp.ipynb"]

    def test_bad_lines_are_passed_over(self, repository):
        plant(repository, "a.ipynb", "b.ipynb")
        (repository / ".gitignore").write_bytes(b"!\n\\\n[\nb.ipynb\n\xff\n")
        assert self.check(repository) == ["a.ipynb"]

    @pytest.mark.parametrize("seed", range(20))
    def test_random_trees_and_patterns(self, repository, seed):
        chance = random.Random(seed)
        folders = [repository]
        for _ in range(8):
            folders.append(chance.choice(folders) / chance.choice(["a", "b", "build", "x y"]))
            folders[-1].mkdir(exist_ok=True)
        for folder in folders:
            for name in ("n.ipynb", "m.ipynb", "ab.ipynb"):
                if chance.random() < 0.6:
                    (folder / name).touch()
            if chance.random() < 0.4:
                lines = [random_pattern(chance) for _ in range(chance.randint(1, 4))]
                (folder / ".gitignore").write_text("\n".join(lines))
        self.check(repository)

    def test_outside_a_repository_nothing_is_ignored(self, tmp_path):
        plant(tmp_path, "a.ipynb")
        (tmp_path / ".gitignore").write_text("*\n")
        assert shown(tmp_path) == ["a.ipynb"]

    def test_path_in_the_repository(self, repository):
        plant(repository, "sub/a.ipynb")
        [file] = find(repository / "sub").files
        assert file.display_path == "a.ipynb"
        assert path_in_repository(file) == "sub/a.ipynb"


def test_path_without_a_repository_is_as_named(tmp_path):
    plant(tmp_path, "sub/a.ipynb")
    assert path_in_repository(find(tmp_path).files[0]) == "sub/a.ipynb"


def random_pattern(chance):
    """A line of an ignore file, often an odd one."""
    parts = ["a", "b", "build", "x y", "*.ipynb", "a*", "?", "[ab]", "**", "*", "n.ipynb"]
    pattern = "/".join(chance.choice(parts) for _ in range(chance.randint(1, 3)))
    before = chance.choice(["", "", "/", "!", "!/"])
    after = chance.choice(["", "", "/", "  ", "/  "])
    return before + pattern + after


def git(folder, *arguments):
    """Run git without anybody's configuration."""
    environ = {"PATH": os.environ["PATH"], "HOME": str(folder), "GIT_CONFIG_NOSYSTEM": "1"}
    done = subprocess.run(["git", *arguments], cwd=folder, env=environ, capture_output=True, text=True, check=True)
    return done.stdout


def test_a_link_that_leads_round_in_circles_stops_nobody(tmp_path):
    plant(tmp_path, "d/good.ipynb")
    (tmp_path / "d/l.ipynb").symlink_to("l.ipynb")
    (tmp_path / "d/loop").symlink_to("loop")
    assert shown(tmp_path, "d") == ["d/good.ipynb", "d/l.ipynb"]
