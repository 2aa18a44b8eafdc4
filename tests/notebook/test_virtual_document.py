"""The virtual document: its text, the leaks between cells that it closes, and our own findings."""

import ast
import re
import sys
from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from jupyter_lsp_agent.core.positions import TextPosition, split_lines
from jupyter_lsp_agent.notebook.advice import Guard, GuardStrength
from jupyter_lsp_agent.notebook.guards import strengthened
from jupyter_lsp_agent.notebook.reachability import find_cell_end
from jupyter_lsp_agent.notebook.reader import notebook_from_json
from jupyter_lsp_agent.notebook.virtual_document import (
    BuildCache,
    BuildOptions,
    VirtualDocument,
    VirtualNotebook,
    build_virtual_documents,
)
from tests.support.notebooks import notebook_json, notebook_with, python_notebook


def build(*sources: str, **options: object) -> VirtualNotebook:
    return build_virtual_documents(python_notebook(*sources), BuildOptions(**options))  # type: ignore[arg-type]


def kernel_document(built: VirtualNotebook) -> VirtualDocument:
    return next(document for document in built.documents if document.kernel)


def body(*sources: str, **options: object) -> str:
    """The text below the prefix."""
    document = kernel_document(build(*sources, **options))
    first = document.line_map.places[0].first_line
    return "\n".join(document.text.split("\n")[first:-1])


def own(built: VirtualNotebook) -> list[tuple[int, int, int, str | None]]:
    """Our findings as (cell, line, column, code)."""
    return [
        (
            found.cell_index,
            found.diagnostic.range.start.line,
            found.diagnostic.range.start.column,
            found.diagnostic.code,
        )
        for found in built.findings
    ]


def run(text: str) -> dict[str, object]:
    """Run a virtual document as Python would; its reserved names give values that do no harm."""
    namespace: dict[str, object] = {}
    exec(compile(text, "virtual", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT), namespace)
    return namespace


def test_cells_stand_in_order_line_for_line() -> None:
    assert body("a = 1\nb = 2", "", "c = 3\n") == "a = 1\nb = 2\n\nc = 3\n"


def test_the_prefix_gives_the_kernels_names_values() -> None:
    text = kernel_document(build("_1", "spark", kernel_names=frozenset({"spark"}))).text
    names = run(text)
    for name in ("display", "get_ipython", "In", "Out", "_", "__", "___", "_i", "_ih", "exit", "quit", "_1", "spark"):
        assert name in names


def test_a_setting_that_is_no_name_does_no_harm() -> None:
    names = run(kernel_document(build("x = 1", kernel_names=frozenset({"a b", "class", "", "spark"}))).text)
    assert "spark" in names


def test_only_code_of_the_kernels_language_is_in_its_document() -> None:
    content = notebook_json("a = 1", "b = 2", "c = 3", "d = 4")
    content["cells"][1]["cell_type"] = "markdown"
    content["cells"][2]["metadata"] = {"vscode": {"languageId": "javascript"}}
    content["cells"][3]["metadata"] = {"vscode": {"languageId": "python"}}
    built = build_virtual_documents(notebook_from_json(content, "x"), BuildOptions())
    kernel, other = built.documents
    assert [place.cell_index for place in kernel.line_map.places] == [0, 3]
    assert (other.language_id, other.kernel, other.cell_index, other.text) == ("javascript", False, 2, "c = 3\n")


def test_a_body_of_another_language_has_a_document_of_its_own() -> None:
    kernel, shell = build("x = 1", "%%bash\necho $HOME\nls").documents
    assert "echo" not in kernel.text
    assert (shell.language_id, shell.extension) == ("shellscript", ".sh")
    assert shell.text == "echo $HOME\nls\n"
    found = shell.line_map.to_cell(TextPosition(1, 1))
    assert found is not None
    assert (found.cell_index, found.position) == (1, TextPosition(2, 1))


def test_a_notebook_without_code_has_no_document() -> None:
    assert build().documents == ()


