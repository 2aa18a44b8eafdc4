"""What magics bind, held against a running IPython: each cell is run there, and its translation by Python."""

import contextlib
import io
from collections.abc import Iterator

import pytest
from IPython.core.interactiveshell import InteractiveShell
from IPython.core.magics.execution import TimeitResult
from IPython.utils.capture import CapturedIO
from IPython.utils.text import SList
from traitlets.config import Config

from jupyter_lsp_agent.notebook.automagic import AUTOMAGIC_WORDS
from jupyter_lsp_agent.notebook.cell_translation import MagicOptions
from jupyter_lsp_agent.notebook.magic_prelude import CAPTURED, SLIST, TIMEIT
from jupyter_lsp_agent.notebook.magics import close_own_scopes, prelude_lines, translate_cell
from jupyter_lsp_agent.notebook.python_syntax import find_syntax_fault


@pytest.fixture(scope="module")
def shell(tmp_path_factory: pytest.TempPathFactory) -> Iterator[InteractiveShell]:
    config = Config()
    config.HistoryManager.enabled = False
    folder = str(tmp_path_factory.mktemp("ipython"))
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("IPYTHONDIR", folder)
        shell = InteractiveShell(config=config, ipython_dir=folder)
        yield shell
        shell.restore_sys_module_state()


def run_in_ipython(shell: InteractiveShell, source: str) -> dict[str, str]:
    """Name → type name of what a cell binds when IPython runs it."""
    shell.reset(new_session=False)
    before = set(shell.user_ns)
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        result = shell.run_cell(source, store_history=False)
    assert result.success, result
    return {
        name: type(shell.user_ns[name]).__name__ for name in set(shell.user_ns) - before if not name.startswith("_")
    }


def run_translation(source: str) -> dict[str, str]:
    """The same of its translation."""
    translation = close_own_scopes(translate_cell(source, MagicOptions()), frozenset())
    assert not translation.errors
    namespace: dict[str, object] = {}
    exec("\n".join([*prelude_lines(translation.helpers), translation.text]), namespace)
    return {
        name: type(value).__name__.removeprefix("_jla_")
        for name, value in namespace.items()
        if not name.startswith("_")
    }


SAME_TYPE = [
    "x = !echo a",
    "[*a] = !echo a",
    "x: list = !echo a",
    "x = !!echo a",
    "x = %pwd",
    "x = %sx echo a",
    "x = %system echo a",
    "y = 1\nx = %who_ls",
    "%time y = 3",
    "%time import os",
    "x = %time 1 + 1",
    "x = %timeit -n1 -r1 -o 1 + 1",
    "x = %timeit -n1 -r1 1 + 1",
    "%timeit -n1 -r1 y = 3",
    "%timeit -n 1 -r 1 -v r sum([1])",
    "%prun -q y = 3",
    "%prun y = 3",
    "%%time\nw = 1",
    "%%time\n  w = 1\n  !echo a",
    "%%capture out\nq = 1",
    "%%capture --no-stderr out\nq = 1",
    "%%capture out\nout = 1",
    "%%capture out\ntry:\n    q = out\nexcept NameError:\n    q = None",
    "%%capture out\n  q = 1\n  del q",
    "%%capture out\n%%time\nout = 1\nq = out",
    "%%capture out\nfor q in [1]:\n    out = q",
    "%%capture out\nq = 1  # no more",
    "%%capture\nq = 1",
    "%%capture out\n%%time\nq = 1",
    "%%prun -q z = 1\nq = z",
    "%%timeit -n1 -r1 s = 1\nt = s",
    "%%bash --out s\necho a",
    "%%bash --out s --err e\necho a",
    "%%sh --out=s\necho a",
    "%%script --out s bash\necho a",
    "%%script bash --out s\necho a",
    "%%python3\nleak = 1",
    "%%html\n<b>",
    "%%javascript\nlet x = 1",
    "%%latex\n$x$",
    "%%markdown\n# x",
    "%sc -l x = echo a",
    "if True:\n    %time y = 3\n    z = %pwd",
    "for i in [1]:\n    %timeit -n1 -r1 y = 3",
    "def f():\n    x = !echo a\n    return x\ny = f()",
    "%time x = !echo a",
    "%time !echo a",
    ">>> x = !echo a\n>>> y = 1",
    "  x = 1\n  y = %pwd",
    "%time x = 1; y = 'a'",
    "%time for i in [1]: z = i",
    "%time from json import loads",
    ";str a b",
    "/str 1",
    "pwd",
    "cd .",
    "time y = 3",
]


