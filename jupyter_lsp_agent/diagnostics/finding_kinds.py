"""What a finding is about, told from its code: each family of servers has words of its own for the same thing.

The codes are those that servers document or were seen to send; a server that is not here gives findings of kind
`OTHER`, which are shown as they are.
"""

from enum import StrEnum

from jupyter_lsp_agent.core.diagnostic import Diagnostic


class FindingKind(StrEnum):
    """The kinds that a notebook treats otherwise than a file."""

    SYNTAX = "syntax"
    UNDEFINED = "undefined"
    POSSIBLY_UNBOUND = "possibly_unbound"
    IMPORT = "import"
    REDEFINITION = "redefinition"
    TOP_LEVEL_AWAIT = "top_level_await"
    """Told of nothing but `await` outside functions, in languages whose kernels all allow it."""
    REBOUND_TYPE = "rebound_type"
    """A name is no type, or no type variable, or its type hangs on itself, since it is bound more than once."""
    UNUSED_IMPORT = "unused_import"
    """An error of its own in Go, whose kernel takes such imports out."""
    UNUSED_EXPRESSION = "unused_expression"
    JOIN_LAYOUT = "join_layout"
    """Blank lines before a statement."""
    FILE_LAYOUT = "file_layout"
    """What a file should begin or end with."""
    IMPORT_POSITION = "import_position"
    IMPORT_BLOCK = "import_block"
    """The order of imports, and the blank lines after them."""
    OTHER = "other"


_PYTHON_IMPORTS = (
    "unresolved-import missing-import import-not-found import-untyped reportMissingImports reportMissingModuleSource "
    "missing-source-for-stubs import-error import"
)
PYTHON_IMPORT_CODES = frozenset(_PYTHON_IMPORTS.split())
"""Codes of findings that hang on the packages of a Python."""

_KINDS = {
    FindingKind.SYNTAX: "invalid-syntax syntax-error parse-error syntax top-level-await await-outside-async "
    "F704 PLE1142",
    FindingKind.UNDEFINED: "unresolved-reference unknown-name undefined-name F821 F822 name-defined used-before-def "
    "reportUndefinedVariable reportUnboundVariable",
    FindingKind.POSSIBLY_UNBOUND: "possibly-unresolved-reference reportPossiblyUnbound reportPossiblyUnboundVariable "
    "possibly-undefined possibly-used-before-assignment",
    FindingKind.IMPORT: f"2307 2792 {_PYTHON_IMPORTS}",
    FindingKind.REDEFINITION: "reportRedeclaration redefinition no-redef F811 obscured-redefinition "
    "redefinition_different_type redefinition_different_kind DuplicateDecl E0428 2300 2393 2403 2451",
    FindingKind.TOP_LEVEL_AWAIT: "1375 1378 1431 1432",
    FindingKind.UNUSED_IMPORT: "UnusedImport",
    FindingKind.UNUSED_EXPRESSION: "reportUnusedExpression reportUnusedCallResult B018 E703 pointless-statement "
    "expression-not-assigned W0104 W0106",
    FindingKind.JOIN_LAYOUT: "E301 E302 E303 E304 E305 E306",
    FindingKind.FILE_LAYOUT: "W391 D100 missing-module-docstring C0114 INP001 CPY001",
    FindingKind.IMPORT_BLOCK: "I001",
    FindingKind.IMPORT_POSITION: "E402 module-import-not-at-top-of-file wrong-import-position C0413",
}
_BY_CODE = {code: kind for kind, codes in _KINDS.items() for code in codes.split()}
_EITHER_UNBOUND = "unbound-name"
"""One code for the certain and the possible."""

_OF_REBOUND_TYPES = {
    "invalid-legacy-type-variable": "Cannot redefine",
    "reportInvalidTypeForm": "Variable not allowed",
    "valid-type": "Variable ",
    "reportGeneralTypeIssues": "Type of ",
}
"""Code → what the message begins with where it is about a second binding; other such findings are about one."""


def kind_of(diagnostic: Diagnostic) -> FindingKind:
    """The kind of a finding. Without a code it is about syntax: servers that give codes leave them out only there."""
    if diagnostic.code is None:
        return FindingKind.SYNTAX
    if diagnostic.code == _EITHER_UNBOUND:
        possible = "may be" in diagnostic.message or "possibly" in diagnostic.message
        return FindingKind.POSSIBLY_UNBOUND if possible else FindingKind.UNDEFINED
    beginning = _OF_REBOUND_TYPES.get(diagnostic.code)
    if beginning is not None and diagnostic.message.startswith(beginning):
        return FindingKind.REBOUND_TYPE
    return _BY_CODE.get(diagnostic.code, FindingKind.OTHER)
