"""A Python environment, found by reading it: nothing of it is run.

An environment is described by its folder (`prefix`), its interpreter and its `site-packages`. A virtual environment
says the rest in `pyvenv.cfg` (PEP 405), a conda environment in `conda-meta`, any other by its folders' names.
"""

import os
import re
import site
import sys
import sysconfig
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from jupyter_lsp_agent.core.files import read_regular_text
from jupyter_lsp_agent.servers.roots import resolved

_VERSION = re.compile(r"(\d+)\.(\d+)")
_VERSION_FOLDER = re.compile(r"python(\d+)\.(\d+)t?$")
_BIN = "Scripts" if os.name == "nt" else "bin"
_PROGRAMS = ("python.exe",) if os.name == "nt" else ("python", "python3")


@dataclass(frozen=True, slots=True)
class PythonEnvironment:
    """What an environment's files say of it; `None` where they do not."""

    prefix: Path
    python: Path | None
    site_packages: tuple[Path, ...]
    version: tuple[int, int] | None


def is_environment(folder: Path) -> bool:
    """Whether `folder` is a virtual environment (PEP 405) or a conda environment."""
    return (folder / "pyvenv.cfg").is_file() or (folder / "conda-meta").is_dir()


def read_environment(prefix: Path, python: Path | None = None) -> PythonEnvironment:
    """The environment at `prefix`; `python` is its interpreter where that is already known."""
    config = _read_pyvenv_config(prefix)
    python = python or find_python(prefix)
    version = _version_of(prefix, python, config)
    folders = list(_site_packages(prefix, version))
    if config.get("include-system-site-packages", "").lower() == "true" and "home" in config:
        folders += _site_packages(_prefix_of_bin(Path(config["home"])), version)
    return PythonEnvironment(prefix, python, tuple(dict.fromkeys(folders)), version)


def read_own_environment() -> PythonEnvironment:
    """The environment of the Python that runs this."""
    folders = [sysconfig.get_path("purelib"), sysconfig.get_path("platlib"), *site.getsitepackages()]
    if site.ENABLE_USER_SITE:
        folders.append(site.getusersitepackages())
    existing = tuple(dict.fromkeys(Path(folder) for folder in folders if Path(folder).is_dir()))
    return PythonEnvironment(Path(sys.prefix), Path(sys.executable), existing, sys.version_info[:2])


def prefix_of(python: Path) -> Path:
    """The environment's folder that an interpreter belongs to.

    The interpreter's own place counts and not what it links to: every virtual environment links to the same base.
    """
    prefix = _prefix_of_bin(python.parent)
    if is_environment(prefix) or not python.is_symlink():
        return prefix
    # `~/bin/python` that links into an environment: the nearest link that lies in one.
    target = Path(os.path.normpath(python.parent / python.readlink()))
    return prefix_of(target) if target != python and is_environment(_prefix_of_bin(target.parent)) else prefix


def find_python(prefix: Path) -> Path | None:
    """The interpreter of an environment; `None` where it has none (a project may hold a broken one)."""
    folders = (prefix / _BIN, prefix) if os.name == "nt" else (prefix / _BIN,)
    programs = (folder / program for folder in folders for program in _PROGRAMS)
    return next((program for program in programs if program.is_file()), None)


def search_paths(site_packages: Iterable[Path]) -> tuple[Path, ...]:
    """`site_packages` and the folders that their `.pth` files add (editable installs); their code lines are not run."""
    paths: dict[Path, None] = {}
    for folder in site_packages:
        paths[folder] = None
        paths.update(dict.fromkeys(_pth_folders(folder)))
    return tuple(paths)


def _pth_folders(folder: Path) -> Iterator[Path]:
    for file in sorted(folder.glob("*.pth")):
        for line in _read_text(file).splitlines():
            entry = line.strip()
            if entry and not entry.startswith(("#", "import ", "import\t")) and (folder / entry).is_dir():
                yield Path(os.path.normpath(folder / entry))


def _read_pyvenv_config(prefix: Path) -> Mapping[str, str]:
    pairs = (line.partition("=") for line in _read_text(prefix / "pyvenv.cfg").splitlines())
    return {key.strip().lower(): value.strip() for key, equals, value in pairs if equals}


def _version_of(prefix: Path, python: Path | None, config: Mapping[str, str]) -> tuple[int, int] | None:
    said = config.get("version") or config.get("version_info") or ""
    if match := _VERSION.match(said):
        return int(match[1]), int(match[2])
    return _version_of_conda(prefix) or _version_in_name(python) or _version_of_only_folder(prefix)


def _version_of_conda(prefix: Path) -> tuple[int, int] | None:
    for record in prefix.glob("conda-meta/python-[0-9]*.json"):
        if match := re.match(r"python-(\d+)\.(\d+)", record.name):
            return int(match[1]), int(match[2])
    return None


def _version_in_name(python: Path | None) -> tuple[int, int] | None:
    if python is None:
        return None
    for name in (python.name, resolved(python).name):
        if match := _VERSION_FOLDER.search(name.removesuffix(".exe")):
            return int(match[1]), int(match[2])
    return None


def _version_of_only_folder(prefix: Path) -> tuple[int, int] | None:
    matches = [_VERSION_FOLDER.match(folder.name) for folder in prefix.glob("lib/python*")]
    versions = {(int(match[1]), int(match[2])) for match in matches if match}
    return versions.pop() if len(versions) == 1 else None


def _site_packages(prefix: Path, version: tuple[int, int] | None) -> Iterator[Path]:
    if os.name == "nt":
        folders = [prefix / "Lib" / "site-packages"]
    else:
        name = f"python{version[0]}.{version[1]}" if version else "python3*"
        patterns = [f"{lib}/{name}{suffix}/site-packages" for lib in ("lib", "lib64") for suffix in ("", "t")]
        folders = [folder for pattern in patterns for folder in sorted(prefix.glob(pattern))]
        folders += _debian_packages(prefix, name)
    # `lib64` is usually a link to `lib`; the same folder twice helps nobody.
    kinds = {resolved(folder): folder for folder in reversed(folders) if folder.is_dir()}
    yield from reversed(kinds.values())


def _debian_packages(prefix: Path, version_folder: str) -> list[Path]:
    if is_environment(prefix):
        return []
    local = prefix / "local" / "lib" / version_folder / "dist-packages"
    return [local, prefix / "lib" / "python3" / "dist-packages"]


def _prefix_of_bin(folder: Path) -> Path:
    return folder.parent if folder.name.lower() in {"bin", "scripts"} else folder


def _read_text(file: Path) -> str:
    try:
        return read_regular_text(file, errors="replace")
    except OSError:
        return ""
