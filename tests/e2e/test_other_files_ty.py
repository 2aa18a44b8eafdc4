"""What an edit of one file does to others, with a real ty."""

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jupyter_lsp_agent.diagnostics.report import Report
from jupyter_lsp_agent.service.requests import CheckRequest, Comparison, SessionKey
from jupyter_lsp_agent.service.service import NotebookDiagnosticsService
from tests.support.services import opened_service, write_notebook

pytestmark = pytest.mark.real_server("ty")

TY = {"servers": {"python": ["ty"]}}
GOOD, BAD = "def load(path: str) -> str:\n    return path\n", "def read(path: str) -> str:\n    return path\n"


async def check(service: NotebookDiagnosticsService, path: Path, session: str = "work", **more: Any) -> Report:
    comparison = Comparison(baseline="session", session=SessionKey("ada", session))
    request = CheckRequest(path=path, display_path=path.name, wait_seconds=30.0, comparison=comparison)
    report = await service.check(replace(request, **more))
    assert report.counts is not None, report.detail
    return report


def told(report: Report) -> dict[str, Any]:
    """For each other file, the cells (or `None`) of its new findings, and how many are gone."""
    return {
        path: ([item.cell.cell_index if item.cell else None for item in other], len(other.fixed))
        for path, other in report.other_files.items()
    }


async def test_the_cells_that_an_edit_breaks_are_told_once_and_so_is_their_mend(tmp_path: Path) -> None:
    helpers = tmp_path / "helpers.py"
    helpers.write_text(GOOD)
    notebook = write_notebook(tmp_path / "n.ipynb", "x = 1", "import helpers", "helpers.load('a')")
    write_notebook(tmp_path / "other.ipynb", "print('nothing to do with it')")
    async with opened_service(TY, tmp_path) as service:
        for path in (notebook, tmp_path / "other.ipynb", helpers):
            assert told(await check(service, path)) == {}
        helpers.write_text(BAD)
        broken = await check(service, helpers)
        assert (told(broken), broken.verdict) == ({"n.ipynb": ([2], 0)}, "errors")
        assert broken.hint == "1 new error in other files."
        helpers.write_text(BAD + "\n")
        assert told(await check(service, helpers)) == {}
        report = await check(service, notebook)
        assert report.counts is not None
        assert (report.counts.introduced, report.counts.outstanding) == (0, 1)
        helpers.write_text(GOOD)
        mended = await check(service, helpers)
        assert (told(mended), mended.verdict) == ({"n.ipynb": ([], 1)}, "clean")
        report = await check(service, notebook)
        assert report.counts is not None
        assert (report.counts.outstanding, report.counts.fixed) == (0, 0)


async def test_an_edit_works_through_a_module_that_nobody_checked(tmp_path: Path) -> None:
    base = tmp_path / "base.py"
    base.write_text(GOOD)
    (tmp_path / "middle.py").write_text("from base import *\n")
    notebook = write_notebook(tmp_path / "n.ipynb", "import middle", "middle.load('a')")
    async with opened_service(TY, tmp_path) as service:
        await check(service, notebook)
        await check(service, base)
        base.write_text(BAD)
        assert told(await check(service, base)) == {"n.ipynb": ([1], 0)}


async def test_an_edit_of_a_notebook_reaches_those_that_run_it(tmp_path: Path) -> None:
    setup = write_notebook(tmp_path / "setup.ipynb", "limit = 3")
    user = write_notebook(tmp_path / "n.ipynb", "%run setup.ipynb", "print(limit)")
    async with opened_service(TY, tmp_path) as service:
        report = await check(service, user)
        assert (report.counts and report.counts.preexisting, report.verdict) == (0, "clean")
        await check(service, setup)
        write_notebook(setup, "bound = 3")
        assert told(await check(service, setup)) == {"n.ipynb": ([1], 0)}
        write_notebook(setup, "limit = bound = 3")
        assert told(await check(service, setup)) == {"n.ipynb": ([], 1)}


async def test_at_most_five_files_and_five_findings_of_each(tmp_path: Path) -> None:
    helpers = tmp_path / "helpers.py"
    helpers.write_text(GOOD)
    uses = [f"helpers.load('{number}')" for number in range(8)]
    async with opened_service(TY, tmp_path) as service:
        for number in range(7):
            await check(service, write_notebook(tmp_path / f"n{number}.ipynb", "import helpers", *uses))
        await check(service, helpers)
        helpers.write_text(BAD)
        first = told(await check(service, helpers))
        assert [len(cells) for cells, _ in first.values()] == [5] * 5
        # What there was no room for is told by the next check, also where nothing was edited.
        second = told(await check(service, helpers))
        assert len(second) == 2
        assert not first.keys() & second.keys()
        helpers.write_text(BAD + "\n")
        for _ in range(2):
            assert told(await check(service, helpers)) == {}


