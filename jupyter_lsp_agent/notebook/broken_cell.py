"""A cell that does not parse: what of it can stay, and which names it would bind.

Its chunks that are Python on their own stay, so that imports and definitions keep their types for other cells; the
rest is blanked. A definition whose body may go on in the rest is blanked too: half a class would be believed to lack
the other half. Names that the rest would bind are imported from a module that does not exist, which makes them usable
as values, classes, decorators and types alike (a variable of unknown type is refused in annotations).
"""

import keyword
import re
from collections.abc import Iterator, Sequence

from jupyter_lsp_agent.notebook.line_map import MappedLine
from jupyter_lsp_agent.notebook.python_syntax import compiles

_CONTINUES = re.compile(r"\s|[)\]}#]|(?:else|elif|except|finally|case)\b|$")
_NAME = r"[^\W\d]\w*"
_ITEM = rf"[*(\[]*{_NAME}[)\]]*"
_TARGETS = re.compile(rf"\s*({_ITEM}(?:\s*,\s*{_ITEM})*\s*,?)\s*(?::[^=]*)?=(?!=)")
_CHAINED = re.compile(rf"=\s*({_NAME})\s*(?==(?!=))")
_DEFINED = re.compile(rf"\s*(?:async\s+)?(?:def|class)\s+({_NAME})")
_TYPE_ALIAS = re.compile(rf"\s*type\s+({_NAME})\s*(?:\[[^=]*)?=(?!=)")
_LOOP = re.compile(r"\s*(?:async\s+)?for\s+(.+?)\s+in\b")
_IMPORT = re.compile(r"\s*import\s+(.+)")
_IMPORT_FROM = re.compile(r"\s*from\s+[\w.]+\s+import\s+\(?(.*)")
_AS = re.compile(rf"\bas\s+({_NAME})")
_WALRUS = re.compile(rf"({_NAME})\s*:=")
_AUGMENTED = re.compile(rf"\s*({_NAME})\s*(?:[-+*/%&|^@]|//|\*\*|<<|>>)=")
_WORD = re.compile(_NAME)
_KEYWORDS = frozenset((*keyword.kwlist, "print"))


def salvage(lines: Sequence[MappedLine]) -> tuple[tuple[MappedLine, ...], tuple[str, ...]]:
    """Lines with what is not Python blanked, and the names that the blanked ones would bind."""
    kept: list[MappedLine] = []
    lost: list[str] = []
    chunks = list(_chunks(lines))
    sound = [compiles("\n".join(line.text for line in chunk)) for chunk in chunks]
    for number, chunk in enumerate(chunks):
        broken_next = chunks[number + 1] if number + 1 < len(chunks) and not sound[number + 1] else ()
        if sound[number] and not _may_go_on(chunk, broken_next):
            kept += chunk
        else:
            kept += (MappedLine("", line.cell_line, ()) for line in chunk)
            lost += (line.text for line in chunk)
    if not compiles("\n".join(line.text for line in kept)):
        kept = [MappedLine("", line.cell_line, ()) for line in lines]
        lost = [line.text for line in lines]
    return tuple(kept), tuple(dict.fromkeys(_bound_names(lost)))


def _may_go_on(chunk: Sequence[MappedLine], following: Sequence[MappedLine]) -> bool:
    """Whether a block may have been cut in two by the line that begins the next chunk."""
    return any(map(_is_indented, chunk)) and any(map(_is_indented, following[1:]))


def _is_indented(line: MappedLine) -> bool:
    return line.text[:1].isspace() and bool(line.text.strip())


def _chunks(lines: Sequence[MappedLine]) -> Iterator[list[MappedLine]]:
    """Runs of lines that begin where a top-level statement can begin; decorators stay with what they decorate."""
    chunk: list[MappedLine] = []
    for line in lines:
        continues = _CONTINUES.match(line.text) or (chunk and chunk[-1].text.startswith("@"))
        if chunk and not continues:
            yield chunk
            chunk = []
        chunk.append(line)
    if chunk:
        yield chunk


def _bound_names(lines: Sequence[str]) -> Iterator[str]:
    """Names that lines bind at module level as far as a look at each line tells; bodies of definitions are left out."""
    body_of: int | None = None
    for line in lines:
        if not line.strip():
            continue
        depth = len(line) - len(line.lstrip())
        if body_of is not None and depth > body_of:
            continue
        body_of = depth if _DEFINED.match(line) else None
        yield from (name for name in _names_of_line(line) if name not in _KEYWORDS and name.isidentifier())


def _names_of_line(line: str) -> Iterator[str]:
    for pattern in (_TARGETS, _LOOP):
        found = pattern.match(line)
        if found:
            yield from _WORD.findall(found[1])
    for pattern in (_DEFINED, _TYPE_ALIAS, _AUGMENTED):
        found = pattern.match(line)
        if found:
            yield found[1]
    for pattern in (_CHAINED, _AS, _WALRUS):
        yield from pattern.findall(line)
    yield from _imported(line)


def _imported(line: str) -> Iterator[str]:
    plain, member = _IMPORT.match(line), _IMPORT_FROM.match(line)
    for part in (plain[1] if plain else member[1] if member else "").split(","):
        words = _WORD.findall(part.split("#")[0])
        if words:
            yield words[-1] if member or " as " in part else words[0]
