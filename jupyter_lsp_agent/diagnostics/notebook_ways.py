"""What a kernel has nothing against, though a server that sees one joined file must report it.

Told by what is known of the cell (`CellAdvice`) and by the kind of the finding, never by a message alone.
"""

import re
from collections.abc import Iterable, Sequence
from itertools import pairwise

from jupyter_lsp_agent.core.diagnostic import Diagnostic
from jupyter_lsp_agent.core.positions import TextPosition, TextRange
from jupyter_lsp_agent.diagnostics.finding_kinds import FindingKind, kind_of
from jupyter_lsp_agent.notebook.advice import CellAdvice
from jupyter_lsp_agent.notebook.directives import ALL_LINT_CODES

_DEFINED_AT = r"\b{0}(?:@\d| @ \S)"
"""A class as servers name it that say where it was defined, if there are two of that name."""
_QUOTED = re.compile(r"(?<!\w)([`'\"])(.*?)\1(?!\w)")
_PARAMETER = re.compile(r"\bparameter ([`'\"]).*?\1")
_NAME = re.compile(r"\w+")
_LINT_CODE = re.compile(r"[A-Z]{1,4}\d{2,4}")
_OF_A_FILE = frozenset({FindingKind.FILE_LAYOUT, FindingKind.TOP_LEVEL_AWAIT, FindingKind.UNUSED_IMPORT})


def is_silenced(advice: CellAdvice, diagnostic: Diagnostic) -> bool:
    """Whether the cell does not parse, never comes to this line, or switches the rule off."""
    return (
        advice.broken or _within(diagnostic.range.start, advice.dead) or _is_switched_off(advice, diagnostic.code or "")
    )


def _is_switched_off(advice: CellAdvice, code: str) -> bool:
    if ALL_LINT_CODES in advice.silenced_codes and _LINT_CODE.fullmatch(code):
        return True
    return code in advice.silenced_codes


def is_notebook_way(advice: CellAdvice, diagnostic: Diagnostic, words: str) -> bool:
    """Whether the finding, which is about `words`, exists only because cells were joined to a file."""
    place, kind = diagnostic.range.start, kind_of(diagnostic)
    match kind:
        case FindingKind.SYNTAX:
            return place in advice.await_places
        case FindingKind.IMPORT:
            return _within(place, advice.missing_imports)
        case FindingKind.REDEFINITION:
            return words not in advice.rebound and not any(names_it(diagnostic, name) for name in advice.rebound)
        case FindingKind.UNUSED_EXPRESSION:
            last = advice.last_expression
            return last is not None and last.start <= place
    return kind in _OF_A_FILE or _is_layout(advice, kind, place)


def _is_layout(advice: CellAdvice, kind: FindingKind, place: TextPosition) -> bool:
    """Whether a rule of layout is about the border between two cells."""
    match kind:
        case FindingKind.JOIN_LAYOUT:
            return advice.first_code is None or place.line <= advice.first_code.line
        case FindingKind.IMPORT_POSITION:
            return advice.imports_end is None or place < advice.imports_end
        case FindingKind.IMPORT_BLOCK:
            return advice.imports_end is None
    return False


def plays_definitions_off(diagnostic: Diagnostic, redefined: frozenset[str]) -> bool:
    """Whether the finding holds a class of one cell against its namesake of another ("`Bag` is no `Bag`").

    A name's annotation is read where it stands, its use in a function at the end of the file; in a kernel both mean
    the class of the moment.
    """
    message = diagnostic.message
    if any(len(re.findall(_DEFINED_AT.format(name), message)) > 1 for name in redefined):
        return True
    types = [quoted[2] for quoted in _QUOTED.finditer(_PARAMETER.sub("", message))]
    return any(one == next_one and one.rpartition(".")[2] in redefined for one, next_one in pairwise(types))


def is_of_several_cells(
    diagnostic: Diagnostic, words: str, advices: Iterable[CellAdvice], redefined: frozenset[str]
) -> bool:
    """Whether the finding takes a name, which begins `words`, for no type because more than one cell binds it.

    In a kernel each cell sees the type of the moment. Of definitions the last one counts, for servers as for kernels.
    """
    name = _NAME.match(words)
    if name is None or name[0] in redefined or kind_of(diagnostic) is not FindingKind.REBOUND_TYPE:
        return False
    return sum(name[0] in advice.bound for advice in advices) > 1


def _within(place: TextPosition, stretches: Sequence[TextRange]) -> bool:
    return any(stretch.start <= place <= stretch.end for stretch in stretches)


def names_it(diagnostic: Diagnostic, name: str) -> bool:
    """Whether the message speaks of `name`: every server puts names into quotes of its own."""
    return any(f"{quote}{name}{quote}" in diagnostic.message for quote in "`'\"")
