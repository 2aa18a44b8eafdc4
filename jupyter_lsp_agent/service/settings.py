"""Every setting, with its default, and the one place where their sources are merged.

The order, the first that has a name winning: the request or command line, the environment
(`JUPYTER_LSP_AGENT_<NAME>`), Jupyter's configuration, the workspace, the default. The workspace comes last and apart
(`workspace.py`), since it belongs to a file's root and may only narrow. The names are those that users write, with
their units; `Settings` is what the program reads.
"""

import difflib
import logging
import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from jupyter_lsp_agent.core.diagnostic import DiagnosticSeverity
from jupyter_lsp_agent.core.errors import SettingsError
from jupyter_lsp_agent.service.setting_values import (
    NotAllowedError,
    SettingKind,
    boolean,
    choice,
    folders,
    globs,
    one_of,
    seconds,
    server_chains,
    tables,
    texts,
    whole_number,
)

ENVIRONMENT_PREFIX = "JUPYTER_LSP_AGENT_"
"""Before the upper-case name of a setting, in the environment."""

SEVERITIES: Mapping[str, DiagnosticSeverity] = {severity.name.lower(): severity for severity in DiagnosticSeverity}
"""The severities as users write them."""

_MAX_SHOWN_CHARACTERS = 100

_LOGGER = logging.getLogger("jupyter_lsp_agent")


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """What can be configured. Each annotation says what the setting may hold and what it means.

    Attributes:
        given: the names that some source gave; the workspace has no word on these.
    """

    enabled: Annotated[bool, boolean(), "Off: no server is started."] = True
    wait_ms: Annotated[int, whole_number(), "How long a verdict is waited for."] = 3000
    first_wait_ms: Annotated[
        int, whole_number(), "How long the first verdict of a server for a root is waited for."
    ] = 15000
    initialize_timeout_s: Annotated[float, seconds(zero=False), "How long a server's handshake may take."] = 45.0
    startup_timeout_s: Annotated[
        float, seconds(zero=False), "How long it may take where the chain has a next server."
    ] = 30.0
    servers: Annotated[
        Mapping[str, tuple[tuple[str, ...], ...]],
        server_chains(),
        "Language → ordered chain of server ids, or several chains; else the catalogue's.",
    ] = field(default_factory=dict, hash=False)
    server_settings: Annotated[
        Mapping[str, Mapping[str, Any]],
        tables(),
        "Server id → enabled, command, env, initialization_options, settings.",
    ] = field(default_factory=dict, hash=False)
    severity: Annotated[DiagnosticSeverity, choice(SEVERITIES), "The least severity that counts and is shown."] = (
        DiagnosticSeverity.ERROR
    )
    ignore: Annotated[tuple[str, ...], texts(), "Codes that are left out."] = ()
    ignore_cell_tags: Annotated[tuple[str, ...], texts(), "Cells with one of these tags are left out."] = (
        "skip-lsp-check",
    )
    exclude: Annotated[tuple[str, ...], globs(), "Globs of files that are never checked."] = ()
    kernel_names: Annotated[tuple[str, ...], texts(), "Names that a platform gives every notebook."] = ()
    python_cell_magics: Annotated[tuple[str, ...], texts(), "Cell magics with a Python body."] = ()
    edited_outputs: Annotated[str, one_of("keep", "clear"), "What becomes of an edited cell's outputs."] = "keep"
    allow_edits: Annotated[bool, boolean(), "Whether notebooks may be edited over REST."] = True
    follow_saves: Annotated[bool, boolean(), "Whether followed files are checked after a save."] = True
    install_strategy: Annotated[
        str, one_of("manual", "auto", "off"), "Whether missing servers are installed at first use."
    ] = "manual"
    workspace: Annotated[
        str, one_of("root_dir", "git"), "Over REST: all below the server's root, or git worktrees only."
    ] = "root_dir"
    trusted_roots: Annotated[tuple[Path, ...], folders(), "Folders whose own programs may be run."] = ()
    idle_timeout_s: Annotated[float, seconds(zero=True), "When an idle server is stopped."] = 600.0
    broken_retry_s: Annotated[float, seconds(zero=True), "When a failed server is tried again; 0: never."] = 600.0
    max_servers: Annotated[int, whole_number(minimum=1), "How many servers run at a time."] = 8
    max_open_documents: Annotated[int, whole_number(minimum=1), "How many documents a server holds open."] = 64
    max_server_rss_mb: Annotated[int, whole_number(minimum=1), "The most memory of a server's process tree."] = 2048
    given: frozenset[str] = frozenset()


