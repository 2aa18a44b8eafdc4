"""Which files git ignores, and which are excluded, told from files alone: no git process, no repository configuration.

Rules are read as git reads them: a `.gitignore` speaks of its own folder and all below it, a deeper file wins over a
higher one, within a file the last match wins, and what is below an ignored folder cannot be brought back. The
repository's `info/exclude` is the weakest. A user's global ignore file is not read.
"""

import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from pathspec import GitIgnoreSpec

from jupyter_lsp_agent.core.errors import SettingsError

_IGNORE_FILE = ".gitignore"


@dataclass(frozen=True, slots=True)
class Rules:
    """Patterns, and the folder that they are relative to."""

    base: str
    spec: GitIgnoreSpec

    def verdict(self, path: str, *, is_folder: bool) -> bool | None:
        """Whether the patterns take `path`; `None` where they say nothing, or `path` is not below their folder."""
        prefix = self.base if self.base.endswith(os.sep) else self.base + os.sep
        if not path.startswith(prefix):
            return None
        relative = path[len(prefix) :].replace(os.sep, "/")
        return self.spec.check_file(relative + "/" if is_folder else relative).include

    def without_those_on(self, folder: str) -> "Rules":
        """The rules without the patterns that take `folder` itself: who names an ignored folder means what is in it."""
        kept = [
            pattern
            for pattern in self.spec.patterns
            if not (pattern.include and Rules(self.base, GitIgnoreSpec([pattern])).verdict(folder, is_folder=True))
        ]
        return Rules(self.base, GitIgnoreSpec(kept))


def glob_rules(base: Path, globs: Iterable[str], *, name: str) -> Rules:
    """Globs of a setting or an option, in the syntax of `.gitignore`.

    Raises:
        SettingsError: one of them is no pattern.
    """
    patterns = tuple(globs)
    try:
        return Rules(str(base), GitIgnoreSpec.from_lines(patterns))
    except ValueError as error:
        raise SettingsError(f"{name} {list(patterns)!r}: {error}") from error


def is_ignored(rules: Iterable[Rules], path: str, *, is_folder: bool) -> bool:
    """Whether the last of `rules` that says something about `path` takes it."""
    verdicts = (rule.verdict(path, is_folder=is_folder) for rule in reversed(tuple(rules)))
    return next((verdict for verdict in verdicts if verdict is not None), False)


def rules_above(folder: Path, worktree: Path | None) -> tuple[Rules, ...]:
    """The rules that hold in `folder`, the weakest first; its own `.gitignore` is not among them.

    Args:
        folder: a folder that was named; patterns that would take it, or a folder above it, are left out.
        worktree: the git worktree that it lies in; `None`: git ignores nothing.
    """
    if worktree is None:
        return ()
    rules = [*_repository_rules(worktree)]
    if folder != worktree:
        above = [parent for parent in reversed(folder.parents) if parent == worktree or worktree in parent.parents]
        rules += [rule for parent in above for rule in own_rules(str(parent))]
    # Each folder on the way down counts as named.
    for step in [folder, *folder.parents]:
        rules = [rule.without_those_on(str(step)) for rule in rules]
    return tuple(rules)


def own_rules(folder: str) -> tuple[Rules, ...]:
    """The rules of the `.gitignore` in `folder`, where there is one."""
    return _read_rules(folder, Path(folder, _IGNORE_FILE))


def repository_rules_at(folder: str) -> tuple[Rules, ...] | None:
    """The rules that begin at `folder`, where it is a repository of its own; else `None`."""
    return _repository_rules(Path(folder)) if Path(folder, ".git").exists() else None


def _repository_rules(worktree: Path) -> tuple[Rules, ...]:
    return _read_rules(str(worktree), _git_folder(worktree) / "info" / "exclude")


def _git_folder(worktree: Path) -> Path:
    """The folder that all worktrees of a repository share; `.git` may be a file that names another folder."""
    git = worktree / ".git"
    named = _first_line(git)
    if named is None or not named.startswith("gitdir:"):
        return git
    folder = worktree / named.removeprefix("gitdir:").strip()
    common = _first_line(folder / "commondir")
    return folder if common is None else folder / common


def _first_line(path: Path) -> str | None:
    try:
        return next(iter(path.read_bytes()[:4096].splitlines()), b"").decode("utf-8", "surrogateescape")
    except OSError:
        return None


def _read_rules(base: str, path: Path) -> tuple[Rules, ...]:
    try:
        text = path.read_bytes().decode("utf-8-sig", "surrogateescape")
    except OSError:
        return ()
    lines = (line.removesuffix("\r") for line in text.split("\n"))
    return (Rules(base, GitIgnoreSpec.from_lines(line for line in lines if _is_pattern(line))),)


def _is_pattern(line: str) -> bool:
    """Whether the line of an ignore file can be used; like git, one that cannot is passed over."""
    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True
