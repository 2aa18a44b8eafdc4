"""Real IPython kernels: cells are run in any order, and what was run and what lives is asked for afterwards.

What is asked for is what a magic inside the kernel can know: the sources that were run with ids and outcomes, as
IPython's own events tell them, and the names in `user_ns` and `user_ns_hidden`. Nothing is left in the namespace.
"""

import ast
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from jupyter_client.blocking import BlockingKernelClient
from jupyter_client.manager import KernelManager

from jupyter_lsp_agent.notebook.hidden_state import ExecutedCell, user_names

TIMEOUT_SECONDS = 50.0

RECORD = """
exec('''
runs = ip._recorded_runs = []

def pre(info):
    runs.append({"source": info.raw_cell, "cell_id": info.cell_id, "failed": None, "execution_count": None})

def post(result):
    if runs:
        runs[-1].update(failed=not result.success, execution_count=result.execution_count)

ip.events.register("pre_run_cell", pre)
ip.events.register("post_run_cell", post)
''', {"ip": get_ipython()})
"""
TELL = (
    "__import__('json').dumps("
    "[get_ipython()._recorded_runs, [*get_ipython().user_ns], [*get_ipython().user_ns_hidden]])"
)


@dataclass(frozen=True)
class KernelState:
    """What a kernel has run, and the names of its user that live."""

    executed: tuple[ExecutedCell, ...]
    names: frozenset[str]


def state_from(reply: dict[str, Any]) -> KernelState:
    """The state from the reply to `TELL` as user expression `state`."""
    told = reply["content"]["user_expressions"]["state"]["data"]["text/plain"]
    runs, namespace, hidden = json.loads(ast.literal_eval(told))
    return KernelState(tuple(ExecutedCell(**run) for run in runs), user_names(namespace, hidden))


class RunningKernel:
    """A kernel whose runs are recorded."""

    def __init__(self, manager: KernelManager, client: BlockingKernelClient) -> None:
        self.manager, self.client = manager, client
        self._ask(RECORD, silent=True)

    def run(self, source: str, cell_id: str | None = None) -> str:
        """Run a cell as a front end does, and give how it ended: `ok`, `error` or `aborted`."""
        metadata = {} if cell_id is None else {"cellId": cell_id}
        return self._ask(source, metadata=metadata)["content"]["status"]

    def interrupt_in(self, source: str, cell_id: str | None = None) -> str:
        """Run a cell that prints when it is ready to be interrupted, and interrupt it."""
        message_id = self._send(source, {} if cell_id is None else {"cellId": cell_id})
        while True:
            message = self.client.get_iopub_msg(timeout=TIMEOUT_SECONDS)
            if message["parent_header"].get("msg_id") == message_id and message["msg_type"] == "stream":
                break
        self.manager.interrupt_kernel()
        return self._reply(message_id)["content"]["status"]

    def state(self) -> KernelState:
        """What was run and what lives."""
        return state_from(self._ask("", silent=True, expressions={"state": TELL}))

    def _ask(self, source: str, **words: Any) -> dict[str, Any]:
        return self._reply(self._send(source, **words))

    def _send(
        self,
        source: str,
        metadata: dict[str, Any] | None = None,
        *,
        silent: bool = False,
        expressions: dict[str, str] | None = None,
    ) -> str:
        content = {
            "code": source,
            "silent": silent,
            "store_history": not silent,
            "user_expressions": expressions or {},
            "allow_stdin": False,
            "stop_on_error": False,
        }
        message = self.client.session.msg("execute_request", content, metadata=metadata)
        self.client.shell_channel.send(message)
        return message["header"]["msg_id"]

    def _reply(self, message_id: str) -> dict[str, Any]:
        while True:
            reply = self.client.get_shell_msg(timeout=TIMEOUT_SECONDS)
            if reply["parent_header"].get("msg_id") == message_id:
                return reply


@contextmanager
def running_kernel(folder: Path, **environment: str) -> Iterator[RunningKernel]:
    """A fresh kernel that works in `folder`, with further environment variables, and with a profile of its own."""
    manager = KernelManager(kernel_name="python3")
    manager.start_kernel(cwd=str(folder), env={**os.environ, "IPYTHONDIR": str(folder / ".ipython"), **environment})
    client = manager.blocking_client()
    try:
        client.start_channels()
        client.wait_for_ready(timeout=TIMEOUT_SECONDS)
        yield RunningKernel(manager, client)
    finally:
        client.stop_channels()
        manager.shutdown_kernel(now=True)
        manager.cleanup_resources()
