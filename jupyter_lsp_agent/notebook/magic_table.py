"""Magics as data: whose body is Python, whose is another language, what names they bind and of what type.

IPython's own (`IPython.core.magics`) and those of extensions met in public notebooks. A cell magic that is not here is
unknown: its body is not checked, unless a user lists it in `python_cell_magics`.

Names bound by a magic's arguments are told by a regular expression over the rest of its line, whose group 1 holds one
name, or several with commas or blanks; types are told by names of the prelude.
"""

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from types import MappingProxyType

from jupyter_lsp_agent.core.ids import LanguageId
from jupyter_lsp_agent.notebook.cell_translation import EffectKind
from jupyter_lsp_agent.notebook.magic_prelude import ANY, CAPTURED, SLIST, STR, STR_LIST, TIMEIT

TEXT = LanguageId("plaintext")
"""The language of what is no code, or of code that nobody can name."""


class BodyKind(StrEnum):
    """What the lines under a cell magic are."""

    PYTHON = "python"
    """Python that runs in the notebook's namespace."""

    OWN_SCOPE = "own_scope"
    """Python that sees the notebook's names and binds none."""

    LANGUAGE = "language"
    """Another language, or the Python of another process: nothing of it reaches the notebook."""


class FirstLine(StrEnum):
    """What the rest of a cell magic's own line is, after its options."""

    ARGUMENTS = "arguments"
    """No code."""

    STATEMENT = "statement"
    """Python that runs before the body (`%%prun`), or in its scope (`%%timeit`'s setup)."""

    REFUSED = "refused"
    """Nothing may stand there (`%%time`)."""


@dataclass(frozen=True, slots=True)
class ArgumentBinding:
    """Names that a magic's arguments bind.

    Attributes:
        pattern: wherever it is found in the arguments, its group 1 is a name, or several, with commas or blanks.
        gives: prelude name that gives such a value.
    """

    pattern: re.Pattern[str]
    gives: str = ANY


@dataclass(frozen=True, slots=True)
class CellMagic:
    """One cell magic.

    Attributes:
        body: what its body is.
        language: the body's language, for `BodyKind.LANGUAGE`.
        first_line: what may follow on its own line.
        options: its options before a statement, as `getopt` spells them.
        bindings: names that its arguments bind.
        binds_definitions: whether names defined in its body by something like Python exist afterwards (`%%cython`).
        refuses_await: whether its Python is compiled as a file's is, so that nothing is awaited outside functions.
    """

    body: BodyKind
    language: LanguageId | None = None
    first_line: FirstLine = FirstLine.ARGUMENTS
    options: str = ""
    bindings: tuple[ArgumentBinding, ...] = ()
    binds_definitions: bool = False
    refuses_await: bool = False


@dataclass(frozen=True, slots=True)
class LineMagic:
    """One line magic that is more than its effect on the world.

    Attributes:
        statement_options: where its argument is Python: its options before that, as `getopt` spells them.
        own_scope: whether that Python runs in a scope of its own.
        value: prelude name of what it gives in `x = %magic`.
        reports_errors: whether Python that does not compile is an error, as with IPython's own magics.
        refuses_await: whether that Python is compiled as a file's is, so that nothing is awaited outside functions. In
            `%time` it is too, which IPython holds for a fault of its own: nothing is told of that.
        bindings: names that its arguments bind.
        effect: what it does to the namespace beside that.
        effect_pattern: what its arguments must contain for that.
    """

    statement_options: str | None = None
    own_scope: bool = False
    value: str = ANY
    reports_errors: bool = False
    refuses_await: bool = False
    bindings: tuple[ArgumentBinding, ...] = ()
    effect: EffectKind | None = None
    effect_pattern: re.Pattern[str] = re.compile("")


_NAME = r"[^\W\d]\w*"
_NAMES = rf"({_NAME}(?:\s*,\s*{_NAME})*)"

LONG_OPTIONS_ONLY = "--"
"""Stands for the options of a magic that knows none of one letter: what begins with `-` is Python."""

