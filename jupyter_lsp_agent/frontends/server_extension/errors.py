"""What a refused request is answered: a status and one sentence, in the shape that jupyter_server gives its errors."""

from http import HTTPStatus

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
