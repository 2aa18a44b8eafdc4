"""Jupyter's configuration files, as far as they speak of `LspAgent`.

`jupyter_lsp_agent_config` and `jupyter_config`, `.py` and `.json`, in the folders of `jupyter --paths`. Unlike other
Jupyter applications this one never looks into the current folder: a `.py` file there would run, and whoever gave the
folder would choose what is executed.
"""

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from jupyter_lsp_agent.core.errors import SettingsError
from jupyter_lsp_agent.service.settings import Settings, SettingsSource

CONFIGURABLE = "LspAgent"
"""The class whose traits the settings are."""

_BASE_NAMES = ("jupyter_lsp_agent_config", "jupyter_config")
_EXTENSIONS = (".json", ".py")


def read_configuration(folders: Sequence[str | Path] | None = None) -> tuple[SettingsSource, ...]:
    """The settings of each configuration file, the strongest first.

    Args:
        folders: in place of Jupyter's own, the strongest first.

    Raises:
        SettingsError: a file cannot be read, is no JSON, or fails when it runs.
    """
    return tuple(
        SettingsSource(str(path), values)
        for path in _files(_jupyter_folders() if folders is None else [Path(folder) for folder in folders])
        if (values := _read(path))
    )


def _jupyter_folders() -> list[Path]:
    from jupyter_core.paths import jupyter_config_path

    return [Path(folder) for folder in jupyter_config_path()]


def _files(folders: Sequence[Path]) -> Iterator[Path]:
    """The strongest first: our own name before the common one, then by folder, and JSON before Python."""
    for base in _BASE_NAMES:
        for folder in folders:
            if not folder.is_absolute():
                continue  # an entry such as "." in a search path: that is the current folder again
            for extension in _EXTENSIONS:
                path = folder / f"{base}{extension}"
                if path.is_file():
                    yield path


def _read(path: Path) -> dict[str, Any]:
    """What the file says about the settings. The traitlets loaders are imported only where there is a file."""
    from traitlets.config.loader import JSONFileConfigLoader, PyFileConfigLoader

    loader = (JSONFileConfigLoader if path.suffix == ".json" else PyFileConfigLoader)(path.name, str(path.parent))
    try:  # a Python file of the user runs here, and may raise anything
        config = loader.load_config()
    except (Exception, SystemExit) as error:
        raise SettingsError(f"the configuration file {path} cannot be used: {type(error).__name__}: {error}") from error
    section = config.get(CONFIGURABLE, {})
    return {str(name): _value(str(name), value) for name, value in section.items()}


def _value(name: str, value: Any) -> Any:
    """A trait's value; `c.LspAgent.exclude.append(...)` goes on from the default."""
    from traitlets.config.loader import LazyConfigValue

    if not isinstance(value, LazyConfigValue):
        return value
    default = getattr(Settings(), name, ())
    return value.get_value(list(default) if isinstance(default, tuple) else default)
