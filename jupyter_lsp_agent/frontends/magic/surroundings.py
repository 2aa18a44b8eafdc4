"""What surrounds a kernel and says which notebook it runs: its id, and what its starter left in the environment.

This is the one place of the magic that reads the environment.
"""

import os
import re
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jupyter_lsp_agent.core.errors import InvalidRequestError

_CONNECTION_FILE = re.compile(r"kernel-(?:v\d+-\d+)?(?P<id>.+)\.json")


@dataclass(frozen=True, slots=True)
class HubToken:
    """The token of a server below a hub, whose own file holds none.

    Attributes:
        token: the token; it opens more than this one server, and goes to no other.
        prefix: the server's base URL, as the hub gives it; `None`: unknown, and no server gets the token.
    """

    token: str = field(repr=False)
    prefix: str | None


@dataclass(frozen=True, slots=True)
class KernelSurroundings:
    """What is around one kernel, or one terminal.

    Attributes:
        folder: the current folder.
        is_kernel: false in a terminal.
        kernel_id: as a Jupyter server calls the kernel; `None` where that cannot be told.
        session_name: `JPY_SESSION_NAME`; where the notebook was when the kernel started.
        editor_file: the notebook, as VS Code names it to its kernels.
        hub: for a server below a hub.
        python: the interpreter that runs here.
    """

    folder: Path
    is_kernel: bool = False
    kernel_id: str | None = None
    session_name: str | None = None
    editor_file: str | None = None
    hub: HubToken | None = None
    python: Path = Path(sys.executable)


def read_surroundings(shell: Any) -> KernelSurroundings:
    """The surroundings of a shell, now: the folder and the editor's word may change.

    Raises:
        InvalidRequestError: the current folder is gone.
    """
    editor_file = shell.user_ns.get("__vsc_ipynb_file__")
    return KernelSurroundings(
        folder=_current_folder(),
        is_kernel=hasattr(shell, "kernel"),
        kernel_id=_kernel_id(shell),
        session_name=os.environ.get("JPY_SESSION_NAME"),
        editor_file=editor_file if isinstance(editor_file, str) else None,
        hub=_hub_token(),
    )


def _current_folder() -> Path:
    try:
        return Path.cwd()
    except OSError as error:
        reason = error.strerror or "unknown"
        raise InvalidRequestError(
            f"the current folder is not there any more ({reason}): change into another one with %cd"
        ) from None


def _hub_token() -> HubToken | None:
    token = os.environ.get("JUPYTERHUB_API_TOKEN")
    return HubToken(token, os.environ.get("JUPYTERHUB_SERVICE_PREFIX")) if token else None


def _kernel_id(shell: Any) -> str | None:
    """From the name of the kernel's connection file, which a Jupyter server chooses by its id."""
    kernel = getattr(shell, "kernel", None)
    application = getattr(kernel, "parent", None)
    name = Path(getattr(application, "connection_file", "") or "").name
    found = _CONNECTION_FILE.fullmatch(name)
    return found["id"] if found else None
