"""What one cell becomes: languages, effects, places, reasons, scopes."""

import ast
import textwrap

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_lsp_agent.core.positions import CellLine
from jupyter_lsp_agent.notebook.cell_translation import CellScope, CellTranslation, EffectKind, MagicOptions
from jupyter_lsp_agent.notebook.languages import KERNEL_LANGUAGES
from jupyter_lsp_agent.notebook.magic_arguments import first_path, run_target, statement_start
from jupyter_lsp_agent.notebook.magic_table import CELL_MAGICS, LANGUAGE_OF_PROGRAM
from jupyter_lsp_agent.notebook.magics import close_own_scopes, translate_cell
from jupyter_lsp_agent.notebook.reserved_names import MISSING_MODULE
from tests.support.ipython import check_map


def translate(source: str, *python_cell_magics: str) -> CellTranslation:
    translation = translate_cell(source, MagicOptions(python_cell_magics=frozenset(python_cell_magics)))
    check_map(source, translation)
    return translation


def cell_place(translation: CellTranslation, word: str) -> tuple[int, int] | None:
    """Where a word of the virtual text stands in the cell, through the map."""
    for line in translation.lines:
        column = line.text.find(word)
        if column < 0 or line.cell_line is None:
            continue
        if line.spans is None:
            return line.cell_line, column
        for span in line.spans:
            if span.virtual_column <= column < span.virtual_column + span.length:
                return line.cell_line, column - span.virtual_column + span.cell_column
    return None


PLACES = [
    "%time print(zz)",
    "%timeit -n1 -r 2 zz + 1",
    "%timeit zz + 1; y",
    "%time zz + 1  # c",
    "%time (zz)",
    "if a:\n    %time zz",
    "%timeit -n1 \\\n   sum(zz)",
    "%time f(1) + \\\n  g(zz)",
    "x = %time zz()",
    "x = %timeit -o zz",
    "%prun -s cumulative -q zz()",
    "%lprun -f g zz(1)",
    "%memit zz",
    "%time await zz",
    "/zz a",
    "/f zz b",
    ",zz a",
    ";zz a b",
    "%store -r a zz",
    "%aimport os, zz",
    "%%time\nx = 1\nprint(zz)",
    "%%timeit zz = 3\nzz",
    "%%prun -q zz\nx",
    "%%capture out\n  a\n  zz",
    ">>> a\n>>> zz",
    "   a = 1\n   zz",
    "In [1]: a\n   ...: zz",
    "\n\n%%time\n\nzz",
    "é = '😀'; zz = !ls",
    "!ls\nprint('😀', zz)",
    "zz.a = !ls",
    "d[zz] = %pwd",
    "if a:\n\t!ls\n\tzz",
    "%matplotlib inline\r\nzz",
    "!ls\rzz",
    "!ls\ns = 'a\u2028b\x0cc\x85'; zz",
    "%time zz; y",
    "%time !ls\nzz",
    "time zz()",
]


@pytest.mark.parametrize("source", PLACES)
def test_a_name_is_found_where_the_cell_has_it(source: str) -> None:
    lines = source.replace("\r\n", "\n").replace("\r", "\n").split("\n")
    line = next(i for i, text in enumerate(lines) if "zz" in text)
    assert cell_place(translate(source), "zz") == (line, lines[line].index("zz"))


LANGUAGES = [
    ("%%bash\necho a", "shellscript"),
    ("%%sh\necho a", "shellscript"),
    ("%%!\necho a", "shellscript"),
    ("%%system\necho a", "shellscript"),
    ("%%script bash\necho a", "shellscript"),
    ("%%script --out x --err y /usr/bin/env -S zsh -e\necho a", "shellscript"),
    ("%%script bash --out x\necho a", "shellscript"),
    ("%%script --bg python3.11\nx", "python"),
    ("%%script node\nx", "javascript"),
    ("%%python3\nx = 1", "python"),
    ("%%python2\nprint 'x'", "python2"),
    ("%%javascript\nlet x", "javascript"),
    ("%%js\nlet x", "javascript"),
    ("%%html\n<b>", "html"),
    ("%%latex\n$x$", "latex"),
    ("%%markdown\n# x", "markdown"),
    ("%%svg\n<svg/>", "xml"),
    ("%%R -i df\nx <- 1", "r"),
    ("%%sql\nselect 1", "sql"),
    ("%%perl\n1", "perl"),
    ("%%ruby\n1", "ruby"),
    ("%%cython\ncdef int x", "cython"),
    ("\n%%bash\necho a", "shellscript"),
    ("%sql\nSELECT 1 FROM t", "sql"),
    ("%sql SELECT 1\nFROM t", "sql"),
    ("%md\nTitle", "markdown"),
    ("%scala\nval x = 1", "scala"),
    ("%sh\nls", "shellscript"),
    ("%r\nx <- 1", "r"),
]


