"""Notebooks of other kernels as files of their languages.

A kernel takes what a file does not: statements at top level, a last expression without its end, commands of its own.
Each language says as data how its cells become one legal file; what data cannot say (C++'s statements, Go's imports) is
a function of its own. Nothing is parsed here: which cells are broken is found out by asking a server about each alone.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from jupyter_lsp_agent.core.ids import LanguageId
from jupyter_lsp_agent.core.positions import CellLine, split_lines
from jupyter_lsp_agent.notebook.cpp_statements import Piece, split_pieces
from jupyter_lsp_agent.notebook.line_map import CellChunk, ColumnSpan, MappedLine, MovedLine
from jupyter_lsp_agent.notebook.model import Cell

_NOTHING = re.compile(r"(?!)")
_GO_BODY = re.compile(r"\s*%(?:%|main\b)")
_GO_IMPORT = re.compile(r'\s*import\s+((?:[\w.]+\s+)?(?:"[^"\n]*"|`[^`\n]*`))\s*;?\s*(?://.*)?')
_GO_IMPORTS_BEGIN = re.compile(r"\s*import\s*\(\s*")


@dataclass(frozen=True, slots=True)
class JoinedCells:
    """The text before the first cell, the chunks of the cells, and which lines of the prefix are a cell's."""

    prefix: str
    chunks: tuple[tuple[int, CellChunk], ...]
    moved: tuple[MovedLine, ...] = ()

    @property
    def text(self) -> str:
        """The whole text."""
        return self.prefix + "".join(chunk.text for _, chunk in self.chunks)


@dataclass(frozen=True, slots=True)
class KernelFile:
    """How the cells of a language become a file.

    Attributes:
        opening: lines before the first cell.
        closing: lines after the last cell.
        between: glue after each cell.
        commands: lines that are the kernel's own and no code, with those that a backslash adds; they are left blank.
        body: makes the lines of a cell, given its index and its source with commands blanked; `None`: as they are.
        hoists_imports: imports of all cells stand before the first one, as Go wants them.
    """

    opening: str = ""
    closing: str = ""
    between: tuple[str, ...] = ()
    commands: re.Pattern[str] = _NOTHING
    body: Callable[[int, Sequence[MappedLine]], Sequence[MappedLine]] | None = None
    hoists_imports: bool = False


def is_joinable(language: LanguageId) -> bool:
    """Whether it is known how a notebook of `language` becomes a file."""
    return language in _FILES


def join_cells(language: LanguageId, cells: Sequence[Cell], broken: frozenset[str] = frozenset()) -> JoinedCells:
    """The cells as one file.

    Args:
        language: one that `is_joinable`.
        cells: its code cells, in order.
        broken: sources of cells that do not parse; nothing of them stands in the file.
    """
    form = _FILES[language]
    lines = {cell.index: _cell_lines(form, "" if cell.source in broken else cell.source) for cell in cells}
    opening = form.opening
    moved: tuple[MovedLine, ...] = ()
    if form.hoists_imports:
        moved, lines = _hoist_imports(lines, opening.count("\n"))
        opening += "".join(line.line.text + "\n" for line in moved)
    last = cells[-1].index if cells else None
    chunks = [(index, _chunk(form, index, taken, is_last=index == last)) for index, taken in lines.items()]
    return JoinedCells(opening, tuple(chunks), moved)


def _cell_lines(form: KernelFile, source: str) -> list[MappedLine]:
    lines: list[MappedLine] = []
    goes_on = False
    for number, text in enumerate(split_lines(source)):
        is_command = goes_on or form.commands.match(text) is not None
        goes_on = is_command and text.endswith("\\")
        lines.append(MappedLine("", CellLine(number), ()) if is_command else MappedLine(text, CellLine(number)))
    return lines


def _chunk(form: KernelFile, index: int, lines: Sequence[MappedLine], *, is_last: bool) -> CellChunk:
    body = lines if form.body is None else form.body(index, lines)
    glue = [*form.between, *(form.closing.splitlines() if is_last else ())]
    return CellChunk([*body, *(MappedLine(text, None) for text in glue)])


def _cpp_body(index: int, lines: Sequence[MappedLine]) -> Sequence[MappedLine]:
    """C++: each statement in a lambda of its own, and the last expression with its semicolon."""
    text = "\n".join(line.text for line in lines)
    inserts: list[tuple[int, str]] = []
    for number, piece in enumerate(split_pieces(text)):
        inserts += _cpp_inserts(piece, f"_jla_{index}_{number}")
    return _insert(lines, inserts)


