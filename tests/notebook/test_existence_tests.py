"""Where a cell asks itself whether a name or a module exists: each source is run by Python without what it asks for."""

import ast
import re

import pytest

from jupyter_lsp_agent.core.diagnostic import CellDiagnostic, Diagnostic, DiagnosticSeverity
from jupyter_lsp_agent.core.positions import TextPosition, TextRange
from jupyter_lsp_agent.diagnostics.relocate import relocate
from jupyter_lsp_agent.notebook.virtual_document import BuildOptions, build_virtual_documents
from tests.support.notebooks import python_notebook

UNDEFINED, MISSING = "unresolved-reference", "unresolved-import"


def judged(*sources: str, word: str, code: str) -> list[CellDiagnostic]:
    """What is made of an error wherever the notebook reads `word` or imports it."""
    document = build_virtual_documents(python_notebook(*sources), BuildOptions()).documents[0]
    read = re.compile(rf"(?<!['\"]){word}\b(?! =|, y|['\"])")
    said = [
        Diagnostic(
            TextRange(TextPosition(line, found.start()), TextPosition(line, found.end())),
            DiagnosticSeverity.ERROR,
            f"`{word}`",
            code=code,
        )
        for line, text in enumerate(document.text.split("\n"))
        for found in read.finditer(text)
    ]
    return list(relocate(document, said).cell_diagnostics)


def errors(*sources: str, word: str, code: str) -> set[tuple[int, int]]:
    found = judged(*sources, word=word, code=code)
    assert found, "the word is nowhere"
    return {
        (one.cell_index, one.diagnostic.range.start.line)
        for one in found
        if one.diagnostic.severity is DiagnosticSeverity.ERROR
    }


def fails(source: str) -> bool:
    try:
        exec(compile(ast.parse(source), "cell", "exec"), {})
    except (NameError, ImportError):
        return True
    return False


ASKED = [
    "try:\n    zz\nexcept NameError:\n    pass",
    "try:\n    zz\nexcept (KeyError, NameError) as error:\n    print(error)",
    "try:\n    x = zz + 1\nexcept:\n    zz = 1",
    "try:\n    zz\nexcept Exception:\n    zz, y = 1, 2",
    "def f():\n    try:\n        return zz\n    except NameError:\n        return 1\nf()",
    "if 'zz' in globals():\n    print(zz)",
    "if 'zz' not in dir():\n    pass\nelse:\n    zz",
    "'zz' in globals().keys() and zz",
    "import contextlib\nwith contextlib.suppress(NameError):\n    zz",
]


@pytest.mark.parametrize("source", ASKED)
def test_a_name_that_is_asked_for_is_no_error(source: str) -> None:
    assert not fails(source)
    assert errors(source, word="zz", code=UNDEFINED) == set()


NOT_ASKED = [
    ("try:\n    zz\nexcept KeyError:\n    pass", {(0, 1)}),
    ("try:\n    x = 1\nexcept NameError:\n    zz", {(0, 3)}),
    ("try:\n    zz\nexcept NameError:\n    raise", {(0, 1)}),
    ("try:\n    zz\nexcept Exception:\n    y = 1", {(0, 1)}),
    ("if 'y' in globals():\n    zz", {(0, 1)}),
    ("if 'zz' in ['a']:\n    pass\nzz", {(0, 2)}),
]


@pytest.mark.parametrize(("source", "places"), NOT_ASKED)
def test_other_names_stay_errors(source: str, places: set[tuple[int, int]]) -> None:
    assert errors(source, word="zz", code=UNDEFINED) == places


def test_an_answer_in_one_cell_is_none_for_the_next() -> None:
    sources = ("try:\n    zz\nexcept NameError:\n    pass", "zz")
    assert errors(*sources, word="zz", code=UNDEFINED) == {(1, 0)}


ASKED_MODULES = [
    ("try:\n    import zz.a\nexcept ImportError:\n    pass",),
    ("try:\n    from zz import a\nexcept ModuleNotFoundError:\n    a = None\nelse:\n    a()",),
    ("try:\n    import zz\nexcept:\n    zz = None",),
    ("import contextlib\nwith contextlib.suppress(ImportError):\n    import zz",),
    ("import sys\nif 'zz.a' in sys.modules:\n    from zz.a import b",),
    ("from importlib.util import find_spec\nif find_spec('zz'):\n    import zz",),
    (
        "try:\n    import zz\n    has_it = True\nexcept ImportError:\n    has_it = False",
        "if has_it:\n    from zz import a",
    ),
    ("import sys\nhas_it = 'zz' in sys.modules", "if has_it:\n    if True:\n        import zz"),
]


@pytest.mark.parametrize("sources", ASKED_MODULES)
def test_a_module_that_is_asked_for_is_no_error(sources: tuple[str, ...]) -> None:
    assert not fails("\n".join(sources))
    assert errors(*sources, word="zz", code=MISSING) == set()


@pytest.mark.parametrize(
    ("sources", "places"),
    [
        (("import zz",), {(0, 0)}),
        (("try:\n    import zz\nexcept ImportError:\n    raise",), {(0, 1)}),
        (("try:\n    import zz\nexcept ValueError:\n    pass",), {(0, 1)}),
        (("try:\n    import zz\nexcept ImportError:\n    pass", "import zz"), {(1, 0)}),
        (("if True:\n    import zz",), {(0, 1)}),
        (("if 'other' in dir():\n    import zz",), {(0, 1)}),
    ],
)
def test_other_modules_stay_errors(sources: tuple[str, ...], places: set[tuple[int, int]]) -> None:
    assert errors(*sources, word="zz", code=MISSING) == places


def test_a_folder_without_python_is_told_only_where_nobody_asks() -> None:
    notebook = python_notebook("try:\n    import zz\nexcept ImportError:\n    zz = None", "import zz")
    built = build_virtual_documents(notebook, BuildOptions(missing_modules=frozenset({"zz"})))
    assert [(found.cell_index, found.diagnostic.code) for found in built.findings] == [(1, "unresolved-import")]
