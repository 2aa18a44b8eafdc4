"""What `install` has put into our own folders, read: which folder of a server is whole.

    servers/<id>/installed.json     names the folder that counts, and the recipe that filled it
    servers/<id>/<folder>/          a virtual environment, or a folder with `node_modules`
    servers/.<id>.lock              while it is being installed
    servers/.<id>.failed.json       why it could not be installed unasked

The record is written last and in one step, so half an install never counts as one.
"""

import contextlib
import json
import os
import sys
import time
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jupyter_lsp_agent.core.files import read_regular_text
from jupyter_lsp_agent.servers.spec import InstallRecipe

OWN_FOLDER = "jupyter-lsp-agent"
"""The name of our folder below a Jupyter data folder."""

NODE_ID = "nodejs"
"""The folder below `servers` that holds a Node.js, where the machine has none."""

RECORD_NAME = "installed.json"

FAILURE_SECONDS = 24 * 60 * 60.0
"""How long an install that failed unasked is not tried again unasked."""


@dataclass(frozen=True, slots=True)
class InstalledServer:
    """One whole install: its server, its folder, and the requirements that filled it."""

    server_id: str
    folder: Path
    requirements: tuple[str, ...]

    def is_of(self, recipe: InstallRecipe) -> bool:
        """Whether it was made by just this recipe."""
        return self.requirements == requirements_of(recipe)


def requirements_of(recipe: InstallRecipe) -> tuple[str, ...]:
    """What a recipe installs, with the registry that it comes from."""
    return (*(f"pypi:{one}" for one in recipe.pypi), *(f"npm:{one}" for one in recipe.npm))


def servers_folder(data_folder: Path) -> Path:
    """Where servers lie below a Jupyter data folder."""
    return data_folder / OWN_FOLDER / "servers"


def own_servers_folder(*, sys_prefix: bool = False) -> Path:
    """Where servers are installed: for the user, or with `sys_prefix` for all users of the environment we run in."""
    from jupyter_core.paths import jupyter_data_dir

    return servers_folder(Path(sys.prefix) / "share" / "jupyter" if sys_prefix else Path(jupyter_data_dir()))


def read_installed(servers: Path, server_id: str) -> InstalledServer | None:
    """The whole install of a server below the folder `servers`; `None` where there is none."""
    home = servers / server_id
    try:
        record = json.loads(read_regular_text(home / RECORD_NAME))
    except (OSError, ValueError):
        return None
    return _from_record(server_id, home, record) if isinstance(record, Mapping) else None


def read_all_installed(servers: Path) -> tuple[InstalledServer, ...]:
    """Every whole install below the folder `servers`, by id."""
    try:
        names = sorted(entry.name for entry in servers.iterdir() if entry.is_dir())
    except OSError:
        return ()
    return tuple(found for name in names if (found := read_installed(servers, name)) is not None)


def write_record(home: Path, folder: str, recipe: InstallRecipe) -> None:
    """Have `folder` of the server's `home` count from now on."""
    record = {"folder": folder, "requirements": requirements_of(recipe)}
    unfinished = home / f".{RECORD_NAME}.{os.getpid()}"
    unfinished.write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")
    unfinished.replace(home / RECORD_NAME)


def lock_file(servers: Path, server_id: str) -> Path:
    """What is locked while a server is being installed."""
    return servers / f".{server_id}.lock"


def write_failure(servers: Path, server_id: str, recipe: InstallRecipe, problem: str) -> None:
    """Remember that a recipe could not be carried out; where that cannot be written, it is forgotten with us."""
    record = {"requirements": requirements_of(recipe), "problem": problem}
    with contextlib.suppress(OSError):
        servers.mkdir(parents=True, exist_ok=True)
        _failure_file(servers, server_id).write_text(json.dumps(record, indent=1) + "\n", encoding="utf-8")


def read_failure(servers: Path, server_id: str, recipe: InstallRecipe) -> str | None:
    """Why just this recipe could not be carried out a short time ago; `None` where nothing of it is known."""
    path = _failure_file(servers, server_id)
    try:
        if time.time() - path.stat().st_mtime >= FAILURE_SECONDS:
            return None
        record = json.loads(read_regular_text(path))
    except (OSError, ValueError):
        return None
    if not isinstance(record, Mapping) or record.get("requirements") != list(requirements_of(recipe)):
        return None
    problem = record.get("problem")
    return problem if isinstance(problem, str) else None


def forget_failure(servers: Path, server_id: str) -> None:
    """It has been installed, or removed."""
    with contextlib.suppress(OSError):
        _failure_file(servers, server_id).unlink()


def program_folders(folder: Path, recipe: InstallRecipe) -> tuple[Path, ...]:
    """Where the programs of an install lie."""
    own = tuple(folder.glob(recipe.program_folder)) if recipe.program_folder else ()
    return (folder / ("Scripts" if os.name == "nt" else "bin"), folder / "node_modules" / ".bin", *own)


def _failure_file(servers: Path, server_id: str) -> Path:
    return servers / f".{server_id}.failed.json"


def _from_record(server_id: str, home: Path, record: Mapping[str, Any]) -> InstalledServer | None:
    name, requirements = record.get("folder"), record.get("requirements")
    if not isinstance(name, str) or "/" in name or not (home / name).is_dir():
        return None
    texts = tuple(one for one in requirements if isinstance(one, str)) if isinstance(requirements, list) else ()
    return InstalledServer(server_id, home / name, texts)