@pytest.mark.parametrize(("source", "language"), LANGUAGES)
def test_a_body_of_another_language_is_told_and_nothing_of_it_is_python(source: str, language: str) -> None:
    translation = translate(source)
    (body,) = translation.foreign
    first = next(i for i, line in enumerate(source.split("\n")) if line.startswith("%")) + 1
    assert body.language == language
    assert (body.first_line, body.last_line) == (first, source.count("\n"))
    assert translation.scope is CellScope.NONE
    assert all(not line.text for line in translation.lines if line.cell_line and line.cell_line >= first)


TEXTS = [
    ("%%writefile a.py\ndef (", "cell magic %%writefile: its body is text, not code"),
    ("%%file a.py\nx", "cell magic %%file: its body is text, not code"),
    ("%%script false\nx", "cell magic %%script: its body is in a language that is not known"),
    ("%%script\nx", "cell magic %%script: its body is in a language that is not known"),
    ("%fs\nls /", "line magic %fs: its body is text, not code"),
]


@pytest.mark.parametrize(("source", "reason"), TEXTS)
def test_a_body_that_nobody_can_check_says_why(source: str, reason: str) -> None:
    translation = translate(source)
    assert translation.foreign == ()
    assert [(lines.first_line, lines.last_line, lines.reason) for lines in translation.unchecked] == [(1, 1, reason)]
    assert translation.text == "\n"


PYTHON_AFTER_A_LINE_MAGIC = [
    "%sql\nx = 1",
    "%sql select 1\nx = 1",
    "%python\nx = 1",
    "%pip install a\nx = 1",
    "%sh ls\nx = 1",
]


@pytest.mark.parametrize("source", PYTHON_AFTER_A_LINE_MAGIC)
def test_python_after_a_line_magic_stays_python(source: str) -> None:
    translation = translate(source)
    assert translation.foreign == ()
    assert translation.lines[-1].text == "x = 1"


BINDINGS = [
    ("%%bash --out s --err e\nx", [("s", "str"), ("e", "str")]),
    ("%%bash --bg --out s\nx", [("s", "Any")]),
    ("%%capture out\nx", [("out", "CapturedIO")]),
    ("%%capture --no-stderr\nx", []),
    ("%%R -o v\nx", [("v", "Any")]),
    ("%%R -i a -o v -o w\nx", [("v", "Any"), ("w", "Any")]),
    ("%%R -o v,w -w 400\nx", [("v", "Any"), ("w", "Any")]),
    ("%%sql v <<\nselect 1", [("v", "Any")]),
    ("%%sql sqlite:// v << select 1\nx", [("v", "Any")]),
    ("%%bigquery df --project p\nx", [("df", "Any")]),
    ("%%bigquery --project p df\nx", [("df", "Any")]),
    ("%%timeit -v r -n 1\nx", [("r", "TimeitResult")]),
    ("%timeit -n 1 -qv r f(x)", [("r", "TimeitResult")]),
    ("%timeit -o f(-v)", []),
    ("%store -r v w", [("v", "Any"), ("w", "Any")]),
    ("%store v", []),
    ("%macro -q name 1-3", [("name", "Any")]),
    ("%sc -l v = ls", [("v", "SList")]),
    ("%sc v = ls", [("v", "str")]),
    ("%sql v << select 1", [("v", "Any")]),
    ("%R -o v v <- 1", [("v", "Any")]),
    ("%Rpull v w", [("v", "Any"), ("w", "Any")]),
    ("%%cython\ndef f(x):\n  def i(): pass\ncpdef int g(int x): pass\ncdef h(): pass\ncdef class C:\n  pass\nK = 1",
     [("f", "Any"), ("g", "Any"), ("C", "Any"), ("K", "Any")]),
    ("%%fortran\n  subroutine Rhs(x, y)\nreal*8 function g(a)\nend function", [("rhs", "Any"), ("g", "Any")]),
    ("%%frobnicate\nimport os\na, b = 1, 2\ndef f(): pass", [("a", "Any"), ("b", "Any"), ("f", "Any"), ("os", "Any")]),
    ("%%frobnicate\nno python at all", []),
]  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), BINDINGS)
def test_names_that_magics_bind_are_bound_in_the_text(source: str, expected: list[tuple[str, str]]) -> None:
    translation = translate(source)
    assert [(binding.name, binding.type_name) for binding in translation.bindings] == expected
    stored = {
        node.id
        for node in ast.walk(ast.parse(translation.text))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store)
    }
    stored |= {
        alias.name
        for node in ast.walk(ast.parse(translation.text))
        if isinstance(node, ast.ImportFrom) and node.module == MISSING_MODULE
        for alias in node.names
    }
    assert {name for name, _ in expected} <= stored
    used = {node.id for node in ast.walk(ast.parse(translation.text)) if isinstance(node, ast.Name)}
    assert {name for name in used if name.startswith("_jla_")} == translation.helpers


