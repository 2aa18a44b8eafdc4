"""What a refused request is answered: a status and one sentence, in the shape that jupyter_server gives its errors."""

import errno
from http import HTTPStatus

from tornado.web import HTTPError

from jupyter_lsp_agent.core.errors import (
    ContentChangedError,
    EditsDisabledError,
    JupyterLspAgentError,
    StaleContentError,
    UnknownCellError,
)

_STATUSES: tuple[tuple[type[JupyterLspAgentError], HTTPStatus, str], ...] = (
    (StaleContentError, HTTPStatus.CONFLICT, "stale"),
    (ContentChangedError, HTTPStatus.CONFLICT, "busy"),
    (EditsDisabledError, HTTPStatus.FORBIDDEN, "disabled"),
    (UnknownCellError, HTTPStatus.NOT_FOUND, "unknown cell"),
    (JupyterLspAgentError, HTTPStatus.BAD_REQUEST, "bad request"),
)


_TOO_LARGE = "too_large"
_NOT_THERE = frozenset({errno.ENOENT, errno.ENOTDIR, errno.ELOOP, errno.ENAMETOOLONG})
_NOT_ALLOWED = frozenset({errno.EACCES, errno.EPERM, errno.EROFS})
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


def refused_by_system(name: str, done: str, error: OSError) -> HTTPError:
    """What is answered where the operating system refuses a document; `done`: what was to be, as `read`."""
    why = error.strerror or str(error)
    if error.errno in _NOT_THERE:
        return HTTPError(HTTPStatus.NOT_FOUND, f"{name} is no document: {why}")
    if error.errno in _NOT_ALLOWED or isinstance(error, PermissionError):
        return HTTPError(HTTPStatus.FORBIDDEN, f"{name} may not be {done}: change its permissions")
    if error.errno in _NO_ROOM:
        message = f"{name} was not {done}, and is as it was: {why}; make room and try again"
        return HTTPError(HTTPStatus.INSUFFICIENT_STORAGE, message)
    return HTTPError(HTTPStatus.INTERNAL_SERVER_ERROR, f"{name} could not be {done}: {why}")


def error_answer(error: JupyterLspAgentError) -> tuple[HTTPStatus, dict[str, str]]:
    """The status and the JSON body for an error of ours."""
    status, reason = next((status, reason) for kind, status, reason in _STATUSES if isinstance(error, kind))
    # Errors about a document that cannot be had say why with a word of the reports'.
    reason = str(getattr(error, "reason", reason))
    if reason == _TOO_LARGE:
        status = HTTPStatus.REQUEST_ENTITY_TOO_LARGE
    body = {"message": str(error), "reason": reason}
    if isinstance(error, StaleContentError):
        body["content_hash"] = error.content_hash
    return status, body
