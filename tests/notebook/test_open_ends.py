"""What cells bind, and where they look for modules, by calls: run by Python to see what is so."""

import ast
import os
import sys
from pathlib import Path

import pytest

from jupyter_lsp_agent.core.diagnostic import Diagnostic, DiagnosticSeverity
from jupyter_lsp_agent.core.positions import TextPosition, TextRange
from jupyter_lsp_agent.diagnostics.relocate import relocate
from jupyter_lsp_agent.notebook.open_ends import OpenEnds, find_open_ends
from jupyter_lsp_agent.notebook.source_text import SourceText
from jupyter_lsp_agent.notebook.virtual_document import BuildOptions, VirtualNotebook, build_virtual_documents
from tests.support.notebooks import python_notebook


def ends(source: str) -> OpenEnds:
    return find_open_ends(ast.parse(source), SourceText(source))


@pytest.mark.parametrize(
    ("source", "names", "anything"),
    [
        ("globals()['a'] = 1", {"a"}, False),
        ("globals().update(a=1, b=2)", {"a", "b"}, False),
        ("globals().update({'a': 1})", {"a"}, False),
        ("globals()['a' + 'b'] = 1", set(), True),
        ("globals().update(dict(a=1))", set(), True),
        ("def f():\n    globals()['a'] = 1\nf()", {"a"}, False),
        ("exec('a = 1')", set(), True),
        ("exec('a = 1', {})", set(), False),
        ("x = globals()['__name__']", set(), False),
        ("d = {}\nd['globals()'] = 1", set(), False),
        ("def f():\n    global a, b\n    a = 1\n    print(b) if 0 else None\nf()", {"a"}, False),
        ("def f():\n    global a\n    import os.path as a\nf()", {"a"}, False),
        ("def f():\n    global a\n    def a(): pass\nf()", {"a"}, False),
        ("def f():\n    def a(): global b\n    a()\nf()", set(), False),
    ],
)
def test_names_that_calls_bind(source: str, names: set[str], anything: bool) -> None:
    found = ends(source)
    assert (found.names, found.binds_anything) == (names, anything)
    namespace: dict[str, object] = {"__name__": "n"}
    exec(compile(source, "cell", "exec"), namespace)
    unseen = {name for name in ("a", "ab", "b") if name in namespace}
    assert names <= unseen
    assert bool(unseen - names) == anything


@pytest.mark.parametrize(
    ("source", "names"),
    [
        ("get_ipython().run_line_magic('matplotlib', 'inline')", set()),
        ("get_ipython().system('ls')", set()),
        ("get_ipython().run_line_magic('cd', 'x')", set()),
        ("get_ipython().run_line_magic('time', 'x = 1')", {"x"}),
        ("get_ipython().run_line_magic('time', 'foo()')", set()),
        ("get_ipython().run_cell_magic('html', '', '<b>')", set()),
        ("get_ipython().run_cell_magic('bash', '--out x', 'ls')", {"x"}),
        ("get_ipython().run_cell_magic('capture', 'out', 'x = 1\\n')", {"out", "x"}),
        ("get_ipython().magic('matplotlib inline')", set()),
        ("get_ipython().run_cell_magic('time', '', 'x = (')", set()),
        ("get_ipython().run_line_magic(name, '')", None),
        ("get_ipython().run_line_magic('run', 'x.py')", None),
        ("get_ipython().magic('run x.py')", None),
        ("get_ipython().run_cell('x = 1')", None),
        ("get_ipython().push(['a'])", None),
        ("get_ipython().push({'a': 1}, interactive=False)", {"a"}),
    ],
)
def test_a_magic_that_is_called_binds_what_it_binds(source: str, names: set[str] | None) -> None:
    found = ends(source)
    assert (None if found.binds_anything else found.names) == names


@pytest.mark.parametrize(
    "source",
    [
        "import sys\nsys.path.append('sub')",
        "import sys, os\nsys.path.insert(0, os.path.abspath('sub'))",
        "import sys, os\nsys.path.append(os.path.join(os.getcwd(), 'sub'))",
        "import sys\nfrom pathlib import Path\nsys.path.append(str(Path('sub').resolve()))",
        "import sys\nfrom pathlib import Path\nsys.path.append(str(Path.cwd() / 'sub'))",
        "import sys\nfrom pathlib import Path\nsys.path.append(str(Path('sub/deep').parent))",
        "import sys\nsys.path += ['sub']",
        "import sys\nsys.path.extend(['nowhere', 'sub'])",
        "import os\nos.chdir('sub')",
        "import site\nsite.addsitedir('sub')",
    ],
)
def test_folders_in_which_modules_are_looked_for(source: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "sub").mkdir()
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", *sys.path])
    found = ends(source)
    assert not found.looks_anywhere
    exec(compile(source, "cell", "exec"), {})
    looked_at = {os.path.realpath(folder or ".") for folder in sys.path}
    assert str(tmp_path / "sub") in looked_at
    assert str(tmp_path / "sub") in {os.path.realpath(tmp_path / folder) for folder in found.folders}


def test_a_folder_that_is_computed_may_be_any() -> None:
    assert ends("import sys\nsys.path.append(where)").looks_anywhere
    assert not ends("import sys\nprint(sys.path)").looks_anywhere


def severities(built: VirtualNotebook, word: str, code: str) -> list[tuple[int, DiagnosticSeverity]]:
    """What becomes of an error at each line that ends with `word`."""
    document = built.documents[0]
    said = [
        Diagnostic(
            TextRange(TextPosition(line, len(text) - len(word)), TextPosition(line, len(text))),
            DiagnosticSeverity.ERROR,
            f"`{word}`",
            code=code,
        )
        for line, text in enumerate(document.text.split("\n"))
        if text.endswith(word)
    ]
    found = relocate(document, said).cell_diagnostics
    return [(one.cell_index, one.diagnostic.severity) for one in found]


ERROR, WARNING = DiagnosticSeverity.ERROR, DiagnosticSeverity.WARNING


def build(*sources: str, **options: frozenset[str]) -> VirtualNotebook:
    return build_virtual_documents(python_notebook(*sources), BuildOptions(**options))  # type: ignore[arg-type]


def test_a_name_that_is_bound_by_a_call_is_no_error() -> None:
    built = build("globals()['zz'] = 1", "zz", "z")
    assert severities(built, "zz", "unresolved-reference") == [(1, WARNING)]
    assert severities(built, "\nz".strip(), "unresolved-reference")[-1] == (2, ERROR)


def test_after_a_call_that_binds_anything_no_name_is_an_error() -> None:
    assert severities(build("zz", "exec(x)", "zz"), "zz", "unresolved-reference") == [(0, ERROR), (2, WARNING)]


def test_a_module_in_a_folder_of_the_notebooks_own_is_no_error() -> None:
    built = build("%cd sub", "import zz", elsewhere_modules=frozenset({"zz"}))
    assert built.needs.search_folders == {"sub"}
    assert severities(built, "zz", "unresolved-import") == [(1, WARNING)]
    assert severities(build("%cd sub", "import zz"), "zz", "unresolved-import") == [(1, ERROR)]


@pytest.mark.parametrize("cell", ["%cd", "%cd -", "%cd ~/x", "%cd {where}", "import sys\nsys.path.append(where)"])
def test_a_module_may_lie_in_a_folder_that_nobody_can_tell(cell: str) -> None:
    assert severities(build("import zz", cell, "import zz"), "zz", "unresolved-import") == [(0, ERROR), (2, WARNING)]
