"""The words for LSP's `SymbolKind`."""

_KINDS = (
    "file", "module", "namespace", "package", "class", "method", "property", "field", "constructor", "enum",
    "interface", "function", "variable", "constant", "string", "number", "boolean", "array", "object", "key", "null",
    "enum_member", "struct", "event", "operator", "type_parameter",
)  # fmt: skip

KINDS = (*_KINDS, "symbol")
"""All words there are; the last is for a kind that LSP does not know."""


def kind_name(kind: int) -> str:
    """The word for one of LSP's numbers, which begin at 1."""
    return _KINDS[kind - 1] if 1 <= kind <= len(_KINDS) else KINDS[-1]