def test_a_cell_without_a_text_is_unchecked() -> None:
    content = notebook_json("a = 1", "b = 2")
    content["cells"][0]["source"] = None
    built = build_virtual_documents(notebook_from_json(content, "x"), BuildOptions())
    [gap] = built.unchecked
    assert (gap.cell_index, gap.reason) == (0, "its source is null, not text; write it as a string")


CONFLICT = "<<<<<<< HEAD\nx = 1\n=======\nx = 2\n>>>>>>> other"


@pytest.mark.parametrize(
    ("source", "is_told"),
    [
        (CONFLICT, True),
        (f"y = 1\n{CONFLICT}\nz", True),
        (f"%matplotlib inline\n{CONFLICT}", True),
        (CONFLICT.replace("=======\n", ""), False),
        (f"{CONFLICT[:-13]}", False),
        (f"y = = 1\n{CONFLICT}", False),
        ("x = 1 <<<<<<< 2\n=======\n>>>>>>> x", False),
    ],
)
def test_a_merge_conflict_in_a_cell_is_told_beside_pythons_word(source: str, is_told: bool) -> None:
    [found] = build(source).findings
    assert found.diagnostic.message.startswith("invalid syntax")
    assert ("unresolved merge conflict" in found.diagnostic.message) is is_told


def test_a_merge_conflict_that_is_only_quoted_is_none() -> None:
    assert build(f"text = '''\n{CONFLICT}\n'''").findings == ()


# --- syntax -----------------------------------------------------------------------------------------------------------

BROKEN = [
    "(1 +",
    "s = '''a",
    "x = 1 + \\",
    "if True:",
    "@staticmethod",
    "else:\n    pass",
    "x = = 1",
    "return 3",
    "yield 1",
    "break",
    "print 'x'",
    "def f():\nx",
    "def f():\n    await g()",
    "a = 1\0",
    "if True:\n\ta = 1\n        b = 2",
    "a =\u200b 1",
    "s = 1\u2028zz",
]


@pytest.mark.parametrize("source", BROKEN)
def test_a_broken_cell_tells_its_own_error_and_leaks_nothing(source: str) -> None:
    built = build("before = 1", source, "after = 2")
    assert [(cell, code) for cell, _, _, code in own(built)] == [(1, "invalid-syntax")]
    text = kernel_document(built).text
    compile(text.replace("from _jla_missing import", "# "), "virtual", "exec")
    assert re.search(r"^before = 1$", text, re.MULTILINE)
    assert re.search(r"^after = 2$", text, re.MULTILINE)


@pytest.mark.parametrize("source", BROKEN)
def test_the_place_of_a_syntax_error_is_cpythons(source: str) -> None:
    with pytest.raises((SyntaxError, ValueError)) as caught:
        compile(source, "cell", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    ((_, line, column, _),) = own(build(source))
    if isinstance(caught.value, SyntaxError) and caught.value.lineno is not None:
        assert line == caught.value.lineno - 1
        assert column == (caught.value.offset or 1) - 1
    else:
        assert (line, column) == (0, source.index("\0"))


@pytest.mark.parametrize(
    ("source", "place"),
    [
        ("'é'; return 3", (0, 5)),
        ("s = '😀'; x = = 1", (0, 13)),
        ("    a = 1\n    b = = 2", (1, 8)),
        ("x = 1\r\ny = = 2", (1, 4)),
        ("x = 1\ry = = 2", (1, 4)),
        ("\x0cx = = 1", (0, 5)),
        ("%time x = 1\ny = = 2", (1, 4)),
    ],
)
def test_the_place_of_a_syntax_error_is_in_code_points_of_the_cell(source: str, place: tuple[int, int]) -> None:
    ((_, line, column, code),) = own(build(source))
    assert (line, column, code) == (*place, "invalid-syntax")


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("import os\nx = = 1\ny, (z) = = 2, 3", {"x", "y", "z"}),
        ("for i, j in range(3)\n    k = 1", {"i", "j", "k"}),
        ("def f(a, b)\n    inner = 1", {"f"}),
        ("import a.b, c as d\nfrom e import g as h, k\nx = = 1", {"x"}),
        ("import a.b, c as d (\nfrom e import g as h, k (", {"a", "d", "h", "k"}),
        ("with open(p) as f\n    pass", {"f"}),
        ("class A\n    x = 1", {"A"}),
        ("type X[T] = = 1", {"X"}),
        ("x: int = = 3", {"x"}),
        ("a = b = = 3", {"a", "b"}),
    ],
)
def test_names_of_a_broken_cell_count_as_bound(source: str, names: set[str]) -> None:
    (glue,) = re.findall(r"^from _jla_missing import (.*)$", body(source), re.MULTILINE)
    assert set(glue.split(", ")) == names


