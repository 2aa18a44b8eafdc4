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


async def test_what_a_fault_of_syntax_hid_is_told_when_it_is_mended_and_what_was_seen_is_not_told_again(
    tmp_path: Path,
) -> None:
    broken, mended = "def area(radius):\n    return radius * pie(", "def area(radius):\n    return radius * pie"
    others = ["print(area(1, 2))", "print(undefined)"]
    path = write_notebook(tmp_path / "n.ipynb", broken, *others)
    comparison = Comparison(baseline="session", session=SessionKey("ada", "work"))
    request = CheckRequest(path=path, wait_seconds=30.0, comparison=comparison)
    async with opened_service({"servers": {"python": ["ty"]}}, tmp_path) as service:
        first = await service.check(request)
        assert first.counts is not None
        assert (first.counts.preexisting, first.verdict) == (2, "nothing_new")
        write_notebook(path, mended, *others)
        report = await service.check(request)
    assert report.counts is not None
    told = {(item.cell.cell_index, item.caused_by and item.caused_by.cell_index) for item in report if item.cell}
    assert told == {(0, None), (1, 0)}
    assert (report.counts.preexisting, [item.cell and item.cell.cell_index for item in report.fixed]) == (1, [0])
