"""What the verbs of agents need of the service that checks."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

from jupyter_lsp_agent.diagnostics.report import Counts, Report
from jupyter_lsp_agent.navigation.answer import QueryAnswer
from jupyter_lsp_agent.service.query_requests import QueryRequest
from jupyter_lsp_agent.service.requests import CheckRequest, SessionKey
from jupyter_lsp_agent.service.stores import OpenedDocument


class CheckingService(Protocol):
    """What is needed of the service below."""

    async def check(self, request: CheckRequest) -> Report:
        """The report on one document."""
        ...

    async def query(self, request: QueryRequest) -> QueryAnswer:
        """The answer to a question about code."""
        ...

    async def meet(self, request: CheckRequest) -> None:
        """The session of a request meets the document, where it has not."""
        ...

    async def status(self) -> dict[str, Any]:
        """The object of `GET status`."""
        ...

    async def restart(self, server_id: str, root: str | None = None) -> dict[str, Any]:
        """Restart a server, in one root or in all: `{running}`."""
        ...

    async def accept(self, key: SessionKey, document: OpenedDocument) -> Counts | None:
        """The session's last verdict on a document becomes its baseline."""
        ...

    async def forget(self, key: SessionKey, document: OpenedDocument) -> None:
        """The session knows nothing of a document any more."""
        ...

    def sessions(self, user: str, name: str | None = None) -> list[dict[str, Any]]:
        """The sessions of a user, on one document or on all."""
        ...

    def followed(self, path: Path | None = None) -> Sequence[str]:
        """The documents, or the one at `path`, that some session knows, as their users name them."""
        ...

    def renamed(self, old: Path, new: Path) -> None:
        """A file or folder has another name."""
        ...

    def deleted(self, path: Path) -> None:
        """A file or folder is gone."""
        ...

    async def aclose(self) -> None:
        """Stop everything."""
        ...
