"""Where a server's program lies on this machine.

The order: configuration; our own folders; the workspace's environment, where the workspace is trusted; the environment
that we run in; `PATH`. What a cloned repository brings along is never chosen: of `PATH`, entries that are empty,
relative, or inside the workspace or the current folder are passed over. Found is not yet runnable: that is told by the
handshake (`pool`), except for one well-known trap that can be read (a `rustup` proxy without its component).
"""

import os
import shutil
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from functools import cached_property
from pathlib import Path

from jupyter_lsp_agent.core.errors import ServerNotFoundError
from jupyter_lsp_agent.core.files import read_regular_file
from jupyter_lsp_agent.servers.installed import NODE_ID, OWN_FOLDER, program_folders, read_installed, servers_folder
from jupyter_lsp_agent.servers.roots import is_inside
from jupyter_lsp_agent.servers.spec import ServerOverride, ServerSpec

_NO_OVERRIDE = ServerOverride()
_BIN = "Scripts" if os.name == "nt" else "bin"
_PACKAGE_FOLDER_NAMES = frozenset({"site-packages", "dist-packages"})


class CommandSource(StrEnum):
    """Where a command was found, in the order in which it is looked for."""

    CONFIGURATION = "configuration"
    INSTALLED = "installed"
    """One of our own folders, filled by `install`."""
    WORKSPACE = "workspace"
    OWN_ENVIRONMENT = "environment"
    PATH = "path"


@dataclass(frozen=True, slots=True)
class ResolvedCommand:
    """A command that can be started.

    Attributes:
        argv: the argument list, its first item absolute.
        source: where it was found.
        needs: the programs that it needs beside it, absolute.
    """

    argv: tuple[str, ...]
    source: CommandSource
    needs: tuple[Path, ...] = ()

    @property
    def node_modules(self) -> Path | None:
        """The `node_modules` folder that the program lies in, links followed; `None` where it lies in none."""
        real = Path(os.path.realpath(self.argv[0]))
        return next((folder for folder in real.parents if folder.name == "node_modules"), None)


@dataclass(frozen=True)
class CommandSearch:
    """Where commands are looked for; made once for a workspace.

    Attributes:
        data_folders: Jupyter's data folders, the first winning.
        path: the entries of `PATH`.
        own_scripts: the script folders of the environment that we run in.
        workspace: folders whose programs are not to be chosen by `PATH`: the workspace, the current folder.
        trusted_roots: folders whose own programs may be run.
        environ: environment variables.
        own_data: our own folder below the user's data folder; the only place that is written to.
    """

    data_folders: tuple[Path, ...]
    path: tuple[str, ...]
    own_scripts: tuple[Path, ...]
    workspace: tuple[Path, ...] = ()
    trusted_roots: tuple[Path, ...] = ()
    environ: Mapping[str, str] = field(default_factory=dict)
    own_data: Path | None = None

    def is_trusted(self, folder: Path) -> bool:
        """Whether programs of `folder` may be run."""
        return any(is_inside(folder, root) for root in self.trusted_roots)

    @cached_property
    def safe_path(self) -> tuple[str, ...]:
        """The entries of `PATH` from which a program may be chosen, in order; looked at once."""
        return tuple(entry for entry in self.path if _may_choose(entry, self))


def read_command_search(workspace: Iterable[Path] = (), trusted_roots: Iterable[Path] = ()) -> CommandSearch:
    """The search as this process sees it; the current folder is added to `workspace`, the home folder never."""
    from jupyter_core.paths import jupyter_data_dir, jupyter_path

    guarded = [folder for folder in (*workspace, Path.cwd()) if not _is_wide(folder)]
    return CommandSearch(
        data_folders=tuple(Path(folder) for folder in jupyter_path()),
        path=tuple(os.environ.get("PATH", os.defpath).split(os.pathsep)),
        own_scripts=tuple(_own_scripts()),
        workspace=tuple(guarded),
        trusted_roots=tuple(trusted_roots),
        environ=dict(os.environ),
        own_data=Path(jupyter_data_dir()) / OWN_FOLDER,
    )


def resolve_command(
    spec: ServerSpec, search: CommandSearch, *, override: ServerOverride = _NO_OVERRIDE, root: Path | None = None
) -> ResolvedCommand:
    """The command that starts `spec`.

    Args:
        spec: the server.
        search: where to look.
        override: the user's settings for it.
        root: the workspace root, whose own environment is used where it is trusted.

    Raises:
        ServerNotFoundError: there is none, or a program that it needs is missing; the text says how to get it.
    """
    needs = _find_needs(spec, search)
    if override.command is not None:
        configured = _configured(spec, override.command, search)
        return replace(configured, needs=(*needs, *_find_node(spec, Path(configured.argv[0]), search)))
    program, arguments = spec.command[0], spec.command[1:]
    for path, source in _places(spec, program, search, root):
        return ResolvedCommand((str(path), *arguments), source, (*needs, *_find_node(spec, path, search)))
    raise ServerNotFoundError(f"{spec.title} ({program}) is not installed on this machine; {install_advice(spec)}")


def missing_needs(spec: ServerSpec, search: CommandSearch) -> tuple[str, ...]:
    """The programs beside `spec` without which it finds nothing, as far as they are not on this machine."""
    return tuple(need for need in spec.needs if next(_places(spec, need, search, None), None) is None)


