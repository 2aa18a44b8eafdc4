"""Which Python a document means, and why.

The order: the one that was named; the notebook's kernel, unless it is the very Python that we run in; the project's own
environment; that kernel; the activated one; ours. A kernelspec of our own Python comes with ipykernel, under the name
that nearly every notebook has: it says where Jupyter is, not what the project is. All is found by reading files alone,
since a project's environment may hold anything (`environments`, `kernelspecs`).
"""

import os
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

from jupyter_lsp_agent.core.errors import SettingsError
from jupyter_lsp_agent.servers.environments import (
    PythonEnvironment,
    is_environment,
    prefix_of,
    read_environment,
    read_own_environment,
    search_paths,
)
from jupyter_lsp_agent.servers.kernelspecs import find_kernelspec, kernel_folders
from jupyter_lsp_agent.servers.roots import folders_between, is_inside

OWN = "own"
"""`Interpreter.origin` where nothing says which Python is meant."""
_PROJECT_ENVIRONMENTS = (".venv", "venv")
_PYTHONS = ("python3", "python")
_IN_A_HOOK = "PRE_COMMIT"
"""Set by pre-commit, which puts the environment that it made for a hook, and nothing of the project is in, before the
user's own: in `VIRTUAL_ENV` and on `PATH`."""
_COMMON_KERNEL_NAMES = frozenset({"", "python", "python3"})
"""Names that say no more than "some Python": without a kernelspec of that name, the list goes on."""


@dataclass(frozen=True, slots=True)
class Interpreter:
    """A Python environment, and how it was chosen.

    Attributes:
        python: its program; `None` where it has none on this machine.
        prefix: the environment's folder.
        site_packages: its package folders, existing ones only.
        version: major and minor, `None` where its files do not say.
        origin: for people: `--python`, `kernelspec python3`, `.venv`, `VIRTUAL_ENV`, `CONDA_PREFIX`, `PATH`, `own`.
        may_run: whether servers may run it; else it is only read, because it lies in a folder that is not trusted.
        elsewhere: why the kernel's packages cannot be seen here, as a sentence's end; `None` where they can.
        extra_paths: folders that come before all others when a module is looked for.
    """

    python: Path | None
    prefix: Path
    site_packages: tuple[Path, ...]
    version: tuple[int, int] | None
    origin: str
    may_run: bool = True
    elsewhere: str | None = None
    extra_paths: tuple[Path, ...] = ()

    @property
    def key(self) -> str:
        """What tells one environment from another in a pool's key: all that servers are told of it."""
        version = ".".join(map(str, self.version)) if self.version else ""
        marks = [version, "" if self.may_run else "(read only)", *(f"+{path}" for path in self.extra_paths)]
        return " ".join((str(self.python or self.prefix), *filter(None, marks)))

    @property
    def search_paths(self) -> tuple[Path, ...]:
        """Its package folders and those that their `.pth` files add."""
        return search_paths(self.site_packages)


@dataclass(frozen=True, slots=True)
class Surroundings:
    """What an interpreter is looked for in; made once, so that the look-up itself reads no process state.

    Attributes:
        environ: environment variables.
        kernel_folders: where kernelspecs lie, the first winning.
        trusted_roots: folders whose programs may be run.
        own: the environment that we run in.
    """

    environ: Mapping[str, str]
    kernel_folders: Sequence[Path]
    trusted_roots: tuple[Path, ...] = ()
    own: PythonEnvironment = field(default_factory=read_own_environment)


def read_surroundings(trusted_roots: Iterable[Path] = ()) -> Surroundings:
    """The surroundings of this process."""
    return Surroundings(dict(os.environ), kernel_folders(), tuple(trusted_roots))


def resolve_interpreter(
    folder: Path,
    boundary: Path,
    *,
    surroundings: Surroundings,
    kernel_name: str | None = None,
    named: Path | None = None,
    is_notebook: bool = False,
) -> Interpreter:
    """The Python that a document means.

    Args:
        folder: the document's folder.
        boundary: how far up a project's environment is looked for, and what counts as the workspace.
        surroundings: of this process.
        kernel_name: the notebook's `metadata.kernelspec.name`; `None` for a plain file or where it has none.
        named: an interpreter, or an environment's folder, in place of all others.
        is_notebook: its code runs in `folder`, so modules there are found by their bare names, even where `folder` is
            a package.

    Raises:
        SettingsError: `named` is neither.
    """
    if named is not None:
        found = _interpreter(_read_named(named), "--python")
    else:
        found = _choose(folder, boundary, surroundings, kernel_name)
    own_folder = (folder,) if is_notebook and (folder / "__init__.py").is_file() else ()
    return replace(found, extra_paths=(*own_folder, *_python_path(surroundings.environ)))


def _choose(folder: Path, boundary: Path, surroundings: Surroundings, kernel_name: str | None) -> Interpreter:
    kernel, elsewhere = _find_kernel(kernel_name or "", boundary, surroundings)
    if kernel is not None and not _is_own(kernel.prefix, surroundings):
        return kernel
    project = _find_project_environment(folder, boundary, surroundings)
    if project is None and kernel is not None:
        return kernel
    found = project or _find_active(boundary, surroundings) or _interpreter(surroundings.own, OWN)
    return _with_elsewhere(found, elsewhere)


