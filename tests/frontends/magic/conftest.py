"""A real Jupyter server with kernels; each test has a folder below its root."""

from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, ExitStack
from pathlib import Path
from typing import Any

import pytest

from tests.support.jupyter_server import JupyterServer, jupyter_server
from tests.support.kernels import NotebookKernel, attached, runtime_folder, server_session


@pytest.fixture(scope="session")
def kernel_server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[JupyterServer]:
    with jupyter_server(tmp_path_factory.mktemp("kernels")) as running:
        yield running


@pytest.fixture
def folder(kernel_server: JupyterServer, request: pytest.FixtureRequest) -> Path:
    path = kernel_server.root / f"t{abs(hash(request.node.nodeid)):x}"
    path.mkdir()
    return path


Open = Callable[..., Any]


@pytest.fixture
async def open_kernel() -> AsyncIterator[Open]:
    """Starts a kernel for a notebook, as a front end does, with the magic loaded, unless a test does that."""
    async with AsyncExitStack() as closing:
        with ExitStack() as sessions:

            async def start(
                server: JupyterServer, path: str, *, tells_ids: bool = True, loads: bool = True, **body: Any
            ) -> NotebookKernel:
                session = sessions.enter_context(server_session(server, path, **body))
                file = runtime_folder(server) / f"kernel-{session['kernel']['id']}.json"
                kernel = NotebookKernel(attached(file), session=session, tells_ids=tells_ids)
                await kernel.open()
                closing.push_async_callback(kernel.close)
                if loads:
                    await kernel.run("%load_ext jupyter_lsp_agent", "loading")
                return kernel

            yield start
