"""Notebooks whose cells would leak into each other if they were one file, with the places of their real errors.

`Z` ends most of them: an error that must be found whatever the cells before did. Places are (cell, line), from 0 and
from 1. They were judged by hand against what a kernel does.
"""

import json
from dataclasses import dataclass

from tests.support.notebooks import notebook_json

Z = "zz: int = 'a'"


@dataclass(frozen=True, slots=True)
class LeakCase:
    """One notebook: `errors` must be found and nothing else but `tolerated` may; `open_for`: servers that still err;
    `python_version`: of its kernel."""

    name: str
    cells: tuple[str, ...]
    errors: frozenset[tuple[int, int]]
    tolerated: frozenset[tuple[int, int]] = frozenset()
    open_for: frozenset[str] = frozenset()
    python_version: str | None = None


def _case(
    name: str,
    cells: list[str],
    errors: list[tuple[int, int]],
    tolerated: list[tuple[int, int]] | None = None,
    open_for: str = "",
) -> LeakCase:
    return LeakCase(name, tuple(cells), frozenset(errors), frozenset(tolerated or ()), frozenset(open_for.split()))


MODULES = {
    "lib_die.py": """\
from typing import NoReturn
def die() -> NoReturn:
    raise SystemExit
class K:
    def go(self) -> NoReturn:
        raise SystemExit
""",
    "datasets/x.csv": "a",
    "helpers.py": "def h(a: int) -> int: return a\n",
    "hx.py": "hx = 3\ndef hf(a): return a\n",
    "inner/inside.py": "q = 1\n",
    "star.py": "from math import *\nhx = 1\n",
    "other.ipynb": json.dumps(notebook_json("%time ox = 3", "!ls")),
}
"""Files beside the notebooks."""

_ENDS = [
    "raise ValueError('x')",
    "raise ValueError('x') from None",
    "import sys\nsys.exit(1)",
    "exit()",
    "assert False, 'm'",
    "while True:\n    a = 1",
    "while True:\n    try:\n        a = 1\n        continue\n    except ValueError:\n        pass",
    "while 1:\n    while True:\n        pass",
    "from lib_die import die\ndie()",
    "from lib_die import die\nx = die()",
    "from lib_die import K\nK().go()\ny = 1",
    "import sys\nif sys.platform == 'win32':\n    pass\nelse:\n    raise ValueError",
    "import sys\nassert sys.platform == 'win32'",
    "import os\nos._exit(1)",
    "class S:\n    def __enter__(self): return self\n    def __exit__(self, *a): return True\n"
    "with S():\n    raise ValueError",
    "from lib_die import die\ntry:\n    die()\nfinally:\n    k = 1",
    "from lib_die import die\nwith open('f') as f:\n    die()",
    "from lib_die import die\nmatch 3:\n    case 3:\n        die()\n    case _:\n        die()",
    "class C:\n    def m(self):\n        raise NotImplementedError\nC().m()",
    "import unittest\nunittest.main()",
    "import argparse\nargparse.ArgumentParser().error('x')",
]

_NEVER = """\
import sys
from typing import NoReturn
def stop() -> NoReturn: sys.exit()
async def astop() -> NoReturn: sys.exit()
"""
_NEVER_ENDS = [
    "assert sys.exit()",
    "assert stop()",
    "assert not stop()",
    "assert await astop()",
    "%time assert stop()",
    "%%time\nassert stop()",
    "%%capture --no-stderr cap\nfrom sys import exit as bye\nbye()",
    "%%timeit\nassert stop()",
    "while True:\n    stop()",
    "while True:\n    try: pass\n    finally: stop()",
    "assert (lambda: stop())()",
    "assert [stop()]",
    "x = 1 if stop() else 2",
    "sys.exit() if True else None",
    "lambda a=stop(): 1",
    "stop().a = 1",
    "stop()[1] = 1",
    "(stop()).a, b = 1, 2",
    "global zz; stop()",
    "global zz;\\\n-stop()",
    "raise stop()",
    "raise stop() from None",
    "stop()\nraise ValueError",
    "raise ValueError\nstop()",
    "def f(a=stop()): pass",
    "import os; stop(); print(1)",
    "import os\nx = 1; assert stop(); z = 3",
    's = """\nx\n"""; assert stop()',
    'assert (\nstop()\n), """a\nb"""',
    "while True:\n    x = 1\n    if x: continue\n    assert stop()",
    "if (y := stop()): pass",
    "for i in [1]: pass\nelse: assert stop()",
    "x = %time stop()",
    "stop() or 1",
    "print([stop() for _ in [1]])",
]
"""What ends a cell only for who knows that `stop` never returns."""