def test_sound_parts_of_a_broken_cell_keep_their_types() -> None:
    text = body("import os\n\ndef f(a: int) -> int:\n    return a\n\nx = = 1")
    assert "import os" in text
    assert "def f(a: int) -> int:\n    return a" in text
    assert "= = 1" not in text


@pytest.mark.parametrize(
    ("source", "stays"),
    [
        ("class A:\n    x = 1\nbroken = (\n    y = 2", False),
        ("class A:\n    x = 1\n'''\n    y = 2", False),
        ("class A:\n    x = 1\n\nbroken = (", True),
        ("a = 1\nbroken = (\n    2", True),
    ],
)
def test_a_definition_that_a_broken_line_may_have_cut_in_two_is_not_believed(source: str, stays: bool) -> None:
    """Half a class would lack what stands in its other half."""
    first = source.split("\n", maxsplit=1)[0]
    text = body(source)
    assert (first in text) is stays
    assert stays or "from _jla_missing import A" in text


NEWER = (3, sys.version_info.minor + 1)


@pytest.mark.parametrize(
    "source",
    [
        "x = t'{a}' if b",
        "print(f'{d['a'] 1}')",
        "type X = 3 = 4",
        "def f[T](x: T = = 3): ...",
        "try:\n    pass\nexcept A, B C:\n    pass",
    ],
)
def test_what_a_newer_kernel_may_take_is_left_to_its_server(source: str) -> None:
    """No Python takes these; they look like what newer ones take, which is all that we can tell."""
    assert own(build(source)) != []
    assert own(build(source, python_version=NEWER)) == []
    assert source in body(source, python_version=NEWER)


@pytest.mark.parametrize("source", ["x = = 1", "(1 +", "s = '''a", "print 'x'", "if a:\nx", "s = f'{a"])
def test_what_no_python_takes_is_an_error_in_every_version(source: str) -> None:
    assert own(build(source, python_version=NEWER)) == own(build(source)) != []


def test_a_notebook_knows_its_kernels_version_where_the_caller_does_not() -> None:
    version = {"name": "python", "version": f"3.{NEWER[1]}.0a1"}
    notebook = notebook_with({"language_info": version}, "type X = 3 = 4")
    assert build_virtual_documents(notebook, BuildOptions()).findings == ()
    assert build_virtual_documents(notebook, BuildOptions(python_version=(3, 11))).findings != ()


# --- directives -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "directive",
    [
        "# type: ignore",
        "# pyright: basic",
        "#pyright: strict",
        "# mypy: ignore-errors",
        "# ruff: noqa",
        "# pyrefly: ignore-errors",
    ],
)
def test_a_file_level_comment_in_a_cell_is_made_harmless(directive: str) -> None:
    for text in (body("a = 1", f"{directive}\nb = 2"), body(f"{directive}\na = 1", "b = 2")):
        assert directive not in text
        assert directive.replace(":", ";") in text


def test_a_file_level_comment_alone_in_the_first_cell_holds_for_the_notebook() -> None:
    text = kernel_document(build("# pyright: strict", "a = 1")).text
    assert text.startswith("# pyright: strict\n")
    assert not kernel_document(build("a = 1", "# pyright: strict")).text.startswith("# pyright")


@pytest.mark.parametrize(
    "source", ["x: int = 'a'  # type: ignore", 's = """\n# type: ignore\n"""', "# a remark: ignore\na = 1"]
)
def test_other_comments_and_strings_are_left_alone(source: str) -> None:
    assert source in body("a = 1", source)