def _cpp_inserts(piece: Piece, name: str) -> list[tuple[int, str]]:
    end = ";" if piece.is_open else ""
    if not piece.is_statement:
        return [(piece.end, end)] if end else []
    return [(piece.start, f"static const int {name} = []{{ "), (piece.end, f"{end} return 0; }}();")]


def _insert(lines: Sequence[MappedLine], inserts: Iterable[tuple[int, str]]) -> list[MappedLine]:
    """The lines with texts put in at offsets of their joined text."""
    by_line: dict[int, list[tuple[int, str]]] = {}
    starts = [0]
    for line in lines:
        starts.append(starts[-1] + len(line.text) + 1)
    number = 0
    for offset, text in inserts:
        while starts[number + 1] <= offset:
            number += 1
        by_line.setdefault(number, []).append((offset - starts[number], text))
    return [_with_inserts(line, by_line.get(number, [])) for number, line in enumerate(lines)]


def _with_inserts(line: MappedLine, inserts: Sequence[tuple[int, str]]) -> MappedLine:
    if not inserts or line.spans is not None:
        return line
    text, spans, done = "", [], 0
    for column, inserted in (*inserts, (len(line.text), "")):
        if column > done:
            spans.append(ColumnSpan(len(text), done, column - done))
        text += line.text[done:column] + inserted
        done = max(done, column)
    return MappedLine(text, line.cell_line, tuple(spans))


def _go_body(index: int, lines: Sequence[MappedLine]) -> Sequence[MappedLine]:
    """Go: what follows a line `%%` or `%main` is the body of a function."""
    body: list[MappedLine] = []
    is_open = False
    for line in lines:
        if _GO_BODY.match(line.text):
            head = "}" if is_open else ""
            body.append(MappedLine(f"{head}func _jla_main_{index}_{len(body)}() {{", line.cell_line, ()))
            is_open = True
        else:
            body.append(line)
    return [*body, MappedLine("}", None)] if is_open else body


def _hoist_imports(
    cells: dict[int, list[MappedLine]], first_line: int
) -> tuple[tuple[MovedLine, ...], dict[int, list[MappedLine]]]:
    """Go: imports must stand before everything else, and those of one cell hold for all."""
    specs: dict[str, tuple[int, MappedLine]] = {}
    left: dict[int, list[MappedLine]] = {}
    for index, lines in cells.items():
        own: dict[str, MappedLine] = {}
        left[index] = _take_imports(lines, own)
        specs.update({spec: (index, line) for spec, line in own.items() if spec not in specs})
    moved = (_import_line(spec, first_line + n, *place) for n, (spec, place) in enumerate(specs.items()))
    return tuple(moved), left


def _import_line(spec: str, virtual_line: int, cell_index: int, line: MappedLine) -> MovedLine:
    head = "import "
    span = ColumnSpan(len(head), line.text.index(spec), len(spec))
    return MovedLine(virtual_line, cell_index, MappedLine(head + spec, line.cell_line, (span,)))


def _take_imports(lines: Sequence[MappedLine], specs: dict[str, MappedLine]) -> list[MappedLine]:
    left: list[MappedLine] = []
    is_group = False
    for line in lines:
        text = line.text.partition("//")[0].strip()
        single = _GO_IMPORT.fullmatch(line.text)
        if is_group and text.startswith(")"):
            is_group = False
        elif is_group:
            specs.update({text: line} if text else {})
        elif single:
            specs[single[1]] = line
        elif _GO_IMPORTS_BEGIN.fullmatch(line.text):
            is_group = True
        else:
            left.append(line)
            continue
        left.append(MappedLine("", line.cell_line, ()))
    return left


_FILES: dict[str, KernelFile] = {
    "shellscript": KernelFile(opening="#!/usr/bin/env bash\n"),
    # A module may await at top level; the semicolon keeps a cell's last expression from calling the next cell's first.
    "typescript": KernelFile(opening="export {};\n", between=(";",)),
    "javascript": KernelFile(opening="export {};\n", between=(";",)),
    "r": KernelFile(),
    "cpp": KernelFile(commands=re.compile(r"\s*(?:[%!?]|\.[A-Za-z]\b|#pragma cling\b)"), body=_cpp_body),
    "go": KernelFile(
        opening="package main\n", commands=re.compile(r"\s*(?:!|%(?!%|main\b))"), body=_go_body, hoists_imports=True
    ),
    "rust": KernelFile(
        opening="async fn _jla_main() {\n", closing="}", between=(";",), commands=re.compile(r"\s*:[a-z_]")
    ),
}
