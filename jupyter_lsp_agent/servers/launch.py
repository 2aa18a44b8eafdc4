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
from jupyter_lsp_agent.servers.spec import InterpreterHandover, ServerOverride, ServerSpec
from jupyter_lsp_agent.servers.templates import fill, fill_lines, merge, template_variables

_NO_OVERRIDE = ServerOverride()
_NO_HANDOVER = InterpreterHandover(environment=False)
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
        SpawnFailedError: a configuration file of ours, that it needs, cannot be written.
    """
    is_trusted = search.is_trusted(root)
    if spec.runs_workspace_programs and not is_trusted:
        raise UntrustedError(
            f"{spec.title} runs programs of its workspace, and {root} is not trusted; "
            f"`jupyter lsp-agent trust {root}` trusts it"
        )
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
    launch = ServerLaunch(
        server_id=spec.server_id,
        command=LaunchCommand((command.argv[0], *arguments), root, environment),
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
        raise SpawnFailedError(
            f"{path} cannot be written ({error.strerror}), which is needed to check a folder that is not trusted; "
            "make it writable, or set JUPYTER_DATA_DIR"
        ) from error
    return path