# --- __future__ and __file__ ------------------------------------------------------------------------------------------


def test_future_imports_move_to_the_top() -> None:
    built = build("import os", "from __future__ import annotations, division\nclass P: ...")
    text = kernel_document(built).text
    compile(text, "virtual", "exec")
    assert text.startswith("from __future__ import annotations, division\n")
    assert "pass\nclass P: ..." in text


def test_a_global_statement_outside_functions_is_taken_out() -> None:
    assert body("x: int = 1", "if True:\n    global x, y") == "x: int = 1\nif True:\n    pass"
    assert body("def f():\n    global x\n    x = 1") == "def f():\n    global x\n    x = 1"


def test_a_timed_cell_leaves_the_names_of_other_cells_alone() -> None:
    text = body("s = 'a'", "%%timeit\ns = 3\nt = s", "s.upper()")
    assert run(f"{text}\n")["s"] == "a"
    assert "del t" in body("s = 'a'", "%%timeit\nt = s")


@pytest.mark.parametrize(
    ("sources", "places"),
    [
        (("print(__file__)",), [(0, 0, 6, "undefined-name")]),
        (("def f():\n    return __file__",), [(0, 1, 11, "undefined-name")]),
        (("__file__ = 'a'", "print(__file__)"), []),
        (("try:\n    __file__\nexcept NameError:\n    pass",), []),
        (("'__file__' in globals() and __file__",), []),
        (("print(__name__, __doc__)",), []),
    ],
)
def test_dunder_file_is_not_there(sources: tuple[str, ...], places: list[tuple[int, int, int, str]]) -> None:
    assert own(build(*sources)) == places


# --- reachability -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source",
    [
        "raise RuntimeError('x')",
        "raise RuntimeError('x') from ValueError('y')",
        "import sys\nsys.exit()",
        "import sys\nsys.exit(); x = 1",
        "assert False, 'm'",
        "assert 0",
        "while True:\n    pass",
        "while True: pass",
        "while 1:\n    try:\n        continue\n    finally:\n        pass",
        "while True:\n    x = 1\n    continue",
        "while 1:\n    while True:\n        pass",
        "while 1:\n    raise A",
        "if a:\n    raise A\nelse:\n    raise B",
        "with open('f') as f:\n    raise A",
        "try:\n    raise A\nexcept A:\n    raise",
        "try:\n    pass\nfinally:\n    raise A",
        "match a:\n    case 1:\n        raise A\n    case _:\n        raise B",
        "for i in []:\n    pass\nraise A\ndead = 1",
        "if True:\n    raise A",
    ],
)
def test_the_end_of_a_cell_is_reached_whatever_it_does(source: str) -> None:
    """CPython's own compiler is the judge: it drops code that it knows to be dead."""
    text = body(source, "after_cell")
    tree = ast.parse(text)
    assert ast.unparse(tree.body[-1]) == "after_cell"
    assert not _ends(tree.body[:-1])


def _ends(statements: list[ast.stmt]) -> bool:
    return find_cell_end(statements) is not None


@pytest.mark.parametrize(
    "source",
    [
        "if m is None:\n    raise ValueError",
        "try:\n    import x\nexcept ImportError:\n    raise",
        "while True:\n    break",
        "while True:\n    if a:\n        break",
        "while a:\n    pass",
        "for i in []:\n    raise A",
        "def f():\n    raise A",
        "class A:\n    def f(self): raise A",
        "assert a",
        "match a:\n    case 1:\n        raise A",
        "if False:\n    raise A",
        "exit",
    ],
)
def test_what_may_fall_through_is_not_touched(source: str) -> None:
    assert body(source, "x") == f"{source}\nx"


def test_a_dead_stretch_is_known() -> None:
    advice = kernel_document(build("raise A\ny = 1\nz = 2")).advice[0]
    ((stretch),) = advice.dead
    assert (stretch.start, stretch.end) == (TextPosition(1, 0), TextPosition(2, 5))


