"""Every error that this package raises.

```
JupyterLspAgentError
├── NotebookError                     InvalidNotebookError · UnsupportedNotebookFormatError
├── EditError                         InvalidEditError · UnknownCellError · StaleContentError(content_hash) ·
│                                     ContentChangedError · EditsDisabledError
├── SettingsError
├── InvalidRequestError
├── InvalidReportError
├── TransportError   (bytes)          ServerExitedError(exit_code, stderr_tail) · ProtocolError (peer broke framing)
├── RequestError     (answers)        ResponseError(code, data) · InvalidResponseError(method) ·
│                                     RequestTimeoutError(method, timeout_seconds)
├── ServerUnavailableError(reason)    ServerNotFoundError · SpawnFailedError · InitializeFailedError ·
│                                     MarkedBrokenError · UntrustedError · PoolBusyError
└── InstallError                      InstallStoppedError
ClosedError(RuntimeError)             a mistake of ours: used after `aclose`
```

The text of an error is one sentence or two: the thing, the reason, the mend. It may quote a server or the name of a
file, so it is made printable, on one line, wherever it is read.
"""

from typing import Any

from jupyter_lsp_agent.core.printable import one_line


class JupyterLspAgentError(Exception):
    """Base of all; its text may be shown to a user as it is."""

    def __str__(self) -> str:
        return one_line(super().__str__())


class NotebookError(JupyterLspAgentError):
    """A notebook cannot be used."""


class InvalidNotebookError(NotebookError):
    """The text is no notebook."""


class UnsupportedNotebookFormatError(NotebookError):
    """A notebook of a format that we do not know."""


class EditError(JupyterLspAgentError):
    """An edit was refused; nothing of its batch was done."""


class InvalidEditError(EditError):
    """It cannot be done as it is written."""


class UnknownCellError(EditError):
    """It names a cell that the notebook does not have."""


class StaleContentError(EditError):
    """The document is not what the asker thinks it is. `content_hash` names what it is now."""

    def __init__(self, message: str, *, content_hash: str) -> None:
        super().__init__(message)
        self.content_hash = content_hash


class ContentChangedError(EditError):
    """The document was changed by somebody else between reading and writing."""


class EditsDisabledError(EditError):
    """Edits are switched off."""


class SettingsError(JupyterLspAgentError):
    """A setting has a value that it cannot have."""


class InvalidRequestError(JupyterLspAgentError):
    """A request is not as it must be."""


class InvalidReportError(JupyterLspAgentError):
    """What should be a report in JSON is none."""


class TransportError(JupyterLspAgentError):
    """The stream to a server is gone or broken."""


class ServerExitedError(TransportError):
    """The server's process ended, or closed its output, which counts as dead.

    Attributes:
        exit_code: negative for a signal, as `subprocess` has it; `None` while the process still lives.
        stderr_tail: the last lines of its standard error, for the message.
    """

    def __init__(self, message: str, *, exit_code: int | None = None, stderr_tail: str = "") -> None:
        super().__init__(message)
        self.exit_code = exit_code
        self.stderr_tail = stderr_tail


class ProtocolError(TransportError):
    """The peer sent bytes that are no JSON-RPC."""


class RequestError(JupyterLspAgentError):
    """A request was not answered as hoped."""


class ResponseError(RequestError):
    """The peer answered with an error object."""

    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(f"the server answered with error {code}: {message}")
        self.code = code
        self.message = message
        self.data = data


class InvalidResponseError(RequestError):
    """The peer answered with something that is no answer to the request."""

    def __init__(self, method: str, reason: str) -> None:
        super().__init__(f"the server's answer to {method} cannot be used: {reason}")
        self.method = method


class RequestTimeoutError(RequestError):
    """No answer in time."""

    def __init__(self, method: str, timeout_seconds: float) -> None:
        super().__init__(f"no answer to {method} within {timeout_seconds:g} s")
        self.method = method
        self.timeout_seconds = timeout_seconds


class ServerUnavailableError(JupyterLspAgentError):
    """A server cannot be had. `reason` is the contract's word for it."""

    reason = "broken"


class ServerNotFoundError(ServerUnavailableError):
    """Its program is not on this machine."""

    reason = "not_installed"


class SpawnFailedError(ServerUnavailableError):
    """Its program could not be started."""


class InitializeFailedError(ServerUnavailableError):
    """It started, and did not complete the handshake."""


class MarkedBrokenError(ServerUnavailableError):
    """It failed a short time ago and is not tried again yet."""


class UntrustedError(ServerUnavailableError):
    """It would run programs of a folder that is not trusted."""

    reason = "untrusted"


class PoolBusyError(ServerUnavailableError):
    """All places for servers are taken by checks that are under way."""

    reason = "busy"


class InstallError(JupyterLspAgentError):
    """A server could not be installed."""


class InstallStoppedError(InstallError):
    """Its install was ended before its time; that says nothing about the server."""


class ClosedError(RuntimeError):
    """Used after it was closed: a mistake in this package."""
