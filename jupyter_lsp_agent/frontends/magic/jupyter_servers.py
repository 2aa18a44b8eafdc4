"""The Jupyter servers of this user on this machine, and the way to ask them.

A running server writes its address, token and process into a file of the runtime folder; whoever can read that file is
the user. Others may be able to write there, so a file is believed only where it is the user's, and tells of a process
of the user's and of an address of this machine. A server that is gone, wants a password, or does not answer soon is
passed over, with the reason; one that is silent is not waited for again at once. What a server answers is believed as
far as it has the right form.
"""

import asyncio
import ipaddress
import json
import os
import socket
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

import psutil
from jupyter_core.paths import jupyter_runtime_dir
from tornado.httpclient import AsyncHTTPClient, HTTPClientError, HTTPRequest, HTTPResponse
from tornado.simple_httpclient import HTTPTimeoutError, SimpleAsyncHTTPClient

from jupyter_lsp_agent.core.errors import JupyterLspAgentError
from jupyter_lsp_agent.core.files import read_regular_file
from jupyter_lsp_agent.frontends.magic.surroundings import HubToken

_SOON_SECONDS = 2.0
"""For what a server knows by heart; a server that is busy takes longer, and then the file serves."""

_SILENT_SECONDS = 10.0
"""How long a server that did not answer is left alone: a kernel's wait is short, and there may be several of them."""

_MAX_FILES = 200
"""Servers that were killed leave their files, and whoever asks waits for the reading of them."""

_MAX_FILE_BYTES = 64 * 1024
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


def running_servers(hub: HubToken | None = None) -> tuple[RunningServer, ...]:
    """The servers whose processes live, the latest first.

    Args:
        hub: for the server below a hub.
    """
    folder = Path(jupyter_runtime_dir())
    files = sorted(folder.glob("jpserver-*.json"), key=_written_seconds, reverse=True)
    return tuple(server for file in files[:_MAX_FILES] if (server := _read(file, hub)) is not None)


class ServerClient:
    """Asks Jupyter servers, on the running loop."""

    def __init__(self) -> None:
        # A client of our own: the shared one is the kernel's, and may be configured by anybody.
        self._client: AsyncHTTPClient = SimpleAsyncHTTPClient(force_instance=True, max_body_size=_MAX_ANSWER_BYTES)
        self._silent_until: dict[str, float] = {}

    async def get(self, server: RunningServer, route: str, **query: str) -> Any:
        """The JSON of a GET below the server's base URL.

        Raises:
            ServerAnswerError: there is none.
        """
        address = route + (f"?{urlencode(query)}" if query else "")
        return _parsed(await self._send(server, "GET", address, None, _SOON_SECONDS))

    async def post(self, server: RunningServer, route: str, body: Mapping[str, Any], seconds: float) -> Any:
        """The JSON of a POST below the server's base URL.

        Raises:
            ServerAnswerError: there is none.
        """
        data = json.dumps(body).encode("ascii")
        return _parsed(await self._send(server, "POST", route, data, seconds))

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
        if not isinstance(sessions, list):
            raise ServerAnswerError("the Jupyter server's answer is no list of sessions")
        found = (_session(server, session, kernel_id) for session in sessions)
        return tuple(session for session in found if session is not None)

    def close(self) -> None:
        """Close the connections."""
        self._client.close()

    async def _send(
        self, server: RunningServer, verb: str, route: str, data: bytes | None, seconds: float
    ) -> HTTPResponse:
        now = asyncio.get_running_loop().time()
        if now < self._silent_until.get(server.url, 0.0):
            raise ServerAnswerError("the Jupyter server did not answer a moment ago")
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
            if isinstance(error, HTTPTimeoutError):
                self._silent_until[server.url] = asyncio.get_running_loop().time() + _SILENT_SECONDS
            raise ServerAnswerError(_message_of(error), error.code) from None
        except (OSError, ValueError) as error:
            raise ServerAnswerError(f"the Jupyter server does not answer ({error})") from None


def _parsed(answer: HTTPResponse) -> Any:
    try:
        return json.loads(answer.body)
    except (ValueError, RecursionError):
        raise ServerAnswerError("the Jupyter server's answer is no JSON") from None


def _session(server: RunningServer, session: Any, kernel_id: str) -> KernelSession | None:
    """A session that is a notebook's with the kernel; `None` for others, and for what is no session."""
    try:
        is_own = session["type"] == "notebook" and session["kernel"]["id"] == kernel_id
        path, kernel = session["path"], session["kernel"]["name"]
    except (KeyError, TypeError):
        return None
    if not is_own or not isinstance(path, str) or not isinstance(kernel, str) or not path.isprintable():
        return None
    return KernelSession(server, path.removeprefix("RTC:").lstrip("/"), kernel)


def _read(file: Path, hub: HubToken | None) -> RunningServer | None:
    """The server of a file; `None` where the file is stale, or tells of a way that we cannot go."""
    try:
        content = json.loads(read_regular_file(file, _MAX_FILE_BYTES))
        url, root, pid = content["url"], content["root_dir"], content["pid"]
        token = content.get("token") or ""
        parts = urlsplit(url)
        is_usable = parts.scheme in {"http", "https"} and _is_this_machine(parts.hostname or "")
    except (OSError, ValueError, KeyError, TypeError, AttributeError, RecursionError):
        return None
    is_told = isinstance(url, str) and isinstance(root, str) and isinstance(pid, int) and isinstance(token, str)
    if not is_usable or not is_told or not _is_of_user(file) or not _is_ours(pid):
        return None
    url = url.removesuffix("/") + "/"
    if not token and hub is not None and hub.prefix is not None and parts.path.strip("/") == hub.prefix.strip("/"):
        token = hub.token
    return RunningServer(url, token, Path(root))


def _is_this_machine(host: str) -> bool:
    """Whether a server of that address runs here, as its process does; no name is looked up."""
    name = socket.gethostname().lower()
    if host in {"localhost", name, name.partition(".")[0]}:
        return True
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    return address.is_loopback or str(address) in _own_addresses()


def _own_addresses() -> frozenset[str]:
    return frozenset(one.address for addresses in psutil.net_if_addrs().values() for one in addresses)


def _is_of_user(file: Path) -> bool:
    """Whether this user wrote a file, where systems tell."""
    return not hasattr(os, "geteuid") or file.stat().st_uid == os.geteuid()


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
