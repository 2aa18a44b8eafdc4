"""Which cell's change made a finding elsewhere, with a real ty: deleted, renamed and retyped definitions."""

from pathlib import Path

import pytest

from jupyter_lsp_agent.service.requests import CheckRequest, Comparison, SessionKey
from tests.support.services import opened_service, write_notebook

pytestmark = pytest.mark.real_server("ty")

BEFORE = [
    "def area(radius: float) -> float:\n    return 3.0 * radius",
    "text = 'abc'",
    "shown = text",
    "print(area(2.0))",
    "print(shown.upper())",
]


@pytest.mark.parametrize(
    ("changed", "source", "found"),
    [
        pytest.param(0, "", {3: 0}, id="deleted"),
        pytest.param(0, BEFORE[0].replace("area", "surface"), {3: 0}, id="renamed"),
        pytest.param(0, BEFORE[0].replace("float)", "str)"), {0: None, 3: 0}, id="retyped parameter"),
        pytest.param(1, "text = 3", {4: 1}, id="retyped, through a cell that did not change"),
        pytest.param(3, "print(area('2'))", {3: None}, id="the edited cell itself"),
    ],
)
async def test_the_cause_of_a_finding(tmp_path: Path, changed: int, source: str, found: dict[int, int | None]) -> None:
    path = write_notebook(tmp_path / "n.ipynb", *BEFORE)
    comparison = Comparison(baseline="session", session=SessionKey("ada", "work"))
    request = CheckRequest(path=path, wait_seconds=30.0, comparison=comparison)
    async with opened_service({"servers": {"python": ["ty"]}}, tmp_path) as service:
        assert (await service.check(request)).verdict == "clean"
        write_notebook(path, *BEFORE[:changed], source, *BEFORE[changed + 1 :])
        report = await service.check(request)
    causes = {item.cell.cell_index: item.caused_by and item.caused_by.cell_index for item in report if item.cell}
    assert causes == found