@pytest.mark.parametrize(
    ("source", "guarded"),
    [
        ("die()", "die() if _jla_flag else 0"),
        ("x = die()", "x = die() if _jla_flag else _jla_call()"),
        ("assert platform == 'win'", "assert _jla_flag or (platform == 'win')"),
        ("assert a if b else c, 'm'", "assert _jla_flag or (a if b else c), 'm'"),
        ("assert (y := die())", "if _jla_flag:\n assert (y := die())\nelse: y = _jla_call()"),
        ("die() or 1", "if _jla_flag:\n die() or 1\nelse: _jla_call()"),
        ("die().a = 1", "if _jla_flag:\n die().a = 1\nelse: _jla_call()"),
        ("a = 1; die() + 1 # c", "if _jla_flag:\n a = 1; die() + 1 # c\nelse: a = _jla_call()"),
        ("global a; -die()", "if _jla_flag:\n pass; -die()\nelse: _jla_call()"),
        ("a = 1;\\\n-die()", "if _jla_flag:\n a = 1;\\\n -die()\nelse: a = _jla_call()"),
        (
            "class A:\n    b = die()",
            "if _jla_flag:\n class A:\n     b = die()\nelse: _jla_call(); from _jla_missing import A",
        ),
        ("with f():\n    x = die()", "if _jla_flag:\n with f():\n     x = die()\nelse: x = _jla_call()"),
    ],
)
def test_a_guard_lets_a_server_go_on(source: str, guarded: str) -> None:
    text = body(source, "x", guards=frozenset({Guard(source, 0)}))
    assert text == f"{guarded}\nx"


def test_a_guard_in_the_middle_of_a_cell_is_for_the_statement_before() -> None:
    source = "a = 1\ndie()\nb = 2"
    assert body(source, guards=frozenset({Guard(source, 2, 0)})) == "a = 1\ndie() if _jla_flag else 0\nb = 2"


@pytest.mark.parametrize(
    ("strength", "guarded"),
    [
        (GuardStrength.LIGHT, "# c\na = 1\ndie() if _jla_flag else 0\n\nb = 2"),
        (GuardStrength.STATEMENT, "# c\na = 1\nif _jla_flag:\n die()\nelse: _jla_call()\n\nb = 2"),
        (GuardStrength.CELL, "if _jla_flag:\n # c\n a = 1\n die()\n \n b = 2\nelse: a = b = _jla_call()"),
    ],
)
def test_a_guard_that_did_not_help_comes_back_stronger(strength: GuardStrength, guarded: str) -> None:
    source = "# c\na = 1\ndie()\n\nb = 2"
    guards = frozenset({Guard(source, 4, 0)})
    for _ in range(strength):
        guards = strengthened(guards, {Guard(source, 4, 0)})
    assert body(source, guards=guards) == guarded


def test_nothing_is_stronger_than_a_guard_of_the_whole_cell() -> None:
    guards = frozenset(Guard("die()", 0, None, strength) for strength in GuardStrength)
    assert strengthened(guards, {Guard("die()", 0)}) == guards


@pytest.mark.parametrize("source", ["die()\nraise ValueError", "die()\nassert 0", "die()\nglobal x"])
def test_a_dead_statement_that_was_rewritten_still_tells_the_one_before(source: str) -> None:
    text = body(source, guards=frozenset({Guard(source, 1, 3)}))
    assert text.startswith("die() if _jla_flag else 0\n")


# --- names in several cells -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("sources", "first"),
    [
        (("def f(): ...", "f = 3"), "@_jla_anything\ndef f(): ..."),
        (("async def f():\n    pass", "f = = 3"), "@_jla_anything\nasync def f():\n    pass"),
        (("@d\ndef f(): ...", "import f"), "@_jla_anything\n@d\ndef f(): ..."),
        (("if a:\n    def f(): ...", "f = 3"), "if a:\n    @_jla_anything\n    def f(): ..."),
        (("class f: ...", "for f in range(3): ..."), "@_jla_anything\nclass f: ..."),
        (("def f(): ...", "def f(a): ..."), "def f(): ..."),
        (("def f(): ...", "f()"), "def f(): ..."),
        (("def f(): ...\nf = 3", "f()"), "def f(): ...\nf = 3"),
        (("def f(): ...", "def g():\n    f = 1"), "def f(): ..."),
    ],
)
def test_a_definition_that_another_cell_rebinds_is_declared_as_anything(sources: tuple[str, ...], first: str) -> None:
    document = kernel_document(build(*sources))
    start, end = (document.line_map.places[number].first_line for number in (0, 1))
    assert "\n".join(document.text.split("\n")[start:end]) == first


