"""What the file system says about a notebook's names: modules that are only folders, files that `%run` takes in.

Servers take any folder with a module's name for a namespace package; a kernel finds it only where it looks, and what
is in it is mostly data. Everything here is read, nothing is run, and nothing outside the workspace is read for `%run`.
"""

import os
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path, PurePath

from jupyter_lsp_agent.core.files import is_file, is_folder, read_regular_file
from jupyter_lsp_agent.notebook.beside_modules import BesideModules
from jupyter_lsp_agent.notebook.python_syntax import is_name
from jupyter_lsp_agent.notebook.run_files import names_bound_by
from jupyter_lsp_agent.servers.interpreters import Interpreter
from jupyter_lsp_agent.servers.roots import find_root, folders_between, is_inside
from jupyter_lsp_agent.service.places import Place

_MODULE_ENDINGS = (".py", ".pyi", ".so", ".pyd")
_MAX_ENTRIES = 5_000
_MAX_DEPTH = 4
_MAX_RUN_FILE_BYTES = 4 * 1024 * 1024


def missing_modules(names: Iterable[str], place: Place, interpreter: Interpreter) -> frozenset[str]:
    """Those of `names` that a server would resolve to a folder without modules, and that the kernel does not have.

    Args:
        names: top-level names of imported modules.
        place: of the notebook.
        interpreter: whose packages count as there.
    """
    asked = frozenset(names) - sys.stdlib_module_names - frozenset(sys.builtin_module_names)
    suspects = [name for name in asked if _is_only_a_folder(name, place)]
    return frozenset(name for name in suspects if not _is_installed(name, interpreter)) if suspects else frozenset()


def beside_modules(names: Iterable[str], place: Place, interpreter: Interpreter, *, may_move: bool) -> BesideModules:
    """Those of `names` that lie beside the notebook and elsewhere too.

    A kernel looks beside the notebook first, and a server there last, unless that folder is its root. What the kernel
    itself has loaded of the standard library before the first cell wins all the same, and that is not ours to know.

    Args:
        names: top-level names of imported modules.
        place: of the notebook.
        interpreter: whose packages a server looks into.
        may_move: the notebook changes where modules are looked for.
    """
    folder = place.path.parent
    own = frozenset(name for name in names if _is_module(folder, name)) - frozenset(sys.builtin_module_names)
    standard = own & sys.stdlib_module_names
    root = _python_root(place) if own != standard else folder
    if root == folder:
        return BesideModules(unknown=standard)
    contested = frozenset(name for name in own - standard if _has_namesake(name, place, interpreter))
    package = None if root is None or may_move else _package(folder.relative_to(root), interpreter)
    if package is None:
        return BesideModules(unknown=standard | contested)
    return BesideModules(contested, package, standard)


def _python_root(place: Place) -> Path | None:
    """The root that all servers of Python have; `None` where they differ."""
    markers = [spec.root_markers for chain in place.registry.chains("python") for spec in chain if spec.root_markers]
    roots = {find_root(place.path, one, place.boundary) for one in markers}
    return roots.pop() if len(roots) == 1 else None


def _package(folder: PurePath, interpreter: Interpreter) -> str | None:
    """A folder as a package; `None` where it has no such name, or another package has it."""
    is_named = all(map(is_name, folder.parts))
    top = folder.parts[0]
    is_free = top not in sys.stdlib_module_names and not _is_installed(top, interpreter)
    return ".".join(folder.parts) if is_named and is_free else None


def _is_module(folder: Path, name: str) -> bool:
    return is_file(folder / f"{name}.py") or is_file(folder / name / "__init__.py")


def _has_namesake(name: str, place: Place, interpreter: Interpreter) -> bool:
    """Whether a server finds another module of that name before it looks beside the notebook."""
    above = [folder for folder in folders_between(place.path, place.boundary) if folder != place.path.parent]
    looked_at = [folder / inner for folder in above for inner in ("", "src", "python", folder.name)]
    found = any(_may_hold(folder, name) for folder in looked_at)
    return found or _is_installed(name, interpreter)


def _may_hold(folder: Path, name: str) -> bool:
    """Whether a module of that name may lie in a folder: a file, or any folder, since `__init__.py` may be absent."""
    return is_folder(folder / name) or is_file(folder / f"{name}.py")


