"""Which language a notebook is written in, decided from everything that it says and from what it holds.

A notebook names its language up to four times (`kernelspec.language`, `language_info.name`, the file extension, the
kernel's name), each may be missing or wrong. Where all that is said agrees, it counts. Where Python is among several,
or a kernel calls itself by the name of a superset of Python, the code decides. Where nothing is said, it is Python
unless the code says otherwise: Colab, nbformat 3 and hand-written files leave the metadata empty.

A language is data: a row of the table. What is not here: which server checks it (`servers/`).
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass

from jupyter_lsp_agent.core.ids import LanguageId
from jupyter_lsp_agent.notebook.magics import MagicOptions, translate_cell
from jupyter_lsp_agent.notebook.model import CellKind, KernelMetadata, Notebook
from jupyter_lsp_agent.notebook.python_syntax import compiles

PYTHON = LanguageId("python")


@dataclass(frozen=True, slots=True)
class KernelLanguage:
    """A language that kernels speak.

    Attributes:
        language_id: LSP's name for it.
        display_name: for messages.
        extension: of a file in that language, with the dot; a virtual document gets it.
        names: how kernels and file formats call it, lower case, the language id itself left out.
        kernels: beginnings of kernel names that mean it.
    """

    language_id: LanguageId
    display_name: str
    extension: str
    names: tuple[str, ...] = ()
    kernels: tuple[str, ...] = ()


def _row(
    language_id: str, display_name: str, extension: str, names: str = "", kernels: str = ""
) -> tuple[LanguageId, KernelLanguage]:
    key = LanguageId(language_id)
    return key, KernelLanguage(key, display_name, extension, tuple(names.split()), tuple(kernels.split()))


KERNEL_LANGUAGES = dict(
    (
        _row(
            "python",
            "Python",
            ".py",
            "python3 python2 ipython ipython3 ipython2 py",
            "python ipython conda-env- venv xpython",
        ),
        _row("shellscript", "Bash", ".sh", "bash sh shell zsh", "bash calysto_bash"),
        _row("typescript", "TypeScript", ".ts", "ts deno", "deno typescript tslab itypescript"),
        _row("javascript", "JavaScript", ".js", "js nodejs node", "javascript ijavascript jslab"),
        _row("r", "R", ".r", "", "ir"),
        _row("cpp", "C++", ".cpp", "c++ c++11 c++14 c++17 c++20 c++23 cxx", "xcpp xeus-cling root"),
        _row("c", "C", ".c", "", "xc11 c_kernel"),
        _row("go", "Go", ".go", "golang", "gonb gophernotes"),
        _row("rust", "Rust", ".rs", "", "rust evcxr"),
        _row("julia", "Julia", ".jl", "", "julia"),
        _row("java", "Java", ".java", "", "java jjava ijava rapaio"),
        _row("kotlin", "Kotlin", ".kts", "", "kotlin"),
        _row("scala", "Scala", ".scala", "", "scala almond apache_toree_scala"),
        _row("groovy", "Groovy", ".groovy", "", "groovy"),
        _row("clojure", "Clojure", ".clj", "", "clojure clojupyter"),
        _row("csharp", "C#", ".cs", "c# polyglot-notebook", ".net-csharp"),
        _row("fsharp", "F#", ".fs", "f#", ".net-fsharp ifsharp"),
        _row("powershell", "PowerShell", ".ps1", "pwsh", ".net-powershell powershell"),
        _row("haskell", "Haskell", ".hs", "", "haskell ihaskell"),
        _row("ocaml", "OCaml", ".ml", "", "ocaml"),
        _row("ruby", "Ruby", ".rb", "", "ruby iruby"),
        _row("perl", "Perl", ".pl", "", "perl iperl"),
        _row("php", "PHP", ".php", "", "php"),
        _row("lua", "Lua", ".lua", "", "lua xlua"),
        _row("sql", "SQL", ".sql", "sqlite mysql postgresql mssql", "xsql xsqlite .net-sql"),
        _row("html", "HTML", ".html"),
        _row("css", "CSS", ".css"),
        _row("latex", "LaTeX", ".tex", "tex"),
        _row("matlab", "MATLAB", ".m", "octave", "matlab imatlab octave xeus-octave"),
        _row("stata", "Stata", ".do", "", "stata pystata"),
        _row("sas", "SAS", ".sas", "", "sas"),
        _row("sagemath", "SageMath", ".sage", "sage", "sagemath"),
        _row("wolfram", "Wolfram Language", ".wl", "mathematica", "wolframlanguage"),
        _row("swift", "Swift", ".swift", "", "swift"),
        _row("zig", "Zig", ".zig", "", "zig"),
        _row("nix", "Nix", ".nix", "", "nix"),
        _row("elixir", "Elixir", ".exs", "", "elixir ielixir"),
        _row("xonsh", "Xonsh", ".xsh", "", "xonsh"),
        _row("markdown", "Markdown", ".md"),
        _row("xml", "XML", ".xml"),
        _row("cython", "Cython", ".pyx"),
        _row("fortran", "Fortran", ".f90"),
        _row("graphql", "GraphQL", ".graphql"),
        _row("bat", "Batch", ".bat"),
        _row("plaintext", "Plain text", ".txt", "text"),
    )
)
"""Kernel languages by language id; languages that are not here keep the name that their kernel gives them."""

_BY_NAME = {name: key for key, row in KERNEL_LANGUAGES.items() for name in (key, *row.names, row.display_name.lower())}
_BY_EXTENSION = {row.extension: key for key, row in reversed(KERNEL_LANGUAGES.items())}
_BY_KERNEL = [(prefix, key) for key, row in KERNEL_LANGUAGES.items() for prefix in row.kernels]
_DENO = frozenset({"typescript", "javascript"})
_PYTHON_SUPERSETS = frozenset({"coconut"})
_NO_AUTOMAGIC = MagicOptions(automagic=False)
_FOREIGN_CELL = re.compile(r"\s*%%")


def language_from_name(name: str) -> LanguageId:
    """The language that a kernel or a cell calls `name`; an unknown name is a language of its own, in lower case."""
    key = name.strip().lower()
    return _BY_NAME.get(key, LanguageId(key))


def display_name(language_id: LanguageId) -> str:
    """How a language is called in a sentence."""
    row = KERNEL_LANGUAGES.get(language_id)
    return row.display_name if row else language_id


def file_extension(language_id: LanguageId) -> str:
    """The extension of a file in a language, with the dot; `.txt` for an unknown one."""
    row = KERNEL_LANGUAGES.get(language_id)
    return row.extension if row else ".txt"


def is_python_cell(source: str) -> bool:
    """Whether IPython would take `source`."""
    return compiles(translate_cell(source, _NO_AUTOMAGIC).text)


def chain_language(notebook: Notebook, language: LanguageId) -> LanguageId:
    """The name under which servers for a notebook in `language` are found: a kernel's dialect may have its own."""
    kernel = (notebook.kernel.kernel_name or "").lower()
    return LanguageId("deno") if language in _DENO and kernel.startswith("deno") else language