EFFECTS = [
    ("%run f.py", EffectKind.RUN_FILE, "f.py"),
    ("%run -i -n f.ipynb a b", EffectKind.RUN_FILE, "f.ipynb"),
    ("%run 'my file.py' -x", EffectKind.RUN_FILE, "my file.py"),
    ("%run my\\ file", EffectKind.RUN_FILE, "my file"),
    ("%run -N3 -t f.py", EffectKind.RUN_FILE, "f.py"),
    ("%run -m pkg.mod", EffectKind.RUN_MODULE, "pkg.mod"),
    ("%run {path}", EffectKind.INJECT, "{path}"),
    ("%run $path", EffectKind.INJECT, "$path"),
    ("if a:\n    %run f.py", EffectKind.RUN_FILE, "f.py"),
    ("run f.py", EffectKind.RUN_FILE, "f.py"),
    ("%pylab inline", EffectKind.PYLAB, "inline"),
    ("%store -r", EffectKind.STORE_ALL, "-r"),
    ("%rerun 3", EffectKind.INJECT, "3"),
    ("%reset -f", EffectKind.RESET, "-f"),
    ("%xdel x", EffectKind.RESET, "x"),
    ("%cd 'a b'", EffectKind.CHANGE_FOLDER, "a b"),
]


@pytest.mark.parametrize(("source", "kind", "argument"), EFFECTS)
def test_effects_on_the_namespace_are_told(source: str, kind: EffectKind, argument: str) -> None:
    (effect,) = translate(source).effects
    assert (effect.kind, effect.argument, effect.cell_line) == (kind, argument, source.count("\n"))


@pytest.mark.parametrize("source", ["%run", "%matplotlib inline", "%load_ext autoreload", "%store x", "x = 1", "%env"])
def test_other_magics_have_no_effect(source: str) -> None:
    assert translate(source).effects == ()


def test_an_unknown_magic_says_why_its_body_is_not_checked() -> None:
    (unchecked,) = translate("\n%%frobnicate --fast\nthis is\nnot python").unchecked
    assert (unchecked.first_line, unchecked.last_line) == (2, 3)
    assert "%%frobnicate" in unchecked.reason
    assert "python_cell_magics" in unchecked.reason
    assert translate("%%frobnicate\n").unchecked == ()


def test_a_magic_that_the_user_names_has_a_python_body() -> None:
    translation = translate("%%frobnicate --fast\nx = 1\n!ls", "frobnicate")
    assert translation.unchecked == ()
    assert translation.text == "\nx = 1\n_jla_magic()"
    assert translation.scope is CellScope.NOTEBOOK


def test_a_code_template_is_not_code() -> None:
    translation = translate("%%code_wrap w\nprint(1)\n__code__")
    assert translation.text == "\n\n"
    assert len(translation.unchecked) == 1


def test_form_comments_may_stand_above_a_cell_magic() -> None:
    """Not in IPython, but where `#@title` has a meaning, it is taken off first."""
    translation = translate("#@title Install\n#@markdown text\n%%capture out\nx = 1")
    assert translation.errors == ()
    assert translation.text.split("\n")[2:] == ["", "x = 1", "out = _jla_CapturedIO()"]


def test_help_says_nothing_of_missing_names() -> None:
    assert translate("nosuchthing?").text == "_jla_magic()"
    assert translate("?nosuchthing").text == "_jla_magic()"


def test_pylab_imports_what_it_imports() -> None:
    translation = translate("if a:\n    %pylab\n    b")
    assert [line.text for line in translation.lines if line.cell_line is None][:2] == [
        "    import numpy, matplotlib",
        "    from matplotlib import mlab, pylab, pyplot",
    ]
    ast.parse(translation.text)