@dataclass(frozen=True, slots=True)
class SettingsSource:
    """Some settings from one place.

    Attributes:
        name: of the place, for messages.
        values: by setting.
        as_text: the values are what was typed: a text, or the texts of an option that was given several times.
        spelling: how this place writes the name of a setting; by default the place and the name.
    """

    name: str
    values: Mapping[str, Any]
    as_text: bool = False
    spelling: Callable[[str], str] | None = None

    def spell(self, setting: str) -> str:
        """A setting as its user wrote it."""
        return f"{self.name}: {setting}" if self.spelling is None else self.spelling(setting)


@dataclass(frozen=True, slots=True)
class SettingDescription:
    """What a setting may hold, and what it means."""

    kind: SettingKind
    meaning: str


@cache
def describe_settings() -> Mapping[str, SettingDescription]:
    """The settings by name."""
    hints = get_type_hints(Settings, include_extras=True)
    return {
        name: SettingDescription(*get_args(hint)[1:]) for name, hint in hints.items() if get_origin(hint) is Annotated
    }


def load_settings(
    command_line: Mapping[str, Any] | None = None,
    *,
    given_by: str = "the command line",
    typed: Mapping[str, Any] | None = None,
    environ: Mapping[str, str] | None = None,
    configuration: Sequence[SettingsSource] | None = None,
) -> Settings:
    """The settings of this process, all sources but the workspace merged.

    Args:
        command_line: values from options or a request; they win.
        given_by: whose options those are, for messages.
        typed: settings of the command line that are still texts (`--LspAgent.wait_ms=100`).
        environ: the environment in place of this process's own.
        configuration: Jupyter's configuration, the strongest first; by default its files are read.

    Raises:
        SettingsError: some source has a value that its setting cannot have, or a file of it cannot be read.
    """
    from jupyter_lsp_agent.service.jupyter_config import read_configuration

    sources = [
        SettingsSource(given_by, command_line or {}),
        SettingsSource("the command line", typed or {}, as_text=True, spelling=lambda name: f"--LspAgent.{name}"),
        environment_source(os.environ if environ is None else environ),
        *(read_configuration() if configuration is None else configuration),
    ]
    return merge_settings(sources)


def merge_settings(sources: Sequence[SettingsSource]) -> Settings:
    """The settings that `sources` give, the first that has a name winning.

    Raises:
        SettingsError: a value cannot be had; the text names source, setting and value, and says what is allowed.
    """
    values: dict[str, Any] = {}
    known = describe_settings()
    for source in sources:
        for name, value in source.values.items():
            if name not in known:
                _LOGGER.warning("%s", unknown_setting(source.name, name))
            elif (decoded := _decode(source, name, value)) is not None:
                values.setdefault(name, decoded)
    return Settings(**values, given=frozenset(values))


def decode_setting(source: str, name: str, value: object) -> Any:
    """A plain value as the setting `name` holds it.

    Raises:
        SettingsError: it cannot have that value.
    """
    return _decode(SettingsSource(source, {}), name, value)


def environment_source(environ: Mapping[str, str]) -> SettingsSource:
    """The settings of the environment. Variables that only look like ours are let be, unless they look misspelt."""
    values: dict[str, str] = {}
    for variable, text in environ.items():
        name = variable.removeprefix(ENVIRONMENT_PREFIX).lower()
        if not variable.startswith(ENVIRONMENT_PREFIX) or not text:
            continue
        if name in describe_settings() or _alike(name):
            values[name] = text
    return SettingsSource(
        "the environment", values, as_text=True, spelling=lambda name: ENVIRONMENT_PREFIX + name.upper()
    )


def unknown_setting(source: str, name: str) -> str:
    """The sentence on a name that no setting has."""
    alike = _alike(name)
    return f"{source} names a setting {name!r} that does not exist" + (f"; {alike[0]!r} does" if alike else "")


def _alike(name: str) -> list[str]:
    return difflib.get_close_matches(name, describe_settings(), n=1, cutoff=0.8)


def _decode(source: SettingsSource, name: str, value: Any) -> Any:
    kind = describe_settings()[name].kind
    try:
        return kind.decode(_from_text(kind, value) if source.as_text else value)
    except NotAllowedError:
        raise SettingsError(f"{source.spell(name)} is {_shown(source, value)}, but it must be {kind.allowed}") from None


def _from_text(kind: SettingKind, value: Any) -> Any:
    """A typed value; an option that was given several times is a list, else its last value counts."""
    texts_given: list[str] = [value] if isinstance(value, str) else list(value)
    if kind.is_list and not (len(texts_given) == 1 and texts_given[0].lstrip().startswith(("[", "("))):
        return texts_given if isinstance(value, list) else kind.from_text(value)
    return kind.from_text(texts_given[-1])


def _shown(source: SettingsSource, value: object) -> str:
    """The value as its user wrote it, not too long."""
    text = repr(value[0] if source.as_text and isinstance(value, list) and len(value) == 1 else value)
    return text if len(text) <= _MAX_SHOWN_CHARACTERS else text[: _MAX_SHOWN_CHARACTERS - 1] + "…"
