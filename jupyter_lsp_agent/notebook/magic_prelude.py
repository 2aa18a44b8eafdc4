"""Python definitions that translated cells use: what `!command`, `%%capture` and their like give.

They stand in the virtual document's prefix, so they are written to give no finding in any of the servers. The types
are IPython's (`IPython.utils.text.SList`, `IPython.utils.capture.CapturedIO`, `TimeitResult`), restated because the
analysed environment may have no IPython. Built-ins are named through their module: a notebook may rebind `list`.
"""

from collections.abc import Iterable, Mapping
from types import MappingProxyType

ANY = "_jla_any"
"""Gives anything: the type is not known."""

MAGIC = "_jla_magic"
"""Does nothing, with anything: what a form does to the world. Unlike `pass` it is never superfluous."""

STR = "_jla_str"
"""Gives a `str`."""

STR_LIST = "_jla_str_list"
"""Gives a `list[str]`."""

SLIST = "_jla_SList"
"""Gives what `x = !command` binds."""

CAPTURED = "_jla_CapturedIO"
"""Gives what `%%capture x` binds."""

TIMEIT = "_jla_TimeitResult"
"""Gives what `%timeit -o` returns."""

TYPE_NAMES: Mapping[str, str] = MappingProxyType(
    {
        ANY: "Any",
        MAGIC: "None",
        STR: "str",
        STR_LIST: "list[str]",
        SLIST: "SList",
        CAPTURED: "CapturedIO",
        TIMEIT: "TimeitResult",
    }
)
"""Prelude name → the type that calling it gives, in IPython's words."""

PRELUDE_IMPORT = "import builtins as _jla_builtins, typing as _jla_typing"
"""What must stand before any of `PRELUDE`."""

_ANY_SOURCE = f"""\
def {ANY}(*_arguments: object) -> _jla_typing.Any:
    return _arguments"""

_MAGIC_SOURCE = f"""\
def {MAGIC}(*_values: object) -> None:
    return None"""

_STR_SOURCE = f"""\
def {STR}() -> _jla_builtins.str:
    return "".join(["", ""])"""

_STR_LIST_SOURCE = f"""\
def {STR_LIST}() -> _jla_builtins.list[_jla_builtins.str]:
    return []"""

_TEXT_LIST = "_jla_builtins.list[_jla_builtins.str]"

_SLIST_SOURCE = f"""\
class {SLIST}({_TEXT_LIST}):
    @property
    def l(self) -> {_TEXT_LIST}:
        return self

    @property
    def list(self) -> {_TEXT_LIST}:
        return self

    @property
    def n(self) -> _jla_builtins.str:
        return ""

    @property
    def nlstr(self) -> _jla_builtins.str:
        return ""

    @property
    def s(self) -> _jla_builtins.str:
        return ""

    @property
    def spstr(self) -> _jla_builtins.str:
        return ""

    @property
    def p(self) -> _jla_typing.Any:
        return self

    @property
    def paths(self) -> _jla_typing.Any:
        return self

    def get_list(self) -> {_TEXT_LIST}:
        return self

    def get_nlstr(self) -> _jla_builtins.str:
        return ""

    def get_spstr(self) -> _jla_builtins.str:
        return ""

    def get_paths(self) -> _jla_typing.Any:
        return self

    def grep(self, pattern: _jla_typing.Any, prune: object = False, field: object = None) -> "{SLIST}":
        return self

    def fields(self, *fields: _jla_typing.Any) -> _jla_typing.Any:
        return self

    def sort(self, *arguments: _jla_typing.Any, **keywords: _jla_typing.Any) -> _jla_typing.Any:
        return self"""

_CAPTURED_SOURCE = f"""\
class {CAPTURED}:
    @property
    def stdout(self) -> _jla_builtins.str:
        return ""

    @property
    def stderr(self) -> _jla_builtins.str:
        return ""

    @property
    def outputs(self) -> _jla_builtins.list[_jla_typing.Any]:
        return []

    def show(self) -> None:
        return None

    def __call__(self) -> None:
        return None"""

_TIMEIT_SOURCE = f"""\
class {TIMEIT}:
    loops: _jla_builtins.int = 0
    repeat: _jla_builtins.int = 0
    best: _jla_builtins.float = 0.0
    worst: _jla_builtins.float = 0.0
    all_runs: _jla_builtins.list[_jla_builtins.float] = []
    compile_time: _jla_builtins.float = 0.0

    @property
    def timings(self) -> _jla_builtins.list[_jla_builtins.float]:
        return []

    @property
    def average(self) -> _jla_builtins.float:
        return 0.0

    @property
    def stdev(self) -> _jla_builtins.float:
        return 0.0"""

PRELUDE: Mapping[str, str] = MappingProxyType(
    {
        ANY: _ANY_SOURCE,
        MAGIC: _MAGIC_SOURCE,
        STR: _STR_SOURCE,
        STR_LIST: _STR_LIST_SOURCE,
        SLIST: _SLIST_SOURCE,
        CAPTURED: _CAPTURED_SOURCE,
        TIMEIT: _TIMEIT_SOURCE,
    }
)
"""Prelude name → the Python source that defines it; `PRELUDE_IMPORT` must stand before it."""


def prelude_lines(helpers: Iterable[str]) -> list[str]:
    """The lines that define `helpers`, in a fixed order, with what they need; none for no helpers."""
    wanted = frozenset(helpers)
    if not wanted:
        return []
    sources = [PRELUDE_IMPORT, *(source for name, source in PRELUDE.items() if name in wanted)]
    return "\n".join(sources).split("\n")