def elsewhere_modules(folders: Iterable[str], names: Iterable[str], place: Place) -> frozenset[str]:
    """Those of `names` that lie in one of `folders`, paths as from the notebook's folder."""
    bases = [place.path.parent / folder for folder in folders]
    return frozenset(name for name in names if any(_may_hold(base, name) for base in bases))


def run_names(arguments: Iterable[str], place: Place) -> Mapping[str, frozenset[str] | None]:
    """What each file that `%run` names binds; `None` where it cannot be read or told."""
    return {argument: _names_of_file(place.path.parent / argument, place) for argument in arguments}


def written_modules(arguments: Iterable[str], place: Place, interpreter: Interpreter) -> Mapping[str, frozenset[str]]:
    """The modules that each file may be that `%%writefile` names, where they are not there already.

    A notebook may put any folder of the path on `sys.path`, so the file's name alone may be a module's too.
    """
    return {argument: frozenset(_modules_of_file(argument, place, interpreter)) for argument in arguments}


def _modules_of_file(argument: str, place: Place, interpreter: Interpreter) -> Iterator[str]:
    path = PurePath(argument)
    if path.suffix not in _MODULE_ENDINGS:
        return
    parts = path.with_suffix("").parts
    parts = parts[:-1] if parts[-1] == "__init__" else parts
    is_there = (place.path.parent / path).is_file()
    for first in range(1 if is_there else 0, len(parts)):
        names = parts[first:]
        if all(name.isidentifier() for name in names):
            is_known = _is_known(names[0], place, interpreter)
            yield from () if is_known and len(names) == 1 else (".".join(names if is_known else names[:1]),)


def _is_known(name: str, place: Place, interpreter: Interpreter) -> bool:
    """Whether a server finds some module of that name."""
    folders = [folder / name for folder in folders_between(place.path, place.boundary)]
    is_here = any(folder.is_dir() for folder in folders) or _has_module_file(folders)
    return is_here or name in sys.stdlib_module_names or _is_installed(name, interpreter)


def startup_names(folder: Path) -> frozenset[str]:
    """The names that IPython's start-up files in `folder` bind; those of files that cannot be told are missing."""
    names: frozenset[str] = frozenset()
    for path in sorted(folder.glob("*")):
        if path.suffix in (".py", ".ipy") and is_file(path):
            names |= _read_names(path) or frozenset()
    return names


def _is_only_a_folder(name: str, place: Place) -> bool:
    folders = [folder / name for folder in folders_between(place.path, place.boundary)]
    found = [folder for folder in folders if is_folder(folder)]
    return bool(found) and not any(_holds_modules(folder) for folder in found) and not _has_module_file(folders)


def _holds_modules(folder: Path) -> bool:
    """Whether a module lies in `folder` or not far below it; one that is too large to look through may hold some."""
    looked_at = 0
    for current, folders, files in os.walk(folder):
        looked_at += len(files) + len(folders)
        if looked_at > _MAX_ENTRIES or any(name.endswith(_MODULE_ENDINGS) for name in files):
            return True
        is_deep = len(Path(current).relative_to(folder).parts) >= _MAX_DEPTH
        folders[:] = [] if is_deep else [name for name in folders if name.isidentifier()]
    return False


def _has_module_file(folders: Iterable[Path]) -> bool:
    return any(is_file(folder.with_name(folder.name + ending)) for folder in folders for ending in (".py", ".pyi"))


def _is_installed(name: str, interpreter: Interpreter) -> bool:
    return any(is_folder(folder / name) or any(folder.glob(f"{name}.*")) for folder in interpreter.search_paths)


def _names_of_file(path: Path, place: Place) -> frozenset[str] | None:
    candidates = (path, path.with_name(path.name + ".py")) if not path.suffix else (path,)
    found = next((one for one in candidates if is_file(one)), None)
    if found is None or not is_inside(Path(os.path.realpath(found)), Path(os.path.realpath(place.boundary))):
        return None
    return _read_names(found)


def _read_names(path: Path) -> frozenset[str] | None:
    try:
        data = read_regular_file(path, _MAX_RUN_FILE_BYTES + 1)
    except OSError:
        return None
    return None if len(data) > _MAX_RUN_FILE_BYTES else names_bound_by(data, path.name)