async def test_a_document_above_the_root_or_another_one_is_left_alone(tmp_path: Path) -> None:
    for folder in ("a", "b"):
        (tmp_path / folder / ".git").mkdir(parents=True)
        (tmp_path / folder / "helpers.py").write_text(GOOD)
        write_notebook(tmp_path / folder / "n.ipynb", "import helpers", "helpers.load('a')")
    async with opened_service(TY, tmp_path) as service:
        for folder in ("a", "b"):
            await check(service, tmp_path / folder / "n.ipynb")
            await check(service, tmp_path / folder / "helpers.py")
        (tmp_path / "a" / "helpers.py").write_text(BAD)
        assert told(await check(service, tmp_path / "a" / "helpers.py")) == {"n.ipynb": ([1], 0)}


async def test_a_module_that_is_another_on_disk_by_now_is_not_taken_for_what_it_was(tmp_path: Path) -> None:
    """It is judged again as it was at its check; whoever imports it must still see it as it lies there."""
    base, middle = tmp_path / "base.py", tmp_path / "middle.py"
    base.write_text(GOOD)
    middle.write_text("from base import load\nvalue = 1\n")
    notebook = write_notebook(tmp_path / "n.ipynb", "import middle", "middle.other")
    async with opened_service(TY, tmp_path) as service:
        for path in (base, middle, notebook):
            await check(service, path)
        middle.write_text("from base import load\nother = 1\n")
        assert not (await check(service, notebook)).errors
        base.write_text(BAD)
        assert told(await check(service, base)) == {"middle.py": ([None], 0)}
        assert not (await check(service, notebook)).errors


@pytest.mark.parametrize(
    "older",
    [
        pytest.param(("print(undefined_1)", "print(undefined_2)"), id="names"),
        pytest.param(("print(undefined_1)", "def f(:"), id="a cell that does not parse"),
        pytest.param(("helpers.old('a')", "helpers.older('b')"), id="errors alike"),
        pytest.param(("import no_such_module", "!ls\nprint(undefined_1"), id="an import"),
    ],
)
async def test_a_mend_is_told_of_a_notebook_that_has_older_errors_of_its_own(
    tmp_path: Path, older: tuple[str, str]
) -> None:
    helpers = tmp_path / "helpers.py"
    helpers.write_text(GOOD)
    notebook = write_notebook(tmp_path / "n.ipynb", "import helpers", *older, "helpers.load('a')")
    async with opened_service(TY, tmp_path) as service:
        await check(service, notebook)
        await check(service, helpers)
        for _ in range(2):
            helpers.write_text(BAD)
            assert told(await check(service, helpers)) == {"n.ipynb": ([3], 0)}
            helpers.write_text(GOOD)
            assert told(await check(service, helpers)) == {"n.ipynb": ([], 1)}
            helpers.write_text(GOOD + "\n")
            assert told(await check(service, helpers)) == {}
        report = await check(service, notebook)
        assert report.counts is not None
        assert (report.counts.introduced, report.counts.outstanding, report.counts.carried) == (0, 0, 0)


async def test_what_is_told_in_a_report_that_comes_too_late_is_told_again(tmp_path: Path) -> None:
    helpers = tmp_path / "helpers.py"
    helpers.write_text(GOOD)
    notebook = write_notebook(tmp_path / "n.ipynb", "import helpers", "helpers.load('a')")
    async with opened_service(TY, tmp_path) as service:
        await check(service, notebook)
        await check(service, helpers)
        helpers.write_text(BAD)
        assert told(await check(service, helpers, is_awaited=lambda: False)) == {"n.ipynb": ([1], 0)}
        assert told(await check(service, helpers)) == {"n.ipynb": ([1], 0)}
        assert told(await check(service, helpers)) == {}
        report = await check(service, notebook)
        assert report.counts is not None
        assert (report.counts.introduced, report.counts.outstanding) == (0, 1)


async def test_what_there_was_no_time_for_is_owed_to_the_session_that_edited(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    helpers = tmp_path / "helpers.py"
    helpers.write_text(GOOD)
    notebook = write_notebook(tmp_path / "n.ipynb", "import helpers", "helpers.load('a')")
    async with opened_service(TY, tmp_path) as service:
        await check(service, notebook)
        for session in ("work", "other"):
            await check(service, helpers, session)
        helpers.write_text(BAD)
        with monkeypatch.context() as patched:
            patched.setattr(NotebookDiagnosticsService, "_left", lambda *_: 0.0)
            assert told(await check(service, helpers)) == {}
        assert told(await check(service, helpers)) == {"n.ipynb": ([1], 0)}
        for session in ("work", "other"):
            assert told(await check(service, helpers, session)) == {}
