"""Cells that ran before `%load_ext`: of them the kernel has the texts and the names, and nobody knows whether they are
saved. What such a cell made is there; what no cell and no such input made is told."""

import os
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest

from tests.frontends.magic.conftest import Open
from tests.support.jupyter_server import JupyterServer
from tests.support.kernels import NotebookKernel, attached, notebook, plain_kernel

pytestmark = pytest.mark.timeout(180)

LOAD = "%load_ext jupyter_lsp_agent"
AT_ONCE = "import jupyter_lsp_agent.frontends.magic.auto as auto; auto._BLINK_SECONDS = 60; del auto"
"""Verdicts are awaited, so that each is an output of the run that it is of."""


def codes(report: Any) -> list[tuple[int, str]]:
    return [(one["line"], one["code"]) for cell in report["cells"] for one in cell["diagnostics"]]


@pytest.fixture(params=["ids", "no ids", "no server"])
async def kernel(
    request: pytest.FixtureRequest, kernel_server: JupyterServer, folder: Path, open_kernel: Open
) -> AsyncIterator[NotebookKernel]:
    """A kernel of `a.ipynb` in which nothing ran yet."""
    path = folder / "a.ipynb"
    path.write_text(notebook("data = 1"))
    if request.param != "no server":
        name = path.relative_to(kernel_server.root).as_posix()
        yield await open_kernel(kernel_server, name, tells_ids=request.param == "ids", loads=False)
        return
    environment = {"JPY_SESSION_NAME": str(path), "JUPYTER_RUNTIME_DIR": str(folder), "IPYTHONDIR": str(folder / "ip")}
    with plain_kernel(folder, {**os.environ, **environment}) as file:
        alone = NotebookKernel(attached(file))
        await alone.open()
        try:
            yield alone
        finally:
            await alone.close()


async def test_names_of_what_ran_before_are_there(kernel: NotebookKernel, folder: Path) -> None:
    await kernel.run("gone = 4", "n1")
    await kernel.run("data = 1", "c0")
    await kernel.run(LOAD, "n2")
    report = (await kernel.check(cell_id="n3")).report
    assert [("older than what ran" in note, "[1]" in note, "[2]" in note) for note in report["notes"]] == [
        (True, True, False)
    ]
    await kernel.run_silently(AT_ONCE)
    await kernel.run("%lsp_check --auto on", "n3")
    ran = await kernel.run("print(gone)", "n4")
    assert "4" in ran.text
    assert "no new error" in ran.text
    later = await kernel.run("def later(): return gone + nobody", "n5")
    assert "nobody" in later.text
    assert "`gone`" not in later.text
    body = (await kernel.run("%%lsp_check\nprint(gone, data)\nmissing", "n6")).report
    assert codes(body) == [(3, "unresolved-reference")]
    # Saved now, and no cell has it: it was deleted.
    (folder / "a.ipynb").write_text(notebook("data = 1", "print(gone)"))
    saved = (await kernel.check(cell_id="n3")).report
    assert {code for _, code in codes(saved)} == {"unresolved-reference", "hidden-state"}
    assert saved["notes"] == []
    below = (await kernel.run("%%lsp_check\nprint(gone)", "n6")).report
    assert codes(below) == [(2, "unresolved-reference")]


async def test_all_that_is_saved_ran_before(kernel: NotebookKernel, folder: Path) -> None:
    """Restart & Run All, and the extension is loaded at the end: there is nothing to say."""
    sources = ("data = 1", "text = str(data)", LOAD, "%lsp_check")
    (folder / "a.ipynb").write_text(notebook(*sources))
    outputs = [await kernel.run(source, f"c{number}") for number, source in enumerate(sources)]
    report = outputs[-1].report
    assert (report["verdict"], report["notes"], report["cells"]) == ("clean", [], [])


async def test_where_unsaved_cells_stand_is_held_against_nobody(kernel: NotebookKernel, folder: Path) -> None:
    (folder / "a.ipynb").write_text(notebook("data = 1", "text = 'a'", "print(made)"))
    await kernel.run(LOAD, "n1")
    await kernel.run_silently(AT_ONCE)
    await kernel.run("made = 1", "n2")
    await kernel.run("data = 1", "c0")
    await kernel.run("text = 'a'", "c1")
    first = await kernel.run("%lsp_check --auto on", "n3")
    assert "no new error" in first.text
    assert "hidden-state" not in first.text
    await kernel.run("data = 1", "c0")
    below = await kernel.run("print(text + 'b', made)", "n4")
    assert below.text.startswith("ab 1")
    assert "no new error" in below.text
    assert "hidden-state" not in below.text
