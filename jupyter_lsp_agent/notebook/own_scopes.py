"""Keep the names of code that runs in a scope of its own (`%timeit`, `%%timeit`) from the rest of the notebook.

The cheapest way that is right is taken. A function around the code would be right always for names, but not for types:
inside a function a server sees each of the notebook's variables with the union of all that is ever assigned to it.
"""

import tokenize
from collections.abc import Sequence
from dataclasses import replace

from jupyter_lsp_agent.notebook.cell_translation import CellTranslation, OwnScope
from jupyter_lsp_agent.notebook.line_magics import bound_names
from jupyter_lsp_agent.notebook.line_map import ColumnSpan, MappedLine

_FUNCTION = "_jla_own_scope"
_FSTRING_START = getattr(tokenize, "FSTRING_START", None)
_FSTRING_END = getattr(tokenize, "FSTRING_END", None)


def close_own_scopes(translation: CellTranslation, bound_elsewhere: frozenset[str]) -> CellTranslation:
    """`translation` so written that the notebook does not see the names that its `own_scopes` bind.

    A scope that binds nothing needs nothing; new names are deleted after it; only where a name is also bound elsewhere
    (by other cells, `bound_elsewhere`, or by this one outside of its scopes) is the stretch put into a function.
    The result has no `own_scopes`.
    """
    if not translation.own_scopes:
        return translation
    lines = list(translation.lines)
    if any(scope.names for scope in translation.own_scopes):
        bound_elsewhere |= _bound_outside(translation)
    for scope in reversed(translation.own_scopes):
        if scope.names:
            stretch = lines[scope.first_index : scope.last_index + 1]
            lines[scope.first_index : scope.last_index + 1] = _close(stretch, scope, bound_elsewhere)
    scoped = frozenset(name for scope in translation.own_scopes for name in scope.names)
    return replace(translation, lines=tuple(lines), own_scopes=(), scoped_names=scoped)


def _bound_outside(translation: CellTranslation) -> frozenset[str]:
    texts = [line.text for line in translation.lines]
    for scope in translation.own_scopes:
        for index in range(scope.first_index, scope.last_index + 1):
            texts[index] = ""
        first = translation.lines[scope.first_index].text
        texts[scope.first_index] = first[: len(first) - len(first.lstrip())] + "pass"
    return bound_names("\n".join(texts))


def _close(lines: Sequence[MappedLine], scope: OwnScope, bound_elsewhere: frozenset[str]) -> list[MappedLine]:
    code = next((line.text for line in lines if line.text.strip()), "")
    indent = code[: len(code) - len(code.lstrip())]
    if scope.names.isdisjoint(bound_elsewhere):
        return [*lines, MappedLine(f"{indent}del {', '.join(sorted(scope.names))}", None)]
    is_async = any("await" in line.text or "async" in line.text for line in lines)
    header = MappedLine(f"{indent}{'async ' if is_async else ''}def {_FUNCTION}():", None)
    inside = _lines_inside_strings([line.text for line in lines])
    return [header, *(line if number in inside else _shift(line) for number, line in enumerate(lines))]


def _shift(line: MappedLine) -> MappedLine:
    """One blank more at the left."""
    if not line.text:
        return line
    spans = line.spans
    if spans is None:
        spans = (ColumnSpan(0, 0, len(line.text)),) if line.cell_line is not None else None
    if spans is not None:
        spans = tuple(replace(span, virtual_column=span.virtual_column + 1) for span in spans)
    return MappedLine(" " + line.text, line.cell_line, spans)


def _lines_inside_strings(texts: Sequence[str]) -> set[int]:
    """Indices of the lines that begin inside a string, where a blank would change it."""
    following = iter(texts)
    inside: set[int] = set()
    open_rows: list[int] = []
    try:
        for token in tokenize.generate_tokens(lambda: next(following) + "\n"):
            if token.type == tokenize.STRING:
                inside.update(range(token.start[0], token.end[0]))
            elif token.type == _FSTRING_START:
                open_rows.append(token.start[0])
            elif token.type == _FSTRING_END and open_rows:
                inside.update(range(open_rows.pop(), token.end[0]))
    except (tokenize.TokenError, SyntaxError, ValueError):
        # The text does not parse: nobody looks at more than its first error.
        pass
    return inside
