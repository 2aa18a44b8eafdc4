"""From a server of the catalogue to what is needed to start and greet it: templates filled, environment built.

A server never gets an environment in which the workspace could choose its programs: `PATH` is the safe part of ours,
with the interpreter's own folder before it where that interpreter may be run.
"""

import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from jupyter_lsp_agent.core.launch import LaunchCommand, ServerLaunch
from jupyter_lsp_agent.core.uris import uri_from_path
from jupyter_lsp_agent.servers.commands import OWN_FOLDER, CommandSearch, ResolvedCommand
from jupyter_lsp_agent.servers.interpreters import Interpreter
from jupyter_lsp_agent.servers.spec import InterpreterHandover, ServerOverride, ServerSpec

_VARIABLE = re.compile(r"\{([a-z_]+)\}")
_NO_OVERRIDE = ServerOverride()
_INTERPRETER_VARIABLES = ("VIRTUAL_ENV", "VIRTUAL_ENV_PROMPT", "CONDA_PREFIX", "CONDA_DEFAULT_ENV", "PYTHONHOME")

Variables = Mapping[str, str | list[str] | None]
"""What templates may name, and its value; `None` where it is not known."""


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
    """
    variables = template_variables(root, search, interpreter)
    handover = _handover(spec, interpreter)
    options = merge(spec.initialization_options, handover.initialization_options)
    settings = merge(spec.settings, handover.settings)
    launch = ServerLaunch(
        server_id=spec.server_id,
        command=_launch_command(spec, command, root, search, interpreter),
        root_uri=uri_from_path(root),
        initialization_options=merge(fill(options, variables), override.initialization_options) or None,
        settings=merge(fill(settings, variables), override.settings),
        behaviour=spec.behaviour,
    )
    environment = {**launch.command.environment, **fill(spec.environment, variables), **override.environment}
    return replace(launch, command=replace(launch.command, environment=environment))


def template_variables(root: Path, search: CommandSearch, interpreter: Interpreter | None) -> Variables:
    """The values of the variables that templates may name."""
    data_folder = search.data_folders[0] / OWN_FOLDER if search.data_folders else None
    variables: dict[str, str | list[str] | None] = {
        "root": str(root),
        "data_dir": str(data_folder) if data_folder else None,
        "python": None,
        "prefix": None,
        "site_packages": None,
        "search_paths": None,
        "python_version": None,
    }
    if interpreter is not None:
        variables["python"] = str(interpreter.python) if interpreter.python else None
        variables["prefix"] = str(interpreter.prefix)
        variables["site_packages"] = [str(folder) for folder in interpreter.site_packages]
        variables["search_paths"] = [str(folder) for folder in interpreter.search_paths]
        variables["python_version"] = ".".join(map(str, interpreter.version)) if interpreter.version else None
    return variables


def merge(below: Mapping[str, Any], above: Mapping[str, Any]) -> dict[str, Any]:
    """`above` laid over `below`, table by table; anything but a table is replaced whole."""
    merged = dict(below)
    for key, value in above.items():
        old = merged.get(key)
        merged[key] = merge(old, value) if isinstance(old, Mapping) and isinstance(value, Mapping) else value
    return merged


def fill(template: Any, variables: Variables) -> Any:
    """`template` with its variables filled in; whatever names one that is not known is left out.

    A text that is nothing but a variable becomes its value, a list too.
    """
    if isinstance(template, Mapping):
        return {key: fill(value, variables) for key, value in template.items() if _is_known(value, variables)}
    if isinstance(template, list | tuple):
        return [fill(value, variables) for value in template if _is_known(value, variables)]
    if isinstance(template, str):
        return _fill_text(template, variables)
    return template


def _fill_text(template: str, variables: Variables) -> str | list[str] | None:
    whole = _VARIABLE.fullmatch(template)
    if whole:
        return variables[whole[1]]
    return _VARIABLE.sub(lambda match: str(variables[match[1]]), template)


def _is_known(template: Any, variables: Variables) -> bool:
    names = _VARIABLE.findall(template) if isinstance(template, str) else []
    return all(variables[name] is not None for name in names)


def _handover(spec: ServerSpec, interpreter: Interpreter | None) -> InterpreterHandover:
    """How this server is told of this interpreter: `settings` and `initialization_options` of the result apply."""
    handover = spec.interpreter
    if handover is None or interpreter is None:
        return InterpreterHandover(environment=False)
    if interpreter.may_run or not handover.runs:
        return handover
    return replace(
        handover,
        environment=False,
        settings=handover.read_only_settings,
        initialization_options=handover.read_only_initialization_options,
    )


def _launch_command(
    spec: ServerSpec,
    command: ResolvedCommand,
    root: Path,
    search: CommandSearch,
    interpreter: Interpreter | None,
) -> LaunchCommand:
    variables = template_variables(root, search, interpreter)
    arguments = fill(list(command.argv[1:]), variables)
    environment = _environment(search, interpreter if _handover(spec, interpreter).environment else None)
    return LaunchCommand((command.argv[0], *arguments), root, environment)


def _environment(search: CommandSearch, interpreter: Interpreter | None) -> dict[str, str]:
    environment = {key: value for key, value in search.environ.items() if key not in _INTERPRETER_VARIABLES}
    path = list(search.safe_path())
    if interpreter is not None:
        if (interpreter.prefix / "pyvenv.cfg").is_file():
            environment["VIRTUAL_ENV"] = str(interpreter.prefix)
        if interpreter.may_run and interpreter.python is not None:
            path.insert(0, str(interpreter.python.parent))
    environment["PATH"] = os.pathsep.join(dict.fromkeys(path))
    return environment