_TIMEIT_OPTIONS = "n:r:tcp:qov:"
_PRUN_OPTIONS = "D:l:rs:T:q"

_STANDARD_OUT = ArgumentBinding(re.compile(rf"(?<!\S)--out[= ]\s*({_NAME})"), STR)
_STANDARD_ERROR = ArgumentBinding(re.compile(rf"(?<!\S)--err[= ]\s*({_NAME})"), STR)
_PROCESS = ArgumentBinding(re.compile(rf"(?<!\S)--proc[= ]\s*({_NAME})"))
_SCRIPT_OUTPUTS = (_STANDARD_OUT, _STANDARD_ERROR, _PROCESS)
_DASH_O = ArgumentBinding(re.compile(rf"(?<!\S)(?:-o|--output)[= ]?\s*{_NAMES}"))
_ARROW = ArgumentBinding(re.compile(rf"(?:^|\s)({_NAME})\s*=?<<"))
_FRAME = ArgumentBinding(re.compile(rf"(?<!\S)(?<!--project )(?<!--location )(?<!--params )({_NAME})(?!\S)"))
_CAPTURE = ArgumentBinding(re.compile(rf"(?<!\S)({_NAME})(?!\S)"), CAPTURED)
_TIMEIT_RESULT = ArgumentBinding(re.compile(rf"^(?:-\S+\s+(?:\d+\s+)?)*-[tcqo]*v\s*({_NAME})"), TIMEIT)

BACKGROUND = re.compile(r"(?<!\S)--bg(?!\S)")
"""A script magic that gives pipes in place of texts."""


def _python(*names: str, first_line: FirstLine = FirstLine.ARGUMENTS) -> dict[str, CellMagic]:
    return dict.fromkeys(names, CellMagic(BodyKind.PYTHON, first_line=first_line))


def _other(language: str, *names: str, bindings: Iterable[ArgumentBinding] = ()) -> dict[str, CellMagic]:
    magic = CellMagic(BodyKind.LANGUAGE, LanguageId(language), bindings=tuple(bindings))
    return dict.fromkeys(names, magic)


_PYTHON_BODIES: dict[str, CellMagic] = {
    "time": CellMagic(BodyKind.PYTHON, first_line=FirstLine.REFUSED, refuses_await=True),
    "timeit": CellMagic(
        BodyKind.OWN_SCOPE,
        first_line=FirstLine.STATEMENT,
        options=_TIMEIT_OPTIONS,
        bindings=(_TIMEIT_RESULT,),
        refuses_await=True,
    ),
    "capture": CellMagic(BodyKind.PYTHON, bindings=(_CAPTURE,)),
    "prun": CellMagic(BodyKind.PYTHON, first_line=FirstLine.STATEMENT, options=_PRUN_OPTIONS, refuses_await=True),
    "debug": CellMagic(BodyKind.PYTHON, first_line=FirstLine.STATEMENT, options="b:"),
    "memit": CellMagic(BodyKind.PYTHON, first_line=FirstLine.STATEMENT, options="r:t:i:oc"),
    "lsp_check": CellMagic(BodyKind.OWN_SCOPE),
    **_python("px", "ipytest", "run_pytest", "heat", "snakeviz", "pyinstrument", "scalene", "wandb", "notify", "manim"),
    **_python("pyspark", "viztracer", "memray_flamegraph", "cudf.pandas.profile", "cudf.pandas.line_profile"),
}