def _python_path(environ: Mapping[str, str]) -> tuple[Path, ...]:
    """The entries of `PYTHONPATH` that mean the same wherever a kernel runs."""
    entries = (Path(entry) for entry in environ.get("PYTHONPATH", "").split(os.pathsep) if entry)
    return tuple(dict.fromkeys(entry for entry in entries if entry.is_absolute() and entry.is_dir()))


def _read_named(named: Path) -> PythonEnvironment:
    path = Path(os.path.abspath(named.expanduser()))  # noqa: PTH100 — a symlink names its own environment
    if path.is_file() and os.access(path, os.X_OK):
        return read_environment(prefix_of(path), path)
    environment = read_environment(path)
    if environment.python is None:
        raise SettingsError(f"{named}: there is no Python interpreter; name its program or its environment")
    return environment


def _find_kernel(name: str, boundary: Path, surroundings: Surroundings) -> tuple[Interpreter | None, str | None]:
    """The kernel's environment, or why its packages cannot be seen; neither where the name says nothing."""
    spec = find_kernelspec(name, surroundings.kernel_folders) if name else None
    if spec is None:
        known = name.lower() in _COMMON_KERNEL_NAMES
        return None, None if known else f"its kernel `{name}` is not installed on this machine"
    program = spec.interpreter(_absolute_entries(surroundings.environ.get("PATH", "")))
    if program is None:
        first = spec.argv[0] if spec.argv else "nothing"
        return None, f"its kernel `{name}` starts {first}, which is not on this machine"
    # One that the kernelspec names in full may run; one that `PATH` leads to may be the workspace's own.
    is_named = spec.names_program(program)
    may_run = is_named or not is_inside(program, boundary) or _is_trusted(program, surroundings)
    return _interpreter(_read_kernel(program, surroundings), f"kernelspec {spec.name}", may_run=may_run), None


def _absolute_entries(path: str) -> str:
    """`PATH` without what means another folder wherever one stands."""
    return os.pathsep.join(entry for entry in path.split(os.pathsep) if Path(entry).is_absolute())


def _is_trusted(path: Path, surroundings: Surroundings) -> bool:
    return any(is_inside(path, root) for root in surroundings.trusted_roots)


def _read_kernel(program: Path, surroundings: Surroundings) -> PythonEnvironment:
    if _is_our_program(program, surroundings):
        return surroundings.own
    is_python = program.name.lower().startswith("python")
    return read_environment(prefix_of(program), program if is_python else None)


def _is_our_program(program: Path, surroundings: Surroundings) -> bool:
    """Whether a program is the one that runs us, by whatever name: `bin/python` and `bin/python3` are one."""
    if program == Path(sys.executable):
        return True
    is_ours = program.resolve() == Path(sys.executable).resolve()
    return is_ours and prefix_of(program).resolve() == surroundings.own.prefix.resolve()


def _find_project_environment(folder: Path, boundary: Path, surroundings: Surroundings) -> Interpreter | None:
    for parent in folders_between(folder / "_", boundary):
        for name in _PROJECT_ENVIRONMENTS:
            prefix = parent / name
            if _is_own(prefix, surroundings) or is_environment(prefix):
                return _environment_at(prefix, name, surroundings, may_run=_is_trusted(parent, surroundings))
    return None


def _find_active(boundary: Path, surroundings: Surroundings) -> Interpreter | None:
    if surroundings.environ.get(_IN_A_HOOK):
        return _find_on_path(boundary, surroundings)
    for variable in ("VIRTUAL_ENV", "CONDA_PREFIX"):
        value = surroundings.environ.get(variable, "")
        prefix = Path(value)
        if value and prefix.is_absolute() and is_environment(prefix):
            may_run = _is_trusted(prefix, surroundings) or not is_inside(prefix, boundary)
            return _environment_at(prefix, variable, surroundings, may_run=may_run)
    return None


def _find_on_path(boundary: Path, surroundings: Surroundings) -> Interpreter | None:
    """What `python` means to somebody whose environment has another's before it."""
    for entry in _absolute_entries(surroundings.environ.get("PATH", "")).split(os.pathsep):
        program = next((path for name in _PYTHONS if (path := Path(entry) / name).is_file()), None) if entry else None
        if program is not None and not _is_own(prefix_of(program), surroundings):
            may_run = _is_trusted(program, surroundings) or not is_inside(program, boundary)
            return _interpreter(read_environment(prefix_of(program), program), "PATH", may_run=may_run)
    return None


def _environment_at(prefix: Path, origin: str, surroundings: Surroundings, *, may_run: bool) -> Interpreter:
    """The environment of a folder. Where that is our own it is told as such, however it was found: it runs already."""
    if _is_own(prefix, surroundings):
        return _interpreter(surroundings.own, origin)
    return _interpreter(read_environment(prefix), origin, may_run=may_run)


def _is_own(prefix: Path, surroundings: Surroundings) -> bool:
    return prefix.resolve() == surroundings.own.prefix.resolve()


def _interpreter(environment: PythonEnvironment, origin: str, *, may_run: bool = True) -> Interpreter:
    return Interpreter(
        python=environment.python,
        prefix=environment.prefix,
        site_packages=environment.site_packages,
        version=environment.version,
        origin=origin,
        may_run=may_run,
    )


def _with_elsewhere(found: Interpreter, elsewhere: str | None) -> Interpreter:
    return replace(found, elsewhere=elsewhere) if elsewhere else found
