"""Which files a `check PATH…` means.

A named file is itself, whatever its kind. A folder stands for the notebooks below it, without what is not the user's
work: checkpoints, repositories' own data, packages, environments, and whatever git ignores. Symlinks to folders are
not followed below a named folder, so there are no loops. What cannot be listed is told, never passed over.
"""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from jupyter_lsp_agent.core.files import display_name, exists, is_file, is_folder
from jupyter_lsp_agent.servers.roots import find_git_worktree
from jupyter_lsp_agent.service.ignore_rules import (
    Rules,
    glob_rules,
    is_ignored,
    own_rules,
    repository_rules_at,
    rules_above,
)
from jupyter_lsp_agent.service.workspace import FILE_NAME, read_workspace

_SKIPPED_FOLDERS = frozenset({".ipynb_checkpoints", ".git", "node_modules"})
_ENVIRONMENT_MARKS = ("pyvenv.cfg", "conda-meta")
_NOTEBOOK_EXTENSION = ".ipynb"


@dataclass(frozen=True, slots=True)
class DiscoveredFile:
    """A file to check.

    Attributes:
        path: absolute, as it was named: symlinks are not resolved.
        display_path: how the user would name it.
        named: what the user named: the file, or a folder above it; absolute.
        is_explicit: the file itself was named.
    """

    path: Path
    display_path: str
    named: Path
    is_explicit: bool

    @property
    def is_notebook(self) -> bool:
        """Whether it is a notebook by its name."""
        return self.path.name.lower().endswith(_NOTEBOOK_EXTENSION)


@dataclass(frozen=True, slots=True)
class Discovery:
    """What was found.

    Attributes:
        files: each once, in the order of their names, folders' files sorted by path.
        problems: sentences on what could not be looked into; they count as unreadable input.
        notes: sentences on what was left out although it was named.
    """

    files: tuple[DiscoveredFile, ...]
    problems: tuple[str, ...] = ()
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, kw_only=True)
class DiscoveryOptions:
    """How to look.

    Attributes:
        include: globs of other files than notebooks that a folder stands for too.
        exclude: globs of files that a folder does not stand for.
        never: globs of files that are not checked even when they are named (the setting `exclude`).
        use_workspace: whether the workspaces' own `exclude` counts, which it does where no other source gave one.
        current: the folder that relative names start from.
    """

    include: tuple[str, ...] = ()
    exclude: tuple[str, ...] = ()
    never: tuple[str, ...] = ()
    use_workspace: bool = True
    current: Path = field(default_factory=Path.cwd)


def discover(names: Sequence[str], options: DiscoveryOptions) -> Discovery:
    """The files that `names` mean.

    Args:
        names: of files and folders, as the user wrote them. A file need not exist: reading it will tell.
        options: how to look.

    Raises:
        SettingsError: a glob is no pattern.
    """
    files: dict[str, DiscoveredFile] = {}
    problems: list[str] = []
    notes: list[str] = []
    for name in names:
        path = Path(os.path.normpath(options.current / name))
        if is_folder(path):
            found = [_below(item, name, path) for item in find_files_below(path, options, problems)]
        elif _is_never_checked(path, options):
            found = []
            notes.append(f"{name} is not checked: the setting `exclude` names it")
        else:
            found = [DiscoveredFile(path, display_name(name), path, is_explicit=True)]
        for item in found:
            files.setdefault(os.path.realpath(item.path), item)
    return Discovery(tuple(files.values()), tuple(problems), tuple(notes))


def path_in_repository(file: DiscoveredFile) -> str:
    """The file as its git repository names it, with slashes; as the user named it where there is no repository."""
    worktree = find_git_worktree(file.path)
    return file.display_path if worktree is None else file.path.relative_to(worktree).as_posix()


def find_files_below(named: Path, options: DiscoveryOptions, problems: list[str]) -> list[str]:
    """The files that a named folder stands for, sorted by the parts of their paths.

    Args:
        named: the folder, absolute.
        options: how to look.
        problems: gets a sentence for each folder that cannot be listed, and for each match that is no file.
    """
    include = [glob_rules(base, options.include, name="--include") for base in _bases(named, options)]
    found: list[str] = []
    waiting = [_named_folder(named, options)]
    while waiting:
        folder = _with_own_rules(waiting.pop(), options)
        for entry in _entries(folder.path, problems):
            is_below = _is_real_folder(entry)
            if folder.leaves_out(entry.path, is_folder=is_below):
                continue
            if is_below:
                waiting += [replace(folder, path=entry.path)] if _is_entered(entry) else []
            elif _is_wanted(entry, include) and _is_file(entry, problems):
                found.append(entry.path)
    return sorted(found, key=lambda path: Path(path).parts)


