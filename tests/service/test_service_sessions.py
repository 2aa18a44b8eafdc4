"""Checks compared with sessions, revisions and known findings; a scripted server finds `BAD` wherever it stands."""

import asyncio
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from jupyter_lsp_agent.core.errors import InvalidRequestError
from jupyter_lsp_agent.core.ids import ServerId
from jupyter_lsp_agent.diagnostics.baseline_file import baseline_entries
from jupyter_lsp_agent.diagnostics.report import ContentSource, Report
from jupyter_lsp_agent.service.other_files import Effects, OtherFiles
from jupyter_lsp_agent.service.requests import CheckRequest, Comparison, SessionKey
from jupyter_lsp_agent.service.service import NotebookDiagnosticsService
from jupyter_lsp_agent.service.stores import OpenedDocument
from tests.support.services import SCRIPT, opened_service, scripted_chains, scripted_settings, write_notebook

KEY = SessionKey("ada", "work")
IN_SESSION = Comparison(baseline="session", session=KEY)


async def check(
    service: NotebookDiagnosticsService, path: Path, comparison: Comparison = IN_SESSION, **request: Any
) -> Report:
    return await service.check(CheckRequest(path=path, comparison=comparison, **{"wait_seconds": 5.0, **request}))


def said(report: Report) -> dict[str, Any]:
    """The label, the counts that are not 0, and where what is gone was."""
    counts = report.to_dict()["counts"]
    fixed = [(item.cell.cell_index if item.cell else None, item.range.start.line) for item in report.fixed]
    return {"baseline": report.baseline} | {n: c for n, c in counts.items() if c} | ({"at": fixed} if fixed else {})


def notebook_bytes(folder: Path, *sources: str) -> bytes:
    return write_notebook(folder / "scratch.ipynb", *sources).read_bytes()


def commit_all(folder: Path) -> None:
    for command in (["init", "-q"], ["add", "-A"], ["commit", "-q", "-m", "a state"]):
        subprocess.run(["git", "-c", "user.name=t", "-c", "user.email=t@t", *command], cwd=folder, check=True)


async def test_a_session_hears_what_each_edit_did(tmp_path: Path) -> None:
    path = write_notebook(tmp_path / "n.ipynb", "x = 1  # BAD", "y = 2")
    async with opened_service(scripted_settings(["good"]), tmp_path) as service:
        first = await check(service, path)
        assert (said(first), first.verdict) == ({"baseline": "session", "preexisting": 1}, "nothing_new")
        write_notebook(path, "# moved", "x = 1  # BAD", "y = 2\nz = 'BAD'")
        assert said(await check(service, path)) == {"baseline": "session", "preexisting": 1, "introduced": 1}
        write_notebook(path, "# moved", "y = 2\n\n\nz = 'BAD'", "x = 1  # BAD")
        assert said(await check(service, path)) == {"baseline": "session", "preexisting": 1, "outstanding": 1}
        write_notebook(path, "# moved", "y = 2\n\n\nz = ''", "x = 1  # BAD")
        third = {"baseline": "session", "preexisting": 1, "fixed": 1, "at": [(1, 3)]}
        assert said(await check(service, path)) == third
        assert said(await check(service, path)) == {"baseline": "session", "preexisting": 1}


