"""A service that reports what a file's own text says, and can be run as the command line's: `python -m` this module.

A file's first word: `clean`, `errors N`, `reason R` (no verdict for that reason), `boom` (a mistake of ours), `refuse`
(an error of the package), `settings` (an option that cannot be), `hang` (never an answer; says so on standard error).
"""

import asyncio
import sys
from collections.abc import AsyncIterator
from contextlib import ExitStack, asynccontextmanager
from pathlib import Path

from jupyter_lsp_agent.core.errors import RequestError, SettingsError
from jupyter_lsp_agent.diagnostics.build import build_report, no_verdict_report
from jupyter_lsp_agent.diagnostics.facts import ReportFacts
from jupyter_lsp_agent.diagnostics.report import NoVerdictReason, Report
from jupyter_lsp_agent.service.requests import CheckRequest
from jupyter_lsp_agent.service.settings import Settings
from tests.support.reports import code_cells, facts, finding


class ScriptedService:
    """Keeps what it was asked, and how many checks ran at a time."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings
        self.requests: list[CheckRequest] = []
        self.running = 0
        self.most_running = 0
        self.is_closed = False
        self.held: dict[str, asyncio.Event] = {}
        self.reached_held = asyncio.Event()

    async def check(self, request: CheckRequest) -> Report:
        self.requests.append(request)
        self.running += 1
        self.most_running = max(self.most_running, self.running)
        try:
            await asyncio.sleep(0)
            if request.path.name in self.held:
                self.reached_held.set()
                await self.held[request.path.name].wait()
            return await self._answer(request)
        finally:
            self.running -= 1
            for event in self.held.values():
                event.set()

    async def _answer(self, request: CheckRequest) -> Report:
        told = facts(path=request.display_path)
        if request.content_bytes is None and not request.path.exists():
            return no_verdict_report(told, NoVerdictReason.UNREADABLE, "It is not there; name another.")
        text = request.path.read_text() if request.content_bytes is None else request.content_bytes.decode()
        word, _, rest = text.strip().partition(" ")
        if word == "reason":
            return no_verdict_report(told, NoVerdictReason(rest), f"Because of {rest}.")
        if word == "hang":
            sys.stderr.write("hanging\n")
            sys.stderr.flush()
            await asyncio.Event().wait()
        return build_report(_facts(word, rest, told), request.view_under(self.settings))

    async def settle_installs(self, tell) -> bool:
        return False

    async def status(self):
        return {"enabled": True, "wait_ms": 3000, "servers": [], "running": [], "broken": []}

    async def probe(self):
        return {**await self.status(), "enabled": False}


def _facts(word: str, rest: str, told: ReportFacts) -> ReportFacts:
    if word == "boom":
        raise ZeroDivisionError("oh")
    if word == "refuse":
        raise RequestError("the server said no")
    if word == "settings":
        raise SettingsError("there is no server 'x'")
    number = int(rest or 0)
    cells = code_cells("\n".join("x" * number))
    return facts(cells, *(finding(0, line=line) for line in range(number)), path=told.path)


@asynccontextmanager
async def open_scripted(settings: Settings) -> AsyncIterator[ScriptedService]:
    """In place of the command line's own; leaves a file `closed` in the current folder when it was closed."""
    with ExitStack() as stack:
        stack.callback(Path("closed").touch)
        yield ScriptedService(settings)


if __name__ == "__main__":
    from jupyter_lsp_agent.frontends import cli

    cli.open_service = open_scripted
    sys.exit(cli.main())
