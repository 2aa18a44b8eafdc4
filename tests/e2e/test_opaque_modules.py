"""Modules that only a kernel can look into, held against Python, which imports them."""

import importlib.util
import py_compile
from pathlib import Path

import psutil
import pytest

from tests.support.imports import said_and_failing
from tests.support.real_servers import TYPE_CHECKERS

pytestmark = pytest.mark.timeout(300)
COMPILED = next(path for path in Path(psutil.__file__).parent.glob("_psutil_*") if path.suffix in {".so", ".pyd"})
NAME = COMPILED.name.partition(".")[0]
PUBLIC = min(
    name for name in dir(importlib.import_module(f"psutil.{NAME}")) if name[0].islower() and name.isidentifier()
)
SOURCES = (
    f"import {NAME}\n{NAME}.{PUBLIC}",
    f"from {NAME} import {PUBLIC}",
    f"import pkg.{NAME}\npkg.{NAME}.{PUBLIC}",
    f"from pkg import {NAME} as native\nnative.{PUBLIC}",
    f"from pkg.{NAME} import {PUBLIC} as p",
    "from pkg import there",
    "from pkg import nope",
    f"import star\nstar.{PUBLIC}",
    f"from star import {PUBLIC}",
    f"from star import *\n{PUBLIC}",
    f"from star.core import {PUBLIC}",
    "import plain_star\nplain_star.there",
    "from plain_star import nope",
    "import late\nlate.x",
    "from latin import x, y",
    "import other_version",
    "import gone",
    "from typed import there",
    "from typed import nope",
)


@pytest.mark.parametrize("server", TYPE_CHECKERS)
def test_what_python_imports_is_no_error_and_what_it_does_not_is(server: str, tmp_path: Path) -> None:
    compiled = COMPILED.read_bytes()
    (tmp_path / "late.py").write_text("x = 1\n")
    files: dict[str, str | bytes] = {
        "pyproject.toml": "",
        COMPILED.name: compiled,
        "pkg/__init__.py": "there = 1\n",
        f"pkg/{COMPILED.name}": compiled,
        "star/__init__.py": "from .core import *\n",
        "star/core.py": f"try:\n    from .{NAME} import *\nexcept ImportError:\n    pass\n",
        f"star/{COMPILED.name}": compiled,
        "plain_star/__init__.py": "from pkg import *\n",
        "latin.py": "# -*- coding: latin-1 -*-\nx = 'caf\xe9'\ny = 1\n".encode("latin-1"),
        "late.pyc": Path(py_compile.compile(str(tmp_path / "late.py"), doraise=True) or "").read_bytes(),
        "other_version.cpython-27-x86_64-linux-gnu.so": compiled,
        "typed/__init__.py": "from .native import *\n",
        "typed/__init__.pyi": "there: int\n",
        "typed/native.py": "there = 1\n",
    }
    (tmp_path / "late.py").unlink()
    said, failing = said_and_failing(server, tmp_path, files, {"n.ipynb": SOURCES})["n.ipynb"]
    expected = {number for number, source in enumerate(SOURCES) if any(w in source for w in ("nope", "gone", "other_"))}
    assert failing == expected
    # Compiled for another Python is there to all servers but one.
    assert said == failing - (set() if server == "ty" else {SOURCES.index("import other_version")})