_OTHER_BODIES: dict[str, CellMagic] = {
    **_other("shellscript", "bash", "sh", "zsh", "shell", "system", "sx", "!", bindings=_SCRIPT_OUTPUTS),
    **_other("perl", "perl", bindings=_SCRIPT_OUTPUTS),
    **_other("ruby", "ruby", bindings=_SCRIPT_OUTPUTS),
    **_other("bat", "cmd", bindings=_SCRIPT_OUTPUTS),
    **_other("powershell", "powershell", "pwsh", bindings=_SCRIPT_OUTPUTS),
    **_other("python", "python", "python3", "pypy", bindings=_SCRIPT_OUTPUTS),
    **_other("python2", "python2", bindings=_SCRIPT_OUTPUTS),
    **_other("javascript", "javascript", "js", "node"),
    **_other("typescript", "typescript", "ts"),
    **_other("html", "html", "HTML"),
    **_other("css", "css"),
    **_other("latex", "latex"),
    **_other("markdown", "markdown", "md"),
    **_other("xml", "svg", "SVG"),
    **_other("mermaid", "mermaid"),
    **_other("r", "R", bindings=(_DASH_O,)),
    **_other("julia", "julia", bindings=(_DASH_O,)),
    **_other("octave", "octave", bindings=(_DASH_O,)),
    **_other("matlab", "matlab", bindings=(_DASH_O,)),
    **_other("sql", "sql", "jupysql", "sqlcmd", "kql", "sparksql", "duckdb", "dql", bindings=(_ARROW, _DASH_O)),
    **_other("sql", "bigquery", "bqsql", "spark_sql", bindings=(_FRAME,)),
    **_other("scala", "scala"),
    **_other("cpp", "cpp", "cu", "cuda"),
    **_other("c", "c"),
    **_other("rust", "rust"),
    **_other("go", "go"),
    **_other("graphql", "graphql"),
    **_other("plaintext", "writefile", "file", "ai", "txt", "text"),
    "fortran": CellMagic(BodyKind.LANGUAGE, LanguageId("fortran"), binds_definitions=True),
    "cython": CellMagic(BodyKind.LANGUAGE, LanguageId("cython"), binds_definitions=True),
    "cython_inline": CellMagic(BodyKind.LANGUAGE, LanguageId("cython")),
    "cython_pyximport": CellMagic(BodyKind.LANGUAGE, LanguageId("cython"), binds_definitions=True),
    "pythran": CellMagic(BodyKind.LANGUAGE, LanguageId("python"), binds_definitions=True),
}

CELL_MAGICS: Mapping[str, CellMagic] = MappingProxyType({**_PYTHON_BODIES, **_OTHER_BODIES})
"""Cell magic without `%%` → what it is."""

SCRIPT = "script"
"""The cell magic whose language is the program that it names; its `--out` and `--err` are those of `%%bash`."""

CODE_TEMPLATE = "code_wrap"
"""The cell magic whose body is a template (`__code__`, `__ret__`), not code that runs."""

SCRIPT_BINDINGS = _SCRIPT_OUTPUTS

WRITING = frozenset({"writefile", "file"})
"""The cell magics that write their body to the file that they name."""

LANGUAGE_OF_PROGRAM: Mapping[str, LanguageId] = MappingProxyType(
    {
        program: LanguageId(language)
        for language, programs in {
            "shellscript": "bash sh zsh dash ksh",
            "python": "python python3 pypy pypy3 uv",
            "python2": "python2",
            "javascript": "node nodejs",
            "typescript": "deno bun ts-node tsx",
            "perl": "perl",
            "ruby": "ruby",
            "r": "Rscript R",
            "julia": "julia",
            "php": "php",
            "lua": "lua luajit",
            "powershell": "pwsh powershell",
            "bat": "cmd",
            "octave": "octave",
            "sql": "sqlite3 psql mysql duckdb",
        }.items()
        for program in programs.split()
    }
)
"""The language of a script, by the name of the program that runs it, without folder and version."""

FIRST_LINE_LANGUAGES: Mapping[str, LanguageId] = MappingProxyType(
    {
        "sql": LanguageId("sql"),
        "scala": LanguageId("scala"),
        "r": LanguageId("r"),
        "sh": LanguageId("shellscript"),
        "md": LanguageId("markdown"),
        "fs": TEXT,
        "md-sandbox": LanguageId("markdown"),
    }
)
"""Line magics that on a cell's first line turn the whole cell into another language, on platforms that have them."""

