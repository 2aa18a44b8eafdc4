"""Kernels as VS Code starts and uses them (facts from its Jupyter extension's source).

It starts them itself, tells them in silence which file runs, once, and sends with each cell the address of the cell's
text document in place of the id that the file has. A notebook is often not saved when its cells run.
"""

import os
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from tests.support.kernels import NotebookKernel, attached, notebook, plain_kernel

pytestmark = pytest.mark.timeout(180)

SAVED = ("price = 1", "text = 'a'", "%%lsp_check\nprice", "last = price")


def cell(number: int) -> str:
    """A cell as the editor calls it."""
    return f"vscode-notebook-cell:/home/ann/a.ipynb#W{number}sZmlsZQ%3D%3D"


@pytest.fixture
async def kernel(tmp_path: Path) -> AsyncIterator[NotebookKernel]:
    environment = {name: value for name, value in os.environ.items() if name != "JPY_SESSION_NAME"}
    environment |= {"JUPYTER_RUNTIME_DIR": str(tmp_path), "IPYTHONDIR": str(tmp_path / "ipython")}
    with plain_kernel(tmp_path, environment) as file:
        kernel = NotebookKernel(attached(file))
        await kernel.open()
        await kernel.run_silently(f"__vsc_ipynb_file__ = {str(tmp_path / 'a.ipynb')!r}")
        try:
            yield kernel
        finally:
            await kernel.close()


def found(report: dict) -> list[tuple[int, str | None, int, str]]:
    return [
        (one["cell_index"], one["cell_id"], finding["line"], finding["code"])
        for one in report["cells"]
        for finding in one["diagnostics"]
    ]


async def test_a_cell_stands_for_its_own_saved_version(kernel: NotebookKernel, tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_text(notebook(*SAVED))
    await kernel.run("%load_ext jupyter_lsp_agent", cell(20))
    await kernel.run("price = 1", cell(0))
    await kernel.run("text = 'a'", cell(1))
    saved = await kernel.check(cell_id=cell(21))
    assert (saved.report["path"], saved.report["content_source"], found(saved.report)) == ("a.ipynb", "file", [])
    assert "named by the editor" in saved.report["content"]
    alike = (await kernel.run("%%lsp_check\nprice.bar", cell(2))).report
    assert found(alike) == [(2, "c2", 2, "missing-attribute")]
    assert alike["notes"] == []
    # Nothing like what is saved, but the editor called that by the same name when it ran.
    other = (await kernel.run("%%lsp_check\nlast.upper()\nprice.foo", cell(1))).report
    assert found(other) == [(1, "c1", 2, "unresolved-reference"), (1, "c1", 3, "missing-attribute")]
    new = (await kernel.run("%%lsp_check\nlast.foo", cell(22))).report
    assert found(new) == [(4, None, 2, "missing-attribute")]
    assert "not in the saved notebook yet" in new["notes"][0]


async def test_news_are_of_what_ran_unsaved(kernel: NotebookKernel, tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_text(notebook("price = 1", "text = 'a'", "late = text"))
    await kernel.run("%load_ext jupyter_lsp_agent", cell(20))
    for number, source in enumerate(("price = 1", "text = 'a'", "late = text")):
        await kernel.run(source, cell(number))
    await kernel.run("%lsp_check --auto on", cell(21))
    quiet = [
        await kernel.run("def helper() -> int:\n    return price", cell(22)),
        await kernel.run("number = helper()", cell(23)),
        await kernel.run("text = 'anything else'.upper()", cell(1)),
    ]
    for outputs in quiet:
        assert "new error" not in outputs.text.replace("no new error", ""), outputs.text
        assert "fixed" not in outputs.text.replace(", 0 fixed", "")
    # The cell that made `text` makes something else now, and the saved cell below uses it. A verdict that is late takes
    # its place in the outputs while the next cells run.
    outputs = [await kernel.run("other = price\nother.foo", cell(1))]
    while not any("new errors" in one.text.replace("no new errors", "") for one in outputs):
        outputs.append(await kernel.run("1", cell(24)))
    news = "\n".join(one.text for one in outputs)
    assert "cell 1 (c1) 2:1 error: " in news
    assert "in cell 2 (c2) 1:8: Name `text` used when not defined" in news


async def test_what_is_only_in_the_kernel_is_told(kernel: NotebookKernel, tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_text(notebook("print(x)", "x = 1", "print(gone)"))
    await kernel.run("%load_ext jupyter_lsp_agent", cell(20))
    await kernel.run("gone = 5", cell(21))
    await kernel.run("x = 1", cell(1))
    await kernel.run("print(x)", cell(0))
    os.utime(tmp_path / "a.ipynb")
    report = (await kernel.check(cell_id=cell(22))).report
    told = [one for one in found(report) if one[3] == "hidden-state"]
    assert told == [(0, "c0", 1, "hidden-state"), (2, "c2", 1, "hidden-state")]


async def test_without_a_verdict_it_is_told_beside_an_empty_report(kernel: NotebookKernel, tmp_path: Path) -> None:
    (tmp_path / "a.ipynb").write_text(notebook("print(gone)"))
    await kernel.run("%env JUPYTER_LSP_AGENT_ENABLED=false", cell(20))
    await kernel.run("%load_ext jupyter_lsp_agent", cell(20))
    await kernel.run("gone = 5", cell(21))
    os.utime(tmp_path / "a.ipynb")
    outputs = await kernel.check(cell_id=cell(22))
    report = outputs.report
    assert (report["verdict"], report["reason"], report["cells"]) == ("no_verdict", "disabled", [])
    assert set(report["counts"].values()) == {None}
    told = [one["code"] for place in report["hidden_state"] for one in place["diagnostics"]]
    assert told == ["hidden-state"]
    assert "cell 0 (c0) 1:7 warning: " in outputs.text
    news = [await kernel.run(source, cell(23)) for source in ("%lsp_check --auto on", "1", "2")]
    assert ["hidden-state" in one.text for one in news] == [True, False, False]  # each is told once


async def test_the_interactive_window_of_a_script_has_its_inputs(kernel: NotebookKernel, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text("# %%\nwrong\n")
    await kernel.run_silently(f"__vsc_ipynb_file__ = {str(tmp_path / 'script.py')!r}")
    await kernel.run("%load_ext jupyter_lsp_agent")
    await kernel.run("price = 1")
    report = (await kernel.run("%%lsp_check\nprice.foo")).report
    assert (report["path"], report["content_source"]) == (None, "history")
    assert [one[3] for one in found(report)] == ["missing-attribute"]
    named = (await kernel.check("%lsp_check script.py")).report
    assert [one["line"] for one in named["diagnostics"]] == [2]
