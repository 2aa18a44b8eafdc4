"""What stands above the first cell of a Python virtual document: the names that a kernel gives, and those that we use.

Every name has a value: a declaration without one is "unbound" to all servers. Nothing here gives a finding of its own.
"""

from collections.abc import Iterable, Iterator, Sequence

from jupyter_lsp_agent.notebook.magic_prelude import PRELUDE_IMPORT, prelude_lines
from jupyter_lsp_agent.notebook.python_syntax import is_name
from jupyter_lsp_agent.notebook.reserved_names import ANYTHING, CALL, FLAG, RAISED, TYPING

KERNEL_NAMES = (
    "display",
    "get_ipython",
    "In",
    "Out",
    "exit",
    "quit",
    "_",
    "__",
    "___",
    "_i",
    "_ii",
    "_iii",
    "_ih",
    "_oh",
    "_dh",
    "_exit_code",
    "__IPYTHON__",
)
"""What every IPython kernel has beside Python's built-ins (`open` is Python's own to a server, and stays typed)."""

_BASE = (
    PRELUDE_IMPORT,
    f"def {CALL}() -> {TYPING}.Any: ...",
    f"{FLAG} = bool({CALL}())",
    f"{ANYTHING} = {CALL}()",
    f"{RAISED}: {TYPING}.Any",
)


def prefix_text(
    *, directives: Sequence[str], futures: Iterable[str], helpers: Iterable[str], names: Iterable[str]
) -> str:
    """The prefix, each line with its end.

    Args:
        directives: file-level comments that are meant for the whole notebook.
        futures: features that any cell imports from `__future__`.
        helpers: names of the magics' prelude that any cell uses.
        names: further names of which nothing is known.
    """
    return "".join(line + "\n" for line in _lines(directives, futures, helpers, names))


def _lines(
    directives: Sequence[str], futures: Iterable[str], helpers: Iterable[str], names: Iterable[str]
) -> Iterator[str]:
    yield from directives
    if directives:
        yield ""  # right above code, some servers take it for a word on that line alone
    features = sorted(set(futures))
    if features:
        yield f"from __future__ import {', '.join(features)}"
    yield from _BASE
    # A future import binds its name too, and a star import of the notebook may give that name another meaning.
    further = set(filter(is_name, names)).union(features)
    yield f"{' = '.join([*KERNEL_NAMES, *sorted(further - set(KERNEL_NAMES))])} = {CALL}()"
    yield from prelude_lines(helpers)
