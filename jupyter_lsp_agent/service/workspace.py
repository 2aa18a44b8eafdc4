"""What a workspace may say about its own checks: little, and only to narrow them.

A `pyproject.toml` comes with the code, and the code may be anybody's. So of its table `[tool.jupyter-lsp-agent]` only
names are read that can make us check or show less, or choose among servers that would run anyway. Whatever else
stands there is ignored, with one warning that names it; a value that cannot be used is ignored in the same way, since
a repository must not be able to stop its own check.
"""

import logging
import tomllib
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from jupyter_lsp_agent.core.errors import SettingsError
from jupyter_lsp_agent.core.files import read_regular_file
from jupyter_lsp_agent.core.printable import escape_hidden
from jupyter_lsp_agent.service.settings import Settings, decode_setting

FILE_NAME = "pyproject.toml"
"""Where a workspace's settings stand."""

TABLE = "jupyter-lsp-agent"
"""The table below `tool`."""

ALLOWED = frozenset({"enabled", "severity", "exclude", "ignore", "kernel_names", "python_cell_magics", "servers"})
"""The names that are read."""

_MAX_FILE_BYTES = 1 << 20
_LOGGER = logging.getLogger("jupyter_lsp_agent")


@dataclass(frozen=True, slots=True)
class WorkspaceSettings:
    """The allowed settings of one workspace, decoded. `problems`: what was ignored, and why."""

    values: Mapping[str, Any] = field(default_factory=dict, hash=False)
    problems: tuple[str, ...] = ()


def workspace_settings(root: Path) -> WorkspaceSettings:
    """What the `pyproject.toml` directly in `root` says; nothing where there is none. Warns once of what it ignores."""
    settings = read_workspace(root)
    if settings.problems:
        # Another front end's log may take a line end in a key for the end of the message.
        said = escape_hidden("; ".join(settings.problems))
        _LOGGER.warning("%s [tool.%s]: ignored: %s", escape_hidden(str(root / FILE_NAME)), TABLE, said)
    return settings


def read_workspace(root: Path) -> WorkspaceSettings:
    """The same without a warning, for who looks at a single setting of many folders."""
    return _read(root / FILE_NAME)


def narrow(settings: Settings, workspace: WorkspaceSettings, *, is_runnable: Callable[[str], bool]) -> Settings:
    """`settings` with what the workspace may add: names that no stronger source gave.

    Args:
        settings: of all other sources.
        workspace: of the file's root.
        is_runnable: whether a server, by id, would run here without this workspace's word.
    """
    values = {name: value for name, value in workspace.values.items() if name not in settings.given}
    if "servers" in values:
        values["servers"] = {**settings.servers, **_runnable_chains(values["servers"], is_runnable)}
    return replace(settings, **values) if values else settings


class WorkspaceReader:
    """Reads workspaces' settings, each anew only when its file has changed."""

    def __init__(self) -> None:
        self._read: dict[Path, tuple[tuple[int, int] | None, WorkspaceSettings]] = {}

    def settings_of(self, root: Path) -> WorkspaceSettings:
        """What the workspace at `root` says."""
        stamp = _stamp(root / FILE_NAME)
        known = self._read.get(root)
        if known is None or known[0] != stamp:
            known = stamp, workspace_settings(root) if stamp else WorkspaceSettings()
            self._read[root] = known
        return known[1]


def _read(path: Path) -> WorkspaceSettings:
    try:
        data = read_regular_file(path, _MAX_FILE_BYTES + 1)
    except OSError:
        return WorkspaceSettings()
    if TABLE.encode() not in data:
        return WorkspaceSettings()
    try:
        table = tomllib.loads(data.decode("utf-8")).get("tool", {}).get(TABLE, {})
    except (ValueError, AttributeError, RecursionError) as error:
        return WorkspaceSettings(problems=(f"the file is no valid TOML ({error})",))
    if not isinstance(table, dict):
        return WorkspaceSettings(problems=("it is no table",))
    return _decode(table)


def _decode(table: Mapping[str, Any]) -> WorkspaceSettings:
    values: dict[str, Any] = {}
    problems: list[str] = []
    for name, value in table.items():
        try:
            values[name] = _allowed_value(name, value)
        except SettingsError as error:
            problems.append(str(error))
    return WorkspaceSettings({name: value for name, value in values.items() if value is not None}, tuple(problems))


def _allowed_value(name: str, value: object) -> Any:
    """The value, `None` where it says nothing.

    Raises:
        SettingsError: a workspace has no say in this, or not this one.
    """
    if name not in ALLOWED:
        raise SettingsError(f"{name} is not a workspace's to set (only {', '.join(sorted(ALLOWED))})")
    decoded = decode_setting(FILE_NAME, name, value)
    if name == "enabled":
        return None if decoded else False
    return decoded


def _runnable_chains(
    servers: Mapping[str, tuple[tuple[str, ...], ...]], is_runnable: Callable[[str], bool]
) -> dict[str, tuple[tuple[str, ...], ...]]:
    """The chains without servers that would not run anyway; languages of which none is left stay as they were."""
    chosen: dict[str, tuple[tuple[str, ...], ...]] = {}
    for language, chains in servers.items():
        left = tuple(tuple(name for name in chain if is_runnable(name)) for chain in chains)
        if kept := tuple(chain for chain in left if chain):
            chosen[language] = kept
    return chosen


def _stamp(path: Path) -> tuple[int, int] | None:
    try:
        status = path.stat()
    except OSError:
        return None
    return status.st_mtime_ns, status.st_size
