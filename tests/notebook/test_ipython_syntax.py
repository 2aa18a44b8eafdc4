"""IPython's syntax, held against IPython: which cells it takes, on a table, at random and over the corpus."""

from pathlib import Path

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from jupyter_lsp_agent.core.errors import NotebookError
from jupyter_lsp_agent.core.positions import split_lines
from jupyter_lsp_agent.notebook.cell_translation import MagicOptions
from jupyter_lsp_agent.notebook.ipython_syntax import ConstructKind, find_constructs, may_hold_ipython_syntax
from jupyter_lsp_agent.notebook.magics import close_own_scopes, translate_cell
from jupyter_lsp_agent.notebook.model import CellKind
from jupyter_lsp_agent.notebook.reader import read_notebook
from tests.support.corpus import CORPUS, manifest, needs_corpus
from tests.support.full import sample
from tests.support.ipython import AS_WRITTEN, check_map, compiles, ipython_accepts, transformed, we_accept

ACCEPTED = [
    # line magics: a statement, indented, the only body of a block, continued
    "%matplotlib inline",
    "%env",
    "if x:\n    %matplotlib inline",
    "if x:\n    pass\nelse:\n    !ls\ny = 1",
    "for i in r:\n    %time f(i)\n    for j in s:\n        !echo {j}\n        k = 1\n    m = 2\nn = 3",
    "def f():\n    %timeit g()\n    return 1",
    "%foo a \\\n  b\nq: int = 'x'",
    "!echo a \\\n   b \\\n c\nz = 1",
    "!ls \\\n",
    "try:\n    %m\nexcept E:\n    !c\nfinally:\n    x?",
    "with a as b:\n\t!ls",
    # assigned
    "x = !ls",
    "x=!ls",
    "x, y = !ls",
    "x: T = !ls",
    "d['a = !ls'] = !ls",
    "x[0] = !ls",
    "x.y = %pwd",
    "d[\n'a'\n] = !ls",
    "x = %m",
    "x = %time f(1)",
    "x = %timeit -o f(1)",
    "x = !ls \\\n -l",
    "x = \\\n  %time y",
    "import os; y = !ls",
    "for i in r: y = !ls",
    "if x: y = %pwd",
    "x = !!ls",
    "[a, *b] = !ls",
    # shell
    "!ls",
    "!!ls -la",
    "! ls",
    "!",
    '!echo \'"""\'\nz',
    '!echo "<b>it\'s</b>" > out && cat out | head -n 3 # no ]\nz',
    '%alias_magic t (timeit\n!echo "(" [\nz',
    # help
    "?",
    "??",
    "?o",
    "? o",
    "??o",
    "o?",
    "o.a??",
    "x[0]?",
    "x[-1].b?",
    "*int*?",
    "os.path.*join*?",
    "%m?",
    "%%time?",
    "?%m",
    "a.b; c?",
    "x = foo?",
    "!ls foo?",
    "%time foo?",
    "/f a b\\\nx*int*?",
    "!ls \\\n foo?",
    "if x:\n    y?",
    # autocall
    ",f a b",
    ";f a b",
    "/f a b",
    "/f",
    "x = 1\n/f a",
    # cell magics
    "%%time\nx = 1",
    "\n\n%%time\nw = 1",
    "%%bash\necho $((",
    "%%time",
    "%%capture out\n!ls",
    "%%capture\n%%time\nx = 1",
    "%%time\n  x = 1\n  y = 2",
    "%%writefile a.py\ndef (",
    "%%timeit -n 1 s = 1\nt = s",
    "%%nosuchmagic\nthis is no python",
    # indentation and prompts
    "  a = 1\n  b = 2",
    "    a = 1\n\n    if a:\n        %m",
    "\n   x = 1",
    "\u2028x = 1",
    "\n\u2028  x = 1\n  y",
    "\x85\n\x1c x = 1",
    "\u2028%time x = 1",
    "\tx\n\ty",
    ">>> x = 1\n>>> if x:\n...     y\n",
    ">>> x = 1",
    "  >>> x = 1\n  ... # c",
    "In [1]: x = 1\n   ...: y = 2",
    "In [12]: for i in r:\n    ...:     !ls",
    "if x:\n   ...:     y",
    '"""\n>>> no\n"""\nx = 1',
    # lookalikes
    's = """\n%not magic\n!no\nreally?\n"""',
    "y = (10\n% 3)",
    "x = (1\n%time)",
    "y = [\n1\n/ 2\n, 3\n]",
    "1 != None",
    'print("%d" % 3)',
    "f'{x!r}'",
    "x = 'what?'",
    "x  # what?",
    "# really?",
    "# %time\n# !ls\n#%%bash",
    "x = 5 \\\n% 3",
    "lambda a=1: a % 2",
    "await f()",
    "",
    "\n\n",
    "   ",
    "x = 1;",
]