def test_an_annotation_that_another_cell_contradicts_is_checked_on_a_name_of_ours() -> None:
    text = body("cfg: int = 1", "cfg: str = 'a'")
    assert re.fullmatch(r"cfg = 1\n(\w+): int = cfg\ncfg = 'a'\n(\w+): str = cfg", text)
    names = re.findall(r"^(_jla_check\w+)", text, re.MULTILINE)
    assert len(set(names)) == 2


@pytest.mark.parametrize(
    ("sources", "text"),
    [
        (("x: int = 1", "print(x)"), "x: int = 1\nprint(x)"),
        (("x: int", "x = 3"), "pass\nx = 3"),
        (("def f():\n    x: int = 1", "x = 3"), "def f():\n    x: int = 1\nx = 3"),
    ],
)
def test_an_annotation_that_nobody_contradicts_stays(sources: tuple[str, ...], text: str) -> None:
    assert body(*sources) == text


# --- facts from outside -----------------------------------------------------------------------------------------------


def test_a_missing_module_is_our_finding_and_no_servers() -> None:
    source = "import numpy as np, os\nimport datasets.a\nfrom datasets import b"
    built = build(source, missing_modules=frozenset({"numpy", "datasets"}))
    assert own(built) == [
        (0, 0, 7, "unresolved-import"),
        (0, 1, 7, "unresolved-import"),
        (0, 2, 5, "unresolved-import"),
    ]
    lines = body(source, missing_modules=frozenset({"numpy", "datasets"})).split("\n")
    assert lines == [
        "import _jla_missing as np, os",
        "import _jla_missing as datasets",
        "from _jla_missing import b",
    ]
    assert built.needs.imported_modules == {"numpy", "os", "datasets"}


@pytest.mark.parametrize(
    ("source", "places", "text"),
    [
        ("from . import a", [(0, 0, 5, "unresolved-import")], "from  _jla_missing  import a"),
        ("from .. b import a", [(0, 0, 5, "unresolved-import")], "from  _jla_missing  import a"),
        (
            "def f():\n    from .b.c import a",
            [(0, 1, 9, "unresolved-import")],
            "def f():\n    from  _jla_missing  import a",
        ),
        (
            "try:\n    from . import a\nexcept ImportError:\n    import a",
            [],
            "try:\n    from . import a\nexcept ImportError:\n    import a",
        ),
    ],
)
def test_a_relative_import_is_relative_to_nothing(
    source: str, places: list[tuple[int, int, int, str]], text: str
) -> None:
    assert own(build(source)) == places
    assert body(source) == text


def test_names_of_a_file_that_is_run_are_bound() -> None:
    assert build("%run pre.py", "x").needs.run_files == ("pre.py",)
    known = build("%run pre.py", "x", run_names={"pre.py": frozenset({"x", "y"})})
    assert "from _jla_missing import x, y" in kernel_document(known).text
    assert not kernel_document(known).advice[0].hides_names
    assert kernel_document(build("%run pre.py", "x")).advice[0].hides_names


def test_imports_that_go_wants_above_everything_keep_their_places() -> None:
    go = {"language_info": {"name": "go"}}
    sources = ("x := 1", 'import "fmt"\nimport (\n    yy "a/b" // c\n    "os"\n)\nfunc A() {}', 'import "fmt"')
    document = build_virtual_documents(notebook_with(go, *sources), BuildOptions()).documents[0]
    lines = document.text.split("\n")
    for name, place in (('"fmt"', TextPosition(0, 7)), ('yy "a/b"', TextPosition(2, 4)), ('"os"', TextPosition(3, 4))):
        line = lines.index(f"import {name}")
        found = document.line_map.to_cell(TextPosition(line, len("import ")))
        assert found is not None
        assert (found.cell_index, found.position) == (1, place)
        assert document.line_map.to_virtual(1, place) == TextPosition(line, len("import "))
    assert document.text.count('"fmt"') == 1


