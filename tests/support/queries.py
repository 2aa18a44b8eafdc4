"""Questions about code, asked of a service as a front end asks them."""

import sys
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from jupyter_lsp_agent.navigation.answer import QueryAnswer
from jupyter_lsp_agent.service.neighbours import LocalNeighbours
from jupyter_lsp_agent.service.query_requests import QueryRequest, code_question
from jupyter_lsp_agent.service.requests import CheckRequest
from jupyter_lsp_agent.service.service import NotebookDiagnosticsService
from tests.support.services import IDS, opened_service

SCRIPT = Path(__file__).with_name("navigating_server.py")


async def query(
    service: NotebookDiagnosticsService, path: Path, method: str, *, wait_seconds: float = 60.0, **asked: Any
) -> QueryAnswer:
    """An answer; names are relative to the document's folder."""
    return await service.query(
        QueryRequest(
            document=CheckRequest(path=path, display_path=path.name, wait_seconds=wait_seconds),
            question=code_question({"method": method, **asked}),
            neighbours=LocalNeighbours(path.parent),
        )
    )


@asynccontextmanager
async def navigating(
    behaviours: Sequence[str], root: Path, **settings: Any
) -> AsyncIterator[NotebookDiagnosticsService]:
    """A service whose Python chain is made of scripted servers, one for each behaviour, `missing` among them."""
    commands = {
        server_id: {
            "command": ["no-such-program-anywhere"]
            if behaviour == "missing"
            else [sys.executable, str(SCRIPT), behaviour]
        }
        for server_id, behaviour in zip(IDS, behaviours, strict=False)
    }
    chain = {"servers": {"python": [list(commands)]}, "server_settings": commands}
    async with opened_service({**chain, **settings}, root) as service:
        yield service


def lines(answer: QueryAnswer) -> list[str]:
    """The answer's text, without what servers say of themselves."""
    return [line for line in answer.to_text().split("\n") if not line.startswith("(")]


def servers(answer: QueryAnswer) -> list[tuple[str, bool, bool]]:
    """Of each server: its id, whether it spoke, whether in the place of another."""
    return [(one.id, one.reason is None, one.fallback) for one in answer.servers]