@dataclass(frozen=True, slots=True)
class _Folder:
    """A folder still to be listed, with the rules that hold in it. Outside a repository git ignores nothing."""

    path: str
    in_repository: bool
    ignored: tuple[Rules, ...]
    excluded: tuple[Rules, ...]

    def leaves_out(self, path: str, *, is_folder: bool) -> bool:
        """Whether an entry of this folder is ignored by git or excluded."""
        return is_ignored(self.ignored, path, is_folder=is_folder) or any(
            rule.covers(path, is_folder=is_folder) for rule in self.excluded
        )


def _named_folder(named: Path, options: DiscoveryOptions) -> _Folder:
    worktree = find_git_worktree(named / "_")
    bases = _bases(named, options)
    excluded = [
        *(glob_rules(base, options.exclude, name="--exclude").without_those_on(str(named)) for base in bases),
        *(glob_rules(base, options.never, name="exclude") for base in bases),
    ]
    if named != worktree:
        excluded += _workspace_rules_above(named.parent, worktree or named, options)
    return _Folder(str(named), worktree is not None, rules_above(named, worktree), tuple(excluded))


def _with_own_rules(folder: _Folder, options: DiscoveryOptions) -> _Folder:
    """The folder with what its own files add; a repository within another begins anew."""
    repository = repository_rules_at(folder.path)
    ignored = folder.ignored if repository is None else repository
    in_repository = folder.in_repository or repository is not None
    return _Folder(
        folder.path,
        in_repository,
        (*ignored, *own_rules(folder.path)) if in_repository else (),
        (*folder.excluded, *_workspace_rules(folder.path, options)),
    )


def _entries(folder: str, problems: list[str]) -> list[os.DirEntry[str]]:
    try:
        with os.scandir(folder) as entries:
            return list(entries)
    except OSError as error:
        problems.append(
            f"the folder {folder} cannot be read ({error.strerror}); give it read permission, or exclude it"
        )
        return []


def _is_real_folder(entry: os.DirEntry[str]) -> bool:
    """Whether it is a folder itself, not a link to one; one that cannot even be looked at is left to who reads it."""
    try:
        return entry.is_dir(follow_symlinks=False)
    except OSError:
        return False


def _is_entered(entry: os.DirEntry[str]) -> bool:
    return entry.name not in _SKIPPED_FOLDERS and not any(
        os.path.lexists(Path(entry.path, mark)) for mark in _ENVIRONMENT_MARKS
    )


def _is_wanted(entry: os.DirEntry[str], include: Sequence[Rules]) -> bool:
    return entry.name.lower().endswith(_NOTEBOOK_EXTENSION) or any(
        rule.covers(entry.path, is_folder=False) for rule in include
    )


def _is_file(entry: os.DirEntry[str], problems: list[str]) -> bool:
    """Whether the entry is to be read: a file, or a link that leads nowhere, of which reading will tell."""
    path = Path(entry.path)
    if is_file(path) or (entry.is_symlink() and not exists(path)):
        return True
    if not is_folder(path):
        problems.append(f"{entry.path} is no file (a pipe, a socket or a device); exclude it")
    return False


def _below(path: str, name: str, folder: Path) -> DiscoveredFile:
    shown = os.path.normpath(Path(name, Path(path).relative_to(folder)))
    return DiscoveredFile(Path(path), shown, folder, is_explicit=False)


def _is_never_checked(path: Path, options: DiscoveryOptions) -> bool:
    rules = [
        glob_rules(options.current, options.never, name="exclude"),
        *_workspace_rules_above(path.parent, find_git_worktree(path) or path.parent, options),
    ]
    return any(rule.covers(str(path), is_folder=False) for rule in rules)


def _bases(named: Path, options: DiscoveryOptions) -> tuple[Path, ...]:
    """A glob may be meant from the named folder or from the current one."""
    return tuple(dict.fromkeys((named, options.current)))


def _workspace_rules_above(folder: Path, boundary: Path, options: DiscoveryOptions) -> list[Rules]:
    """The excludes of the workspaces that `folder` lies in, its own too, up to `boundary`."""
    inside = [step for step in (folder, *folder.parents) if step == boundary or boundary in step.parents]
    return [rule for step in inside for rule in _workspace_rules(str(step), options)]


def _workspace_rules(folder: str, options: DiscoveryOptions) -> tuple[Rules, ...]:
    if not options.use_workspace or not is_file(Path(folder, FILE_NAME)):
        return ()
    globs = read_workspace(Path(folder)).values.get("exclude", ())
    return (glob_rules(Path(folder), globs, name="exclude"),) if globs else ()
