"""What names a running client, and the bounds that all of them live in."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Protocol

from jupyter_lsp_agent.core.ids import DocumentUri, ServerId
from jupyter_lsp_agent.core.launch import TextDocument


@dataclass(frozen=True, slots=True, order=True)
class ClientKey:
    """One client. `environment` is the Python it was told of (`Interpreter.key`), empty where there is none."""

    server_id: ServerId
    root_uri: DocumentUri
    environment: str = ""

    def __str__(self) -> str:
        return f"{self.server_id} {self.root_uri} {self.environment}".rstrip()


@dataclass(frozen=True, slots=True)
class PoolLimits:
    """The bounds of a pool.

    Attributes:
        max_servers: processes started by it and not yet gone, at any time.
        max_open_documents: documents that one server has open.
        max_server_rss_bytes: memory of one server's process tree; above it, it is stopped when nobody uses it.
        idle_timeout_seconds: after so long without use a server is stopped; 0 for never.
        broken_retry_seconds: after so long a failed server may be tried again; 0 for not before a restart.
        startup_timeout_seconds: for the handshake of a server after which another can be tried.
        max_crashes: so many deaths in a row, none of them after a long life, and it counts as broken.
        crash_window_seconds: a life as long as this forgives the deaths before it.
        memory_check_seconds: no more often than this is a server's memory looked at.
    """

    max_servers: int = 8
    max_open_documents: int = 64
    max_server_rss_bytes: int = 2048 * 1024 * 1024
    idle_timeout_seconds: float = 600.0
    broken_retry_seconds: float = 600.0
    startup_timeout_seconds: float = 30.0
    max_crashes: int = 3
    crash_window_seconds: float = 60.0
    memory_check_seconds: float = 10.0


class PooledClient(Protocol):
    """What the pool needs of a client; `lsp.client.LanguageClient` is one."""

    @property
    def pid(self) -> int | None:
        """Its process; `None` where it has none."""
        ...

    @property
    def server_version(self) -> str | None:
        """As the server gave it; `None` where it gave none."""
        ...

    @property
    def open_documents(self) -> tuple[DocumentUri, ...]:
        """The documents that its server has open."""
        ...

    @property
    def idle_documents(self) -> tuple[TextDocument, ...]:
        """The documents that its server has open and is done with, with the texts that it has."""
        ...

    async def reopen(self, documents: Iterable[TextDocument]) -> None:
        """Open documents that another process of the same server had open."""
        ...

    async def wait_closed(self) -> object:
        """Returns when it can no longer be used, for whatever reason."""
        ...

    async def aclose(self) -> None:
        """Stop it and leave nothing behind; harmless when repeated."""
        ...