async def test_a_plain_file_is_compared_too(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text("x = 1  # BAD\n")
    async with opened_service(scripted_settings(["good"]), tmp_path) as service:
        assert said(await check(service, path)) == {"baseline": "session", "preexisting": 1}
        path.write_text("# BAD\n\nx = 1  # BAD\n")
        assert said(await check(service, path)) == {"baseline": "session", "preexisting": 1, "introduced": 1}
        path.write_text("# BAD\n\nx = 1\n")
        assert said(await check(service, path)) == {
            "baseline": "session",
            "outstanding": 1,
            "fixed": 1,
            "at": [(None, 2)],
        }


async def test_an_edit_is_compared_with_what_was_stored_before_it(tmp_path: Path) -> None:
    path = write_notebook(tmp_path / "n.ipynb", "x = 1  # BAD", "BAD")
    before = notebook_bytes(tmp_path, "x = 1  # BAD")
    async with opened_service(scripted_settings(["good"]), tmp_path) as service:
        report = await check(service, path, Comparison(baseline="session", session=KEY, before_bytes=before))
        assert said(report) == {"baseline": "session", "preexisting": 1, "introduced": 1}


async def test_proposed_content_is_compared_and_changes_no_state(tmp_path: Path) -> None:
    path = write_notebook(tmp_path / "n.ipynb", "x = 1")
    proposed = notebook_bytes(tmp_path, "x = 1", "BAD")
    comparison = Comparison(baseline="session", session=KEY, before_bytes=path.read_bytes(), keeps=False)
    async with opened_service(scripted_settings(["good"]), tmp_path) as service:
        for _ in range(2):
            report = await check(
                service, path, comparison, content_bytes=proposed, content_source=ContentSource.REQUEST
            )
            assert said(report) == {"baseline": "session", "introduced": 1}
        assert said(await check(service, path)) == {"baseline": "session"}


async def test_two_sessions_do_not_disturb_each_other(tmp_path: Path) -> None:
    path = write_notebook(tmp_path / "n.ipynb", "x = 1")
    other = Comparison(baseline="session", session=SessionKey("ada", "other"))
    async with opened_service(scripted_settings(["good"]), tmp_path) as service:
        await check(service, path)
        write_notebook(path, "x = 1", "BAD")
        assert said(await check(service, path, other)) == {"baseline": "session", "preexisting": 1}
        assert said(await check(service, path)) == {"baseline": "session", "introduced": 1}


async def test_a_check_without_an_answer_changes_no_state(tmp_path: Path) -> None:
    path = write_notebook(tmp_path / "n.ipynb", "x = 1  # BAD")
    gate = tmp_path / "slow.go"
    gate.touch()
    async with opened_service(scripted_settings(["slow"]), tmp_path) as service:
        await check(service, path)
        gate.unlink()
        write_notebook(path, "# BAD")
        late = await check(service, path, wait_seconds=0.3)
        assert (late.verdict, late.reason, late.counts) == ("no_verdict", "timeout", None)
        gate.touch()
        write_notebook(path, "x = 1  # BAD", "BAD")
        assert said(await check(service, path)) == {"baseline": "session", "preexisting": 1, "introduced": 1}


async def test_while_the_baseline_cannot_be_judged_nothing_is_called_new_or_fixed(tmp_path: Path) -> None:
    path = write_notebook(tmp_path / "n.ipynb", "x = 1  # BAD")
    before = notebook_bytes(tmp_path, "SLEEP", "x = 1  # BAD", "BAD")
    async with opened_service(scripted_settings(["sleepy"]), tmp_path) as service:
        comparison = Comparison(baseline="session", session=KEY, before_bytes=before)
        report = await check(service, path, comparison, wait_seconds=2.0)
        assert said(report) == {"baseline": "unknown", "present": 1}


async def test_another_server_judges_the_older_contents_first(tmp_path: Path) -> None:
    path = write_notebook(tmp_path / "n.ipynb", "x = 1  # BAD")
    async with opened_service(scripted_settings(["good", "push"]), tmp_path) as service:
        await check(service, path)
        write_notebook(path, "x = 1  # BAD", "y = 'BAD'")
        assert said(await check(service, path)) == {"baseline": "session", "preexisting": 1, "introduced": 1}
        write_notebook(path, "x = 1  # BAD", "y = 'BAD'", "BAD")
        report = await check(service, path, server=ServerId("basedpyright"))
        assert [server.id for server in report.servers] == ["basedpyright"]
        assert said(report) == {"baseline": "session", "preexisting": 1, "outstanding": 1, "introduced": 1}


async def test_a_fallback_in_the_middle_of_a_session_makes_nothing_new_and_nothing_fixed(tmp_path: Path) -> None:
    path = write_notebook(tmp_path / "n.ipynb", "x = 1  # BAD")
    settings = scripted_settings(["good", "push"])
    gate = f"import os, sys, runpy; os.path.exists('down') and sys.exit(3); sys.argv[1:] = ['good']; \
runpy.run_path({str(SCRIPT)!r}, run_name='__main__')"
    settings["server_settings"]["ty"] = {"command": [sys.executable, "-c", gate]}
    async with opened_service(settings, tmp_path) as service:
        assert [server.id for server in (await check(service, path)).servers] == ["ty"]
        write_notebook(path, "x = 1  # BAD", "y = 'BAD'")
        assert said(await check(service, path)) == {"baseline": "session", "preexisting": 1, "introduced": 1}
        (tmp_path / "down").touch()
        await service.restart("ty")
        write_notebook(path, "# moved", "x = 1  # BAD", "y = 'BAD'")
        report = await check(service, path)
        assert report.fallback_used
        assert said(report) == {"baseline": "session", "preexisting": 1, "outstanding": 1}
        write_notebook(path, "# moved", "x = 1", "y = 'BAD'\n'BAD'")
        expected = {"baseline": "session", "outstanding": 1, "introduced": 1, "fixed": 1, "at": [(1, 0)]}
        assert said(await check(service, path)) == expected


async def test_another_kernel_chosen_makes_nothing_new(tmp_path: Path) -> None:
    path = write_notebook(tmp_path / "n.ipynb", "x = 1  # BAD")
    async with opened_service(scripted_settings(["good"]), tmp_path) as service:
        await check(service, path)
        write_notebook(path, "x = 1  # BAD", "y = 'BAD'")
        await check(service, path)
        kernel = {"name": "elsewhere", "language": "python", "display_name": "Elsewhere"}
        write_notebook(path, "x = 1  # BAD", "y = 'BAD'", kernelspec=kernel)
        assert said(await check(service, path)) == {"baseline": "session", "preexisting": 1, "outstanding": 1}


async def test_a_package_installed_makes_nothing_new(tmp_path: Path) -> None:
    path = write_notebook(tmp_path / "n.ipynb", "x = 1  # BAD")
    packages = tmp_path / ".venv" / "lib" / "python3.11" / "site-packages"
    packages.mkdir(parents=True)
    (tmp_path / ".venv" / "pyvenv.cfg").write_text("home = /usr/bin\nversion = 3.11.7\n")
    async with opened_service(scripted_settings(["good"]), tmp_path) as service:
        await check(service, path)
        write_notebook(path, "x = 1  # BAD", "y = 'BAD'")
        await check(service, path)
        (packages / "fresh").mkdir()
        os.utime(packages, (2_000_000_000, 2_000_000_000))
        assert said(await check(service, path)) == {"baseline": "session", "preexisting": 1, "outstanding": 1}


async def test_accept_reset_and_the_list(tmp_path: Path) -> None:
    path = write_notebook(tmp_path / "n.ipynb", "x = 1")
    document = OpenedDocument("n.ipynb", path, path.read_bytes(), ContentSource.CONTENTS)
    async with opened_service(scripted_settings(["good"]), tmp_path) as service:
        assert await service.accept(KEY, document) is None
        [entry] = service.sessions("ada")
        assert (entry["session"], entry["path"], entry["baseline"]) == ("work", "n.ipynb", "unknown")
        write_notebook(path, "BAD")
        assert said(await check(service, path, display_path="n.ipynb")) == {"baseline": "session", "introduced": 1}
        counts = await service.accept(KEY, document)
        assert counts is not None
        assert counts.introduced == 1
        assert said(await check(service, path, display_path="n.ipynb")) == {"baseline": "session", "preexisting": 1}
        [entry] = service.sessions("ada", "n.ipynb")
        assert (entry["baseline"], entry["counts"]["preexisting"]) == ("session", 1)
        assert entry["checked_at"].endswith("Z")
        await service.forget(KEY, document)
        assert service.sessions("ada") == service.sessions("bob") == []


async def test_a_renamed_file_keeps_its_session(tmp_path: Path) -> None:
    path = write_notebook(tmp_path / "n.ipynb", "x = 1")
    async with opened_service(scripted_settings(["good"]), tmp_path) as service:
        await check(service, path)
        moved = path.rename(tmp_path / "m.ipynb")
        service.renamed(path, moved)
        write_notebook(moved, "x = 1", "BAD")
        assert said(await check(service, moved)) == {"baseline": "session", "introduced": 1}
        service.deleted(tmp_path)
        assert said(await check(service, moved)) == {"baseline": "session", "preexisting": 1}


async def test_without_a_session_everything_is_present(tmp_path: Path) -> None:
    path = write_notebook(tmp_path / "n.ipynb", "BAD")
    async with opened_service(scripted_settings(["good"]), tmp_path) as service:
        for comparison in (Comparison(), Comparison(baseline="session"), Comparison(baseline="none", session=KEY)):
            assert said(await check(service, path, comparison)) == {"baseline": "none", "present": 1}


async def test_known_findings_are_old(tmp_path: Path) -> None:
    path = write_notebook(tmp_path / "n.ipynb", "x = 1  # BAD")
    async with opened_service(scripted_settings(["good"]), tmp_path) as service:
        known = baseline_entries(await check(service, path, Comparison()))
        write_notebook(path, "'BAD'", "x = 1  # BAD")
        report = await check(service, path, Comparison(known=known))
        assert said(report) == {"baseline": "file", "preexisting": 1, "introduced": 1}


@pytest.mark.skipif(shutil.which("git") is None, reason="git is not installed")
async def test_a_revision_is_the_baseline_of_one_request(tmp_path: Path) -> None:
    path = write_notebook(tmp_path / "n.ipynb", "x = 1  # BAD", "y = 'BAD'")
    commit_all(tmp_path)
    async with opened_service(scripted_settings(["good"]), tmp_path) as service:
        write_notebook(path, "# moved", "x = 1  # BAD", "y = ''", "def f():\n    return 'BAD'")
        head = Comparison(baseline="git:HEAD")
        expected = {"baseline": "git:HEAD", "preexisting": 1, "introduced": 1, "fixed": 1, "at": [(1, 0)]}
        for _ in range(2):
            assert said(await check(service, path, head)) == expected
        new = write_notebook(tmp_path / "new.ipynb", "BAD")
        assert said(await check(service, new, head)) == {"baseline": "git:HEAD", "introduced": 1}
        with pytest.raises(InvalidRequestError, match="no revision 'nowhere'"):
            await check(service, path, Comparison(baseline="git:nowhere"))


async def test_a_notebook_whose_code_goes_and_comes_back(tmp_path: Path) -> None:
    path = write_notebook(tmp_path / "n.ipynb")
    async with opened_service(scripted_settings(["good"]), tmp_path) as service:
        assert said(await check(service, path)) == {"baseline": "session"}
        write_notebook(path, "x = 1  # BAD")
        assert said(await check(service, path)) == {"baseline": "session", "introduced": 1}
        write_notebook(path)
        assert said(await check(service, path)) == {"baseline": "session", "fixed": 1, "at": [(0, 0)]}
        write_notebook(path, "x = 1  # BAD")
        assert said(await check(service, path)) == {"baseline": "session", "introduced": 1}


async def test_a_cell_that_is_left_out_for_a_while_is_neither_mended_nor_new(tmp_path: Path) -> None:
    path = write_notebook(tmp_path / "n.ipynb", "x = 1  # BAD", "y = 2")
    tagged = json.loads(path.read_bytes())
    tagged["cells"][0]["metadata"]["tags"] = ["skip-lsp-check"]
    async with opened_service(scripted_settings(["good"]), tmp_path) as service:
        assert said(await check(service, path)) == {"baseline": "session", "preexisting": 1}
        path.write_text(json.dumps(tagged))
        assert said(await check(service, path)) == {"baseline": "session"}
        write_notebook(path, "x = 1  # BAD", "y = 2")
        assert said(await check(service, path)) == {"baseline": "session", "preexisting": 1}


async def test_another_language_of_the_kernel_makes_nothing_new_and_nothing_fixed(tmp_path: Path) -> None:
    path = write_notebook(tmp_path / "n.ipynb", "x = 1 // BAD", "x")
    settings = scripted_chains([["good"]])
    settings["servers"]["typescript"] = [["deno"]]
    settings["server_settings"]["deno"] = settings["server_settings"]["ty"]
    kernel = {"name": "deno", "language": "typescript", "display_name": "Deno"}
    async with opened_service(settings, tmp_path) as service:
        await check(service, path)
        write_notebook(path, "x = 1 // BAD", "y = 'BAD'")
        assert said(await check(service, path)) == {"baseline": "session", "preexisting": 1, "introduced": 1}
        write_notebook(path, "x = 1 // BAD", "y = 'BAD'", kernelspec=kernel)
        report = await check(service, path)
    assert [server.language for server in report.servers] == ["typescript"]
    assert said(report) == {"baseline": "session", "preexisting": 1, "outstanding": 1}


async def test_what_was_accepted_stays_old_under_another_server(tmp_path: Path) -> None:
    """Also what was carried at that time, since its cell did not parse."""
    path = write_notebook(tmp_path / "n.ipynb", "x = 1")
    document = OpenedDocument("n.ipynb", path, path.read_bytes(), ContentSource.CONTENTS)
    async with opened_service(scripted_settings(["good", "push"]), tmp_path) as service:
        await check(service, path)
        write_notebook(path, "x = 1  # BAD")
        await check(service, path)
        write_notebook(path, "x = (  # BAD")
        assert said(await check(service, path)) == {"baseline": "session", "introduced": 1, "carried": 1}
        await service.accept(KEY, document)
        other = {"server": ServerId("basedpyright")}
        assert said(await check(service, path, **other)) == {"baseline": "session", "preexisting": 1, "carried": 1}
        write_notebook(path, "x = 1  # BAD")
        expected = {"baseline": "session", "preexisting": 1, "fixed": 1, "at": [(0, 0)]}
        assert said(await check(service, path, **other)) == expected


async def test_a_report_that_nobody_waits_for_any_more_changes_no_state(tmp_path: Path) -> None:
    path = write_notebook(tmp_path / "n.ipynb", "x = 1")
    async with opened_service(scripted_settings(["good"]), tmp_path) as service:
        await check(service, path)
        write_notebook(path, "x = 1", "BAD")
        assert said(await check(service, path, is_awaited=lambda: False)) == {"baseline": "session", "introduced": 1}
        assert said(await check(service, path)) == {"baseline": "session", "introduced": 1}


async def test_a_check_that_a_later_one_overtook_does_not_take_its_place(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = write_notebook(tmp_path / "n.ipynb", "x = 1")
    older = notebook_bytes(tmp_path, "x = 1", "SLOW = 'BAD'")
    reached, gate = asyncio.Event(), asyncio.Event()

    async def held(*_arguments: Any, **_options: Any) -> Effects:
        """In place of a long look at other files."""
        reached.set()
        await gate.wait()
        return Effects()

    async with opened_service(scripted_settings(["good"]), tmp_path) as service:
        await check(service, path)
        monkeypatch.setattr(OtherFiles, "changed_by", held)
        stored = {"content_bytes": older, "content_source": ContentSource.CONTENTS}
        first = asyncio.create_task(check(service, path, **stored))
        await reached.wait()
        monkeypatch.undo()
        write_notebook(path, "x = 1", "y = 2\nz = 'BAD'")
        assert said(await check(service, path)) == {"baseline": "session", "introduced": 1}
        gate.set()
        assert said(await first) == {"baseline": "session", "introduced": 1}
        assert said(await check(service, path)) == {"baseline": "session", "outstanding": 1}


async def test_a_document_is_one_however_its_path_is_written(tmp_path: Path) -> None:
    path = write_notebook(tmp_path / "n.ipynb", "x = 1")
    async with opened_service(scripted_settings(["good"]), tmp_path) as service:
        await check(service, path)
        write_notebook(path, "x = 1", "BAD")
        (tmp_path / "sub").mkdir()
        other = Path(f"{tmp_path}/sub/../n.ipynb")
        assert said(await check(service, other)) == {"baseline": "session", "introduced": 1}


async def test_of_several_checks_at_once_one_says_what_is_new(tmp_path: Path) -> None:
    path = write_notebook(tmp_path / "n.ipynb", "x = 1")
    async with opened_service(scripted_settings(["good"]), tmp_path) as service:
        await check(service, path)
        write_notebook(path, "x = 1", "BAD")
        reports = await asyncio.gather(*(check(service, path) for _ in range(5)))
        assert sorted((report.counts.introduced, report.counts.outstanding) for report in reports if report.counts) == [
            (0, 1),
            (0, 1),
            (0, 1),
            (0, 1),
            (1, 0),
        ]
