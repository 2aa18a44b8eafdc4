"""Disks that are full or may not be written: one sentence, the notebook whole, and the session as it was."""

import os

import pytest

from tests.support.jupyter_server import jupyter_server
from tests.support.small_notebooks import write_notebook

pytestmark = pytest.mark.skipif(os.name != "posix", reason="the limits are those of POSIX")

_SMALL_FILES = "import resource\nresource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))\n"
"""No file may grow beyond this; a write that goes over it ends in its middle, as on a full disk."""
_FULL = """
import errno, os
def full(descriptor):
    raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))
os.fsync = full
"""
_MAY_NOT = """
import os
_access = os.access
os.access = lambda path, mode, **options: not mode & os.W_OK and _access(path, mode, **options)
"""
_LONG = {"op": "replace", "cell": 0, "source": "print(zzz)\n" + "# a long line\n" * 20_000}


@pytest.mark.parametrize("has_two_names", [False, True])
@pytest.mark.parametrize(
    ("config", "status", "word"),
    [(_SMALL_FILES, 507, "make room"), (_FULL, 507, "make room"), (_MAY_NOT, 403, "permissions")],
)
def test_an_edit_that_cannot_be_written_is_refused_and_changes_nothing(tmp_path, config, status, word, has_two_names):
    before = write_notebook(tmp_path / "n.ipynb", "a = 1", "print(a)\n" * 100)
    if has_two_names:  # so it is written in place
        (tmp_path / "other.ipynb").hardlink_to(tmp_path / "n.ipynb")
    names = sorted(path.name for path in tmp_path.iterdir())
    with jupyter_server(tmp_path, config=config) as server:
        known = server.check("n.ipynb", session="s")
        sessions = server.get("sessions").json
        answer = server.post("edits", path="n.ipynb", session="s", edits=[_LONG])
        assert answer.status == status
        assert answer.json["message"].startswith("n.ipynb ")
        assert word in answer.json["message"]
        assert str(tmp_path) not in answer.text
        assert (tmp_path / "n.ipynb").read_bytes() == before
        assert sorted(path.name for path in tmp_path.iterdir()) == names
        assert server.get("sessions").json == sessions
        again = server.check("n.ipynb", session="s")
        assert (again["content_hash"], again["counts"]) == (known["content_hash"], known["counts"])
        assert "Traceback" not in server.log.text


@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="the superuser may write everywhere")
def test_a_notebook_that_may_only_be_read_is_refused(tmp_path):
    before = write_notebook(tmp_path / "n.ipynb", "a = 1")
    (tmp_path / "n.ipynb").chmod(0o444)
    with jupyter_server(tmp_path) as server:
        answer = server.post("edits", path="n.ipynb", edits=[_LONG])
    assert (answer.status, (tmp_path / "n.ipynb").read_bytes()) == (403, before)


def test_a_contents_manager_that_cannot_save_is_told_in_one_sentence(tmp_path):
    config = "c.ServerApp.contents_manager_class = 'tests.support.server_config.FullContents'\n"
    with jupyter_server(tmp_path, config=config) as server:
        answer = server.post("edits", path="n.ipynb", edits=[_LONG])
        assert (answer.status, "make room" in answer.json["message"]) == (507, True)
        assert "secret" not in answer.text
        assert server.get("cells", path="n.ipynb").json["cells"][0]["source"] == "a = 1"
        assert "Traceback" not in server.log.text
        for answer in (server.get("cells", path="odd.ipynb"), server.post("check", path="odd.ipynb")):
            assert (answer.status, answer.json["reason"]) == (500, "internal error")
            assert "secret" not in answer.text
        assert "secret" in server.log.text
