"""`--since`, `--baseline` and `--write-baseline`, as a user runs them, with the embedded server."""

import shutil
import subprocess
import venv
from pathlib import Path

import pytest

from jupyter_lsp_agent import check_notebook
from jupyter_lsp_agent.core.errors import InvalidRequestError
from tests.support.command_line import Finished, run_command
from tests.support.services import write_notebook

USE = "print(missing_name)"


def check(folder: Path, *arguments: str) -> Finished:
    return run_command("check", "--no-progress", *arguments, cwd=folder)


def git(folder: Path, *arguments: str) -> None:
    subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", *arguments], cwd=folder, check=True)


def counts(done: Finished) -> list[dict[str, int]]:
    return [{name: n for name, n in report["counts"].items() if n} for report in done.reports]


def test_a_written_baseline_is_quiet_until_something_is_new(tmp_path: Path) -> None:
    write_notebook(tmp_path / "a.ipynb", "x = 1", USE)
    first = check(tmp_path, "a.ipynb", "--write-baseline", "known.json")
    assert (first.code, "known.json: 1 known finding in 1 file\n" in first.errors) == (1, True)
    again = check(tmp_path, "a.ipynb", "--baseline", "known.json", "--format", "json")
    assert (again.code, counts(again), again.reports[0]["baseline"]) == (0, [{"preexisting": 1}], "file")
    write_notebook(tmp_path / "a.ipynb", "# moved", USE, "x = 1\nprint(another_name)")
    moved = check(tmp_path, "a.ipynb", "--baseline", "known.json", "--format", "json")
    assert (moved.code, counts(moved)) == (1, [{"preexisting": 1, "introduced": 1}])


def test_what_no_longer_occurs_is_told_and_pruned(tmp_path: Path) -> None:
    (tmp_path / "sub").mkdir()
    write_notebook(tmp_path / "sub" / "a.ipynb", USE)
    write_notebook(tmp_path / "sub" / "b.ipynb", USE)
    check(tmp_path, "sub", "--write-baseline", "known.json")
    write_notebook(tmp_path / "sub" / "a.ipynb", "print(1)")
    told = check(tmp_path / "sub", "a.ipynb", "--baseline", "../known.json")
    assert told.code == 0
    assert "1 entry of ../known.json no longer occurs (Name `missing_name` used when not defined" in told.errors
    check(tmp_path, "sub/a.ipynb", "--baseline", "known.json", "--write-baseline", "known.json")
    text = (tmp_path / "known.json").read_text()
    assert ("sub/a.ipynb" in text, "sub/b.ipynb" in text) == (False, True)


def test_it_knows_what_it_knew_in_another_folder_and_with_another_python(tmp_path: Path) -> None:
    """A server says where it has looked for a module; that is another place on every machine."""
    for folder in ("here", "there"):
        (tmp_path / folder).mkdir()
        write_notebook(tmp_path / folder / "a.ipynb", "import no_such_module_anywhere")
    environment = tmp_path / "environment"
    venv.create(environment)
    check(tmp_path / "here", "a.ipynb", "--write-baseline", "known.json")
    known = (tmp_path / "here/known.json").read_text()
    assert str(tmp_path) not in known
    (tmp_path / "there/known.json").write_text(known)
    told = check(tmp_path / "there", "a.ipynb", "--baseline", "known.json", "--python", str(environment))
    assert (told.code, "no longer occur" in told.errors) == (0, False)


def test_the_written_file_does_not_depend_on_caps_or_on_what_is_known(tmp_path: Path) -> None:
    write_notebook(tmp_path / "a.ipynb", *[f"print(missing_{number})" for number in range(30)])
    check(tmp_path, "a.ipynb", "--write-baseline", "one.json", "--max-total", "1")
    check(tmp_path, "a.ipynb", "--baseline", "one.json", "--write-baseline", "two.json")
    assert (tmp_path / "one.json").read_bytes() == (tmp_path / "two.json").read_bytes()
    assert (tmp_path / "one.json").read_text().count("fingerprint") == 30


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_since_a_revision_only_what_is_new_is_shown(tmp_path: Path) -> None:
    write_notebook(tmp_path / "a.ipynb", USE)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "a.ipynb")
    git(tmp_path, "commit", "-q", "-m", "a state")
    write_notebook(tmp_path / "a.ipynb", "x = 1", USE)
    assert check(tmp_path, "a.ipynb", "--since", "HEAD").code == 0
    write_notebook(tmp_path / "a.ipynb", "print(fresh_name)", USE)
    done = check(tmp_path, "a.ipynb", "--since", "HEAD")
    assert done.code == 1
    assert ("fresh_name" in done.output, "missing_name" in done.output) == (True, False)
    write_notebook(tmp_path / "b.ipynb", USE)
    unknown = check(tmp_path, "a.ipynb", "b.ipynb", "--since", "nowhere")
    assert (unknown.code, unknown.output) == (2, "")
    assert unknown.errors.count("has no revision 'nowhere'") == 1


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_outside_a_repository_the_mend_is_one_that_the_asker_has(tmp_path: Path) -> None:
    path = write_notebook(tmp_path / "a.ipynb", USE)
    done = check(tmp_path, "a.ipynb", "--since", "HEAD")
    assert "no verdict (outside_workspace): " in done.output
    assert "in no git repository" in done.output
    assert "--baseline FILE" in done.output
    with pytest.raises(InvalidRequestError, match="in no git repository") as refused:
        check_notebook(path, since="HEAD")
    assert "--baseline" not in str(refused.value)


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--since", "HEAD", "--baseline", "b.json"], "--since and --baseline are two baselines: choose one"),
        (["--baseline", "absent.json"], "absent.json does not exist: `--write-baseline absent.json` writes one"),
        (["--baseline", "a.ipynb"], "a.ipynb is no baseline file"),
        (["--write-baseline", "a.ipynb"], "a.ipynb is no baseline file"),
    ],
)
def test_wrong_usage_is_told_in_a_sentence(tmp_path: Path, arguments: list[str], sentence: str) -> None:
    write_notebook(tmp_path / "a.ipynb", "x = 1")
    done = check(tmp_path, "a.ipynb", *arguments)
    assert (done.code, sentence in done.errors, done.output) == (2, True, "")
    assert "--write-baseline a.ipynb" not in done.errors
    assert "x = 1" in (tmp_path / "a.ipynb").read_text(), "it is left as it was"


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
def test_the_same_from_python(tmp_path: Path) -> None:
    path = write_notebook(tmp_path / "a.ipynb", USE)
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", "a.ipynb")
    git(tmp_path, "commit", "-q", "-m", "a state")
    write_notebook(path, "print(fresh_name)", USE)
    report = check_notebook(path, since="HEAD")
    assert [(item.status, item.source_line) for item in report] == [("introduced", "print(fresh_name)")]
    with pytest.raises(InvalidRequestError, match="no revision"):
        check_notebook(path, since="nowhere")