REFUSED = [
    "x = 1\u2028y = 2",
    "a = b = !ls",
    "x += !ls",
    "x = (!ls)",
    "f(x)?",
    "o ?",
    "x = 1?",
    "for i in r: !echo",
    "import os; %cd",
    "x = 1; %time y",
    "cat foo",
    " %%time\nx = 1",
    "x? # c",
    "/ f",
    ",f '\"'",
    "(1 +\n!ls",
    "f(a=!ls)",
    "f() = !ls",
    "if x:\n!ls",
    "x = = !ls",
    "  a = 1\nb = 2",
    "    !ls\nx",
    "await f(\n!ls",
]


@pytest.mark.parametrize("source", ACCEPTED)
def test_what_ipython_takes_is_python_afterwards(source: str) -> None:
    assert ipython_accepts(source)
    assert we_accept(source)


@pytest.mark.parametrize("source", REFUSED)
def test_what_ipython_refuses_stays_an_error(source: str) -> None:
    assert not ipython_accepts(source)
    assert not we_accept(source)


@pytest.mark.parametrize("source", REFUSED)
def test_the_error_is_on_the_line_of_the_refused_form(source: str) -> None:
    """CPython reports where it would report for the text as it stands: nothing before it was changed."""
    translation = translate_cell(source, AS_WRITTEN)
    with pytest.raises(SyntaxError) as ours:
        compile(translation.text, "cell", "exec")
    with pytest.raises(SyntaxError) as plain:
        compile(source, "cell", "exec")
    assert ours.value.lineno is not None
    assert plain.value.lineno is not None
    assert ours.value.lineno >= plain.value.lineno


FORMS = [
    ("%time x", [(ConstructKind.MAGIC, 0, 0, 0, "time x")]),
    ("if c:\n    !ls \\\n  -l\ny", [(ConstructKind.SHELL, 1, 2, 4, "ls    -l")]),
    ("!!ls", [(ConstructKind.SHELL_CAPTURE, 0, 0, 0, "ls")]),
    ("d[\n0] = !ls", [(ConstructKind.ASSIGN_SHELL, 1, 1, 5, "ls")]),
    ("x: T = %pwd  ", [(ConstructKind.ASSIGN_MAGIC, 0, 0, 7, "pwd")]),
    ("x?", [(ConstructKind.HELP, 0, 0, 0, "")]),
    ("??x", [(ConstructKind.HELP, 0, 0, 0, "x")]),
    ("é = !ls", [(ConstructKind.ASSIGN_SHELL, 0, 0, 4, "ls")]),
    ("s = '😀'; y = !ls", []),
    ("'😀'.x = !ls", [(ConstructKind.ASSIGN_SHELL, 0, 0, 8, "ls")]),
    (",f a\n;g b\n/h c", [
        (ConstructKind.QUOTE_WORDS, 0, 0, 0, "f a"),
        (ConstructKind.QUOTE_REST, 1, 1, 0, "g b"),
        (ConstructKind.CALL, 2, 2, 0, "h c"),
    ]),
    ("if a:\n    if b:\n        !x\n        c\n    d\n    %y\n!z", [
        (ConstructKind.SHELL, 2, 2, 8, "x"),
        (ConstructKind.MAGIC, 5, 5, 4, "y"),
        (ConstructKind.SHELL, 6, 6, 0, "z"),
    ]),
]  # fmt: skip


@pytest.mark.parametrize(("source", "expected"), FORMS)
def test_forms_are_found_where_they_stand(source: str, expected: list[tuple[object, ...]]) -> None:
    found = find_constructs(source.split("\n"))
    assert [(form.kind, form.first_line, form.last_line, form.column, form.content) for form in found] == expected


FRAGMENTS = [
    "x", "y = 1", "x = ", "a, b = ", "d['k'] = ", "x: int = ", "x += ", "a = b = ", "%time ", "%timeit -n1 ", "%pwd",
    "%matplotlib inline", "!ls", "!!ls", "?", "??", "x?", "x??", "*int*?", "%m?", "x[0]?", "f(x)", "f(x)?", ",f a",
    "; f a", ";f a b", "/f a b", "/ f", "if x:\n    ", "    ", "  ", "\t", "\\\n", "\n", "\n", "\n", "\n\n", "# c",
    "# c?", "'s'", "(", "(\n", "[1,\n", ")", "]", "{", "}", '"', "'", "def f():\n    ", "return 1", ">>> ", "... ",
    "In [1]: ", "   ...: ", "for i in r: ", "; ", "%", "!", "=", "==", "!= 3", " % y", " / y", ", y", "lambda a=",
    "f'{x!r}'", "@d\n", "else:\n    ", "await f()", "x.y = ", "%run f", "%store -r v", "~", "$", "`", "é", "0b12",
    "1__2", "%time !ls", "%time %pwd", "\f",
]  # fmt: skip

