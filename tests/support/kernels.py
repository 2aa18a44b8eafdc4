"""Real kernels: started by a Jupyter server for a notebook, or by themselves; their cells are run by nbclient."""

import json
import subprocess
import sys
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.error import URLError

import nbformat
from jupyter_client import AsyncKernelManager
from jupyter_client.asynchronous import AsyncKernelClient
from nbclient import NotebookClient

from tests.support.jupyter_server import PACKAGE_ROOT, JupyterServer

JSON_TYPE = "application/vnd.jupyter-lsp-agent.v1+json"


class CellClient(AsyncKernelClient):
    """Tells the kernel which cell it runs, as JupyterLab does and nbclient does not."""

    cell_id: str | None = None

    def execute(self, code: str, silent: bool = False, store_history: bool = True, **options: Any) -> str:
        content = {
            "code": code,
            "silent": silent,
            "store_history": store_history,
            "user_expressions": {},
            "allow_stdin": False,
            "stop_on_error": options.get("stop_on_error", True),
        }
        metadata = {"cellId": self.cell_id} if self.cell_id else {}
        message = self.session.msg("execute_request", content, metadata=metadata)
        self.shell_channel.send(message)
        return str(message["header"]["msg_id"])


@dataclass
class Outputs:
    """What one run gave."""

    cell: Any = field(repr=False)

    @property
    def all(self) -> list[Any]:
        return list(self.cell.outputs)

    @property
    def text(self) -> str:
        """Everything that it wrote and showed, as text."""
        return "\n".join(map(_text, self.all))

    @property
    def report(self) -> Any:
        """The report of the magic, as JSON."""
        reports = [output["data"][JSON_TYPE] for output in self.all if JSON_TYPE in output.get("data", {})]
        assert len(reports) == 1, self.text
        return reports[0]

    @property
    def codes(self) -> list[tuple[int, str]]:
        """The findings as (cell, code)."""
        return [(cell["cell_index"], found["code"]) for cell in self.report["cells"] for found in cell["diagnostics"]]


class NotebookKernel:
    """A kernel whose cells are run one by one."""

    def __init__(self, manager: AsyncKernelManager, *, session: Any = None, tells_ids: bool = True) -> None:
        self.session = session
        self._notebook = nbformat.v4.new_notebook()
        self._client = NotebookClient(self._notebook, km=manager, allow_errors=True, timeout=60)
        self._manager = manager
        self._tells_ids = tells_ids

    async def open(self) -> None:
        client = self._manager.client()
        client.start_channels()
        await client.wait_for_ready(timeout=60)
        client.allow_stdin = False
        self._client.kc = client

    async def close(self) -> None:
        self._client.kc.stop_channels()

    async def shut_down(self) -> None:
        """As a front end does."""
        self._client.kc.shutdown()

    async def interrupt(self) -> None:
        """As the stop button does."""
        message = self._client.kc.session.msg("interrupt_request", {})
        self._client.kc.control_channel.send(message)

    async def run(self, source: str, cell_id: str | None = None) -> Outputs:
        """Run a cell to its end."""
        cell = nbformat.v4.new_code_cell(source)
        self._notebook.cells.append(cell)
        self._client.kc.cell_id = cell_id if self._tells_ids else None
        await self._client.async_execute_cell(cell, len(self._notebook.cells) - 1)
        return Outputs(cell)

    async def run_silently(self, source: str) -> None:
        """As editors do what they want done: no cell, no number, no history."""
        self._client.kc.cell_id = None
        reply = self._client.kc.execute(source, silent=True, store_history=False)
        answer = await self._client.kc.get_shell_msg(timeout=60)
        assert (answer["parent_header"]["msg_id"], answer["content"]["status"]) == (reply, "ok")

    async def check(self, line: str = "%lsp_check", cell_id: str | None = None) -> Outputs:
        return await self.run(line, cell_id)


def runtime_folder(server: JupyterServer) -> Path:
    """Where a server and its kernels leave their files."""
    return Path(f"/proc/{server.process.pid}/cwd").resolve() / "jupyter_runtime_dir"


@contextmanager
def server_session(server: JupyterServer, path: str, kernel: str = "python3", **body: Any) -> Iterator[Any]:
    """A kernel that a Jupyter server runs for a notebook: its session, as the server tells it."""
    request = {"path": path, "name": Path(path).name, "type": "notebook", "kernel": {"name": kernel}, **body}
    answer = server.send("POST", "api/sessions", request)
    assert answer.status == 201, answer.text
    try:
        yield answer.json
    finally:
        # A server that is gone has taken its kernels with it.
        with suppress(URLError):
            server.send("DELETE", f"api/sessions/{answer.json['id']}")


def attached(connection_file: Path) -> AsyncKernelManager:
    """A manager of a kernel that somebody else started."""
    for _ in range(600):
        if connection_file.is_file() and connection_file.stat().st_size:
            break
        time.sleep(0.1)
    manager = _Attached(connection_file=str(connection_file))
    manager.load_connection_file()
    return manager


class _Attached(AsyncKernelManager):
    client_factory = CellClient
    client_class = "tests.support.kernels.CellClient"

    @property
    def has_kernel(self) -> bool:
        return True

    async def _async_is_alive(self) -> bool:
        return True


def notebook(*sources: str, ids: bool = True, minor: int = 5, kernel: str = "python3") -> str:
    """A notebook's text; the ids are `c0`, `c1`, …"""
    cells = [
        {"cell_type": "code", "source": source, "metadata": {}, "outputs": [], "execution_count": None}
        | ({"id": f"c{number}"} if ids else {})
        for number, source in enumerate(sources)
    ]
    metadata = {"kernelspec": {"name": kernel, "display_name": kernel, "language": "python"}}
    return json.dumps({"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": minor}, indent=1)


@contextmanager
def plain_kernel(folder: Path, environment: Mapping[str, str], python: str = sys.executable) -> Iterator[Path]:
    """A kernel that no server knows: its connection file."""
    connection = folder / "kernel-of-nobody.json"
    program = [python, "-m", "ipykernel_launcher", "-f", str(connection)]
    process = subprocess.Popen(
        program,
        cwd=folder,
        env={**environment, "PYTHONPATH": str(PACKAGE_ROOT)},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    try:
        yield connection
    finally:
        process.kill()
        process.wait()


def _text(output: Any) -> str:
    if output["output_type"] == "stream":
        return str(output["text"])
    if output["output_type"] == "error":
        return f"{output['ename']}: {output['evalue']}"
    return str(output["data"].get("text/plain", ""))
