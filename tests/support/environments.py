"""Python environments for tests: made by `venv` where the real thing matters, by hand where a trap is needed."""

import json
import sys
import venv
from pathlib import Path


def real_venv(folder: Path, *packages: str) -> Path:
    """A virtual environment of this Python, without pip, with empty `packages` in it."""
    venv.create(folder, with_pip=False, symlinks=True)
    for package in packages:
        add_package(folder, package)
    return folder


def add_package(prefix: Path, package: str, text: str = "value: int = 1\n") -> None:
    """Install a package of one module, as pip leaves it: the package and its `.dist-info`."""
    folder = site_packages(prefix) / package
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "__init__.py").write_text(text)
    (folder / "py.typed").touch()
    info = site_packages(prefix) / f"{package}-1.0.dist-info"
    info.mkdir(exist_ok=True)
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")


def site_packages(prefix: Path) -> Path:
    major, minor = sys.version_info[:2]
    return prefix / "lib" / f"python{major}.{minor}" / "site-packages"


def trap(prefix: Path, mark: Path) -> Path:
    """Replace the interpreters of an environment by ones that say in `mark` that they ran, and then do their work."""
    for name in ("python", "python3", f"python3.{sys.version_info.minor}"):
        program = prefix / "bin" / name
        if program.is_symlink() or program.exists():
            real = program.resolve()
            program.unlink()
            program.write_text(f'#!/bin/bash\necho "$0" >> "{mark}"\nexec -a "$0" "{real}" "$@"\n')
            program.chmod(0o755)
    return prefix


def kernelspec(folder: Path, name: str, *argv: str, language: str = "python") -> Path:
    """A kernelspec in `folder`, as jupyter_client lays it out; gives `folder` back."""
    (folder / name).mkdir(parents=True, exist_ok=True)
    spec = {"argv": [*argv, "-m", "ipykernel_launcher", "-f", "{connection_file}"], "display_name": name}
    (folder / name / "kernel.json").write_text(json.dumps({**spec, "language": language}))
    return folder
