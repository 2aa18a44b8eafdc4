"""The catalogue as one immutable look-up, with a user's choices merged in.

An instance is made once, by whoever assembles the service, and handed on; there is no module state.
"""

import tomllib
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files
from pathlib import PurePath
from typing import Any

from jupyter_lsp_agent.core.errors import SettingsError
from jupyter_lsp_agent.core.ids import ServerId
from jupyter_lsp_agent.servers.decode import decode_chains, decode_override, decode_spec
from jupyter_lsp_agent.servers.spec import ServerOverride, ServerSpec

_NO_OVERRIDE = ServerOverride()


class ServerRegistry:
    """All known servers, and which of them speak for a language.

    Args:
        servers: the setting `servers`: language → chain of ids, or list of chains.
        server_settings: the setting `server_settings`: id or alias → table.
        catalogue: TOML text in place of the package's own catalogue.

    Raises:
        SettingsError: a setting names an unknown server or language, or has a value that it cannot have.
    """

    def __init__(
        self,
        servers: Mapping[str, Any] | None = None,
        server_settings: Mapping[str, Any] | None = None,
        *,
        catalogue: str | None = None,
    ) -> None:
        data = tomllib.loads(read_catalogue() if catalogue is None else catalogue)
        self._specs = {ServerId(key): decode_spec(key, entry) for key, entry in data["servers"].items()}
        self._ids = _ids_by_name(self._specs.values())
        self._languages = _languages_by_name(self._specs.values(), data.get("languages", {}))
        self._documents = _languages_by_document(self._specs.values())
        self._default_chains = {name: self._decode_chains(name, chain) for name, chain in data["chains"].items()}
        self._chosen_chains = {
            self.language(name): self._decode_chains(name, value) for name, value in (servers or {}).items()
        }
        self._overrides = {
            self.get(name).server_id: decode_override(name, table) for name, table in (server_settings or {}).items()
        }

    def __iter__(self) -> Iterator[ServerSpec]:
        return iter(self._specs.values())

    def get(self, id_or_alias: str) -> ServerSpec:
        """The server of that name.

        Raises:
            SettingsError: there is none.
        """
        server_id = self._ids.get(id_or_alias.lower())
        if server_id is None:
            raise SettingsError(
                f"there is no server {id_or_alias!r} in the catalogue; `jupyter lsp-agent status` lists those there are"
            )
        return self._specs[server_id]

    def language(self, name: str) -> str:
        """Our name of a language, from any of its names (`py` → `python`); unknown ones come back lowered."""
        return self._languages.get(name.lower(), name.lower())

    def language_of(self, path: PurePath) -> str | None:
        """The language of a plain file, by its whole name, else by its extension; `None` where no server takes it."""
        double = "".join(path.suffixes[-2:]).lower()
        found = (self._documents.get(name) for name in (path.name, double, path.suffix.lower()))
        return next(filter(None, found), None)

    def override(self, server_id: ServerId) -> ServerOverride:
        """What the user's settings say about a server."""
        return self._overrides.get(server_id, _NO_OVERRIDE)

    def chains(self, language: str) -> tuple[tuple[ServerSpec, ...], ...]:
        """The chains of `language`: within one, the first that works speaks; all chains are asked.

        Servers that the user switched off are left out, and a chain of which nothing is left, too. Empty where no
        server is known: `is_known` tells "none" from "all switched off".
        """
        chains = self._chains(self.language(language))
        left = (tuple(spec for spec in chain if self.override(spec.server_id).enabled) for chain in chains)
        return tuple(chain for chain in left if chain)

    def is_known(self, language: str) -> bool:
        """Whether any server of a chain, switched off or not, speaks `language`."""
        return bool(self._chains(self.language(language)))

    def _chains(self, language: str) -> tuple[tuple[ServerSpec, ...], ...]:
        if language in self._chosen_chains:
            return self._chosen_chains[language]
        if language in self._default_chains:
            return self._default_chains[language]
        takers = tuple(spec for spec in self if spec.takes(language) and not spec.opt_in)
        return (takers,) if takers else ()

    def _decode_chains(self, language: str, value: object) -> tuple[tuple[ServerSpec, ...], ...]:
        chains = tuple(tuple(self.get(name) for name in chain) for chain in decode_chains(language, value))
        for spec in (spec for chain in chains for spec in chain):
            if not spec.takes(self.language(language)):
                raise SettingsError(
                    f"servers[{language!r}]: {spec.server_id!r} does not speak {language}, only "
                    f"{', '.join(spec.languages)}"
                )
        return chains


def read_catalogue() -> str:
    """The text of the package's own catalogue."""
    return files("jupyter_lsp_agent.servers").joinpath("catalogue.toml").read_text(encoding="utf-8")


def _ids_by_name(specs: Iterable[ServerSpec]) -> dict[str, ServerId]:
    ids: dict[str, ServerId] = {}
    for spec in specs:
        for name in (spec.server_id, *spec.aliases):
            if ids.setdefault(name.lower(), spec.server_id) != spec.server_id:
                raise SettingsError(f"the catalogue gives the name {name!r} to two servers")
    return ids


def _languages_by_name(specs: Iterable[ServerSpec], aliases: Mapping[str, list[str]]) -> dict[str, str]:
    names = {language: language for spec in specs for language in spec.languages}
    for language, others in aliases.items():
        names.update({other.lower(): language for other in others})
    return names


def _languages_by_document(specs: Iterable[ServerSpec]) -> dict[str, str]:
    languages: dict[str, str] = {}
    for kind in (kind for spec in specs for kind in spec.documents):
        for name in (*kind.extensions, *kind.file_names):
            languages.setdefault(name, kind.language)
    return languages