def _find_needs(spec: ServerSpec, search: CommandSearch) -> tuple[Path, ...]:
    found = {need: next(_places(spec, need, search, None), None) for need in spec.needs}
    for need, place in found.items():
        if place is None:
            raise ServerNotFoundError(
                f"{spec.title} finds nothing without `{need}`, which is not on this machine; "
                f"{spec.install.hint or f'put `{need}` on PATH'}"
            )
    return tuple(place[0] for place in found.values() if place is not None)


def _find_node(spec: ServerSpec, path: Path, search: CommandSearch) -> tuple[Path, ...]:
    """The Node.js for a program that is a script of it; empty for any other program."""
    try:
        first_line = next(iter(read_regular_file(path, 200).splitlines()), b"")
    except OSError:
        return ()
    if not first_line.startswith(b"#!") or b"node" not in first_line.rsplit(b"/", 1)[-1]:
        return ()
    installed = (read_installed(servers_folder(folder), NODE_ID) for folder in search.data_folders)
    folders = [*search.safe_path, *(str(one.folder / _BIN) for one in installed if one is not None)]
    found = next((node for folder in folders if (node := _executable(Path(folder) / "node")) is not None), None)
    if found is None:
        raise ServerNotFoundError(
            f"{spec.title} needs Node.js, which is not on this machine; install Node.js, or {install_advice(spec)}"
        )
    return (found,)


def install_advice(spec: ServerSpec) -> str:
    """How to get a server, as the end of a sentence."""
    if spec.install.pypi or spec.install.npm:
        return f"`jupyter lsp-agent install {spec.server_id}` installs it"
    hint = spec.install.hint or f"put `{spec.command[0]}` on PATH"
    return f"{hint}, or name its command in `server_settings`"


def _configured(spec: ServerSpec, command: tuple[str, ...], search: CommandSearch) -> ResolvedCommand:
    program = command[0]
    found = _executable(Path(program).expanduser()) if os.sep in program else _on_path(program, search)
    if found is None or not found.is_absolute():
        raise ServerNotFoundError(
            f"{spec.title}: the configured command {program!r} is no program on this machine; "
            f"correct `server_settings` for {spec.server_id!r} (an absolute path, or a name on PATH)"
        )
    return ResolvedCommand((str(found), *command[1:]), CommandSource.CONFIGURATION)


def _places(
    spec: ServerSpec, program: str, search: CommandSearch, root: Path | None
) -> Iterator[tuple[Path, CommandSource]]:
    for folder in search.data_folders:
        installed = read_installed(servers_folder(folder), spec.server_id)
        if installed is not None:
            yield from _found(program, program_folders(installed.folder, spec.install), CommandSource.INSTALLED)
    if root is not None and search.is_trusted(root):
        folders = (root / ".venv" / _BIN, root / "node_modules" / ".bin")
        yield from _found(program, folders, CommandSource.WORKSPACE)
    yield from _found(program, search.own_scripts, CommandSource.OWN_ENVIRONMENT)
    if (path := _on_path(program, search)) is not None:
        yield path, CommandSource.PATH


def _found(program: str, folders: Iterable[Path], source: CommandSource) -> Iterator[tuple[Path, CommandSource]]:
    for folder in folders:
        if (path := _executable(folder / program)) is not None:
            yield path, source


def _executable(path: Path) -> Path | None:
    found = shutil.which(str(path))
    return Path(found) if found else None


def _on_path(program: str, search: CommandSearch) -> Path | None:
    for entry in search.safe_path:
        path = _executable(Path(entry) / program)
        if path is not None and not _is_empty_proxy(path, program, search.environ):
            return path
    return None


def _may_choose(entry: str, search: CommandSearch) -> bool:
    folder = Path(entry)
    if not entry or not folder.is_absolute():
        return False
    return search.is_trusted(folder) or not any(is_inside(folder, guarded) for guarded in search.workspace)


def _is_empty_proxy(path: Path, program: str, environ: Mapping[str, str]) -> bool:
    """Whether `path` is a proxy of rustup for a component that no toolchain has: it would only print an error."""
    if program == "rustup" or Path(os.path.realpath(path)).name != "rustup":
        return False
    home = Path(environ.get("RUSTUP_HOME") or Path.home() / ".rustup")
    return not any(home.glob(f"toolchains/*/bin/{program}"))


def _own_scripts() -> Iterator[Path]:
    """The script folders of our environment, those beside a `--prefix`, `--user` or `--target` install among them."""
    yield Path(sysconfig.get_path("scripts"))
    # A wrapper may have set another prefix than the interpreter's own.
    yield Path(sys.executable).parent
    yield Path(sysconfig.get_path("scripts", vars={"base": sys.base_prefix}))
    yield Path(sysconfig.get_path("scripts", sysconfig.get_preferred_scheme("user")))
    for package_folder in (Path(__file__).parents[2], *_package_folders()):
        yield package_folder / _BIN
        if package_folder.name in _PACKAGE_FOLDER_NAMES:
            yield package_folder.parents[1 if os.name == "nt" else 2] / _BIN


def _package_folders() -> Iterator[Path]:
    return (
        Path(entry) for entry in sys.path if Path(entry).is_absolute() and Path(entry).name in _PACKAGE_FOLDER_NAMES
    )


def _is_wide(folder: Path) -> bool:
    return Path.home().is_relative_to(folder)
