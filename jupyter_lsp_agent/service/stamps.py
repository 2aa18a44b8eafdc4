"""What must be the same for two verdicts to be comparable, apart from the servers themselves.

A stamp changes when a package is installed, when a file from which servers read their configuration changes, or when a
setting that they are given does; nothing can be read from it.
"""

import hashlib
from collections.abc import Iterable
from pathlib import Path

from jupyter_lsp_agent.core.ids import LanguageId
from jupyter_lsp_agent.diagnostics.baseline import Judges
from jupyter_lsp_agent.servers.interpreters import Interpreter
from jupyter_lsp_agent.servers.roots import find_root
from jupyter_lsp_agent.service.chains import choose_chains
from jupyter_lsp_agent.service.places import Place
from jupyter_lsp_agent.service.requests import CheckRequest


def stamp_circumstances(place: Place, language: LanguageId, request: CheckRequest, interpreter: Interpreter) -> Judges:
    """Judges without names: the environment and the settings under which a document is judged.

    Args:
        place: of the document.
        language: its language.
        request: which servers are asked.
        interpreter: the Python that they are told of.
    """
    packages = [_file_stamp(folder) for folder in interpreter.site_packages]
    settings = place.settings
    specs = [spec for chain in choose_chains(place, language, request.server) for spec in chain]
    parts = [
        language,
        sorted(settings.kernel_names),
        sorted(settings.python_cell_magics),
        [repr(place.registry.override(spec.server_id)) for spec in specs],
        [_file_stamp(path) for spec in specs for path in _configuration_files(place, spec.root_markers)],
    ]
    return Judges(
        environment=f"{interpreter.key} {_digest(packages)}",
        settings=_digest(parts),
    )


def _configuration_files(place: Place, markers: Iterable[str]) -> list[Path]:
    """The files that make a folder a root: servers read their configuration from them."""
    names = tuple(markers)
    root = find_root(place.path, names, place.boundary)
    return [] if root is None else [root / name for name in names if (root / name).is_file()]


def _file_stamp(path: Path) -> tuple[str, int, int]:
    try:
        status = path.stat()
    except OSError:
        return str(path), 0, 0
    return str(path), status.st_mtime_ns, status.st_size


def _digest(value: object) -> str:
    return hashlib.sha256(repr(value).encode("utf-8", "backslashreplace")).hexdigest()[:16]
