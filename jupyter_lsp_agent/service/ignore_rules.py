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
from pathspec.pattern import Pattern, RegexPattern

from jupyter_lsp_agent.core.errors import SettingsError
from jupyter_lsp_agent.core.files import exists, read_regular_file

_IGNORE_FILE = ".gitignore"
_FOLDER_MARK = "ps_d"
"""The group of a pattern's expression that matches the slash behind a folder's name."""
_ANY_FOLDER = f"(?P<{_FOLDER_MARK}>/)"
"""The expression of `*/`."""


@dataclass(frozen=True, slots=True)
class Rules:
    """Patterns, and the folder that they are relative to."""

    base: str
    spec: GitIgnoreSpec

    def verdict(self, path: str, *, is_folder: bool) -> bool | None:
        """What the last pattern that means `path` itself says of it, as git has it; `None` where none does.

        What follows from a folder above `path` is left to who walks down: an ignored folder is not entered, and to
        bring a folder back brings back nothing in it.
        """
        relative = self._relative(path, is_folder=is_folder)
        if relative is None:
            return None
        taking = (pattern for pattern in reversed(self.spec.patterns) if _means(pattern, relative))
        return next((pattern.include for pattern in taking), None)

    def covers(self, path: str, *, is_folder: bool) -> bool:
        """Whether the patterns take `path`, or a folder that it is in."""
        relative = self._relative(path, is_folder=is_folder)
        return relative is not None and self.spec.match_file(relative)

    def without_those_on(self, folder: str) -> "Rules":
        """The rules without the patterns that take `folder` itself, since who names a folder means what is in it."""
        kept = [
            pattern
            for pattern in self.spec.patterns
            if not Rules(self.base, GitIgnoreSpec([pattern])).covers(folder, is_folder=True)
        ]
        return Rules(self.base, GitIgnoreSpec(kept))

    def _relative(self, path: str, *, is_folder: bool) -> str | None:
        """The path below the rules' folder, as patterns have it; `None` where it is not below."""
        prefix = self.base if self.base.endswith(os.sep) else self.base + os.sep
        if not path.startswith(prefix):
            return None
        return path[len(prefix) :].replace(os.sep, "/") + ("/" if is_folder else "")


def _means(pattern: Pattern, relative: str) -> bool:
    """Whether a pattern matches a path itself, not only a folder above it. A folder's path ends with a slash.

    The library's expressions mark the slash behind what they matched: the last one of a folder's own path, or one in
    between. Those without such a mark (`a/**`) match what is inside, and a folder is not inside itself.
    """
    if not isinstance(pattern, RegexPattern) or pattern.regex is None:
        return False  # a comment, or an empty line
    if _FOLDER_MARK not in pattern.regex.groupindex:
        return pattern.regex.search(relative.removesuffix("/")) is not None
    if pattern.regex.pattern == _ANY_FOLDER:
        return relative.endswith("/")
    match = pattern.regex.search(relative)
    return match is not None and (match[_FOLDER_MARK] is None or match.end(_FOLDER_MARK) == len(relative))


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
        folder: a folder that was named; whether it is ignored itself does not matter.
        worktree: the git worktree that it lies in; `None`: git ignores nothing.
    """
    if worktree is None:
        return ()
    rules = [*_repository_rules(worktree)]
    if folder != worktree:
        above = [parent for parent in reversed(folder.parents) if parent == worktree or worktree in parent.parents]
        rules += [rule for parent in above for rule in own_rules(str(parent))]
    return tuple(rules)


def own_rules(folder: str) -> tuple[Rules, ...]:
    """The rules of the `.gitignore` in `folder`, where there is one."""
    return _read_rules(folder, Path(folder, _IGNORE_FILE))


def repository_rules_at(folder: str) -> tuple[Rules, ...] | None:
    """The rules that begin at `folder`, where it is a repository of its own; else `None`."""
    return _repository_rules(Path(folder)) if exists(Path(folder, ".git")) else None


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
        return next(iter(read_regular_file(path, 4096).splitlines()), b"").decode("utf-8", "surrogateescape")
    except OSError:
        return None


def _read_rules(base: str, path: Path) -> tuple[Rules, ...]:
    try:
        text = read_regular_file(path).decode("utf-8-sig", "surrogateescape")
    except OSError:
        return ()
    lines = (_spelt_out(line.removesuffix("\r")) for line in text.split("\n"))
    return (Rules(base, GitIgnoreSpec.from_lines(line for line in lines if _is_pattern(line))),)


def _spelt_out(line: str) -> str:
    """A pattern for all folders below another one, with the star that it leaves out and the library wants."""
    stripped = line.rstrip(" ")
    return stripped + "*/" if stripped.endswith("**/") else line


def _is_pattern(line: str) -> bool:
    """Whether the line of an ignore file can be used; like git, one that cannot is passed over."""
    try:
        GitIgnoreSpec.from_lines([line])
    except ValueError:
        return False
    return True
