"""From a server of the catalogue to what is needed to start and greet it: templates filled, environment built.

A server never gets an environment in which the workspace could choose its programs: `PATH` is the safe part of ours,
with the interpreter's own folder before it where that interpreter may be run; `PYTHONPATH` is told as search paths and
not handed on, since a server that is written in Python would import from it. A server that would run an interpreter
which is only to be read, or that the workspace's files could make run something, gets its read-only form; one that
has no such form is refused.
"""

import hashlib
import os
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import Any

from jupyter_lsp_agent.core.errors import SpawnFailedError, UntrustedError
from jupyter_lsp_agent.core.files import read_regular_text
from jupyter_lsp_agent.core.launch import LaunchCommand, ServerLaunch
from jupyter_lsp_agent.core.uris import uri_from_path
from jupyter_lsp_agent.servers.commands import CommandSearch, ResolvedCommand
from jupyter_lsp_agent.servers.interpreters import Interpreter
from jupyter_lsp_agent.servers.roots import is_inside
from jupyter_lsp_agent.servers.spec import InterpreterHandover, ServerOverride, ServerSpec
from jupyter_lsp_agent.servers.templates import fill, fill_lines, merge, template_variables

_NO_OVERRIDE = ServerOverride()
_NO_HANDOVER = InterpreterHandover(environment=False)
_SHIMS = "shims"
"""The name of the folder in which version managers keep what stands for a program."""
_TOOL_VERSIONS = ".tool-versions"
_INTERPRETER_VARIABLES = frozenset(
    {"PYTHONPATH", "VIRTUAL_ENV", "VIRTUAL_ENV_PROMPT", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "PYTHONHOME"}
)


def build_launch(
    spec: ServerSpec,
    command: ResolvedCommand,
    root: Path,
    *,
    search: CommandSearch,
    interpreter: Interpreter | None = None,
    override: ServerOverride = _NO_OVERRIDE,
) -> ServerLaunch:
    """Everything that is needed to start and greet `spec` for `root`.

    Args:
        spec: the server.
        command: where it was found.
        root: its workspace folder.
        search: what the environment and the data folder are taken from.
        interpreter: the Python that it is told of.
        override: the user's settings for it; they are laid over all others.

    Raises:
        UntrustedError: it would run programs of a workspace that is not trusted.
        SpawnFailedError: a file or folder of ours, that it needs, cannot be written.
    """
    is_trusted = search.is_trusted(root)
    if spec.runs_workspace_programs and not is_trusted:
        raise UntrustedError(
            f"{spec.title} runs programs of its workspace, and {root} is not trusted; "
            f"`jupyter lsp-agent trust {root}` trusts it"
        )
    if not is_trusted:
        _refuse_redirection(spec, command, root, search)
    handover = _handover(spec, interpreter, root, is_trusted=is_trusted)
    variables = template_variables(root, search, interpreter)
    variables["node_modules"] = str(command.node_modules) if command.node_modules else None
    if handover.config_name:
        variables["config_file"] = str(_write_config_file(handover, variables, search))
    options = fill(merge(spec.initialization_options, handover.initialization_options), variables)
    environment = _environment(search, interpreter if handover.environment else None)
    environment["PATH"] = _with_needs(environment["PATH"], command)
    environment |= {**fill(spec.environment, variables), **override.environment}
    arguments = fill(list(command.argv[1:]), variables)
    private_folder = tuple(name for name in spec.private_folder if name not in override.environment)
    launch = ServerLaunch(
        server_id=spec.server_id,
        command=LaunchCommand(
            (command.argv[0], *arguments), _working_folder(spec, root, search), environment, private_folder
        ),
        root_uri=uri_from_path(root),
        initialization_options=merge(options, override.initialization_options) or None,
        settings=merge(fill(merge(spec.settings, handover.settings), variables), override.settings),
        behaviour=spec.behaviour,
    )
    seconds = spec.startup_timeout_seconds
    return replace(launch, initialize_timeout_seconds=seconds) if seconds else launch


