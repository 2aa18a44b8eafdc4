"""One real Jupyter server for all tests that need nothing special of it; each test has a folder below its root."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.jupyter_server import JupyterServer, jupyter_server


@pytest.fixture(scope="session")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JupyterServer]:
    root = tmp_path_factory.mktemp("root")
    with jupyter_server(root) as running:
        yield running


@pytest.fixture
def folder(server: JupyterServer, request: pytest.FixtureRequest) -> Path:
    name = f"t{abs(hash(request.node.nodeid)):x}"
    path = server.root / name
    path.mkdir()
    return path