def test_a_cell_of_plain_python_is_shared_line_for_line() -> None:
    translation = translate("x = 5 % 3\nif x != 2:\n    print('what?')")
    assert translation.is_identity
    assert all(line.spans is None for line in translation.lines)


# magic_arguments: IPython's own getopt is `getopt` of the standard library.
OPTIONS = [
    ("-n1 -r2 f()", "n:r:q", "f()"),
    ("-n 1 f()", "n:r:q", "f()"),
    ("-qn 1 f()", "n:r:q", "f()"),
    ("-q -- -x", "n:r:q", "-x"),
    ("f(-n)", "n:r:q", "f(-n)"),
    ("- x", "n:r:q", "- x"),
    ("-n", "n:r:q", ""),
    ("", "n:r:q", ""),
    ("--no-raise-error f()", "--", "f()"),
    ("-x", "--", "-x"),
]


@pytest.mark.parametrize(("arguments", "options", "statement"), OPTIONS)
def test_the_statement_begins_after_the_options(arguments: str, options: str, statement: str) -> None:
    start = statement_start(arguments, options)
    assert start is not None
    assert arguments[start:] == statement


def test_an_unknown_option_is_none_of_ours() -> None:
    assert statement_start("-z f()", "n:r:q") is None
    assert translate("%timeit -z f()").text == "_jla_magic()"


@given(st.text(max_size=30), st.sampled_from(["n:r:tcp:qov:", "", "--", "b:"]))
def test_any_arguments_can_be_read(arguments: str, options: str) -> None:
    start = statement_start(arguments, options)
    assert start is None or 0 <= start <= len(arguments)
    run_target(arguments)
    first_path(arguments)


# own scopes
def test_a_timed_scope_without_names_is_left_as_it_is() -> None:
    translation = translate("%%timeit\nf(x)")
    assert translation.scope is CellScope.OWN
    assert close_own_scopes(translation, frozenset({"x"})).lines == translation.lines


def test_new_names_of_a_timed_scope_are_deleted_after_it() -> None:
    closed = close_own_scopes(translate("%%timeit s = 1\nt = s"), frozenset({"other"}))
    assert closed.text == "s = 1\nt = s\ndel s, t"
    assert closed.lines[-1].cell_line is None
    assert closed.own_scopes == ()


def test_a_name_that_the_cell_binds_outside_is_not_deleted() -> None:
    closed = close_own_scopes(translate("x = 1\n%timeit x = 2\nprint(x)"), frozenset())
    assert closed.text == "x = 1\ndef _jla_own_scope():\n x = 2\nprint(x)"


SCOPES = [
    "%%timeit\nx = 1\nif x:\n    y = '''a\n b'''\n    z = f'''{x}\n c'''\n",
    "%%timeit x = 1\n  y = x\n  !ls\n",
    "if a:\n    %timeit x = 1\nb",
    "a = 1\n%timeit x = a\n%timeit -n1 x = b; y = 2\nb",
    "%%timeit\nx = await f()",
    "%%timeit\nx = 1 + \\\n   2",
]


@pytest.mark.parametrize("source", SCOPES)
def test_names_of_others_are_kept_apart_by_a_function(source: str) -> None:
    translation = translate(source)
    closed = close_own_scopes(translation, frozenset({"x"}))
    check_map(source, closed)
    module = compile(closed.text, "cell", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | ast.PyCF_ONLY_AST)
    top = _stored_outside_functions(module)
    assert "x" not in top
    assert _strings(closed.text) == _strings(translation.text)


def _stored_outside_functions(node: ast.AST) -> set[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        return set()
    found = {node.id} if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store) else set()
    return found.union(*(_stored_outside_functions(child) for child in ast.iter_child_nodes(node)))


def _strings(text: str) -> list[str]:
    """The values of the string constants, parts of f-strings included."""
    tree = compile(textwrap.dedent(text), "cell", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT | ast.PyCF_ONLY_AST)
    return [node.value for node in ast.walk(tree) if isinstance(node, ast.Constant) and isinstance(node.value, str)]


def test_every_language_of_the_table_has_a_name_and_an_extension() -> None:
    languages = {magic.language for magic in CELL_MAGICS.values() if magic.language} | set(LANGUAGE_OF_PROGRAM.values())
    unnamed = {language for language in languages if language not in KERNEL_LANGUAGES}
    assert unnamed == {"python2", "octave", "mermaid"}


def test_first_line_of_a_cell_is_line_zero() -> None:
    translation = translate("%%time\nx")
    assert [line.cell_line for line in translation.lines] == [CellLine(0), CellLine(1)]
