"""Open documents of jupyter_server_documents: checked as they are, and not edited behind their back.

Runs where that is installed, which is no dependency of this package and excludes jupyter-collaboration.
"""

import asyncio

import pytest

pytest.importorskip("jupyter_server_documents", reason="jupyter_server_documents has an environment of its own")

from tests.support.jupyter_server import jupyter_server
from tests.support.shared_document import SharedNotebook
from tests.support.small_notebooks import write_notebook


async def _call(function, *args, **options):
    return await asyncio.to_thread(lambda: function(*args, **options))


async def test_an_open_document_is_read_and_not_edited(tmp_path):
    write_notebook(tmp_path / "n.ipynb", "a = 1", "print(a)")
    edit = {"op": "replace", "cell": 1, "source": "print(zzz)"}
    with jupyter_server(tmp_path) as server:
        assert (await _call(server.check, "n.ipynb"))["content_source"] == "contents"
        assert (await _call(server.edit, "n.ipynb", edit))["write"] == "bytes"
        async with SharedNotebook(server, "n.ipynb") as person:
            person.notebook.set_cell(0, source="b = 1")
            while True:
                report = await _call(server.check, "n.ipynb")
                if report["counts"]["present"] == 1 and "b = 1" in str(await _sources(server)):
                    break
            assert report["content_source"] == "live"
            refused = await _call(server.post, "edits", path="n.ipynb", edits=[edit | {"source": "print(b)"}])
            assert (refused.status, refused.json["reason"]) == (409, "live")
            assert person.sources == ["b = 1", "print(zzz)"]


async def _sources(server) -> list[str]:
    cells = (await _call(server.get, "cells", path="n.ipynb")).json["cells"]
    return [cell["source"] for cell in cells]