@pytest.mark.parametrize("source", SAME_TYPE)
def test_names_and_types_are_those_of_ipython(shell: InteractiveShell, source: str) -> None:
    assert run_translation(source) == run_in_ipython(shell, source)


SAME_NAMES = [
    "d = {}\nd['k'] = !echo a\nk = d['k']",
    "%%bash --bg --out o --err e --proc p\necho a",
    "%sc x = echo a",
    "%env",
    "x = %env",
    "x = %env HOME",
    "x = %lsmagic",
    "x = %precision",
    "%load_ext autoreload\n%autoreload 0\n%aimport json",
    "x = %prun -q -r 1 + 1",
    "x = %time y = 3",
]


@pytest.mark.parametrize("source", SAME_NAMES)
def test_names_are_those_of_ipython_where_types_are_not_told(shell: InteractiveShell, source: str) -> None:
    assert set(run_translation(source)) == set(run_in_ipython(shell, source))


def test_stored_names_come_back(shell: InteractiveShell) -> None:
    assert set(run_translation("%store -r v w")) == {"v", "w"}
    restored = translate_cell("%store -r", MagicOptions())
    assert [effect.kind for effect in restored.effects] == ["store_all"]


FAILING = [
    ("# c\n%%time\nw = 1", (1, 0, 6)),
    ("x = 1\n  \n%%bash\n", (2, 0, 6)),
    ("% time x", (0, 0, 1)),
    ("%time f(", (0, 7, 8)),
    ("%time x = = 1", (0, 10, 11)),
    ("%timeit -n1 x y", (0, 14, 15)),
    ("if True:\n    %prun x y", (1, 12, 13)),
    ("%%time foo\nx = 1", (0, 7, 10)),
    ("%%timeit 1 + 1", (0, 9, 14)),
    ("%%timeit 1 + 1\n", (0, 9, 14)),
    ("%%time\nimport asyncio\nawait asyncio.sleep(0)", (2, 0, 5)),
    ("%%timeit\nimport asyncio\nx = await asyncio.sleep(0)", (2, 4, 9)),
    ("%%prun -q\nasync with asyncio.timeout(1):\n    pass", (1, 0, 5)),
    ("%timeit -n1 -r1 await x", (0, 16, 21)),
    ("%prun -q await x", (0, 9, 14)),
    ("y = %timeit -o await x", (0, 15, 20)),
    ("if True:\n    %prun y = await x", (1, 14, 19)),
]


@pytest.mark.parametrize(("source", "place"), FAILING)
def test_what_fails_as_it_is_read_is_an_error_at_its_place(
    shell: InteractiveShell, source: str, place: tuple[int, int, int]
) -> None:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        result = shell.run_cell(source, store_history=False)
    assert not result.success
    errors = translate_cell(source, MagicOptions()).errors
    assert [(e.range.start.line, e.range.start.column, e.range.end.column) for e in errors] == [place]


@pytest.mark.parametrize(
    "source",
    [
        "%%capture\nimport asyncio\nawait asyncio.sleep(0)",
        "%%capture o\nimport asyncio\nasync with asyncio.timeout(1):\n    pass",
        "%%time\nasync def f():\n    await g()",
        "%%prun -q\nf = lambda: (i async for i in x)",
        "%time f = lambda: (i async for i in x)",
        "import asyncio\nawait asyncio.sleep(0)\n%time 1",
        "%%time\n\n",
        "%%time\n ",
    ],
)
def test_what_may_await_is_no_error(shell: InteractiveShell, source: str) -> None:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        assert shell.run_cell(source, store_history=False).success
    assert translate_cell(source, MagicOptions()).errors == ()