# --- any notebook -----------------------------------------------------------------------------------------------------

PIECES = st.sampled_from(
    """a = 1|x: int = 1|x: str = 's'|def f():~    return 1|class A:~    pass|raise A|while True:~    pass|%time b = 2
    |%%bash~ls|!ls|a?|await f()|from __future__ import annotations|# type: ignore|(|'''|  c = 3|>>> d = 4|@d|f = 3
    |import numpy.x as y|from e import *|😀 = '😀'|s = 'é\u2028'\t|if a:~    raise B~else:~    raise C|\\|%run f.py
    |x, *y = z|\ud800|\x00|\x0c|with a as b:~    raise C~d = 4|%%time~%%time~x = 1|%%timeit x = 1~a = x
    |%pylab inline|%%capture c~x: list = 1|global x""".replace("~", "\n")
    .replace("\n    |", "|")
    .split("|")
)
CELLS = st.lists(st.lists(st.one_of(PIECES, st.text(max_size=8)), max_size=4), max_size=5)
ENDS = st.sampled_from(["\n", "\r\n", "\r"])


@pytest.mark.filterwarnings("ignore::SyntaxWarning", "ignore::DeprecationWarning")
@settings(deadline=None, max_examples=300)
@given(CELLS, ENDS)
def test_any_cells_give_a_text_that_parses_and_a_map_that_is_true(pieces: list[list[str]], end: str) -> None:
    sources = [end.join(cell) for cell in pieces]
    built = build(*sources, missing_modules=frozenset({"numpy"}), run_names={"f.py": frozenset({"q"})})
    if not sources:
        return
    document = kernel_document(built)
    compile(document.text, "virtual", "exec", ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    lines = document.text.split("\n")
    seen: set[TextPosition] = set()
    for index, source in enumerate(sources):
        for number, text in enumerate(split_lines(source)):
            for column, character in enumerate(text):
                virtual = document.line_map.to_virtual(index, TextPosition(number, column))
                if virtual is None or not _is_copied(document, virtual):
                    continue
                assert virtual not in seen
                seen.add(virtual)
                assert lines[virtual.line][virtual.column] == (
                    "\ufffd" if "\ud800" <= character <= "\udfff" else character
                )
                back = document.line_map.to_cell(virtual)
                assert back is not None
                assert (back.cell_index, back.position) == (index, TextPosition(number, column))


def _is_copied(document: VirtualDocument, virtual: TextPosition) -> bool:
    place = document.line_map.place_at(virtual.line)
    assert place is not None
    line = place.chunk.lines[virtual.line - place.first_line]
    if line.spans is None:
        return virtual.column < len(line.text)
    return any(span.virtual_column <= virtual.column < span.virtual_column + span.length for span in line.spans)


@settings(deadline=None, max_examples=100)
@given(CELLS, CELLS)
def test_a_cache_changes_nothing(first: list[list[str]], second: list[list[str]]) -> None:
    cache = BuildCache()
    for pieces in (first, second, first):
        notebook = python_notebook(*("\n".join(cell) for cell in pieces))
        cached = build_virtual_documents(notebook, BuildOptions(), cache)
        fresh = build_virtual_documents(notebook, BuildOptions())
        assert [document.text for document in cached.documents] == [document.text for document in fresh.documents]
        assert cached.findings == fresh.findings
        assert cached.unchecked == fresh.unchecked


def test_options_are_part_of_what_is_kept() -> None:
    cache, notebook = BuildCache(), python_notebook("%%mine\nx = = 1")
    plain = BuildOptions()
    assert build_virtual_documents(notebook, plain, cache).findings == ()
    knowing = replace(plain, python_cell_magics=frozenset({"mine"}))
    assert own(build_virtual_documents(notebook, knowing, cache)) == [(0, 1, 4, "invalid-syntax")]
