"""What the server can do: what it said in its answer to `initialize`, and what it registered or took back since."""

import asyncio

from jupyter_lsp_agent.core.behaviour import ServerBehaviour
from jupyter_lsp_agent.core.positions import PositionEncoding
from jupyter_lsp_agent.lsp.methods import DOCUMENT_DIAGNOSTIC, SyncKind
from jupyter_lsp_agent.lsp.wire.server import PullProvider, Registration, StaticCapabilities

_NOTHING = StaticCapabilities(
    sync_kind=SyncKind.FULL,
    wants_text_on_save=False,
    position_encoding=PositionEncoding.UTF_16,
    pull=None,
    methods=frozenset(),
)


class ServerCapabilities:
    """The server's capabilities as they are now.

    `position_encoding` and the rest of the static part are fixed by the answer to `initialize`; the sources of pull
    diagnostics come and go.
    """

    def __init__(self, behaviour: ServerBehaviour) -> None:
        self._behaviour = behaviour
        self._static = _NOTHING
        self._registrations: dict[str, Registration] = {}
        self._pull_refused = False
        self._changed = asyncio.Event()

    @property
    def sync_kind(self) -> SyncKind:
        """How it wants to be told of changes."""
        return self._static.sync_kind

    @property
    def wants_text_on_save(self) -> bool:
        """Whether `didSave` carries the text."""
        return self._static.wants_text_on_save

    @property
    def position_encoding(self) -> PositionEncoding:
        """What one `character` of its positions counts."""
        return self._static.position_encoding

    @property
    def pull_may_come(self) -> bool:
        """Whether it could still register pull diagnostics."""
        offered = self._behaviour.advertise_pull and self._behaviour.dynamic_registration
        return offered and not self._pull_refused

    def supports(self, method: str) -> bool:
        """Whether it answers this request."""
        return method in self._static.methods or any(known.method == method for known in self._registrations.values())

    def pull_providers(self, language_id: str) -> tuple[PullProvider, ...]:
        """The sources of pull diagnostics for a language; empty where the server only pushes."""
        if self._pull_refused or not self._behaviour.advertise_pull:
            return ()
        static = () if self._static.pull is None else (self._static.pull,)
        registered = tuple(item.pull for item in self._registrations.values() if item.method == DOCUMENT_DIAGNOSTIC)
        # A server that announces one source in both ways is asked once.
        by_identifier = {provider.identifier: provider for provider in (*static, *registered)}
        return tuple(provider for provider in by_identifier.values() if provider.selector.matches(language_id))

    def initialized(self, static: StaticCapabilities) -> None:
        """Take over what the answer to `initialize` says."""
        self._static = static

    def register(self, registrations: list[Registration]) -> None:
        """Take over what the server registers; the same id again replaces what it stood for."""
        self._registrations |= {registration.id: registration for registration in registrations}
        self._announce()

    def unregister(self, ids: list[str]) -> None:
        """Forget what the server takes back; an unknown id is harmless."""
        for id_ in ids:
            self._registrations.pop(id_, None)
        self._announce()

    def refuse_pull(self) -> None:
        """Remember that the server does not know `textDocument/diagnostic`, whatever it said before."""
        self._pull_refused = True
        self._announce()

    async def wait_for_pull(self, language_id: str) -> None:
        """Wait until there is a source of pull diagnostics for a language, however long that is."""
        while not self.pull_providers(language_id):
            await self._changed.wait()

    def _announce(self) -> None:
        self._changed.set()
        self._changed = asyncio.Event()
