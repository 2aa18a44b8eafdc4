"""What may stand next on a line of `%lsp_check`: options, their values, and paths."""

import re
import shlex
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

from jupyter_lsp_agent.core.errors import JupyterLspAgentError
from jupyter_lsp_agent.core.files import is_folder

_DOCUMENTS = (".ipynb", ".py")
_NEEDS_ESCAPE = re.compile(r"""([\s"'\\#;$`!&()<>|*?\[\]{}])""")


_OURS = re.compile(r"\s*%{0,2}lsp_check\s")
_MATCHER_API = 2


class LspCheckCompleter:
    """Completes arguments; a matcher of IPython's completer.

    Args:
        options: option → what gives its values; `None`: it takes none.
    """

    matcher_api_version = _MATCHER_API
    matcher_identifier = "jupyter_lsp_agent.lsp_check"

    def __init__(self, options: dict[str, Callable[[], Iterable[str]] | None]) -> None:
        self._options = options
        self.__qualname__ = type(self).__qualname__  # IPython asks each matcher for it, as if all were functions

    def __call__(self, context: Any) -> dict[str, Any]:
        """What may follow on the line before the cursor, as a matcher of IPython's completer gives it.

        On a line of ours nothing else is offered: IPython would add names of Python.
        """
        line = context.text_until_cursor
        if _OURS.match(line) is None:
            return {"completions": []}
        from IPython.core.completer import SimpleCompletion

        words, word = _split(line.lstrip())
        found = sorted(set(self._candidates(words, word)))
        token = context.token
        cut = len(word) - len(token) if word.endswith(token) else 0
        return {"completions": [SimpleCompletion(text=one[cut:]) for one in found], "suppress": bool(found)}

    def _candidates(self, words: list[str], word: str) -> Iterable[str]:
        last = words[-1] if words else ""
        values = self._options.get(last)
        if values is not None:
            return [value for value in values() if value.startswith(word)]
        if word.startswith("-"):
            return [option for option in self._options if option.startswith(word)]
        options = [] if word else list(self._options)
        return [*_paths(word), *options]


def option_values(cell_count: Callable[[], int]) -> dict[str, Callable[[], Iterable[str]] | None]:
    """The options, and where their values come from."""
    from jupyter_lsp_agent.service.settings import SEVERITIES

    return {
        "--all": None,
        "--auto": lambda: ("on", "off"),
        "--baseline": lambda: ("none", "session", "git:HEAD"),
        "--cell": lambda: map(str, range(_count(cell_count))),
        "--server": _server_ids,
        "--severity": lambda: SEVERITIES,
    }


def _count(cell_count: Callable[[], int]) -> int:
    try:
        return cell_count()
    except JupyterLspAgentError:
        return 0


def _server_ids() -> Iterable[str]:
    from jupyter_lsp_agent.service.known_servers import server_ids

    return server_ids("python")


def _split(line: str) -> tuple[list[str], str]:
    """The words before the cursor, and the one that is being written, as it is written."""
    start = max(line.rfind(" "), line.rfind("\t")) + 1
    while start > 1 and line[start - 2] == "\\":
        start = max(line.rfind(" ", 0, start - 1), line.rfind("\t", 0, start - 1)) + 1
    try:
        words = shlex.split(line[:start])
    except ValueError:
        # A quote is open: the word began there.
        start = max(line.rfind('"'), line.rfind("'"))
        words = line[:start].split()
    return words[1:], line[start:]


def _paths(word: str) -> Iterable[str]:
    quote = word[:1] if word[:1] in {"'", '"'} else ""
    typed = word[1:] if quote else re.sub(r"\\(.)", r"\1", word)
    folder, _, name = typed.rpartition("/")
    parent = Path(folder + "/") if folder or typed.startswith("/") else Path()
    try:
        entries = [entry for entry in parent.expanduser().iterdir() if entry.name.startswith(name)]
    except (OSError, RuntimeError, ValueError):  # no such folder, no such user, no such name
        return
    for entry in entries:
        if entry.name.startswith(".") and not name.startswith("."):
            continue
        is_below = is_folder(entry)
        if is_below or entry.suffix.lower() in _DOCUMENTS:
            text = f"{folder}/{entry.name}" if typed.startswith("/") or folder else entry.name
            text += "/" if is_below else ""
            yield quote + text if quote else _NEEDS_ESCAPE.sub(r"\\\1", text)
