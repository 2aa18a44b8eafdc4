"""A real Jupyter server is killed with `kill -9` while it writes notebooks: each is whole, old or new."""

import contextlib
import http.client
import json
import os
import random
import threading
import urllib.error
from collections import Counter
from pathlib import Path

import pytest

from tests.support.corpus import CORPUS, python_notebooks
from tests.support.full import SEEDS, sample
from tests.support.jupyter_server import JupyterServer, jupyter_server
from tests.support.small_notebooks import notebook_object

_KILLS = sample(200, 12)
_N_NOTEBOOKS = 8
_MARK = ".jupyter-lsp-agent."
"""What the name of a file has in it that is written and has not taken the notebook's place yet."""


class Writer(threading.Thread):
    """Edits one notebook again and again, each time with the next number, until its server is gone."""

    def __init__(self, server: JupyterServer, path: Path, number: int) -> None:
        super().__init__(daemon=True)
        self.server, self.path = server, path
        self.sent, self.confirmed = number, number
        self.began = threading.Event()
        self.refused: str | None = None

    def run(self) -> None:
        with contextlib.suppress(urllib.error.URLError, ConnectionError, http.client.HTTPException):
            while self.refused is None:
                self._edit()
                self.began.set()

    def _edit(self) -> None:
        self.sent += 1
        edit = {"op": "replace", "cell": 0, "source": _source(self.sent)}
        answer = self.server.post("edits", path=self.path.name, edits=[edit], check=False)
        if answer.status == 200:
            self.confirmed = self.sent
        else:
            self.refused = answer.text


def _source(number: int) -> str:
    return f"number = {number:08}"


def _whole(first: bytes, number: int) -> bytes:
    """The bytes of a notebook that was edited for the `number`th time: nothing but the number differs."""
    return first.replace(_source(0).encode(), _source(number).encode())


def _real_notebooks() -> list[bytes]:
    """The largest of moderate size; where the corpus is absent, large ones of our own."""
    paths = [CORPUS / name for name, notebook in python_notebooks() if notebook.nbformat == 4]
    largest = sorted(paths, key=lambda path: path.stat().st_size, reverse=True)[:_N_NOTEBOOKS]
    made = notebook_object(["a"])
    made["cells"][0]["outputs"] = [{"output_type": "stream", "name": "stdout", "text": "x" * 2_000_000}]
    return [path.read_bytes() for path in largest] or [json.dumps(made, indent=1).encode()] * _N_NOTEBOOKS


def _kill_while_writing(server: JupyterServer, writers: list[Writer], draw: random.Random) -> None:
    for writer in writers:
        writer.start()
    for writer in writers:
        assert writer.began.wait(50)
    begun_writes = draw.randrange(1, 40)
    seen: set[str] = set()
    while len(seen) < begun_writes and all(writer.is_alive() for writer in writers):
        seen |= {entry.name for entry in os.scandir(server.root) if _MARK in entry.name}
    server.process.kill()
    server.process.wait()
    for writer in writers:
        writer.join(50)
        assert (writer.is_alive(), writer.refused) == (False, None)


@pytest.mark.skipif(os.name != "posix", reason="needs SIGKILL")
@pytest.mark.timeout(3600)
def test_killed_in_the_middle_of_writes_every_notebook_is_whole(tmp_path):
    draw = random.Random(SEEDS["kills while writing"])
    paths = [tmp_path / f"n{number}.ipynb" for number in range(_N_NOTEBOOKS)]
    for path, data in zip(paths, _real_notebooks(), strict=True):
        path.write_bytes(data)
    with jupyter_server(tmp_path) as server:
        for path in paths:
            insert = {"op": "insert", "after": None, "cell_type": "code", "source": _source(0)}
            server.ok("edits", path=path.name, edits=[insert], check=False)
    first = [path.read_bytes() for path in paths]
    numbers = [0] * _N_NOTEBOOKS
    tally: Counter[str] = Counter()
    for _ in range(_KILLS):
        with jupyter_server(tmp_path) as server:
            writers = [Writer(server, path, number) for path, number in zip(paths, numbers, strict=True)]
            _kill_while_writing(server, writers, draw)
        for at, (path, writer) in enumerate(zip(paths, writers, strict=True)):
            found, old, new = path.read_bytes(), *(_whole(first[at], n) for n in (writer.confirmed, writer.sent))
            assert found in {old, new}, f"torn: {path.name}, {len(found)} bytes"
            tally["old" if found == old else "new"] += 1
            numbers[at] = writer.confirmed if found == old else writer.sent
        left = [entry for entry in tmp_path.iterdir() if entry not in paths]
        # Nothing that a list of notebooks, or a program that keeps folders in step, would take for one.
        assert [entry.name for entry in left if not entry.name.startswith(".~") or entry.suffix == ".ipynb"] == []
        tally["kills with an unfinished file"] += bool(left)
        tally["unfinished files"] += len(left)
        for entry in left:
            entry.unlink()
    sizes = sorted(map(len, first))
    print(f"{_KILLS} kills, {sum(numbers)} edits of notebooks of {sizes[0]} to {sizes[-1]} bytes: {dict(tally)}")
    assert tally["kills with an unfinished file"] > 0