@pytest.mark.parametrize(
    ("source", "line"),
    [
        ("x = 1\nfrom __future__ import annotations", None),
        ("x = 1\nglobal x\nx = 2", None),
        ("if True:\n    from __future__ import annotations", 1),
        ("x = 1\nfrom __future__ import braces", 1),
        ("x = 1\nfrom __future__ import annotations\nreturn x", 2),
        ("def f(x):\n    global x", 1),
    ],
)
def test_each_statement_is_compiled_alone(shell: InteractiveShell, source: str, line: int | None) -> None:
    with contextlib.redirect_stdout(io.StringIO()), contextlib.redirect_stderr(io.StringIO()):
        assert shell.run_cell(source, store_history=False).success == (line is None)
    fault = find_syntax_fault(source)
    assert (None if fault is None else fault.range.start.line) == line


def test_a_newer_kernel_knows_its_syntax_better() -> None:
    newer = translate_cell("%time f(", MagicOptions(python_version=(3, 99)))
    assert newer.errors == ()
    assert newer.text == "_jla_magic()"


AUTOMAGIC = [
    "pip list",
    "cd .",
    "ls",
    "pwd",
    "cat foo",
    "time y = 3",
    "  ls -la",
    "who",
    "\n\npwd",
    "pwd\n",
    "cd ..\r\n",
]
NO_AUTOMAGIC = ["time = 3", "ls, a = 1, 2", "pwd\nx", "x = 1", "time.sleep", "# c\npwd", "print", "pwd\n\n", "ls == 1"]


@pytest.mark.parametrize("source", AUTOMAGIC)
def test_one_line_with_a_magic_word_is_that_magic(shell: InteractiveShell, source: str) -> None:
    shell.reset(new_session=False)
    assert "get_ipython()" in shell.transform_cell(source.replace("\r", ""))
    assert translate_cell(source, MagicOptions()).automagic == source.split(maxsplit=1)[0]
    assert translate_cell(source, MagicOptions(automagic=False)).automagic is None


@pytest.mark.parametrize("source", NO_AUTOMAGIC)
def test_anything_else_is_python(shell: InteractiveShell, source: str) -> None:
    shell.reset(new_session=False)
    assert "get_ipython()" not in shell.transform_cell(source)
    translation = translate_cell(source, MagicOptions())
    assert translation.automagic is None
    assert translation.text == source


@pytest.mark.parametrize("source", ["run(x)", "load(x)", "time(1)", "history[0]"])
def test_a_call_is_python_though_ipython_would_take_an_unbound_word_for_a_magic(source: str) -> None:
    assert translate_cell(source, MagicOptions()).text == source


def test_automagic_words_are_those_of_ipython(shell: InteractiveShell) -> None:
    lazy = getattr(shell.magics_manager, "lazy_magics", {})
    known = {*shell.magics_manager.magics["line"], *lazy.get("line", {})} - {"aimport", "autoreload"}
    assert {name for name in known if name.isidentifier()} - AUTOMAGIC_WORDS == set()


@pytest.mark.parametrize(
    ("helper", "original"),
    [
        (SLIST, SList()),
        (CAPTURED, CapturedIO(None, None)),
        (TIMEIT, TimeitResult(1, 1, 0.0, 0.0, [0.0], 0.0, 3)),
    ],
)
def test_the_prelude_has_the_attributes_of_ipythons_classes(helper: str, original: object) -> None:
    namespace: dict[str, object] = {}
    exec(f"{chr(10).join(prelude_lines({helper}))}\nvalue = {helper}()", namespace)
    ours = {name for name in dir(namespace["value"]) if not name.startswith("_")}
    assert ours == {name for name in dir(original) if not name.startswith("_")}