mixed_cells = st.lists(st.sampled_from(FRAGMENTS), max_size=9).map("".join)


def _is_absurd(source: str, *, ipython: bool) -> bool:
    """Where we knowingly differ, and nobody writes it.

    A form whose line opens a bracket or a string that is not closed there, and a `?` at the end: IPython takes all
    from the form to that `?` for one request for help, and drops it; for us the form ends with its line.
    A cell that ends in a backslash and a prompt: whether IPython sees that backslash depends on the last line end.
    """
    opens = any(opening in source for opening in "([{'\"")
    return (ipython and "?" in source and opens) or "\\\n" in source[-10:]


@settings(max_examples=sample(20_000, 700), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(mixed_cells)
@example('%time ; f a"0b12==')
@example("if a:\n    if b:\n        !x\n        c\n    d\n")
def test_random_mixtures_are_taken_as_ipython_takes_them(source: str) -> None:
    translation = translate_cell(source, AS_WRITTEN)
    check_map(source, translation)
    if translation.errors or "\f" in source:
        return
    ours, theirs = compiles(translation.text), ipython_accepts(source)
    assert ours == theirs or _is_absurd(source, ipython=theirs)


any_text = st.text(
    st.one_of(
        st.characters(),
        st.sampled_from("\x00\ud800\udfff\f\v\u2028\u2029\x85\r\n\t 😀%!?,;/=()[]{}'\"\\#.>xé"),
    ),
    max_size=60,
)


@settings(max_examples=sample(20_000, 700), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    any_text
    | st.tuples(st.sampled_from(["%%time\n", "%%timeit x\n", "%%capture o\n", "%%q\n", "%%sql a <<\n"]), any_text).map(
        "".join
    )
)
def test_nothing_is_raised_and_the_map_holds_for_any_text(source: str) -> None:
    translation = translate_cell(source, MagicOptions())
    check_map(source, translation)
    check_map(source, close_own_scopes(translation, frozenset({"x"})))


def begins_oddly(source: str) -> bool:
    """It begins with white space that Python does not know as such: IPython takes that off."""
    return any(character not in " \t\f\r\n" for character in source[: len(source) - len(source.lstrip())])


@given(mixed_cells | any_text)
def test_a_cell_without_a_trigger_is_itself(source: str) -> None:
    if not may_hold_ipython_syntax(source) and not begins_oddly(source):
        translation = translate_cell(source, AS_WRITTEN)
        assert translation.is_identity
        assert [line.text for line in translation.lines] == split_lines(source)


@settings(max_examples=sample(20_000, 300), deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(mixed_cells)
@example("def f():\n    \nx")
def test_where_no_trigger_is_seen_ipython_changes_nothing(source: str) -> None:
    """The fast path is safe: what it lets pass is no form of IPython's. Only lines of white space are emptied by it."""
    if not may_hold_ipython_syntax(source) and "\f" not in source:
        result = transformed(source)
        plain = "\n".join(line if line.strip() else "" for line in source.split("\n"))
        assert result is None or result.strip() == plain.strip()


def _corpus_cells() -> set[str]:
    cells: set[str] = set()
    names = [row["file"] for row in manifest() if row["language"] == "python"]
    for name in names:
        try:
            notebook = read_notebook(Path(CORPUS / name).read_bytes(), name)
        except NotebookError:
            continue
        cells.update(cell.source for cell in notebook.cells if cell.kind is CellKind.CODE)
    return cells


def _known_difference(source: str) -> str | None:
    """Why a real cell is taken differently: the whole list."""
    translation = translate_cell(source, MagicOptions())
    head = source.lstrip()
    if translation.automagic is not None:
        return "automagic: IPython's transformer does not know it, the running shell does"
    if head.startswith(("%sql\n", "%md\n")):
        return "a platform's language cell: an error in plain IPython too, told as another language"
    if head.startswith("%%time\n"):
        return "the body of a cell magic: IPython hides it from its transformer and fails when it runs"
    return None


@needs_corpus
@pytest.mark.shared
@pytest.mark.timeout(300)
def test_the_corpus_is_taken_as_ipython_takes_it() -> None:
    cells = _corpus_cells()
    different: list[str] = []
    for source in cells:
        check_map(source, translate_cell(source, MagicOptions()))
        if ipython_accepts(source) != we_accept(source):
            different.append(source)
    assert len(cells) > 8_000
    assert [source for source in different if _known_difference(source) is None] == []
    assert len(different) < 20
