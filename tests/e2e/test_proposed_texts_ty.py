"""A text that is only proposed is put back before anything else is answered, with a real ty."""

import asyncio
from pathlib import Path

import pytest

from jupyter_lsp_agent.service.requests import CheckRequest
from tests.support.services import opened_service, write_notebook

pytestmark = pytest.mark.real_server("ty")

STORED = "def area(radius: float) -> float:\n    return 3.0 * radius\n"
PROPOSED = STORED.replace("area", "surface")


async def test_what_is_proposed_of_a_module_is_never_blamed_on_its_importers(tmp_path: Path) -> None:
    module = tmp_path / "shapes.py"
    module.write_text(STORED)
    notebooks = [
        write_notebook(tmp_path / f"n{number}.ipynb", f"from shapes import area\n\nprint(area({number}.0))")
        for number in range(8)
    ]
    async with opened_service({"servers": {"python": ["ty"]}}, tmp_path) as service:

        async def verdict(path: Path, content: str | None = None) -> str:
            content_bytes = None if content is None else content.encode()
            request = CheckRequest(path=path, content_bytes=content_bytes, wait_seconds=60.0)
            return (await service.check(request)).verdict

        assert await verdict(module) == "clean"
        for _ in range(5):
            proposal = verdict(module, PROPOSED)
            verdicts = await asyncio.gather(*map(verdict, notebooks[:4]), proposal, *map(verdict, notebooks[4:]))
            assert set(verdicts) == {"clean"}
