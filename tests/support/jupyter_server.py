"""A real Jupyter server as a child process, and a plain HTTP client for it."""

import asyncio
import json
import os
import socket
import subprocess
import sys
import tempfile
import threading
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.cookiejar import CookieJar
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode, urlsplit

PACKAGE_ROOT = Path(__file__).parents[2]
TOKEN = "secret-of-the-tests"
_READY = "Use Control-C to stop this server"
_HUB_PREFIX = "/user/ann%40x/"


@dataclass(frozen=True)
class Answer:
    """An HTTP answer."""

    status: int
    body: bytes = field(repr=False)
    headers: Mapping[str, str] = field(repr=False)

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def text(self) -> str:
        return self.body.decode()


@dataclass
class JupyterServer:
    """A running server."""

    url: str
    root: Path
    process: "subprocess.Popen[str]" = field(repr=False)
    log: "_Log" = field(repr=False)
    token: str | None = TOKEN
    cookies: Mapping[str, str] = field(default_factory=dict, repr=False)

    def send(
        self,
        verb: str,
        route: str,
        body: Any = None,
        *,
        token: str | None = "",
        headers: Mapping[str, str] | None = None,
    ) -> Answer:
        """Send a request; `route` is below the base URL, `token` "" is the server's."""
        data = None if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
        request = urllib.request.Request(self.url + route, data, dict(headers or {}), method=verb)
        used = self.token if token == "" else token
        if used is not None:
            request.add_header("Authorization", f"token {used}")
        if self.cookies:
            request.add_header("Cookie", "; ".join(f"{name}={value}" for name, value in self.cookies.items()))
            request.add_header("X-XSRFToken", self.cookies["_xsrf"])
        try:
            with urllib.request.urlopen(request, timeout=50) as answer:
                return Answer(answer.status, answer.read(), answer.headers)
        except urllib.error.HTTPError as error:
            with error:
                return Answer(error.code, error.read(), error.headers)

    def get(self, route: str, **query: str) -> Answer:
        """GET one of our routes."""
        return self.send("GET", f"jupyter-lsp-agent/{route}" + (f"?{urlencode(query)}" if query else ""))

    def post(self, route: str, **body: Any) -> Answer:
        """POST to one of our routes."""
        return self.send("POST", f"jupyter-lsp-agent/{route}", body)

    def ok(self, route: str, **body: Any) -> Any:
        """The JSON of a POST that must succeed."""
        answer = self.post(route, **body)
        assert answer.status == 200, answer.text
        return answer.json

    def check(self, path: str, **body: Any) -> Any:
        """A check that must succeed, with the time that a cold start may take."""
        return self.ok("check", **{"path": path, "wait_ms": 60_000, **body})

    def edit(self, path: str, *edits: Mapping[str, Any], **body: Any) -> Any:
        """A batch of edits that must succeed."""
        return self.ok("edits", **{"path": path, "edits": edits, "wait_ms": 60_000, **body})

    def contents(self, verb: str, path: str, body: Any = None) -> Answer:
        """Jupyter's own contents API."""
        return self.send(verb, f"api/contents/{quote(path)}", body)

    def log_in(self, password: str) -> None:
        """As a browser does at a server that has a password and no token: by the form, which gives cookies."""
        jar = CookieJar()
        browser = urllib.request.build_opener(urllib.request.HTTPCookieProcessor(jar))
        browser.open(f"{self.url}login", timeout=50).close()
        xsrf = next(cookie.value for cookie in jar if cookie.name == "_xsrf")
        form = urlencode({"_xsrf": xsrf, "password": password}).encode()
        browser.open(f"{self.url}login?next={urlsplit(self.url).path}api/status", form, timeout=50).close()
        self.token = None
        self.cookies = {cookie.name: cookie.value or "" for cookie in jar}

    def stop(self) -> None:
        """End it as an administrator does."""
        if self.process.poll() is None:
            self.process.terminate()
        try:
            self.process.wait(20)
        finally:
            self.process.kill()
            self.process.wait()


