"""What is needed to start and greet one server: made by `servers/`, used by `lsp/` and `pool/`."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from jupyter_lsp_agent.core.behaviour import ServerBehaviour
from jupyter_lsp_agent.core.ids import DocumentUri, ServerId


@dataclass(frozen=True, slots=True)
class LaunchCommand:
    """A program to start: an argument list (never a shell line), its working folder and its whole environment.

    Attributes:
        argv: the program and its arguments.
        cwd: its working folder.
        environment: all variables that it gets.
        private_folder: names of variables that hold a folder of this one process: a new one, which only its user may
            enter, and which is deleted when nothing of the process is left.
    """

    argv: tuple[str, ...]
    cwd: Path
    environment: Mapping[str, str] = field(hash=False)
    private_folder: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ServerLaunch:
    """One server for one root and one environment.

    Attributes:
        server_id: its key in the catalogue; only for messages and reports.
        command: what to start.
        root_uri: the workspace folder.
        initialization_options: sent with `initialize`.
        settings: the tree from which `workspace/configuration` is answered by dotted section, and which
            `workspace/didChangeConfiguration` carries.
        behaviour: its behaviour class.
        initialize_timeout_seconds: for the handshake.
    """

    server_id: ServerId
    command: LaunchCommand
    root_uri: DocumentUri
    initialization_options: Any = field(default=None, hash=False)
    settings: Mapping[str, Any] = field(default_factory=dict, hash=False)
    behaviour: ServerBehaviour = field(default_factory=ServerBehaviour)
    initialize_timeout_seconds: float = 45.0


@dataclass(frozen=True, slots=True)
class TextDocument:
    """A text as a server is to see it.

    Attributes:
        uri: where it is, or is said to be.
        language_id: as LSP calls its language.
        text: the whole of it.
        is_module: other documents may speak of it: where its text changes, and when it is closed, what was pushed for
            them before is not believed any more.
    """

    uri: DocumentUri
    language_id: str
    text: str = field(repr=False)
    is_module: bool = False
