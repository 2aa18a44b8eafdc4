"""Modules that a kernel loads and that no server, or not every one, can look into.

Compiled modules without a stub, modules that only were compiled (`.pyc`), texts that are not UTF-8 (some servers read
nothing else), and modules that take all names of such a one in (`from ._native import *`). Some servers call imports
of them unresolved, and all of them the names that come through a star. Everything here is read, and nothing is run.
"""

import re
import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path

from jupyter_lsp_agent.core.files import is_folder, read_regular_file
from jupyter_lsp_agent.servers.interpreters import Interpreter

_COMPILED = re.compile(r"(?:\.(?:cpython-|cp)(\d)(\d+)[\w-]*|\.abi3)?\.(?:so|pyd)|\.pyc")
_STAR_IMPORT = re.compile(r"^[ \t]*from[ \t]+(\.*)([\w.]*)[ \t]+import[ \t]*\(?[ \t]*\*", re.MULTILINE)
_MAX_TEXT_BYTES = 1024 * 1024
_MAX_STARS = 5
"""How many star imports are followed one after the other."""


def opaque_modules(paths: Iterable[str], folder: Path, interpreter: Interpreter) -> frozenset[str]:
    """Those of `paths` that no server can look into.

    Args:
        paths: dotted names of what is imported.
        folder: of the notebook.
        interpreter: whose packages a kernel looks into, and whose version compiled modules must be for.
    """
    modules = _Modules((folder, *interpreter.search_paths), interpreter.version)
    asked = (path for path in paths if path.partition(".")[0] not in sys.stdlib_module_names)
    return frozenset(path for path in asked if modules.is_opaque(path))


class _Modules:
    """What lies in the folders that a kernel looks into; each is read once."""

    def __init__(self, folders: Sequence[Path], version: tuple[int, int] | None) -> None:
        self._folders = folders
        self._version = version
        self._names: dict[Path, frozenset[str]] = {}

    def is_opaque(self, path: str, n_stars: int = 0) -> bool:
        """Whether the first folder that has the module has no text of it, or one that takes in all names of such."""
        top, _, _ = path.partition(".")
        *packages, name = path.split(".")
        if any(f"{top}-stubs" in self._names_in(folder) for folder in self._folders):
            return False
        for folder in (folder.joinpath(*packages) for folder in self._folders):
            names = self._names_in(folder)
            if name in names and is_folder(folder / name):
                return self._is_opaque_package(path, folder / name, n_stars)
            if f"{name}.pyi" in names:
                return False
            if f"{name}.py" in names:
                return self._hides_names(folder / f"{name}.py", packages, n_stars)
            if any(one.startswith(f"{name}.") and self._fits(one[len(name) :]) for one in names):
                return True
        return False

    def _is_opaque_package(self, path: str, folder: Path, n_stars: int) -> bool:
        names = self._names_in(folder)
        is_text = "__init__.py" in names and "__init__.pyi" not in names
        return is_text and self._hides_names(folder / "__init__.py", path.split("."), n_stars)

    def _hides_names(self, file: Path, package: Sequence[str], n_stars: int) -> bool:
        try:
            text = read_regular_file(file, _MAX_TEXT_BYTES).decode()
        except UnicodeDecodeError as error:
            return error.end < _MAX_TEXT_BYTES
        except OSError:
            return False
        return n_stars < _MAX_STARS and any(self.is_opaque(star, n_stars + 1) for star in _stars(text, package))

    def _fits(self, ending: str) -> bool:
        """Whether the kernel's Python loads a module whose file has that ending."""
        found = _COMPILED.fullmatch(ending)
        is_any = found is None or not found[1] or self._version is None
        return found is not None and (is_any or (int(found[1]), int(found[2])) == self._version)

    def _names_in(self, folder: Path) -> frozenset[str]:
        if folder not in self._names:
            try:
                self._names[folder] = frozenset(entry.name for entry in folder.iterdir())
            except OSError:
                self._names[folder] = frozenset()
        return self._names[folder]


def _stars(text: str, package: Sequence[str]) -> Iterator[str]:
    """Dotted names of the modules of which a module in `package` takes in all names."""
    for dots, name in dict.fromkeys(_STAR_IMPORT.findall(text) if "*" in text else ()):
        above = package[: len(package) - len(dots) + 1] if dots else ()
        yield ".".join((*above, *filter(None, name.split("."))))
