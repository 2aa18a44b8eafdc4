"""What is told of a line of `%lsp_check` that cannot be parsed: the reason, and what was perhaps meant."""

import difflib
from collections.abc import Sequence

from jupyter_lsp_agent.frontends.magic.completion import option_values

_HELP = "`%lsp_check?` has the help"
_WANTS_VALUE = ": expected one argument"
_FEW = 4
"""So many values are told, as every option but those of servers and cells has them."""


def describe_mistake(words: Sequence[str], reason: str) -> str:
    """The sentence on a line that cannot be parsed.

    Args:
        words: of the line.
        reason: `argparse`'s.
    """
    options = option_values(lambda: 0)
    option = reason.removeprefix("argument ").removesuffix(_WANTS_VALUE)
    if reason.endswith(_WANTS_VALUE) and option in options:
        values = options[option]
        allowed = [] if values is None else list(values())
        mend = f": {', '.join(allowed[:-1])} or {allowed[-1]}" if 1 < len(allowed) <= _FEW else ""
    else:
        names = (word.partition("=")[0] for word in words if word.startswith("-") and word in reason.split())
        alike = [near for name in names for near in difflib.get_close_matches(name, options, n=1)]
        mend = f"; {alike[0]} is one" if alike else ""
    return f"%lsp_check: {reason}{mend}; {_HELP}"
