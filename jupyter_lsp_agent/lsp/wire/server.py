"""What a server says of itself, and what it asks of the client."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jupyter_lsp_agent.core.positions import PositionEncoding
from jupyter_lsp_agent.core.printable import one_line
from jupyter_lsp_agent.lsp.methods import SyncKind
from jupyter_lsp_agent.lsp.wire.values import as_integer, as_items, as_object, as_text, objects_in


@dataclass(frozen=True, slots=True)
class DocumentSelector:
    """Which documents a registration is for; `None` where it names all. Patterns of paths are not looked at."""

    languages: frozenset[str] | None = None

    def matches(self, language_id: str) -> bool:
        """Whether a document of this language is meant."""
        return self.languages is None or language_id in self.languages


@dataclass(frozen=True, slots=True)
class PullProvider:
    """A source of pull diagnostics. A server may have several, told apart by `identifier`; each is asked."""

    identifier: str | None = None
    selector: DocumentSelector = DocumentSelector()


@dataclass(frozen=True, slots=True)
class StaticCapabilities:
    """What the answer to `initialize` says, as far as this client acts on it."""

    sync_kind: SyncKind
    wants_text_on_save: bool
    position_encoding: PositionEncoding
    pull: PullProvider | None
    methods: frozenset[str]
    """The requests of navigation that it answers."""


@dataclass(frozen=True, slots=True)
class InitializeResult:
    """The answer to `initialize`. Name and version are `None` where the server does not say."""

    server_name: str | None
    server_version: str | None
    capabilities: StaticCapabilities


@dataclass(frozen=True, slots=True)
class Registration:
    """One item of `client/registerCapability`."""

    id: str
    method: str
    pull: PullProvider


@dataclass(frozen=True, slots=True)
class Progress:
    """`$/progress`: `kind` is `begin`, `report` or `end`, empty for anything else."""

    token: str
    kind: str


_MAX_NAME_CHARACTERS = 200
_PROVIDERS = {
    "hoverProvider": "textDocument/hover",
    "definitionProvider": "textDocument/definition",
    "referencesProvider": "textDocument/references",
    "documentSymbolProvider": "textDocument/documentSymbol",
    "signatureHelpProvider": "textDocument/signatureHelp",
    "workspaceSymbolProvider": "workspace/symbol",
}


def decode_initialize_result(result: Any) -> InitializeResult | None:
    """The answer to `initialize`; `None` where it holds no capabilities."""
    answer = as_object(result)
    capabilities = answer.get("capabilities")
    if not isinstance(capabilities, dict):
        return None
    info = as_object(answer.get("serverInfo"))
    name, version = as_text(info.get("name")), _version(info.get("version"))
    return InitializeResult(_printable(name), _printable(version), _static(capabilities))


def _printable(text: str | None) -> str | None:
    return None if text is None else one_line(text, _MAX_NAME_CHARACTERS)


def _version(value: Any) -> str | None:
    """A server's version in few words; gopls sends a JSON object of its whole build."""
    text = as_text(value)
    if text is None or not text.startswith("{"):
        return text
    try:
        build = as_object(json.loads(text))
    except ValueError:
        return None
    return as_text(as_object(build.get("Main")).get("Version")) or as_text(build.get("Version")) or None


def decode_registrations(params: Any) -> list[Registration]:
    """The items of `client/registerCapability`."""
    registrations = []
    for item in objects_in(as_object(params).get("registrations")):
        id_, method = as_text(item.get("id")), as_text(item.get("method"))
        if id_ is not None and method is not None:
            registrations.append(Registration(id_, method, _pull_provider(item.get("registerOptions"))))
    return registrations


def decode_unregistrations(params: Any) -> list[str]:
    """The ids in `client/unregisterCapability`, under LSP's own misspelling and the right one."""
    message = as_object(params)
    items = [*objects_in(message.get("unregisterations")), *objects_in(message.get("unregistrations"))]
    return [id_ for item in items if (id_ := as_text(item.get("id"))) is not None]


def decode_configuration_sections(params: Any) -> list[str]:
    """The dotted section of each item of `workspace/configuration`, in order; empty for the whole tree."""
    return [as_text(as_object(item).get("section")) or "" for item in as_items(as_object(params).get("items"))]


def decode_progress(params: Any) -> Progress | None:
    """The parameters of `$/progress`; `None` where there is no token."""
    message = as_object(params)
    token = message.get("token")
    if not isinstance(token, str | int):
        return None
    return Progress(str(token), as_text(as_object(message.get("value")).get("kind")) or "")


def decode_quiescent(params: Any) -> bool | None:
    """Whether `experimental/serverStatus` says that the server has loaded what it needs; `None` where it says nothing.

    It is `quiescent` too when it has given up, as on a manifest that does not parse: then its `health` is `error`, and
    that it finds nothing means nothing.
    """
    status = as_object(params)
    quiescent = status.get("quiescent")
    return quiescent and status.get("health") != "error" if isinstance(quiescent, bool) else None


def decode_message(params: Any) -> tuple[int, str]:
    """Type (1 error … 4 log) and text of `window/showMessage`, `showMessageRequest` or `logMessage`."""
    message = as_object(params)
    return as_integer(message.get("type")) or 4, as_text(message.get("message")) or ""


def _static(capabilities: Mapping[str, Any]) -> StaticCapabilities:
    sync = capabilities.get("textDocumentSync")
    save = as_object(sync).get("save")
    pull = capabilities.get("diagnosticProvider")
    return StaticCapabilities(
        sync_kind=_sync_kind(sync),
        wants_text_on_save=as_object(save).get("includeText") is True,
        position_encoding=_position_encoding(capabilities.get("positionEncoding")),
        pull=_pull_provider(pull) if isinstance(pull, dict) or pull is True else None,
        methods=frozenset(
            method
            for name, method in _PROVIDERS.items()
            if capabilities.get(name) is not None and capabilities.get(name) is not False
        ),
    )


def _sync_kind(sync: Any) -> SyncKind:
    number = as_integer(as_object(sync).get("change") if isinstance(sync, dict) else sync)
    return SyncKind(number) if number in set(SyncKind) else SyncKind.NONE


def _position_encoding(value: Any) -> PositionEncoding:
    """What the server chose; one that says nothing, or something that was not offered, counts in UTF-16."""
    known = as_text(value)
    return PositionEncoding(known) if known in set(PositionEncoding) else PositionEncoding.UTF_16


def _pull_provider(options: Any) -> PullProvider:
    value = as_object(options)
    return PullProvider(as_text(value.get("identifier")), _selector(value.get("documentSelector")))


def _selector(value: Any) -> DocumentSelector:
    languages: set[str] = set()
    for item in as_items(value):
        language = as_text(item) or as_text(as_object(item).get("language"))
        if language is None or language == "*":
            return DocumentSelector()
        languages.add(language)
    return DocumentSelector(frozenset(languages)) if languages else DocumentSelector()