def detect_language(notebook: Notebook, is_python_cell: Callable[[str], bool] = is_python_cell) -> LanguageId | None:
    """The language of the notebook's kernel; `None` where nothing is said and the code is no Python.

    An unknown language comes back under the name that the notebook gives it.

    Args:
        notebook: the notebook as read.
        is_python_cell: tells whether IPython would take a source; for callers that remember the answers.
    """
    said = list(dict.fromkeys(_said(notebook.kernel)))
    others = [language for language in said if language != PYTHON]
    if not said:
        return PYTHON if _share_of_python(notebook, is_python_cell) >= 0.5 or len(_code(notebook)) < 3 else None
    if not others:
        return PYTHON
    undecided = PYTHON in said or others[0] in _PYTHON_SUPERSETS
    if undecided and "sagemath" not in others and _share_of_python(notebook, is_python_cell) > 0.5:
        return PYTHON
    return others[0]


def _said(kernel: KernelMetadata) -> Iterator[LanguageId]:
    """What the metadata says, the most telling first; the extension and the kernel's name only where no word is."""
    words = [
        language_from_name(word) for word in (kernel.kernel_language, kernel.language_name) if word and word.strip()
    ]
    words = [word for word in words if word != "plaintext"]
    if words:
        yield from words
        return
    by_kernel = _language_of_kernel(kernel.kernel_name or "")
    by_extension = _BY_EXTENSION.get(LanguageId(kernel.file_extension or ""))
    found = by_kernel or by_extension
    if found:
        yield found


def _language_of_kernel(kernel_name: str) -> LanguageId | None:
    fitting = [(len(prefix), language) for prefix, language in _BY_KERNEL if kernel_name.lower().startswith(prefix)]
    return max(fitting)[1] if fitting else None


def _code(notebook: Notebook) -> list[str]:
    return [
        cell.source
        for cell in notebook.cells
        if cell.kind is CellKind.CODE and cell.source.strip() and not _FOREIGN_CELL.match(cell.source)
    ]


def _share_of_python(notebook: Notebook, is_python_cell: Callable[[str], bool]) -> float:
    """How much of the code is Python, a number from 0 to 1; a few broken cells do not speak against it."""
    sources = _code(notebook)
    return sum(map(is_python_cell, sources)) / len(sources) if sources else 0.0
