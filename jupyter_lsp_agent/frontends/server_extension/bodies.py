"""The body of a request as bounded JSON."""

import json
from collections.abc import Iterable
from typing import Any

from tornado.web import HTTPError

MAX_BODY_BYTES = 16 * 1024 * 1024
MAX_DEPTH = 100


def parse_body(body: bytes) -> Any:
    """The JSON that was sent.

    Raises:
        HTTPError: it is too large (413), no JSON, or nested too deeply (400).
    """
    if len(body) > MAX_BODY_BYTES:
        raise HTTPError(413, f"the request's body is larger than {MAX_BODY_BYTES // 2**20} MiB: send less")
    try:
        value = json.loads(body.decode("utf-8"))
    except UnicodeDecodeError:
        raise HTTPError(400, "the request's body is not UTF-8") from None
    except RecursionError:
        raise HTTPError(400, f"the request's body is nested deeper than {MAX_DEPTH} levels") from None
    except ValueError as error:
        raise HTTPError(400, f"the request's body is not JSON ({error})".replace("%", "%%")) from None
    if _is_deeper_than(value, MAX_DEPTH):
        raise HTTPError(400, f"the request's body is nested deeper than {MAX_DEPTH} levels")
    return value


def _is_deeper_than(value: Any, levels: int) -> bool:
    level = [value]
    for _ in range(levels + 1):
        level = [child for parent in level for child in _children(parent) if isinstance(child, (dict, list))]
        if not level:
            return False
    return True


def _children(value: Any) -> Iterable[Any]:
    return value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
