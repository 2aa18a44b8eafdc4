"""Every verdict of a real server is about the text that was sent, whatever else goes on.

Each text names a thing of its own that does not exist, so a finding tells which text it is about. Several documents
of one server change at the same time, some callers give up half-way, texts come back, documents are closed and opened
again. The order is drawn from a seed.
"""

import asyncio
import random
from collections.abc import Callable
from pathlib import Path

import pytest

from jupyter_lsp_agent.core.clock import SystemClock, time_limit
from jupyter_lsp_agent.core.launch import TextDocument
from jupyter_lsp_agent.core.uris import uri_from_path
from jupyter_lsp_agent.lsp.client import LanguageClient
from tests.e2e.real_servers import REAL_SERVERS
from tests.e2e.test_real_servers import prepare, require
from tests.support.full import SEEDS, sample

SEED = SEEDS["stale verdicts"]
N_DOCUMENTS = 3
N_STEPS = sample(80, 10)
CLOSING = 0.2
"""How often a document is closed after a step."""

Writer = Callable[[str], str]
"""A text whose one mistake names what it is given."""

WRITERS: dict[str, Writer] = {
    "python": lambda name: f"import math\n\nprint(math.sqrt({name}))\n",
    "typescript": lambda name: f"export const first = 1;\nconsole.log({name});\n",
    "c": lambda name: f"int main(void) {{\n    return {name};\n}}\n",
    "shellscript": lambda name: f'#!/bin/bash\necho "${name}"\n',
}
CASES = [
    *((server_id, True) for server_id in ("ty", "ruff", "zuban", "basedpyright", "pyrefly", "typescript-native")),
    *((server_id, False) for server_id in ("ty", "basedpyright", "typescript-language-server", "clangd")),
    ("bash-language-server", False),
]


class Walk:
    """One document's texts, one after the other."""

    def __init__(self, client: LanguageClient, path: Path, language_id: str, seed: str) -> None:
        self.client = client
        self.path = path
        self.language_id = language_id
        self.random = random.Random(seed)
        self.n_verdicts = 0

    async def run(self, prefix: str) -> None:
        for step in range(N_STEPS):
            name = f"{prefix}{self.random.choice([step, step, max(0, step - 2)])}x"
            patience_seconds = self.random.choice([60.0, 60.0, 60.0, 0.001, 0.05])
            try:
                async with time_limit(SystemClock(), patience_seconds):
                    await self.check(name, prefix)
            except TimeoutError:
                assert patience_seconds < 1, f"no verdict on {name} within {patience_seconds} s"
            if self.random.random() < CLOSING:
                await self.client.close_document(uri_from_path(self.path))

    async def check(self, name: str, prefix: str) -> None:
        text = WRITERS[self.language_id](name)
        report = await self.client.diagnose(TextDocument(uri_from_path(self.path), self.language_id, text))
        told = [item.message for item in report.diagnostics if prefix in item.message]
        assert told, f"no word of {name} in {report.diagnostics}"
        assert all(name in message for message in told), f"asked about {name}, told {told}"
        self.n_verdicts += 1


@pytest.mark.timeout(600)
@pytest.mark.parametrize(("server_id", "advertise_pull"), CASES)
async def test_every_verdict_is_about_its_own_text(server_id: str, tmp_path: Path, *, advertise_pull: bool) -> None:
    server = next(server for server in REAL_SERVERS if server.server_id == server_id)
    require(server)
    root = prepare(server, tmp_path)
    client = LanguageClient(server.launch(root, advertise_pull=advertise_pull), clock=SystemClock())
    await client.start()
    suffix = Path(server.file_name).suffix
    walks = [
        Walk(client, root / f"part_{number}{suffix}", server.language_id, f"{SEED} {server_id} {number}")
        for number in range(N_DOCUMENTS)
    ]
    try:
        await asyncio.gather(*(walk.run(f"missing_{number}_") for number, walk in enumerate(walks)))
    finally:
        await client.aclose()
    assert sum(walk.n_verdicts for walk in walks) >= N_STEPS
