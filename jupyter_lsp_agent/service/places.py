"""What a document's place on the disk means for its check: boundary, workspace settings, catalogue, commands."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import TYPE_CHECKING

from jupyter_lsp_agent.core.errors import ServerUnavailableError, SettingsError
from jupyter_lsp_agent.servers.commands import CommandSearch, read_command_search, resolve_command
from jupyter_lsp_agent.servers.interpreters import Surroundings, read_surroundings
from jupyter_lsp_agent.servers.registry import ServerRegistry
from jupyter_lsp_agent.servers.roots import find_boundary, find_root
from jupyter_lsp_agent.service.settings import Settings
from jupyter_lsp_agent.service.trust import read_trusted_roots, trust_file
from jupyter_lsp_agent.service.workspace import FILE_NAME, WorkspaceReader, narrow

if TYPE_CHECKING:
    from jupyter_lsp_agent.service.background_installs import BackgroundInstalls


@dataclass(frozen=True, slots=True)
class Place:
    """Where a document lies, and what holds there.

    Attributes:
        path: the document, absolute.
        boundary: the folder above which nothing of it is looked for.
        settings: of this process, narrowed by the workspace.
        registry: the catalogue with these settings merged in.
        search: where commands are looked for.
        surroundings: what an interpreter is looked for in.
        installs: what installs missing servers unasked; `None` where nothing does.
    """

    path: Path
    boundary: Path
    settings: Settings
    registry: ServerRegistry = field(repr=False)
    search: CommandSearch = field(repr=False)
    surroundings: Surroundings = field(repr=False)
    installs: "BackgroundInstalls | None" = field(default=None, repr=False)


class PlaceFinder:
    """Finds places; reads the process's surroundings once, and each workspace's file when it has changed.

    Args:
        settings: of this process.
        server_root: the server's root over REST, the current folder elsewhere.
    """

    installs: "BackgroundInstalls | None" = None
    """What installs missing servers unasked."""

    def __init__(self, settings: Settings, server_root: Path) -> None:
        self._settings = settings
        self._server_root = server_root
        self._surroundings = read_surroundings(settings.trusted_roots)
        self._trust_file = trust_file()
        self._workspaces = WorkspaceReader()
        self._registries: dict[str, ServerRegistry] = {}
        self._searches: dict[Path, CommandSearch] = {}
        self.registry = self._registry_for(settings)
        """The catalogue without any workspace's word."""

    @property
    def search(self) -> CommandSearch:
        """Where commands are looked for when no document is meant."""
        return self._search_for(self._server_root)

    def find(self, path: Path, *, named: Path | None = None) -> Place:
        """The place of a document.

        Args:
            path: absolute; it need not exist.
            named: what the user named: the document itself, or a folder above it.
        """
        boundary = find_boundary(path, named=named, server_root=self._server_root)
        # Read each time: a user who trusts a folder need not restart a server for it.
        trusted = (*self._settings.trusted_roots, *read_trusted_roots(self._trust_file))
        search = self._search_for(boundary)
        if search.trusted_roots != trusted:
            search = self._searches[boundary] = replace(search, trusted_roots=trusted)
        settings = self._narrowed(path, boundary, search)
        surroundings = replace(self._surroundings, trusted_roots=trusted)
        return Place(path, boundary, settings, self._registry_for(settings), search, surroundings, self.installs)

    def _narrowed(self, path: Path, boundary: Path, search: CommandSearch) -> Settings:
        root = find_root(path, (FILE_NAME,), boundary) or boundary
        workspace = self._workspaces.settings_of(root)
        if not workspace.values:
            return self._settings
        return narrow(self._settings, workspace, is_runnable=lambda name: _is_runnable(name, self.registry, search))

    def _search_for(self, boundary: Path) -> CommandSearch:
        if boundary not in self._searches:
            self._searches[boundary] = read_command_search((boundary,), self._settings.trusted_roots)
        return self._searches[boundary]

    def _registry_for(self, settings: Settings) -> ServerRegistry:
        servers = {language: [list(chain) for chain in chains] for language, chains in settings.servers.items()}
        key = json.dumps(servers, sort_keys=True)
        if key not in self._registries:
            self._registries[key] = ServerRegistry(servers, settings.server_settings)
        return self._registries[key]


def ipython_startup_folder(environ: Mapping[str, str]) -> Path:
    """Where the default IPython profile keeps what runs before every kernel's first cell."""
    home = environ.get("IPYTHONDIR")
    return (Path(home) if home else Path.home() / ".ipython") / "profile_default" / "startup"


def is_excluded(path: Path, boundary: Path, patterns: Sequence[str]) -> bool:
    """Whether one of the `exclude` globs of the settings takes a document, by its path below the boundary."""
    if not patterns:
        return False
    from pathspec import GitIgnoreSpec

    relative = path.relative_to(boundary) if path.is_relative_to(boundary) else Path(path.name)
    return GitIgnoreSpec.from_lines(patterns).match_file(relative.as_posix())


def _is_runnable(name: str, registry: ServerRegistry, search: CommandSearch) -> bool:
    try:
        spec = registry.get(name)
        resolve_command(spec, search, override=registry.override(spec.server_id))
    except (SettingsError, ServerUnavailableError):
        return False
    return registry.override(spec.server_id).enabled
