"""A file as it was at a revision of its git repository.

The repository may be anybody's, and its configuration can name programs for git to run: a file-system monitor, hooks,
filters, a textconv, a pager, an ssh command, a remote to fetch missing objects from. None of them runs here. Only
three commands are used, all of which read objects (`rev-parse`, `ls-tree`, `cat-file blob`); what could still start
something is switched off on the command line and in the environment, which the repository's configuration cannot
override; and git gets an environment of our making, without the variables that steer it elsewhere. What is read is
the stored blob: no filter has been over it, so a file kept by git-lfs is its pointer.

git's own check of who owns a repository (`safe.directory`) stays on, and its refusal is told with the mend.
"""

import os
import re
import shutil
import subprocess
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from jupyter_lsp_agent.core.errors import InvalidRequestError

_TIMEOUT_SECONDS = 20.0
_MAX_BLOB_BYTES = 64 * 1024 * 1024
_KEPT_VARIABLES = ("HOME", "XDG_CONFIG_HOME", "USERPROFILE", "SYSTEMROOT", "TMPDIR", "TEMP")
_OPTIONS = (
    "--no-pager",
    "--no-replace-objects",
    "-c",
    "core.fsmonitor=false",
    "-c",
    f"core.hooksPath={os.devnull}",
    "-c",
    "protocol.allow=never",
)
_PROTECTION = {
    # Wins over every `protocol.*.allow`: a git before 2.44, which knows no GIT_NO_LAZY_FETCH, fetches nothing either.
    "GIT_ALLOW_PROTOCOL": "none",
    "GIT_ASKPASS": "",
    "GIT_LITERAL_PATHSPECS": "1",
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    "LC_ALL": "C",
    "SSH_ASKPASS": "",
}
_DUBIOUS = re.compile(r"dubious ownership in repository at '(.*)'")
_OBJECT_NAME = re.compile(r"[0-9a-f]{40,64}")
_SYMBOLIC_LINK = "120000"


class RevisionError(InvalidRequestError):
    """A revision cannot be read; the text says why, and what to do about it."""


class NoRepositoryError(RevisionError):
    """The document is in no repository."""


class UnusableRevisionError(RevisionError):
    """It cannot be read for any file of this repository: there is no such revision, or no git."""


@dataclass(frozen=True, slots=True)
class GitProgram:
    """The git to call.

    Attributes:
        program: its absolute path.
        environment: all that it gets.
    """

    program: str
    environment: Mapping[str, str]


def find_git(environ: Mapping[str, str], folders: Sequence[str]) -> GitProgram:
    """The git of this machine.

    Args:
        environ: our environment variables; few of them are passed on.
        folders: where it is looked for, and all of `PATH` that it gets: those from which a program may be chosen, so
            none of the repository's own.

    Raises:
        UnusableRevisionError: there is none.
    """
    found = (shutil.which(str(Path(folder) / "git")) for folder in folders)
    program = next((one for one in found if one), None)
    if program is None:
        raise UnusableRevisionError(
            "git is not on PATH (outside the workspace), and a revision can be read with it alone: install git"
        )
    kept = {name: environ[name] for name in _KEPT_VARIABLES if name in environ}
    return GitProgram(program, {**kept, "PATH": os.pathsep.join(folders), **_PROTECTION})


def read_at_revision(path: Path, revision: str, git: GitProgram) -> bytes | None:
    """The content of a file at a revision; blocks for as long as git runs.

    Args:
        path: the file, absolute, as it is named now; links are followed first.
        revision: any name of a commit that git understands.
        git: from `find_git`.

    Returns:
        The blob's bytes, or `None` where the file was not there then.

    Raises:
        UnusableRevisionError: no such revision.
        RevisionError: not a repository, not ours to read, an object that is not here, or git took too long.
    """
    real = Path(os.path.realpath(path))
    commit = _commit(real.parent, revision, git)
    listed = _run(git, real.parent, "ls-tree", "-z", "-l", "--end-of-options", commit, f"./{real.name}")
    entry = listed.split(b"\0", 1)[0].partition(b"\t")[0].decode("ascii", "replace").split()
    if len(entry) < 4 or entry[0] == _SYMBOLIC_LINK or entry[1] != "blob":
        return None
    if entry[3].isdecimal() and int(entry[3]) > _MAX_BLOB_BYTES:
        raise RevisionError(f"{path.name} has {entry[3]} bytes at {revision}, and {_MAX_BLOB_BYTES} are the most")
    return _run(git, real.parent, "cat-file", "blob", entry[2])


def _commit(folder: Path, revision: str, git: GitProgram) -> str:
    if not revision or "\0" in revision or "\n" in revision:
        raise UnusableRevisionError("a revision is a commit's name on one line, like HEAD, main or 1a2b3c4")
    _run(git, folder, "rev-parse", "--git-dir")
    done = _call(git, folder, "rev-parse", "--verify", "--quiet", "--end-of-options", revision + "^{commit}")
    name = _OBJECT_NAME.search(done.stdout.decode("ascii", "replace"))
    if done.returncode or name is None:
        raise UnusableRevisionError(
            f"the git repository that {folder.name} is in has no revision {revision!r}: "
            "name a commit, a branch or a tag of it"
        )
    return name[0]


def _run(git: GitProgram, folder: Path, *arguments: str) -> bytes:
    done = _call(git, folder, *arguments)
    if done.returncode:
        raise _explain(folder, done.stderr.decode("utf-8", "replace"))
    return done.stdout


def _call(git: GitProgram, folder: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
    try:
        return subprocess.run(
            [git.program, *_OPTIONS, *arguments],
            cwd=folder,
            env=dict(git.environment),
            stdin=subprocess.DEVNULL,
            capture_output=True,
            timeout=_TIMEOUT_SECONDS,
            check=False,
        )
    except subprocess.TimeoutExpired:
        raise RevisionError(f"git took longer than {_TIMEOUT_SECONDS:g} s in {folder.name}; try again") from None
    except OSError as error:
        raise RevisionError(f"git could not be run in {folder.name} ({error}): reinstall git") from None


def _explain(folder: Path, stderr: str) -> RevisionError:
    dubious = _DUBIOUS.search(stderr)
    if dubious:
        return RevisionError(
            f"git does not read {dubious[1]}, since it belongs to another user; if you trust it, run "
            f"`git config --global --add safe.directory {dubious[1]}`"
        )
    if "not a git repository" in stderr:
        return NoRepositoryError(
            f"{folder.name} is in no git repository, so nothing can be compared with a revision: ask without one"
        )
    lines = [line for line in stderr.splitlines() if line.strip()]
    said = lines[-1].removeprefix("fatal: ") if lines else "no reason given"
    return RevisionError(f"git could not read the revision ({said}); `git fetch` gets objects that are missing")
