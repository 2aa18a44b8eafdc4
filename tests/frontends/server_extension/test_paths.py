"""Which documents are served: those that the contents API of the same server serves, on every route and verb."""

import pytest

from tests.support.jupyter_server import jupyter_server
from tests.support.small_notebooks import sources_of, write_notebook

_SECRET = "hunter2 = 1"
_PATHS = {
    "plain.ipynb": True,
    "hidden/../plain.ipynb": None,
    ".hidden.ipynb": False,
    ".hidden/n.ipynb": False,
    "sub/.hidden/n.ipynb": False,
    "../outside.ipynb": False,
    "sub/../../outside.ipynb": False,
    "link.ipynb": None,
    "linked_folder/outside.ipynb": None,
    "linked_hidden.ipynb": None,
    "broken_link.ipynb": False,
    "loop.ipynb": False,
    "sub": None,
    "missing.ipynb": False,
    ".missing.ipynb": False,
    ".hidden/missing.ipynb": False,
    "../missing.ipynb": False,
    "sub/../../missing.ipynb": False,
    "nowhere/missing.ipynb": False,
    "~/n.ipynb": False,
    "n.ipynb\\..\\..\\outside.ipynb": False,
}
"""Whether they are served; `None`: as the contents API does it."""
_FREE = ("missing.ipynb", "n.ipynb\\..\\..\\outside.ipynb")
_FREE_AND_HIDDEN = (".missing.ipynb", ".hidden/missing.ipynb")
"""Names that are free, in a folder that is served."""


@pytest.fixture(scope="module", params=[False, True], ids=["hidden files are hidden", "hidden files are served"])
def places(tmp_path_factory, request):
    """A server, and whether it serves hidden files."""
    top = tmp_path_factory.mktemp("top")
    root, outside = top / "root", top / "beside"
    for folder in (root / "sub" / ".hidden", root / ".hidden", outside):
        folder.mkdir(parents=True)
    within = [root / name for name in ("plain.ipynb", ".hidden.ipynb", ".hidden/n.ipynb", "sub/.hidden/n.ipynb")]
    for path in (*within, top / "outside.ipynb", outside / "outside.ipynb"):
        write_notebook(path, _SECRET)
    (root / "link.ipynb").symlink_to(outside / "outside.ipynb")
    (root / "linked_folder").symlink_to(outside)
    (root / "linked_hidden.ipynb").symlink_to(root / ".hidden.ipynb")
    (root / "broken_link.ipynb").symlink_to(outside / "nothing.ipynb")
    (root / "loop.ipynb").symlink_to(root / "loop.ipynb")
    with jupyter_server(root, f"--ContentsManager.allow_hidden={request.param}") as server:
        yield server, request.param


def _is_served(server, path: str) -> bool:
    """Whether Jupyter itself gives the document's content."""
    answer = server.contents("GET", path)
    return answer.status == 200 and answer.json["type"] != "directory"


_EDIT = {"op": "replace", "cell": 0, "source": _SECRET}
_CALLS = {
    "cells": lambda server, path: server.get("cells", path=path),
    "cells of a session": lambda server, path: server.get("cells", path=path, session="s"),
    "check": lambda server, path: server.post("check", path=path, wait_ms=60_000),
    "check in a session": lambda server, path: server.post("check", path=path, session="s", wait_ms=60_000),
    "check of a revision": lambda server, path: server.post("check", path=path, baseline="none", wait_ms=60_000),
    "check of a content": lambda server, path: server.post("check", path=path, content={"cells": []}, wait_ms=60_000),
    "touch": lambda server, path: server.post("check", path=path, session="s", touch=True, wait_ms=60_000),
    "edits": lambda server, path: server.post("edits", path=path, edits=[_EDIT], wait_ms=60_000),
    "dry run": lambda server, path: server.post("edits", path=path, edits=[_EDIT], dry_run=True, wait_ms=60_000),
    "edit without a check": lambda server, path: server.post("edits", path=path, edits=[_EDIT], check=False),
    "accept": lambda server, path: server.post("baseline", path=path, session="s", action="accept"),
    "reset": lambda server, path: server.post("baseline", path=path, session="s", action="reset"),
}


@pytest.mark.parametrize("call", _CALLS)
@pytest.mark.parametrize("path", _PATHS)
def test_a_document_is_served_where_jupyter_serves_it(places, path, call):
    server, serves_hidden = places
    expected = _is_served(server, path)
    if _PATHS[path] is not None and not (".hidden" in path and serves_hidden):
        assert expected == _PATHS[path]
    # A new document may be checked before it exists, where Jupyter would let it be made.
    free = (*_FREE, *(_FREE_AND_HIDDEN if serves_hidden else ()))
    expected = expected or (call == "check of a content" and path in free)
    answer = _CALLS[call](server, path)
    assert (answer.status == 200) == expected, answer.text
    assert answer.status < 500
    assert str(server.root.parent) not in answer.text
    if not expected:
        assert set(answer.json) >= {"message", "reason"}
        assert _SECRET.split(maxsplit=1)[0] not in answer.text
        assert server.get("sessions", path=path).json == []


@pytest.mark.parametrize("path", ["link.ipynb", "linked_folder/outside.ipynb"])
def test_an_edit_through_a_link_goes_to_what_it_leads_to(places, path):
    server, _ = places
    target = server.root.parent / "beside" / "outside.ipynb"
    before = sources_of(target)
    answer = server.edit(path, {"op": "append", "cell_type": "code", "source": "x = 1"})
    assert answer["write"] == "bytes"
    assert (server.root / "link.ipynb").is_symlink()
    assert sources_of(target) == [*before, "x = 1"]
    server.edit(path, {"op": "delete", "cell": len(before)})
