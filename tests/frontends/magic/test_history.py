"""What ran in a kernel as the document: names that no input made are known where they live, and only there."""

from pathlib import Path

import pytest

from jupyter_lsp_agent.frontends.magic.checks import KernelChecks
from jupyter_lsp_agent.frontends.magic.question import AskingCell, KernelQuestion
from jupyter_lsp_agent.frontends.magic.surroundings import KernelSurroundings
from jupyter_lsp_agent.service.execution import Execution
from jupyter_lsp_agent.service.settings import Settings


@pytest.mark.parametrize(
    ("known", "codes"),
    [
        (frozenset({"given", "price", "class", "not a name"}), ["missing-attribute"]),
        (frozenset({"price"}), ["unresolved-reference", "missing-attribute"]),
    ],
)
async def test_names_that_no_input_made(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, known: frozenset[str], codes: list[str]
) -> None:
    """What an input made keeps its type, though it lives as well."""
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(tmp_path))
    sources = ("price = 1", "given", "price.foo", "%lsp_check")
    question = KernelQuestion(
        around=KernelSurroundings(tmp_path),
        executed=tuple(Execution(source, number) for number, source in enumerate(sources, 1)),
        names=frozenset(),
        asking=AskingCell(None, sources[-1]),
        known=known,
    )
    checks = await KernelChecks.open(Settings())
    try:
        assert [found.code for found in await checks.check(question)] == codes
    finally:
        await checks.aclose()
