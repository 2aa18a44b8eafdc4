"""Cells of GoNB: declarations stand at the top level, statements below `%%`, imports anywhere, or nowhere.

What is below `%%` is the body of a function of the cell's own. Imports are moved above all cells, where Go wants
them; GoNB lets goimports add those that are missing, so packages of the standard library that are used count as
imported.
"""

import re
from collections.abc import Iterator, Sequence

from jupyter_lsp_agent.notebook.line_map import MappedLine, MovedLine

_MAIN = re.compile(r"%%(?:\s|$)|%main\b")
_COMMAND = re.compile(r"[%!]|package\s+\w+\s*$")
_IMPORT = re.compile(r"import\b")
_IMPORTED = re.compile(r'(?:import\s+)?(?:([\w.]+)\s+)?"([^"]+)"')
_USED = re.compile(r"(?<![\w.])([a-z][a-z0-9]*)\.[A-Z]")
_STANDARD = (
    "archive/tar archive/zip bufio bytes cmp compress/gzip container/heap container/list context crypto/md5 "
    "crypto/sha1 crypto/sha256 database/sql embed encoding/base64 encoding/binary encoding/csv encoding/hex "
    "encoding/json encoding/xml errors expvar flag fmt hash/fnv html html/template image image/color image/draw "
    "image/gif image/jpeg image/png io io/fs iter log log/slog maps math math/big math/bits math/cmplx math/rand "
    "mime net net/http net/url os os/exec os/signal path path/filepath reflect regexp runtime runtime/debug slices "
    "sort strconv strings sync sync/atomic syscall testing text/tabwriter text/template time unicode unicode/utf8 "
    "unsafe"
)
_STANDARD_BY_NAME = {path.rpartition("/")[2]: path for path in reversed(_STANDARD.split())}


def rewrite_go_cell(lines: Sequence[MappedLine], cell_index: int) -> tuple[MappedLine, ...]:
    """A cell without GoNB's commands, and with a function around what is below `%%`."""
    return tuple(_rewritten(lines, cell_index))


def _rewritten(lines: Sequence[MappedLine], cell_index: int) -> Iterator[MappedLine]:
    in_main = continues = False
    for line in lines:
        if _MAIN.match(line.text) and not in_main:
            in_main = True
            yield MappedLine(f"func _jla_main_{cell_index}() {{", line.cell_line, ())
        elif continues or _COMMAND.match(line.text):
            continues = line.text.endswith("\\")
            yield MappedLine("", line.cell_line, ())
        else:
            yield line
    if in_main:
        yield MappedLine("}", None)


def go_prefix(cells: Sequence[tuple[int, tuple[MappedLine, ...]]]) -> tuple[str, tuple[MovedLine, ...]]:
    """What stands above the cells, and which of the cells' lines that took: their imports."""
    imports = [(index, line) for index, lines in cells for line in _imports(lines)]
    have = {found for _, line in imports for found in _IMPORTED.findall(line.text)}
    known = {name or path.rpartition("/")[2] for name, path in have}
    used = {name for _, lines in cells for line in lines for name in _USED.findall(line.text)}
    wanted = sorted(_STANDARD_BY_NAME[name] for name in used - known if name in _STANDARD_BY_NAME)
    head = ["package main", *(f'import "{path}"' for path in wanted)]
    moved = [MovedLine(len(head) + number, index, line) for number, (index, line) in enumerate(imports)]
    return "".join(line + "\n" for line in [*head, *(line.text for _, line in imports)]), tuple(moved)


def _imports(lines: Sequence[MappedLine]) -> Iterator[MappedLine]:
    """Import declarations at the top level; one in brackets goes on to its closing bracket."""
    in_brackets = False
    for line in lines:
        if line.cell_line is None or line.spans is not None:
            # The rest is the body of a function, or was rewritten.
            if line.text.startswith("func"):
                return
            continue
        if in_brackets or _IMPORT.match(line.text):
            in_brackets = ")" not in line.text and (in_brackets or "(" in line.text)
            yield line
