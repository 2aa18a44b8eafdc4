"""Whole notebooks of kernels other than IPython: how their cells become a legal file of their language.

A kernel takes statements where a file of its language may not have them, has commands of its own, and lets a name be
defined again. Each language is a row of a table: what stands above and below the cells, which lines are the kernel's
commands, and, where lines do not do, a function that rewrites a cell. What a kernel has no ways of its own for is
joined line for line.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType

from jupyter_lsp_agent.core.ids import LanguageId
from jupyter_lsp_agent.core.positions import CellLine, split_lines
from jupyter_lsp_agent.notebook.advice import CellAdvice
from jupyter_lsp_agent.notebook.cpp_cells import rewrite_cpp_cell
from jupyter_lsp_agent.notebook.go_cells import go_prefix, rewrite_go_cell
from jupyter_lsp_agent.notebook.line_map import CellChunk, LineMap, MappedLine, MovedLine
from jupyter_lsp_agent.notebook.model import Cell

_SURROGATE = re.compile("[\ud800-\udfff]")
_NODE_NAMES = "Deno, require, module, process, Buffer, __dirname, __filename, $$"
_RUST_RESULT = "Result<(), Box<dyn std::error::Error>>"


@dataclass(frozen=True, slots=True)
class KernelForm:
    """How the cells of one kernel language become a file.

    Attributes:
        prefix: what stands above them.
        suffix: what stands below them.
        after_cell: a line that ends each cell.
        commands: lines that speak to the kernel, not to the language.
        whole_cells: cells whose first line says that the rest is no code of the language.
        declares: how names are declared, the name in the first group that matched; for names declared twice in one
            cell.
        rewrite: what else is to be done to a cell: its lines and its index → its lines.
    """

    prefix: str = ""
    suffix: str = ""
    after_cell: str = ""
    commands: re.Pattern[str] | None = None
    whole_cells: re.Pattern[str] | None = None
    declares: re.Pattern[str] | None = None
    rewrite: Callable[[Sequence[MappedLine], int], tuple[MappedLine, ...]] | None = None


_SCRIPT_NAMES = re.compile(r"^\s*(?:let|const|var|(?:async\s+)?function\*?|class|interface|type|enum)\s+([\w$]+)")
_SHEBANG = KernelForm(prefix="#!/usr/bin/env bash\n")

KERNEL_FORMS: Mapping[LanguageId, KernelForm] = MappingProxyType(
    {
        LanguageId("shellscript"): _SHEBANG,
        LanguageId("javascript"): KernelForm(prefix="export {};\n", declares=_SCRIPT_NAMES),
        LanguageId("typescript"): KernelForm(
            # A module: its names are its own, and `await` may stand at its top.
            prefix=f"export {{}};\ndeclare const {_NODE_NAMES.replace(',', ': any,')}: any;\n",
            declares=_SCRIPT_NAMES,
        ),
        LanguageId("rust"): KernelForm(
            prefix=f"#[allow(unused)]\nasync fn _jla_main() -> {_RUST_RESULT} {{\n",
            suffix="Ok(()) }\n",
            # evcxr shows the value of an expression that ends a cell.
            after_cell=";",
            commands=re.compile(r"\s*:\w|\s*#!\["),
            declares=re.compile(r"^\s*(?:pub\s+)?(?:async\s+)?(?:fn|struct|enum|trait|type|const|static|mod)\s+(\w+)"),
        ),
        LanguageId("go"): KernelForm(
            whole_cells=re.compile(r"\s*%%(?:writefile|script|bash|sh)\b"),
            declares=re.compile(r"^(?:func|type|var|const)\s+(\w+)"),
            rewrite=rewrite_go_cell,
        ),
        LanguageId("cpp"): KernelForm(
            commands=re.compile(r"\s*[!?]|\s*\.[A-Za-z]|\s*%(?!%)"),
            whole_cells=re.compile(r"\s*%%(?!timeit)\w"),
            declares=re.compile(r"^\s*(?:[\w:<>]+[\s&*]+)+(\w+)\s*[=;({]"),
            rewrite=rewrite_cpp_cell,
        ),
    }
)
"""Languages whose kernels have ways of their own."""

_PLAIN = KernelForm()
_JOINED_AS_THEY_ARE = frozenset({LanguageId("r")})


def understands(language: LanguageId) -> bool:
    """Whether whole notebooks of a kernel language, not Python's, can be shown to a server as they are meant."""
    return language in KERNEL_FORMS or language in _JOINED_AS_THEY_ARE


@dataclass(frozen=True, slots=True)
class KernelText:
    """A whole notebook as one text.

    Attributes:
        text: what a server sees.
        line_map: where its characters came from.
        advice: by cell index.
        opaque_cells: cells that hold no code of the language.
    """

    text: str
    line_map: LineMap
    advice: Mapping[int, CellAdvice] = field(default_factory=dict, hash=False)
    opaque_cells: tuple[int, ...] = ()


def build_kernel_text(language: LanguageId, cells: Sequence[Cell]) -> KernelText:
    """Join the cells of a notebook whose kernel speaks `language`, which is not Python."""
    form = KERNEL_FORMS.get(language, _PLAIN)
    opaque = tuple(cell.index for cell in cells if form.whole_cells and form.whole_cells.match(cell.source))
    texts = [(cell.index, _lines(cell, form, is_opaque=cell.index in opaque)) for cell in cells]
    prefix, moved = go_prefix(texts) if language == "go" else (form.prefix, ())
    chunks = [(index, CellChunk(_without_moved(lines, index, moved))) for index, lines in texts]
    return KernelText(
        text=prefix + "".join(chunk.text for _, chunk in chunks) + form.suffix,
        line_map=LineMap(prefix.count("\n"), chunks, moved),
        advice={cell.index: CellAdvice(rebound=_declared_twice(cell.source, form)) for cell in cells},
        opaque_cells=opaque,
    )


def body_prefix(language: LanguageId) -> str:
    """What stands above a body of `language` inside a notebook of another one."""
    return KERNEL_FORMS[language].prefix if KERNEL_FORMS.get(language) is _SHEBANG else ""


def _lines(cell: Cell, form: KernelForm, *, is_opaque: bool) -> tuple[MappedLine, ...]:
    texts = split_lines(_SURROGATE.sub("\ufffd", cell.source))
    lines = tuple(MappedLine(text, CellLine(number)) for number, text in enumerate(texts))
    if is_opaque:
        return tuple(MappedLine("", line.cell_line, ()) for line in lines)
    if form.commands is not None:
        commands = form.commands
        lines = tuple(MappedLine("", line.cell_line, ()) if commands.match(line.text) else line for line in lines)
    if form.rewrite is not None:
        lines = form.rewrite(lines, cell.index)
    return (*lines, MappedLine(form.after_cell, None)) if form.after_cell else lines


def _without_moved(
    lines: tuple[MappedLine, ...], cell_index: int, moved: Sequence[MovedLine]
) -> tuple[MappedLine, ...]:
    """The lines of a cell with those blanked that were moved to the top of the text."""
    gone = {line.line.cell_line for line in moved if line.cell_index == cell_index}
    if not gone:
        return lines
    return tuple(MappedLine("", line.cell_line, ()) if line.cell_line in gone else line for line in lines)


def _declared_twice(source: str, form: KernelForm) -> frozenset[str]:
    if form.declares is None:
        return frozenset()
    names = [found[1] for line in split_lines(source) if (found := form.declares.match(line))]
    return frozenset(name for name in names if names.count(name) > 1)
