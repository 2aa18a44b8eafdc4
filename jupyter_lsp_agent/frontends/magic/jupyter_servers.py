"""The Jupyter servers of this user on this machine, and the way to ask them.

A running server writes its address, token and process into a file of the runtime folder; whoever can read that file is
the user. A server that is gone, wants a password, or does not answer soon is passed over, with the reason.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import psutil
from jupyter_core.paths import jupyter_runtime_dir
from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest, HTTPResponse
from tornado.simple_httpclient import SimpleAsyncHTTPClient

from jupyter_lsp_agent.core.errors import JupyterLspAgentError

_SOON_SECONDS = 2.0
"""For what a server knows by heart; a server that is busy takes longer, and then the file serves."""

_MAX_ANSWER_BYTES = 256 * 1024 * 1024
_OURS = "jupyter-lsp-agent"


class ServerAnswerError(JupyterLspAgentError):
    """A Jupyter server did not give what it was asked for.

    Attributes:
        status: of its answer; `None` where there was none.
    """

    def __init__(self, message: str, status: int | None = None) -> None:
        super().__init__(message)
        self.status = status


@dataclass(frozen=True, slots=True)
class RunningServer:
    """A Jupyter server as its file tells of it."""

    url: str
    token: str = field(repr=False)
    root: Path


@dataclass(frozen=True, slots=True)
class KernelSession:
    """A notebook that a server runs with some kernel.

    Attributes:
        server: the server.
        name: the notebook's path, as the contents API has it.
        kernel_name: the kernelspec's name.
    """

    server: RunningServer
    name: str
    kernel_name: str

    @property
    def path(self) -> Path:
        """Where the file lies, if the server's documents are files."""
        return self.server.root / self.name


def running_servers(hub_token: str | None = None) -> tuple[RunningServer, ...]:
    """The servers whose processes live, the latest first.

    Args:
        hub_token: for servers below a hub, whose files hold no token.
    """
    folder = Path(jupyter_runtime_dir())
    files = sorted(folder.glob("jpserver-*.json"), key=_written_seconds, reverse=True)
    return tuple(server for file in files if (server := _read(file, hub_token)) is not None)


class ServerClient:
    """Asks Jupyter servers, on the running loop."""

    def __init__(self) -> None:
        # A client of our own: the shared one is the kernel's, and may be configured by anybody.
        self._client: AsyncHTTPClient = SimpleAsyncHTTPClient(force_instance=True, max_body_size=_MAX_ANSWER_BYTES)

    async def get(self, server: RunningServer, route: str, **query: str) -> Any:
        """The JSON of a GET below the server's base URL.

        Raises:
            ServerAnswerError: there is none.
        """
        address = route + (f"?{urlencode(query)}" if query else "")
        return json.loads((await self._send(server, "GET", address, None, _SOON_SECONDS)).body)

    async def post(self, server: RunningServer, route: str, body: Mapping[str, Any], seconds: float) -> Any:
        """The JSON of a POST below the server's base URL.

        Raises:
            ServerAnswerError: there is none.
        """
        data = json.dumps(body).encode("ascii")
        return json.loads((await self._send(server, "POST", route, data, seconds)).body)

    async def has_extension(self, server: RunningServer) -> bool:
        """Whether our routes are there."""
        try:
            await self._send(server, "GET", f"{_OURS}/openapi.yaml", None, _SOON_SECONDS)
        except ServerAnswerError:
            return False
        return True

    async def sessions_of(self, server: RunningServer, kernel_id: str) -> tuple[KernelSession, ...]:
        """The notebooks that run with a kernel.

        Raises:
            ServerAnswerError: the server does not tell.
        """
        sessions = await self.get(server, "api/sessions")
        return tuple(
            KernelSession(server, session["path"].removeprefix("RTC:"), session["kernel"]["name"])
            for session in sessions
            if session.get("type") == "notebook" and (session.get("kernel") or {}).get("id") == kernel_id
        )

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    async def _send(
        self, server: RunningServer, verb: str, route: str, data: bytes | None, seconds: float
    ) -> HTTPResponse:
        headers = {"Authorization": f"token {server.token}", "Content-Type": "application/json"}
        request = HTTPRequest(
            server.url + quote(route, safe="/?&=%+"),
            verb,
            headers,
            data,
            connect_timeout=_SOON_SECONDS,
            request_timeout=seconds,
            follow_redirects=False,
        )
        try:
            return await self._client.fetch(request)
        except HTTPClientError as error:
            raise ServerAnswerError(_message_of(error), error.code) from None
        except (OSError, ValueError) as error:
            raise ServerAnswerError(f"the Jupyter server does not answer ({error})") from None


def _read(file: Path, hub_token: str | None) -> RunningServer | None:
    """The server of a file; `None` where the file is stale, or tells of a way that we cannot go."""
    try:
        content = json.loads(file.read_bytes())
        url, root, pid = content["url"], content["root_dir"], content["pid"]
    except (OSError, ValueError, KeyError, TypeError):
        return None
    is_usable = isinstance(url, str) and urlsplit(url).scheme in {"http", "https"} and isinstance(root, str)
    if not is_usable or not isinstance(pid, int) or not _is_ours(pid):
        return None
    return RunningServer(url.removesuffix("/") + "/", content.get("token") or hub_token or "", Path(root))


def _is_ours(pid: int) -> bool:
    """Whether a process lives and is this user's: the token goes to nobody else."""
    try:
        return psutil.Process(pid).username() == psutil.Process().username()
    except (psutil.Error, ValueError, OverflowError):
        return False


def _written_seconds(file: Path) -> float:
    try:
        return file.stat().st_mtime
    except OSError:
        return 0.0


def _message_of(error: HTTPClientError) -> str:
    try:
        message = json.loads(error.response.body)["message"] if error.response is not None else None
    except (ValueError, KeyError, TypeError):
        message = None
    return message if isinstance(message, str) and message else f"the Jupyter server answered with {error}"
