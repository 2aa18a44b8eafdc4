"""Kernelspecs, read from their `kernel.json`: which program a kernel's name stands for on this machine.

jupyter_client could tell this too, at the price of importing it; the format is a small JSON file in known folders
(jupyter_client, "Kernel specs").
"""

import json
import os
import re
import shutil
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jupyter_lsp_agent.core.files import is_file, read_regular_text

_PYTHON_NAME = re.compile(r"python(\d+(\.\d+)?)?(\.exe)?$", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class KernelSpec:
    """One kernelspec: its name and folder, the program that it starts, the language that it names (may be empty)."""

    name: str
    folder: Path
    argv: tuple[str, ...]
    language: str

    def interpreter(self, search_path: str) -> Path | None:
        """The program whose environment the kernel's code runs in; `None` where it is not on this machine.

        A bare `python` is the Python that starts the kernel, as jupyter_client has it; wrappers before an interpreter
        (`env`, `conda run`) are passed over where the interpreter or the environment is named in full.
        """
        if not self.argv:
            return None
        program = self.argv[0].replace("{resource_dir}", str(self.folder))
        if program in _own_names():
            return Path(sys.executable)
        if not _PYTHON_NAME.match(Path(program).name) and (inner := self._wrapped()):
            return inner
        found = program if Path(program).is_absolute() else _which(program, search_path)
        return Path(found) if found and is_file(Path(found)) else None

    def names_program(self, program: Path) -> bool:
        """Whether it names `program` itself, or the environment of it, and `PATH` had no say."""
        first = self.argv[0].replace("{resource_dir}", str(self.folder))
        return first in _own_names() or Path(first).is_absolute() or program == self._wrapped()

    def _wrapped(self) -> Path | None:
        for index, argument in enumerate(self.argv[1:], start=1):
            if argument in {"-p", "--prefix"} and index + 1 < len(self.argv):
                return _python_below(Path(self.argv[index + 1]))
            if argument in {"-n", "--name"} and index + 1 < len(self.argv):
                return _python_below(_conda_root(Path(self.argv[0])) / "envs" / self.argv[index + 1])
            if Path(argument).is_absolute() and _PYTHON_NAME.match(Path(argument).name):
                return Path(argument) if is_file(Path(argument)) else None
        return None


def kernel_folders() -> tuple[Path, ...]:
    """Where kernelspecs lie, the first winning, as Jupyter has it."""
    from jupyter_core.paths import jupyter_path

    return tuple(Path(folder) for folder in jupyter_path("kernels"))


def find_kernelspec(name: str, folders: Sequence[Path]) -> KernelSpec | None:
    """The kernelspec of that name (upper and lower case are one); `None` where there is none that can be read."""
    for folder in folders:
        for entry in _entries(folder):
            if entry.lower() == name.lower() and (spec := _read(name, folder / entry)):
                return spec
    return None


def _read(name: str, folder: Path) -> KernelSpec | None:
    try:
        data = json.loads(read_regular_text(folder / "kernel.json"))
    except (OSError, ValueError):
        return None
    return _from_json(name, folder, data) if isinstance(data, Mapping) else None


def _from_json(name: str, folder: Path, data: Mapping[str, Any]) -> KernelSpec | None:
    argv, language = data.get("argv"), data.get("language", "")
    if not isinstance(argv, list) or not all(isinstance(item, str) for item in argv):
        return None
    return KernelSpec(name, folder, tuple(argv), language if isinstance(language, str) else "")


def _entries(folder: Path) -> list[str]:
    try:
        return sorted(entry.name for entry in folder.iterdir())
    except OSError:
        return []


def _which(program: str, search_path: str) -> str | None:
    """A bare name on `PATH`; a relative path means nothing where nobody knows where the kernel starts."""
    return None if os.path.dirname(program) else shutil.which(program, path=search_path)  # noqa: PTH120 - a text


def _own_names() -> set[str]:
    major, minor = sys.version_info[:2]
    return {"python", f"python{major}", f"python{major}.{minor}"}


def _conda_root(program: Path) -> Path:
    return program.parent.parent


def _python_below(prefix: Path) -> Path | None:
    from jupyter_lsp_agent.servers.environments import find_python

    return find_python(prefix)
