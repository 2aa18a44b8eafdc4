"""Installing servers on request: which ones, where, and what is there already.

The recipes are the catalogue's; how they are carried out is in `servers.install`. `install_strategy = "off"` switches
all of it off.
"""

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path

from jupyter_lsp_agent.core.errors import InstallError, JupyterLspAgentError, ServerNotFoundError
from jupyter_lsp_agent.core.files import read_regular_file
from jupyter_lsp_agent.servers.commands import CommandSource, read_command_search, resolve_command
from jupyter_lsp_agent.servers.install import Installer, is_installable
from jupyter_lsp_agent.servers.installed import InstalledServer, own_servers_folder, read_all_installed
from jupyter_lsp_agent.servers.registry import ServerRegistry
from jupyter_lsp_agent.servers.spec import ServerSpec
from jupyter_lsp_agent.service.discovery import DiscoveredFile, DiscoveryOptions, discover
from jupyter_lsp_agent.service.documents import MAX_DOCUMENT_BYTES
from jupyter_lsp_agent.service.settings import Settings

_OFF = 'installing is switched off here (`install_strategy` is "off")'


class ServerInstalls:
    """Installs and removes servers in one data folder.

    Args:
        settings: of this process.
        sys_prefix: into the environment that we run in, for all its users, instead of the user's own data folder.
        report: is told of each step, in a line for people.
    """

    def __init__(self, settings: Settings, *, sys_prefix: bool, report: Callable[[str], None]) -> None:
        servers = {language: [list(chain) for chain in chains] for language, chains in settings.servers.items()}
        self._registry = ServerRegistry(servers, settings.server_settings)
        self._is_off = settings.install_strategy == "off"
        self._servers = own_servers_folder(sys_prefix=sys_prefix)
        search = read_command_search()
        self._search = replace(search, data_folders=(self._servers.parents[1], *search.data_folders))
        self._report = report
        self._installer = Installer(self._servers, search, report)

    @property
    def folder(self) -> Path:
        """Where servers are installed."""
        return self._servers

    def listing(self) -> list[str]:
        """A line for each server that can be installed, and whether it is: by us, or elsewhere on this machine."""
        there = {one.server_id: one for one in read_all_installed(self._servers)}
        lines = []
        for spec in self._registry:
            if is_installable(spec):
                state = self._state(spec, there.get(spec.server_id))
                lines.append(f"{spec.server_id:28} {state:16} {', '.join((*spec.install.pypi, *spec.install.npm))}")
        return lines

    def wanted_below(self, folder: Path) -> list[str]:
        """The first server of each language that is found below `folder`, those left out that are on this machine."""
        found = discover([str(folder)], DiscoveryOptions(include=("*",)))
        languages = set[str]().union(*map(self._languages_of, found.files))
        first = [chain[0] for language in sorted(languages) for chain in self._registry.chains(language)[:1]]
        return [spec.server_id for spec in dict.fromkeys(first) if self._lack(spec)]

    def plan(self, names: Sequence[str]) -> tuple[list[str], list[str]]:
        """The commands that `install` would run, and a sentence for each server that it could not install.

        Raises:
            SettingsError: no server has such a name.
        """
        lines, problems = [], []
        for spec in [self._registry.get(name) for name in names]:
            try:
                plan = self._installer.plan(spec)
            except InstallError as error:
                problems.append(str(error))
            else:
                lines += [f"{plan.server_id}: {' '.join(command)}" for command in plan.commands]
        return lines, problems

    def install(self, names: Sequence[str], done: Callable[[str], None] = lambda _: None) -> list[str]:
        """Install these; a sentence for each that could not be, the others are there.

        Args:
            names: the servers' ids.
            done: is told of each that is there, in a line.

        Raises:
            SettingsError: no server has such a name; then nothing was begun.
            InstallError: installing is switched off.
        """
        if self._is_off:
            raise InstallError(_OFF)
        problems = []
        for spec in [self._registry.get(name) for name in names]:
            lacking = self._install_one(spec)
            problems += lacking
            if not lacking:
                done(f"installed: {' '.join((spec.server_id, *_version_of(spec)))}")
        return problems

    def uninstall(self, name: str) -> bool:
        """Remove a server; false where it is not installed.

        Raises:
            SettingsError: no server has this name.
        """
        return self._installer.uninstall(self._registry.get(name).server_id)

    def _state(self, spec: ServerSpec, found: InstalledServer | None) -> str:
        """One or two words: how a server is there."""
        if found is not None:
            return "installed" if found.is_of(spec.install) else "another version"
        return "not installed" if self._lack(spec) else "elsewhere"

    def _install_one(self, spec: ServerSpec) -> list[str]:
        self._tell_of_another(spec)
        try:
            self._installer.install(spec)
        except JupyterLspAgentError as error:
            return [str(error)]
        return self._lack(spec)

    def _tell_of_another(self, spec: ServerSpec) -> None:
        """Say so where a server is there without us; it stays, and the installed one is preferred to it."""
        try:
            found = resolve_command(spec, self._search)
        except ServerNotFoundError:
            return
        if found.source is not CommandSource.INSTALLED:
            self._report(
                f"{spec.server_id} is on this machine already ({found.argv[0]}); the one that is installed now comes "
                f"before it, and `jupyter lsp-agent uninstall {spec.server_id}` takes it away again"
            )

    def _lack(self, spec: ServerSpec) -> list[str]:
        """What is still missing before `spec` can be used, as sentences."""
        try:
            resolve_command(spec, self._search, override=self._registry.override(spec.server_id))
        except ServerNotFoundError as error:
            return [str(error)]
        return []

    def _languages_of(self, file: DiscoveredFile) -> set[str]:
        """What a file is written in: of a notebook its kernel's language, where its notebooks are understood, and those
        of the bodies in its cells."""
        if not file.is_notebook:
            language = self._registry.language_of(file.path)
            return set() if language is None else {language}
        from jupyter_lsp_agent.core.errors import NotebookError
        from jupyter_lsp_agent.notebook.build_options import BuildOptions
        from jupyter_lsp_agent.notebook.languages import PYTHON
        from jupyter_lsp_agent.notebook.other_kernels import is_joinable
        from jupyter_lsp_agent.notebook.reader import read_notebook
        from jupyter_lsp_agent.notebook.virtual_document import build_virtual_documents

        try:
            notebook = read_notebook(read_regular_file(file.path, MAX_DOCUMENT_BYTES), file.display_path)
        except (OSError, NotebookError):
            return set()
        return {
            document.language_id
            for document in build_virtual_documents(notebook, BuildOptions()).documents
            if not document.kernel or document.language_id == PYTHON or is_joinable(document.language_id)
        }


def _version_of(spec: ServerSpec) -> tuple[str, ...]:
    """The version that the server's own package is pinned to."""
    pinned = next(iter((*spec.install.pypi, *spec.install.npm)), "")
    version = pinned.rpartition("==" if "==" in pinned else "@")[2]
    return (version,) if version else ()
