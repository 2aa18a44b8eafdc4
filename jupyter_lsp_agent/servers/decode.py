"""From TOML and from users' settings to `spec` values, with errors that name the entry and the key."""

import types
from collections.abc import Mapping
from dataclasses import fields
from enum import StrEnum
from typing import Any, get_args, get_type_hints

from jupyter_lsp_agent.core.behaviour import ServerBehaviour
from jupyter_lsp_agent.core.errors import SettingsError
from jupyter_lsp_agent.core.ids import LanguageId, ServerId
from jupyter_lsp_agent.servers.spec import (
    DocumentKind,
    InstallRecipe,
    InterpreterHandover,
    ServerOverride,
    ServerSpec,
)

_OVERRIDE_KEYS = {"enabled", "command", "env", "initialization_options", "settings"}


def decode_spec(server_id: str, entry: Mapping[str, Any]) -> ServerSpec:
    """One table of the catalogue.

    Raises:
        SettingsError: a key is unknown or missing, or has a value of the wrong type.
    """
    known = {field.name for field in fields(ServerSpec)} - {"server_id"}
    _refuse_unknown(f"the catalogue entry {server_id!r}", set(entry), known)
    values = {key: _frozen(value) for key, value in entry.items()}
    values["documents"] = tuple(_document_kind(item) for item in entry["documents"])
    if "interpreter" in entry:
        values["interpreter"] = InterpreterHandover(
            **{key: _frozen(value) for key, value in entry["interpreter"].items()}
        )
    if "behaviour" in entry:
        values["behaviour"] = decode_behaviour(server_id, entry["behaviour"])
    if "install" in entry:
        values["install"] = InstallRecipe(**{key: _frozen(value) for key, value in entry["install"].items()})
    return ServerSpec(server_id=ServerId(server_id), **values)


def decode_behaviour(server_id: str, table: Mapping[str, Any]) -> ServerBehaviour:
    """A behaviour class from a table whose keys are its attributes' names."""
    types_by_name = get_type_hints(ServerBehaviour)
    _refuse_unknown(f"the behaviour of {server_id!r}", set(table), set(types_by_name))
    return ServerBehaviour(**{key: _value(types_by_name[key], value) for key, value in table.items()})


def decode_override(server_id: str, table: Mapping[str, Any]) -> ServerOverride:
    """One server's part of the setting `server_settings`.

    Raises:
        SettingsError: it is no table, or a key is unknown or has a value that it cannot have.
    """
    name = f"server_settings[{server_id!r}]"
    if not isinstance(table, Mapping):
        raise SettingsError(f"{name} must be a table with {', '.join(sorted(_OVERRIDE_KEYS))}, not {table!r}")
    _refuse_unknown(name, set(table), _OVERRIDE_KEYS)
    for key in ("env", "initialization_options", "settings"):
        if not isinstance(table.get(key, {}), Mapping):
            raise SettingsError(f"{name}: {key!r} must be a table, not {table[key]!r}")
    return ServerOverride(
        enabled=_enabled(name, table.get("enabled", True)),
        command=_command(name, table.get("command")),
        environment={str(key): str(value) for key, value in table.get("env", {}).items()},
        initialization_options=table.get("initialization_options", {}),
        settings=table.get("settings", {}),
    )


def decode_chains(language: str, value: object) -> tuple[tuple[str, ...], ...]:
    """The setting `servers` of one language: a chain of ids, or a list of chains, as a tuple of chains.

    Raises:
        SettingsError: it is neither.
    """
    if isinstance(value, str):
        return ((value,),)
    if isinstance(value, list | tuple):
        if all(isinstance(item, str) for item in value):
            return (tuple(value),) if value else ()
        if all(isinstance(item, list | tuple) and all(isinstance(one, str) for one in item) for item in value):
            return tuple(tuple(item) for item in value if item)
    raise SettingsError(f"servers[{language!r}] must be a list of server ids, or a list of such lists, not {value!r}")


def _document_kind(item: Mapping[str, Any]) -> DocumentKind:
    return DocumentKind(
        language=item["language"],
        language_id=LanguageId(item.get("language_id", item["language"])),
        extensions=tuple(item.get("extensions", ())),
        file_names=tuple(item.get("file_names", ())),
    )


def _refuse_unknown(owner: str, keys: set[str], known: set[str]) -> None:
    if unknown := keys - known:
        raise SettingsError(f"{owner} has the unknown key {min(unknown)!r}; it may have {', '.join(sorted(known))}")


def _value(wanted: Any, value: Any) -> Any:
    members = get_args(wanted) if isinstance(wanted, types.UnionType) else (wanted,)
    for member in members:
        if isinstance(member, type) and issubclass(member, StrEnum):
            return member(value)
        if member is float and isinstance(value, int | float) and not isinstance(value, bool):
            return float(value)
    return value


def _frozen(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _enabled(name: str, value: object) -> bool:
    if not isinstance(value, bool):
        raise SettingsError(f"{name}: 'enabled' must be true or false, not {value!r}")
    return value


def _command(name: str, value: object) -> tuple[str, ...] | None:
    if value is None:
        return None
    if isinstance(value, list | tuple) and value and all(isinstance(item, str) for item in value):
        return tuple(value)
    raise SettingsError(f'{name}: \'command\' must be a list such as ["/path/to/server", "--stdio"], not {value!r}')
