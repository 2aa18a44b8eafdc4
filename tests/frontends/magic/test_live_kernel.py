"""A kernel of a notebook that is open in a shared document: what is typed is checked, saved or not.

Runs where jupyter-collaboration is installed, in an environment of its own.
"""

from contextlib import AsyncExitStack
from pathlib import Path

import pytest

pytest.importorskip("jupyter_server_ydoc", reason="jupyter-collaboration has an environment of its own")

from tests.support.jupyter_server import jupyter_server
from tests.support.kernels import NotebookKernel, attached, notebook, runtime_folder, server_session
from tests.support.shared_document import SharedNotebook

pytestmark = pytest.mark.timeout(180)


@pytest.mark.parametrize("prefix", ["", "RTC:"])
async def test_the_shared_document_comes_before_the_file(tmp_path: Path, prefix: str) -> None:
    (tmp_path / "n.ipynb").write_text(notebook("price = 1", "price.foo", "%lsp_check", "%%lsp_check\nprice"))
    async with AsyncExitStack() as closing:
        server = closing.enter_context(jupyter_server(tmp_path, "--YDocExtension.document_save_delay=None"))
        session = closing.enter_context(server_session(server, f"{prefix}n.ipynb"))
        kernel = NotebookKernel(attached(runtime_folder(server) / f"kernel-{session['kernel']['id']}.json"))
        await kernel.open()
        closing.push_async_callback(kernel.close)
        await kernel.run("%load_ext jupyter_lsp_agent", "loading")
        person = await closing.enter_async_context(SharedNotebook(server, "n.ipynb"))
        person.notebook.set_cell(1, source="\nprice.foo\nprice.bar")
        await person.wait_for(lambda: "bar" in person.sources[1])
        report = (await kernel.check(cell_id="c2")).report
        while report["content_source"] != "live":  # what was typed is on its way
            report = (await kernel.check(cell_id="c2")).report
        assert "the shared document" in report["content"]
        assert [(cell["cell_index"], [found["line"] for found in cell["diagnostics"]]) for cell in report["cells"]] == [
            (1, [2, 3])
        ]
        assert report["notes"] == []
        cell = (await kernel.run("%%lsp_check\nprice.baz", "c3")).report
        assert [(one["cell_index"], one["diagnostics"][0]["line"]) for one in cell["cells"]] == [(3, 2)]
        assert person.sources[3] == "%%lsp_check\nprice"
