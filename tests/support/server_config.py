"""Parts that a Jupyter server of a test is configured with: users with and without permissions, contents without files.

Imported by the server under test (its configuration names them), never by tests.
"""

import errno
from datetime import UTC, datetime
from typing import Any

import nbformat
from jupyter_server.auth import Authorizer, IdentityProvider, User
from jupyter_server.services.contents.checkpoints import Checkpoints
from jupyter_server.services.contents.manager import ContentsManager
from tornado.web import HTTPError

NOW = datetime.now(UTC)
NAMES = {"token-of-ann": "ann", "token-of-bob": "bob", "token-of-reader": "reader"}


class NamedUsers(IdentityProvider):
    """Each token is a user's."""

    async def get_user_token(self, handler: Any) -> User | None:
        name = NAMES.get(self.get_token(handler) or "")
        handler._token_authenticated = name is not None
        return None if name is None else User(name)


class Permissions(Authorizer):
    """`reader` may read contents and nothing else."""

    def is_authorized(self, handler: Any, user: User, action: str, resource: str) -> bool:
        return user.username != "reader" or (action, resource) == ("read", "contents")


class NoCheckpoints(Checkpoints):
    def create_checkpoint(self, contents_mgr: Any, path: str) -> dict[str, Any]:
        return {"id": "0"}

    def list_checkpoints(self, path: str) -> list[dict[str, Any]]:
        return [{"id": "0"}]


class MemoryContents(ContentsManager):
    """Contents that are nowhere on disk. Notebooks below `objects/` are kept as objects and have no text."""

    checkpoints_class = NoCheckpoints
    stored: dict[str, Any] = {}  # noqa: RUF012 - one server, one manager

    def get(self, path: str, content: bool = True, type: str | None = None, format: str | None = None, **_: Any) -> Any:  # noqa: A002 - their names
        path = path.strip("/")
        if path not in self.stored:
            raise HTTPError(404, f"there is no {path}")
        text = self.stored[path]
        if path.startswith("objects/") and type == "file":
            raise HTTPError(400, f"{path} is not a file", reason="bad type")
        as_notebook = type == "notebook" or (type is None and path.endswith(".ipynb"))
        model = {"name": path.rsplit("/")[-1], "path": path, "writable": True, "created": NOW, "last_modified": NOW,
                 "mimetype": None, "format": None, "content": None}  # fmt: skip
        model["type"] = "notebook" if as_notebook else "file"
        if content:
            model["format"] = "json" if as_notebook else "text"
            model["content"] = nbformat.reads(text, as_version=4) if as_notebook else text
        return model

    def save(self, model: dict[str, Any], path: str = "") -> dict[str, Any]:
        self.run_pre_save_hooks(model=model, path=path)
        content = model["content"]
        self.stored[path.strip("/")] = (
            nbformat.writes(nbformat.from_dict(content)) if model["type"] == "notebook" else content
        )
        return self.get(path, content=False)

    def file_exists(self, path: str = "") -> bool:
        return path.strip("/") in self.stored

    def dir_exists(self, path: str) -> bool:
        return not path.strip("/")

    def is_hidden(self, path: str) -> bool:
        return any(part.startswith(".") for part in path.split("/"))


class FullContents(MemoryContents):
    """Contents that take nothing more; asked for `odd.ipynb`, their engine breaks."""

    stored = {"n.ipynb": nbformat.writes(nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell("a = 1")]))}  # noqa: RUF012

    def get(self, path: str, **options: Any) -> Any:
        if path == "odd.ipynb":
            raise LookupError("the bucket with the secret name is gone")
        return super().get(path, **options)

    def save(self, model: dict[str, Any], path: str = "") -> dict[str, Any]:
        raise OSError(errno.ENOSPC, "No space left on device", "/somewhere/secret")
