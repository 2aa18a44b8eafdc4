"""The settings as traits of `LspAgent`, for Jupyter's own configuration machinery.

Made from `Settings`, so that names, defaults and meanings stand in one place. The traits take any value: what a
setting may hold is decided where all sources meet, with the same words for each.
"""

from typing import Any

import traitlets
from traitlets.config import LoggingConfigurable

from jupyter_lsp_agent.service.jupyter_config import CONFIGURABLE
from jupyter_lsp_agent.service.settings import Settings, SettingsSource, describe_settings


def _trait(name: str, default: Any, meaning: str, allowed: str) -> traitlets.TraitType[Any, Any]:
    return traitlets.Any(default_value=default, help=f"{meaning} Must be {allowed}.").tag(config=True)


def _class_body() -> dict[str, Any]:
    defaults = Settings()
    traits = {
        name: _trait(name, getattr(defaults, name), item.meaning, item.kind.allowed)
        for name, item in describe_settings().items()
    }
    return {"__doc__": "What can be configured of jupyter-lsp-agent.", "__module__": __name__, **traits}


LspAgent: type[LoggingConfigurable] = type(CONFIGURABLE, (LoggingConfigurable,), _class_body())


def configured_source(agent: LoggingConfigurable) -> SettingsSource:
    """What Jupyter's configuration gave an instance of `LspAgent`: the names that it says something about."""
    section = agent.config.get(CONFIGURABLE, {})
    return SettingsSource(
        "Jupyter's configuration", {name: getattr(agent, name) for name in section if name in describe_settings()}
    )