def _handover(
    spec: ServerSpec, interpreter: Interpreter | None, root: Path, *, is_trusted: bool
) -> InterpreterHandover:
    """How this server is told of this interpreter: what applies is in `settings` and `initialization_options`."""
    handover = spec.interpreter
    if handover is None or interpreter is None:
        return _NO_HANDOVER
    may_run = interpreter.may_run or not handover.runs
    may_obey = not handover.workspace_config or (is_trusted and _is_configured(root, handover.workspace_config))
    if may_run and may_obey:
        return replace(handover, config_name="")
    return replace(
        handover,
        environment=False,
        settings=handover.read_only_settings,
        initialization_options=handover.read_only_initialization_options,
    )


def _refuse_redirection(spec: ServerSpec, command: ResolvedCommand, root: Path, search: CommandSearch) -> None:
    """Refuse a version manager's shim where the workspace tells it to run a program of its own (`path:` in asdf's and
    mise's `.tool-versions`); a shim looks into the folder that it runs in, and those above."""
    if not any(program.parent.name == _SHIMS for program in (Path(command.argv[0]), *command.needs)):
        return
    for folder in (root, *root.parents):
        is_the_users = not any(is_inside(folder, guarded) for guarded in search.workspace)
        if not is_the_users and _is_configured(folder, (f"{_TOOL_VERSIONS}:path:",)):
            raise UntrustedError(
                f"{spec.title} is started through a version manager, which {folder / _TOOL_VERSIONS} has run a program "
                f"of a folder that is not trusted; `jupyter lsp-agent trust {root}` trusts it"
            )


def _is_configured(root: Path, files: Iterable[str]) -> bool:
    for file in files:
        name, _, text = file.partition(":")
        try:
            if text in read_regular_text(root / name, errors="replace"):
                return True
        except OSError:
            continue
    return False


def _environment(search: CommandSearch, interpreter: Interpreter | None) -> dict[str, str]:
    environment = {key: value for key, value in search.environ.items() if key not in _INTERPRETER_VARIABLES}
    path = list(search.safe_path)
    if interpreter is not None:
        if (interpreter.prefix / "pyvenv.cfg").is_file():
            environment["VIRTUAL_ENV"] = str(interpreter.prefix)
        if interpreter.may_run and interpreter.python is not None:
            path.insert(0, str(interpreter.python.parent))
    environment["PATH"] = os.pathsep.join(dict.fromkeys(path))
    return environment


def _with_needs(path: str, command: ResolvedCommand) -> str:
    folders = dict.fromkeys((*filter(None, path.split(os.pathsep)), *(str(need.parent) for need in command.needs)))
    return os.pathsep.join(folders)


def _working_folder(spec: ServerSpec, root: Path, search: CommandSearch) -> Path:
    if not spec.runs_where_it_stands or search.is_trusted(root):
        return root
    folder = (search.own_data or Path.home()) / "nowhere"
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise _unwritable(folder, error) from error
    return folder


def _unwritable(path: Path, error: OSError) -> SpawnFailedError:
    return SpawnFailedError(
        f"{path} cannot be written ({error.strerror}), which is needed to check a folder that is not trusted; "
        "make it writable, or set JUPYTER_DATA_DIR"
    )


def _write_config_file(handover: InterpreterHandover, variables: dict[str, Any], search: CommandSearch) -> Path:
    """Write a configuration file of ours; its folder is named for its content, so that it never changes."""
    text = fill_lines(handover.config_text, variables).encode("utf-8", "surrogateescape")
    folder = (search.own_data or Path.home()) / "configurations" / hashlib.sha256(text).hexdigest()[:16]
    path = folder / handover.config_name
    try:
        if not path.is_file():
            folder.mkdir(parents=True, exist_ok=True)
            unfinished = folder / f".{handover.config_name}.{os.getpid()}"
            unfinished.write_bytes(text)
            unfinished.replace(path)
    except OSError as error:
        raise _unwritable(path, error) from error
    return path
