"""Python definitions that translated cells use: what `!command`, `%%capture` and their like give.

They stand in the virtual document's prefix, so they are written to give no finding in any of the servers: real values for
defaults, no unused import. The types are those of IPython (`IPython.utils.text.SList`, `IPython.utils.capture.CapturedIO`,
`timeit`'s result), restated because the analysed environment may have no IPython.
"""

from collections.abc import Mapping
from types import MappingProxyType

ANY = "_jla_any"
"""A function that returns anything."""

SLIST = "_jla_SList"
"""The class of what `x = !command` gives."""

CAPTURED = "_jla_CapturedIO"
"""The class of what `%%capture x` gives."""

TIMEIT = "_jla_TimeitResult"
"""The class of what `%timeit -o` gives."""

_ANY_SOURCE = f"""\
def {ANY}(*_arguments: object) -> _jla_typing.Any:
    return _arguments"""

_SLIST_SOURCE = f"""\
class {SLIST}(list[str]):
    @property
    def l(self) -> list[str]:
        return self

    @property
    def list(self) -> "{SLIST}":
        return self

    @property
    def n(self) -> str:
        return ""

    @property
    def nlstr(self) -> str:
        return ""

    @property
    def s(self) -> str:
        return ""

    @property
    def spstr(self) -> str:
        return ""

    @property
    def p(self) -> _jla_typing.Any:
        return self

    @property
    def paths(self) -> _jla_typing.Any:
        return self

    def grep(self, pattern: _jla_typing.Any, prune: _jla_typing.Any = False, field: _jla_typing.Any = None) -> "{SLIST}":
        return self

    def fields(self, *fields: int) -> _jla_typing.Any:
        return self

    def sort(self, field: _jla_typing.Any = None, nums: _jla_typing.Any = False) -> _jla_typing.Any:
        return self"""

_CAPTURED_SOURCE = f"""\
class {CAPTURED}:
    @property
    def stdout(self) -> str:
        return ""

    @property
    def stderr(self) -> str:
        return ""

    @property
    def outputs(self) -> list[_jla_typing.Any]:
        return []

    def show(self) -> None:
        return None

    def __call__(self) -> None:
        return None"""

_TIMEIT_SOURCE = f"""\
class {TIMEIT}:
    loops: int = 0
    repeat: int = 0
    best: float = 0.0
    worst: float = 0.0
    all_runs: list[float] = []
    timings: list[float] = []
    compile_time: float = 0.0

    @property
    def average(self) -> float:
        return 0.0

    @property
    def stdev(self) -> float:
        return 0.0"""

PRELUDE: Mapping[str, str] = MappingProxyType(
    {
        ANY: _ANY_SOURCE,
        SLIST: _SLIST_SOURCE,
        CAPTURED: _CAPTURED_SOURCE,
        TIMEIT: _TIMEIT_SOURCE,
    }
)
"""Prelude name → the Python source that defines it. Each may use `_jla_typing`, the module `typing` (`PRELUDE_IMPORT`)."""

PRELUDE_IMPORT = "import typing as _jla_typing"
"""What must stand before any of `PRELUDE`."""
