"""Folders that a user has said to trust (`jupyter lsp-agent trust PATH`), beside those of the setting `trusted_roots`.

They are kept in our own data folder, where no workspace can write. Trust is for a folder and all that lies below it.
"""

import json
import os
from collections.abc import Iterable
from pathlib import Path

from jupyter_lsp_agent.core.errors import SettingsError
from jupyter_lsp_agent.core.files import read_regular_text
from jupyter_lsp_agent.servers.installed import OWN_FOLDER


def trust_file() -> Path:
    """Where the trusted folders are kept."""
    from jupyter_core.paths import jupyter_data_dir

    return Path(jupyter_data_dir()) / OWN_FOLDER / "trusted_roots.json"


def read_trusted_roots(file: Path | None = None) -> tuple[Path, ...]:
    """The folders that are trusted; none where the file is not there or holds something else."""
    try:
        folders = json.loads(read_regular_text(file or trust_file()))
    except (OSError, ValueError):
        return ()
    texts = [one for one in folders if isinstance(one, str)] if isinstance(folders, list) else []
    return tuple(Path(one) for one in texts if Path(one).is_absolute())


def trust(folder: Path, file: Path | None = None) -> Path:
    """Trust a folder from now on; its absolute path.

    Raises:
        SettingsError: there is no such folder, or it is the home folder or above it, or it cannot be noted down.
    """
    path = Path(os.path.realpath(folder))
    if not path.is_dir():
        raise SettingsError(f"{folder} is no folder; name the folder whose programs may be run")
    if Path.home().resolve().is_relative_to(path):
        raise SettingsError(f"{path} holds the home folder, and so everything; name the folder of a project")
    _write({*read_trusted_roots(file), path}, file or trust_file())
    return path


def distrust(folder: Path, file: Path | None = None) -> bool:
    """Trust a folder no longer; false where it was not trusted."""
    path = Path(os.path.realpath(folder))
    before = read_trusted_roots(file)
    if path not in before:
        return False
    _write((one for one in before if one != path), file or trust_file())
    return True


def _write(folders: Iterable[Path], file: Path) -> None:
    text = json.dumps(sorted(map(str, folders)), indent=1, ensure_ascii=True) + "\n"
    unfinished = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        unfinished.write_text(text, encoding="utf-8")
        unfinished.replace(file)
    except OSError as error:
        raise SettingsError(f"{file} cannot be written: {error.strerror}") from error
