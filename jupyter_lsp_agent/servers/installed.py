"""What `install` has put into our own folders, read: which folder of a server is whole.

    servers/<id>/installed.json     names the folder that counts, and the recipe that filled it
    servers/<id>/<folder>/          a virtual environment, or a folder with `node_modules`

The record is written last and in one step, so half an install never counts as one.
"""

import json
import os
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


def program_folders(folder: Path, recipe: InstallRecipe) -> tuple[Path, ...]:
    """Where the programs of an install lie."""
    own = tuple(folder.glob(recipe.program_folder)) if recipe.program_folder else ()
    return (folder / ("Scripts" if os.name == "nt" else "bin"), folder / "node_modules" / ".bin", *own)


def _from_record(server_id: str, home: Path, record: Mapping[str, Any]) -> InstalledServer | None:
    name, requirements = record.get("folder"), record.get("requirements")
    if not isinstance(name, str) or "/" in name or not (home / name).is_dir():
        return None
    texts = tuple(one for one in requirements if isinstance(one, str)) if isinstance(requirements, list) else ()
    return InstalledServer(server_id, home / name, texts)