_CODE = LineMagic(statement_options=LONG_OPTIONS_ONLY)
_ANYTHING_ELSE = LineMagic(effect=EffectKind.INJECT)

LINE_MAGICS: Mapping[str, LineMagic] = MappingProxyType(
    {
        "time": LineMagic(statement_options=LONG_OPTIONS_ONLY, reports_errors=True),
        "timeit": LineMagic(
            statement_options=_TIMEIT_OPTIONS,
            own_scope=True,
            value=TIMEIT,
            bindings=(_TIMEIT_RESULT,),
            reports_errors=True,
            refuses_await=True,
        ),
        "prun": LineMagic(statement_options=_PRUN_OPTIONS, reports_errors=True, refuses_await=True),
        "debug": LineMagic(statement_options="b:"),
        "memit": LineMagic(statement_options="r:t:i:oc"),
        "lprun": LineMagic(statement_options="rsf:m:D:T:u:z"),
        "mprun": LineMagic(statement_options="rcf:T:"),
        "snakeviz": LineMagic(statement_options="tn:f:"),
        "px": _CODE,
        "pinfo": LineMagic(),
        "pwd": LineMagic(value=STR),
        "sx": LineMagic(value=SLIST),
        "system": LineMagic(value=SLIST),
        "who_ls": LineMagic(value=STR_LIST),
        "store": LineMagic(
            bindings=(ArgumentBinding(re.compile(rf"^-r\s+({_NAME}(?:\s+{_NAME})*)\s*$")),),
            effect=EffectKind.STORE_ALL,
            effect_pattern=re.compile(r"^-r\s*$"),
        ),
        "macro": LineMagic(bindings=(ArgumentBinding(re.compile(rf"^(?:-\w+\s+)*({_NAME})\s+\S")),)),
        "sc": LineMagic(
            bindings=(
                ArgumentBinding(re.compile(rf"^-l\s+({_NAME})\s*="), SLIST),
                ArgumentBinding(re.compile(rf"^(?:-v\s+)?({_NAME})\s*="), STR),
            )
        ),
        "R": LineMagic(bindings=(_DASH_O,)),
        "Rpull": LineMagic(bindings=(ArgumentBinding(re.compile(rf"^({_NAME}(?:\s+{_NAME})*)\s*$")),)),
        "octave_pull": LineMagic(bindings=(ArgumentBinding(re.compile(rf"^({_NAME}(?:\s+{_NAME})*)\s*$")),)),
        "octave": LineMagic(bindings=(_DASH_O,)),
        "julia": LineMagic(),
        "sql": LineMagic(bindings=(_ARROW,)),
        "run": LineMagic(effect=EffectKind.RUN_FILE, effect_pattern=re.compile(r"\S")),
        "pylab": LineMagic(effect=EffectKind.PYLAB),
        "rerun": _ANYTHING_ELSE,
        "edit": _ANYTHING_ELSE,
        "ed": _ANYTHING_ELSE,
        "paste": _ANYTHING_ELSE,
        "cpaste": _ANYTHING_ELSE,
        "autopx": _ANYTHING_ELSE,
        "reset": LineMagic(effect=EffectKind.RESET),
        "reset_selective": LineMagic(effect=EffectKind.RESET),
        "xdel": LineMagic(effect=EffectKind.RESET),
        "cd": LineMagic(effect=EffectKind.CHANGE_FOLDER),
        "pushd": LineMagic(effect=EffectKind.CHANGE_FOLDER),
        "popd": LineMagic(effect=EffectKind.CHANGE_FOLDER),
    }
)
"""Line magic without `%` → what it is; one that is not here binds nothing and gives something unknown."""

IMPORTING_LINE_MAGIC = "aimport"
"""The line magic that imports the modules that it names."""

PYLAB_SOURCE = (
    "import numpy, matplotlib",
    "from matplotlib import mlab, pylab, pyplot",
    "np = numpy",
    "plt = pyplot",
    f"figsize = getfigs = {ANY}()",
)
"""What `%pylab` runs, but for its two star imports."""
