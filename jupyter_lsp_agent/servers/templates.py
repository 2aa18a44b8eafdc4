"""The templates of the catalogue: their variables, and filling them in.

| variable | value |
|---|---|
| `{root}`, `{root_files}` | the workspace root; a glob for all files below it |
| `{data_dir}` | our own data folder |
| `{node_modules}` | the folder of packages that the server's program lies in |
| `{config_file}` | the configuration file that was written for this server |
| `{python}`, `{prefix}` | the interpreter, its environment's folder |
| `{site_packages}`, `{search_paths}` | its package folders; with those that `.pth` files add (lists) |
| `{extra_paths}` | folders that come before the workspace's own when a module is looked for (list) |
| `{extra_path_list}` | these as one text, as `PATH` is written; not known where there are none |
| `{first_party}` | these, the root, and `src` in it (list) |
| `{all_paths}` | `{extra_paths}` and `{search_paths}` (list) |
| `{python_version}` | such as `3.12` |
| `{stand_in_python}` | a Python of that version which is no part of the workspace, else a path where there is none |
"""

import glob
import json
import os
import re
import shutil
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from jupyter_lsp_agent.servers.commands import CommandSearch
from jupyter_lsp_agent.servers.interpreters import Interpreter

_VARIABLE = re.compile(r"\{([a-z_]+)\}")

_INTERPRETER_NAMES = (
    *(
        "python",
        "prefix",
        "site_packages",
        "search_paths",
        "extra_paths",
        "extra_path_list",
        "first_party",
        "all_paths",
    ),
    *("python_version", "stand_in_python"),
)

Variables = Mapping[str, str | list[str] | None]
"""What templates may name, and its value; `None` where it is not known."""


def template_variables(root: Path, search: CommandSearch, interpreter: Interpreter | None) -> dict[str, Any]:
    """The values of the variables that templates may name; those of the interpreter are `None` without one."""
    variables: dict[str, Any] = {
        "root": str(root),
        "root_files": f"{glob.escape(str(root))}/**/*",
        "data_dir": str(search.own_data) if search.own_data else None,
        "config_file": None,
        "node_modules": None,
    }
    return variables | _interpreter_variables(root, search, interpreter)


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


def fill_lines(template: str, variables: Variables) -> str:
    """A configuration file's text: each variable as JSON, which TOML reads alike for strings and lists of strings."""
    lines = [line for line in template.splitlines(keepends=True) if _is_known(line, variables)]
    return _VARIABLE.sub(lambda match: json.dumps(variables[match[1]], ensure_ascii=False), "".join(lines))


def _fill_text(template: str, variables: Variables) -> str | list[str] | None:
    whole = _VARIABLE.fullmatch(template)
    if whole:
        return variables[whole[1]]
    return _VARIABLE.sub(lambda match: str(variables[match[1]]), template)


def _is_known(template: Any, variables: Variables) -> bool:
    names = _VARIABLE.findall(template) if isinstance(template, str) else []
    return all(variables[name] is not None for name in names)


def _interpreter_variables(root: Path, search: CommandSearch, interpreter: Interpreter | None) -> dict[str, Any]:
    if interpreter is None:
        return dict.fromkeys(_INTERPRETER_NAMES)
    # A root that is named once more as an extra path is no longer searched as a root by some servers.
    extra = [str(folder) for folder in interpreter.extra_paths if folder not in {root, root / "src"}]
    searched = [str(folder) for folder in interpreter.search_paths]
    return {
        "python": str(interpreter.python) if interpreter.python else None,
        "prefix": str(interpreter.prefix),
        "site_packages": [str(folder) for folder in interpreter.site_packages],
        "search_paths": searched,
        "extra_paths": extra,
        "extra_path_list": os.pathsep.join(extra) or None,
        "first_party": [*extra, str(root), str(root / "src")],
        "all_paths": [*extra, *searched],
        "python_version": ".".join(map(str, interpreter.version)) if interpreter.version else None,
        "stand_in_python": str(_stand_in_python(search, interpreter)),
    }


def _stand_in_python(search: CommandSearch, interpreter: Interpreter) -> Path:
    """What a server may run in place of an interpreter that it must not: it says the right version.

    Without one, a path where there is nothing: servers then ask no interpreter, and take the newest version.
    """
    nothing = (search.own_data or Path(sys.prefix)) / "no-interpreter"
    if interpreter.version is None:
        return nothing
    name = "python{}.{}".format(*interpreter.version)
    folders = [str(Path(sys.base_prefix) / "bin"), *search.safe_path]
    found = (shutil.which(str(Path(folder) / name)) for folder in folders)
    return next((Path(program) for program in found if program), nothing)