CASES = [
    *(_case(f"end-{number}", [source, Z], [(1, 1)]) for number, source in enumerate(_ENDS)),
    *(_case(f"never-{number}", [_NEVER, source, Z], [(2, 1)]) for number, source in enumerate(_NEVER_ENDS)),
    _case(
        "names-beside-what-never-returns",
        [_NEVER, "import os as o; w: int = 1; raise stop()", "o.getcwd()\nw.bit_length()\n" + Z],
        [(2, 3)],
    ),
    _case(
        "several-that-never-return",
        [_NEVER, "assert [stop()]", "stop().a = 1", "x = 1\nglobal q; stop()", "raise stop()", "assert x, stop()", Z],
        [(6, 1)],
    ),
    _case(
        "a-dead-part-of-a-statement",
        ["a = 1", "a.foo if False else 1", "(a.foo if False else\n 1)", "False and a.foo", Z],
        [(4, 1)],
        tolerated=[(1, 1), (2, 1), (3, 1)],
    ),
    _case("dead", ["raise ValueError\nundefined_zz", "undefined_yy"], [(1, 1)]),
    _case("alive", ["import sys\nif len(sys.argv):\n    sys.exit()\nprint(undefined_zz)", Z], [(0, 4), (1, 1)]),
    _case(
        "narrowing",
        ["import re\nm = re.match('a', 'b')\nif m is None:\n    raise ValueError", "m.group()\n" + Z],
        [(1, 2)],
    ),
    _case(
        "bound-in-try",
        ["try:\n    import json as v\n    w = 1\nexcept ImportError:\n    raise", "print(w)\nv.dumps(1)\n" + Z],
        [(1, 3)],
    ),
    _case("bound-in-loop", ["while True:\n    data = [1]\n    other = 2", "data.append(other)\n" + Z], [(1, 2)]),
    _case(
        "definition-then-value",
        ["def f(x): return x", "class Add:\n    def evaluate(self): return 1\nf = Add()", "f.evaluate()\nf.nope\n" + Z],
        [(2, 2), (2, 3)],
        open_for="basedpyright pyright",
    ),
    _case("definition-then-loop", ["def step(a): return a", "for step in range(9): pass", "step + 1\n" + Z], [(2, 2)]),
    _case(
        "class-then-value",
        ["class H: ...", "import functools\nH = functools.lru_cache(None)(H)", "H.cache_info()\n" + Z],
        [(2, 2)],
        open_for="pyrefly",
    ),
    _case("annotated-then-value", ["cfg: int = 1", "cfg = 'a'", "cfg.upper()\n" + Z], [(2, 2)]),
    _case("annotation-is-checked", ["cfg: int = 'a'", "cfg: str = 'a'", "cfg.upper()\n" + Z], [(0, 1), (2, 2)]),
    _case("annotated-anew", ["cfg: int = 1", "cfg: list[str] = []", "cfg.append('a')\ncfg.nope"], [(2, 2)]),
    _case(
        "annotated-anew-read-in-functions",
        ["x: int = 1\ndef f() -> int:\n    return x", "x: str = 'a'\ndef g() -> str:\n    return x", Z],
        [(2, 1)],
    ),
    _case(
        "value-anew-read-in-functions",
        ["data = [1, 2]", "data = {'a': 1}", "def show():\n    return data.keys()\nshow()\ndata.append(3)\n" + Z],
        [(2, 4), (2, 5)],
    ),
    _case(
        "function-anew",
        ["def f(a: int) -> int: return a", "def f(a: str) -> str: return a", "f('a').upper()\nf(1)"],
        [(2, 2)],
    ),
    _case(
        "import-then-function",
        ["from math import sqrt", "def sqrt(x: str) -> str: return x", "sqrt('a')\n" + Z],
        [(2, 2)],
    ),
    _case(
        "class-grows",
        ["class A:\n    def m(self): ...", "class A(A):\n    def n(self): ...", "A().m(); A().n()\n" + Z],
        [(2, 2)],
    ),
    _case(
        "class-anew-given-to-a-function-of-the-first",
        ["class A:\n    v = 1\ndef f(a: A): return a.v", "class A:\n    v = 1\n    w = 2", "f(A())\n" + Z],
        [(2, 2)],
    ),
    _case(
        "class-anew-put-into-a-list-of-the-first",
        ["class A: ...\nheld: list[A] = []", "class A: ...", "held.append(A())\nheld.append(3)\n" + Z],
        [(2, 2), (2, 3)],
    ),
    _case(
        "type-variable-anew",
        [
            "from typing import TypeVar\nT = TypeVar('T')\ndef f(a: T) -> T: return a",
            "T = TypeVar('T')\ndef g(a: T) -> T: return a",
            "f(1) + 'a'\ng(1) + 'a'\n" + Z,
        ],
        [(2, 1), (2, 2), (2, 3)],
    ),
    _case(
        "alias-anew",
        ["import typing as t\nX = t.Union[int, str]\ny: X = 3\ndef f(x: X): return x", "X = int", "f('a')\n" + Z],
        [(2, 2)],
    ),
    _case(
        "alias-anew-in-each-cell",
        ["X = int\ndef f(x: X) -> list[X]: return [x]", "X = str\ndef g(x: X) -> list[X]: return [x]", "g('a')\n" + Z],
        [(2, 2)],
    ),
    _case(
        "written-module",
        [
            "import written",
            "%%writefile written.py\nval = 3",
            "import written\nimport json, written as w\nfrom written import val\njson.nope",
            "written.val; w.x; val.y\n" + Z,
        ],
        [(0, 1), (2, 4), (3, 2)],
    ),
    _case(
        "written-module-below-a-folder",
        [
            '%%writefile -a "./new_folder/part.py"\nval = 3',
            "%%file lib_die/part.py\nval = 3",
            "%%writefile json.py\nval = 3",
            "import new_folder.part, part, lib_die.part\nfrom new_folder import part as p\nimport json",
            "new_folder.part.val; p.val\njson.nope\nimport lib_dead\n" + Z,
        ],
        [(4, 2), (4, 3), (4, 4)],
    ),
    _case("no-type", ["three = 3\nx: three = 3", Z], [(0, 2), (1, 1)]),
    _case(
        "broken-names-are-types-and-values",
        ["class T(\n  pass", "def f(a: T) -> 'T': return a\nclass B(T): ...\n@T\ndef g(): ...\nT()\n" + Z],
        [(0, 1), (1, 6)],
    ),
    _case(
        "broken-redefinition",
        ["def fit(a: int) -> int: return a", "def fit(a, b)\n    x", "fit('x', 'y')\n" + Z],
        [(1, 1), (2, 2)],
    ),
    _case("sound-parts-of-broken", ["import os\nimport json as j\nx = = 1", "os.nope; j.dumps(x)"], [(0, 3), (1, 1)]),
    _case("missing-star", ["from numpy_zz import *", "arr = array([1])\nzeros(3)"], [(0, 1)]),
    _case(
        "folder-is-no-package",
        ["import datasets\nfrom datasets import load_dataset", "datasets.load(); load_dataset()\n" + Z],
        [(0, 1), (0, 2), (1, 2)],
    ),
    _case("missing-module", ["import numpy_zz as np", "np.array(1); np.x.y\n" + Z], [(0, 1), (1, 2)]),
    _case(
        "await",
        ["import asyncio", "n: int = await asyncio.sleep(0, 'x')\nx = [i async for i in undefined_zz]"],
        [(1, 1), (1, 2)],
    ),
    _case("await-in-def", ["async def f(): ...\ndef k():\n    await f()", Z], [(0, 3), (1, 1)]),
    _case("await-of-no-awaitable", ["await 3", Z], [(0, 1), (1, 1)]),
    _case(
        "may-be-unbound", ["import random\nif random.random() > 0.5:\n    maybe = 1", "print(maybe)\n" + Z], [(1, 2)]
    ),
    _case("last-expressions", ["1 + 1", "[1, 2]\n3", "x = 1\nx == 2", Z], [(3, 1)]),
    _case("own-display", ["def display(x): return x", "display(1)\nfor _ in range(3): pass\n_, b = 1, 2", Z], [(2, 1)]),
    _case("history", ["In = [1]\n_i1\n_4\n" + Z], [(0, 4)]),
    _case("directives", ["a = 1", "# type: ignore\nb: int = 'x'", "# pyright: basic\n" + Z], [(1, 2), (2, 2)]),
    _case("directive-for-all", ["# type: ignore", "b: int = 'x'\n" + Z, Z], []),
    _case(
        "future",
        [
            "import os",
            "from __future__ import annotations\nclass P:\n    def m(self) -> Q: return Q()\nclass Q: ...",
            Z,
        ],
        [(2, 1)],
    ),
    _case("crlf", ["a = 1\r\nb = 2\r\nnope\r\n", Z], [(0, 3), (1, 1)]),
    _case("all-line-ends", ["a = 1\rb = 2\r\nc = nope\n", Z], [(0, 3), (1, 1)]),
    _case("form-feed", ["a = 1\n\f\nb = 2\nnope", Z], [(0, 4), (1, 1)]),
    _case("no-break-space", ["a\u00a0= 1", Z], [(0, 1), (1, 1)]),
    _case("nul", ["a = 'x\0y'", Z], [(0, 1), (1, 1)]),
    _case("tabs-and-blanks", ["if True:\n\tx = 1\n        y = 2", Z], [(0, 3), (1, 1)]),
]