@contextmanager
def jupyter_server(
    root: Path,
    *options: str,
    python: str = sys.executable,
    application: str = "jupyter_server",
    environment: Mapping[str, str] | None = None,
    config: str = "",
    hub_url: str | None = None,
    password: str | None = None,
    password_trait: str = "PasswordIdentityProvider.hashed_password",
) -> Iterator[JupyterServer]:
    """A server over `root` with the extension; `config` is the text of its configuration file.

    `application` is the module that is run: `jupyter_server`, `jupyterlab` or `notebook`. With `hub_url`, the API of a
    JupyterHub, it is `ann@x`'s server of that hub, which says where it lies and whom it lets in. With `password`, it
    has that, in `password_trait`, and no token.
    """
    with tempfile.TemporaryDirectory(prefix="jupyter-home-") as home:
        configuration = Path(home, "jupyter_server_config.py")
        configuration.write_text(config)
        port = _free_port()
        own = [f"--config={configuration}", "--allow-root", "--no-browser"]
        prefix = "/b@se/" if hub_url is None else _HUB_PREFIX
        access = _access(password_trait, password, prefix) if hub_url is None else []
        program = [
            python, "-m", application, *own, f"--port={port}",
            "--ServerApp.port_retries=0", f"--ServerApp.root_dir={root}", *access,
            "--ServerApp.jpserver_extensions={'jupyter_lsp_agent': True}", *options,
        ]  # fmt: skip
        in_hub = {} if hub_url is None else _in_hub(hub_url, port)
        process = subprocess.Popen(
            program,
            cwd=home,
            env=_environment(home) | in_hub | dict(environment or {}),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        log = _Log(process)
        server = JupyterServer(f"http://127.0.0.1:{port}{prefix}", root, process, log)
        try:
            assert log.wait_until_ready(), log.text
            _wait_until_it_listens(server, port)
            if password is not None:
                server.log_in(password)
            yield server
        finally:
            server.stop()


async def open_request(
    server: JupyterServer, route: str, body: bytes, *, length: int | None = None
) -> asyncio.StreamWriter:
    """POST to one of our routes and leave the connection open; `length` is what its head says."""
    address = urlsplit(server.url)
    _, writer = await asyncio.open_connection(address.hostname, address.port)
    head = (
        f"POST {address.path}jupyter-lsp-agent/{route} HTTP/1.1\r\nHost: {address.netloc}\r\n"
        f"Authorization: token {server.token}\r\nContent-Type: application/json\r\n"
        f"Content-Length: {len(body) if length is None else length}\r\n\r\n"
    )
    writer.write(head.encode() + body)
    await writer.drain()
    return writer


def _access(trait: str, password: str | None, prefix: str) -> list[str]:
    """Who is let in, and where."""
    if password is None:
        return [f"--IdentityProvider.token={TOKEN}", f"--ServerApp.base_url={prefix}"]
    from jupyter_server.auth.security import passwd

    return [f"--{trait}={passwd(password)}", f"--ServerApp.base_url={prefix}"]


def _wait_until_it_listens(server: JupyterServer, port: int) -> None:
    """It says that it runs a moment before it listens."""
    while server.process.poll() is None:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
    raise AssertionError(server.log.text)


class _Log:
    """What a server says, read as it comes."""

    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._stream = process.stderr
        self._lines: list[str] = []
        self._ready = threading.Event()
        self._ended = False
        self._thread = threading.Thread(target=self._read, daemon=True)
        self._thread.start()

    @property
    def text(self) -> str:
        return "".join(self._lines)

    def wait_until_ready(self) -> bool:
        """Whether it came up; the end of its output ends the wait too."""
        return self._ready.wait(50) and not self._ended

    def _read(self) -> None:
        assert self._stream is not None
        with self._stream:
            for line in self._stream:
                self._lines.append(line)
                if _READY in line:
                    self._ready.set()
        self._ended = True
        self._ready.set()


def _environment(home: str) -> dict[str, str]:
    own = {
        name: str(Path(home, name.lower()))
        for name in ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
    }
    for folder in own.values():
        Path(folder).mkdir(exist_ok=True)
    return {**os.environ, **own, "IPYTHONDIR": home, "PYTHONPATH": str(PACKAGE_ROOT), "JUPYTER_PREFER_ENV_PATH": "0"}


def _in_hub(hub_url: str, port: int) -> dict[str, str]:
    """What a hub tells the servers that it starts."""
    return {
        "JUPYTERHUB_API_URL": hub_url,
        "JUPYTERHUB_BASE_URL": "/",
        "JUPYTERHUB_HOST": "",
        "JUPYTERHUB_API_TOKEN": "token-of-the-server",
        "JUPYTERHUB_CLIENT_ID": "jupyterhub-user-ann",
        "JUPYTERHUB_USER": "ann@x",
        "JUPYTERHUB_OAUTH_SCOPES": '["access:servers!server=ann@x/"]',
        "JUPYTERHUB_OAUTH_ACCESS_SCOPES": '["access:servers!server=ann@x/"]',
        "JUPYTERHUB_SERVICE_PREFIX": _HUB_PREFIX,
        "JUPYTERHUB_SERVICE_URL": f"http://127.0.0.1:{port}{_HUB_PREFIX}",
        "JUPYTERHUB_ACTIVITY_URL": "",
    }


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port
