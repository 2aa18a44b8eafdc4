"""Findings of a virtual document in cells: a notebook's own ways out, everything else in its place.

The codes and places are those that real servers send (`tests/e2e` asks them); here each rule stands alone, in both
directions.
"""

from dataclasses import replace

import pytest

from jupyter_lsp_agent.core.diagnostic import Diagnostic, DiagnosticSeverity, DiagnosticTag, RelatedInformation
from jupyter_lsp_agent.core.ids import DocumentUri
from jupyter_lsp_agent.core.positions import TextPosition, TextRange, WirePosition, WireRange
from jupyter_lsp_agent.diagnostics.relocate import Relocated, relocate
from jupyter_lsp_agent.notebook.advice import Guard
from jupyter_lsp_agent.notebook.virtual_document import BuildOptions, VirtualDocument, build_virtual_documents
from tests.support.notebooks import python_notebook

ERROR, WARNING, HINT = DiagnosticSeverity.ERROR, DiagnosticSeverity.WARNING, DiagnosticSeverity.HINT


def document(*sources: str) -> VirtualDocument:
    return build_virtual_documents(python_notebook(*sources), BuildOptions()).documents[0]


def find(virtual: VirtualDocument, words: str) -> TextRange:
    """Where `words` stand last in the virtual text."""
    start = virtual.text.rindex(words)
    line = virtual.text.count("\n", 0, start)
    column = start - (virtual.text.rfind("\n", 0, start) + 1)
    return TextRange(TextPosition(line, column), TextPosition(line, column + len(words)))


def about(virtual: VirtualDocument, words: str, code: str | None, message: str = "m") -> Diagnostic:
    return Diagnostic(find(virtual, words), ERROR, message, "server", code)


def kept(*sources: str, at: str, code: str | None, message: str = "m") -> list[DiagnosticSeverity]:
    """The severities of what is left of one error at the words `at`."""
    virtual = document(*sources)
    found = relocate(virtual, [about(virtual, at, code, message)])
    return [finding.diagnostic.severity for finding in found.cell_diagnostics]


def test_a_finding_comes_back_in_its_cell() -> None:
    virtual = document("a = 1", "b = 2\ns = '😀'; undefined")
    found = relocate(virtual, [about(virtual, "undefined", "undefined-name")])
    ((finding),) = found.cell_diagnostics
    assert finding.cell_index == 1
    assert finding.diagnostic.range == TextRange(TextPosition(1, 9), TextPosition(1, 18))
    assert (found.unmapped, found.guards) == ((), frozenset())


@pytest.mark.parametrize(
    ("source", "at", "code", "left"),
    [
        ("await f()", "await", "invalid-syntax", 0),
        ("await f()", "await", None, 0),
        ("n: int = await f()", "await", "invalid-syntax", 0),
        ("n: int = await f()", "await", "invalid-assignment", 1),
        ("n: int = await f()", "n", "invalid-syntax", 1),
        ("async with a: pass", "async", "top-level-await", 0),
        ("[i async for i in a]", "async", None, 0),
        ("[i async for i in a]", "[", "invalid-syntax", 0),
        ("[await i for i in a]", "await", "invalid-syntax", 0),
        ("[await i for i in a]", "await", "not-async", 1),
        ("async def k():\n    await f()", "await", "invalid-syntax", 1),
    ],
)
def test_await_outside_functions_is_fine_and_nothing_else_at_its_place(
    source: str, at: str, code: str | None, left: int
) -> None:
    assert len(kept(source, at=at, code=code)) == left


@pytest.mark.parametrize(
    ("sources", "at", "left"),
    [
        (("raise A\ndead = 1", "x"), "dead", 0),
        (("raise A\ndead = 1", "x"), "x", 1),
        (("if a:\n    raise A\n    dead\nelse:\n    raise B", "x"), "dead", 0),
        (("if a:\n    raise A\n    dead", "x"), "dead", 1),
        (("x = = 1\nimport os", "y"), "os", 0),
        (("x = = 1\nimport os", "y"), "y", 1),
    ],
)
def test_what_never_runs_and_what_does_not_parse_gives_no_further_findings(
    sources: tuple[str, ...], at: str, left: int
) -> None:
    assert len(kept(*sources, at=at, code="some-rule")) == left


@pytest.mark.parametrize(
    ("sources", "left"),
    [
        (("def f(): ...", "def f(a): ..."), 0),
        (("def f(): ...\ndef f(a): ...", "f()"), 1),
        (("class f(): ...\nf = 3", "f()"), 1),
    ],
)
@pytest.mark.parametrize("code", ["reportRedeclaration", "redefinition", "no-redef", "F811"])
def test_redefinition_is_told_within_a_cell_only(sources: tuple[str, ...], code: str, left: int) -> None:
    assert len(kept(*sources, at=sources[0].split("(")[0], code=code, message='"f" is obscured')) == left


@pytest.mark.parametrize(
    ("sources", "message", "left"),
    [
        (("class B: ...", "class B: ..."), 'Type "B" is not assignable to return type "B"', 0),
        (("class B: ...", "class B: ..."), "Returned type `m.B@3:7-10 | m.B@9:7-10` is not assignable", 0),
        (("class B: ...", "class B: ..."), 'Type "B" is not assignable to return type "int"', 1),
        (("class B: ...", "class B: ..."), 'Type "list[B]" is not assignable to return type "B"', 1),
        (("class B: ...", "x = 1"), 'Type "B" is not assignable to return type "B"', 1),
        (("class B: ...", "class B: ..."), "Expected `B @ n.py:1:7`, found `B @ n.py:9:7`", 0),
        (("class B: ...", "class B: ..."), "Expected `list[m.B @ n.py:1:7]`, found `list[m.B @ n.py:9:7]`", 0),
        (("class B: ...", "class B: ..."), "Expected `B`, found `Literal[3]`", 1),
        (
            ("class B: ...", "class B: ..."),
            'Argument of type "B" cannot be assigned to parameter "a" of type "B" in function "f"\n  "m.B" is not '
            'assignable to "m.B"',
            0,
        ),
        (
            ("class B: ...", "class B: ..."),
            'Argument of type "Literal[3]" cannot be assigned to parameter "a" of type "B" in function "f"\n  '
            '"Literal[3]" is not assignable to "B"',
            1,
        ),
    ],
)
def test_two_definitions_of_a_name_are_not_held_against_each_other(
    sources: tuple[str, ...], message: str, left: int
) -> None:
    assert len(kept(*sources, "def f() -> B: ...", at="def f", code="bad-return", message=message)) == left


TYPE_VARIABLE = ("invalid-legacy-type-variable", "Cannot redefine `X` as a type variable")
VARIABLE = ("reportInvalidTypeForm", "Variable not allowed in type expression")


@pytest.mark.parametrize(
    ("sources", "said", "left"),
    [
        (("X = 1", "X = 2"), TYPE_VARIABLE, 0),
        (("X = 1", "X = 2"), VARIABLE, 0),
        (("X = 1\nX = 2",), TYPE_VARIABLE, 1),
        (("X = 1\nX = 2",), VARIABLE, 1),
        (("X = 1", "X = 2"), (TYPE_VARIABLE[0], "The name of a `TypeVar` must be `X`"), 1),
        (("X = 1", "X = 2"), (VARIABLE[0], "Call expression not allowed in type expression"), 1),
        (("def X(): ...", "def X(): ..."), VARIABLE, 1),
    ],
)
def test_a_name_that_cells_bind_anew_is_a_type_of_the_moment(
    sources: tuple[str, ...], said: tuple[str, str], left: int
) -> None:
    assert len(kept(*sources, "y: X", at="X", code=said[0], message=said[1])) == left


@pytest.mark.parametrize(
    ("sources", "code", "message", "severity"),
    [
        (("if a:\n    x = 1", "x"), "possibly-unresolved-reference", "`x` may be missing", WARNING),
        (("if a:\n    x = 1\nx",), "possibly-unresolved-reference", "`x` may be missing", ERROR),
        (("if a:\n    x = 1", "x"), "unbound-name", "`x` may be uninitialized", WARNING),
        (("if a:\n    x = 1", "x"), "unbound-name", "`x` is uninitialized", ERROR),
        (("from os import *", "x"), "undefined-name", "`x`", ERROR),
        (("%pylab inline", "x"), "undefined-name", "`x`", WARNING),
        (("%run nowhere.py", "x"), "unresolved-reference", "`x`", WARNING),
        (("%run nowhere.py", "x"), "invalid-assignment", "`x`", ERROR),
    ],
)
def test_names_that_may_be_there_are_warnings(
    sources: tuple[str, ...], code: str, message: str, severity: DiagnosticSeverity
) -> None:
    assert kept(*sources, at="x", code=code, message=message) == [severity]


@pytest.mark.parametrize(
    ("source", "at", "severity"),
    [
        ("def f():\n    return d.keys()", "d.keys", WARNING),
        ("def f():\n    return d.keys()", "keys", WARNING),
        ("def f() -> int:\n    return d", "d", WARNING),
        ("def f():\n    d['a'].b", "d['a']", WARNING),
        ("def f():\n    d + 1", "d + 1", WARNING),
        ("f = lambda: d.keys()", "d.keys", WARNING),
        ("def f():\n    g(d.a, 'x')", "'x'", ERROR),
        ("def f():\n    math.sqroot(d)", "math.sqroot", ERROR),
        ("def f(d):\n    return d.keys()", "d.keys", ERROR),
        ("def f():\n    d = 1\n    return d.keys()", "d.keys", ERROR),
        ("def f():\n    return only.keys()", "only.keys", ERROR),
        ("d.keys()", "d.keys", ERROR),
    ],
)
def test_the_type_of_a_name_that_cells_rebind_is_not_known_inside_functions(
    source: str, at: str, severity: DiagnosticSeverity
) -> None:
    assert kept("d = 1\nonly = 1", "d = 's'", source, at=at, code="invalid-type") == [severity]


def test_a_star_import_that_fails_is_one_error() -> None:
    virtual = document("import nothere\nfrom gone import *", "array([1])\nzeros(2)")
    names = [about(virtual, "array", "undefined-name"), about(virtual, "zeros", "undefined-name")]
    star, other = about(virtual, "gone", "unresolved-import"), about(virtual, "nothere", "unresolved-import")
    assert _severities(relocate(virtual, [star, *names])) == [ERROR, WARNING, WARNING]
    assert _severities(relocate(virtual, [other, *names])) == [ERROR, ERROR, ERROR]


def _severities(found: Relocated) -> list[DiagnosticSeverity]:
    return [finding.diagnostic.severity for finding in found.cell_diagnostics]


@pytest.mark.parametrize(
    ("sources", "at", "code", "left"),
    [
        (("x\ny",), "y", "reportUnusedExpression", 0),
        (("x\ny",), "x", "reportUnusedExpression", 1),
        (("x\ny;",), ";", "E703", 0),
        (("x = 1", "def f(): ..."), "def", "E302", 0),
        (("x = 1", "x = 1\ndef f(): ..."), "def", "E302", 1),
        (("x = 1", "import os\nx = 1"), "import", "E402", 0),
        (("x = 1", "x = 1\nimport os"), "import", "E402", 1),
        (("x = 1", "%matplotlib inline\nimport os"), "import", "E402", 0),
        (("import os", "x = 1"), "import", "I001", 0),
        (("import os\nx = 1", "x = 1"), "import", "I001", 1),
        (("x = 1", "y = 1"), "x", "D100", 0),
        (("x = 1", "y = 1 "), "y", "W291", 1),
    ],
)
def test_rules_of_style_that_mean_a_file_are_left_out(sources: tuple[str, ...], at: str, code: str, left: int) -> None:
    assert len(kept(*sources, at=at, code=code)) == left


@pytest.mark.parametrize(
    ("directive", "code", "left"),
    [
        ("# pyright: reportFoo=false", "reportFoo", 0),
        ("# pyright: reportFoo=false", "reportBar", 1),
        ("# ruff: noqa: F401", "F401", 0),
        ("# ruff: noqa: F401", "F402", 1),
        ("# ruff: noqa", "F402", 0),
        ("# ruff: noqa", "unresolved-import", 1),
        ("# type: ignore", "invalid-assignment", 1),
    ],
)
def test_a_file_level_comment_holds_for_its_cell(directive: str, code: str, left: int) -> None:
    assert len(kept("a = 1", f"{directive}\nb = 2", at="b = 2", code=code)) == left
    assert len(kept("a = 1", f"{directive}\nb = 2", at="a = 1", code=code)) == 1


def test_a_check_of_an_annotation_is_told_at_the_annotation() -> None:
    virtual = document("cfg: int = 'a'", "cfg: str = 'b'")
    line = next(n for n, text in enumerate(virtual.text.split("\n")) if text.startswith("_jla_check"))
    place = TextRange(TextPosition(line, 28), TextPosition(line, 31))
    (found,) = relocate(virtual, [Diagnostic(place, ERROR, "m", "server", "invalid-assignment")]).cell_diagnostics
    assert (found.cell_index, found.diagnostic.range) == (0, TextRange(TextPosition(0, 0), TextPosition(0, 14)))


def test_findings_about_our_own_text_are_nobodys() -> None:
    virtual = document("x = = 1", "x")
    prefix = Diagnostic(TextRange(TextPosition(1, 0), TextPosition(1, 4)), ERROR, "m", "server", "E704")
    glue = about(virtual, "_jla_missing", "unresolved-import")
    assert relocate(virtual, [prefix, glue]) == Relocated(())


@pytest.mark.parametrize(
    "place",
    [
        TextRange(TextPosition(0, 0), TextPosition(0, 0)),
        TextRange(TextPosition(0, 0), TextPosition(7, 1)),
    ],
)
def test_findings_about_the_whole_text_are_unmapped(place: TextRange) -> None:
    finding = Diagnostic(place, WARNING, "cannot read configuration", "server", "config")
    assert relocate(document("x"), [finding]).unmapped == (finding,)
    assert relocate(document("x"), [replace(finding, severity=HINT)]).unmapped == ()


def test_a_finding_below_the_last_cell_is_at_its_end() -> None:
    finding = Diagnostic(TextRange(TextPosition(999, 0), TextPosition(999, 0)), ERROR, "not closed", "server", "c")
    (found,) = relocate(document("x", "a = 1\nyy"), [finding]).cell_diagnostics
    assert (found.cell_index, found.diagnostic.range.start) == (1, TextPosition(1, 2))


def test_messages_speak_of_ipythons_types() -> None:
    virtual = document("x = !ls", "x.nope")
    message = "Object of type `_jla_SList` has no attribute `nope`"
    (found,) = relocate(virtual, [about(virtual, "nope", "unresolved-attribute", message)]).cell_diagnostics
    assert found.diagnostic.message == "Object of type `SList` has no attribute `nope`"


def test_hints_are_passed_on_unless_they_call_code_unreachable() -> None:
    virtual = document("import os")
    unused = replace(about(virtual, "os", None, "`os` is unused"), severity=HINT, tags=(DiagnosticTag.UNNECESSARY,))
    dead = replace(unused, message="Code is unreachable")
    assert _severities(relocate(virtual, [unused, dead])) == [HINT]


def test_related_places_are_places_in_cells_and_those_in_our_text_are_left_out() -> None:
    virtual = document("y", "z = 1\nx")
    wire = WireRange(WirePosition(0, 0), WirePosition(0, 1))
    here = RelatedInformation(DocumentUri("file:///a"), wire, "m", find(virtual, "x"))
    ours = replace(here, range=TextRange(TextPosition(0, 0), TextPosition(0, 1)))
    there = RelatedInformation(DocumentUri("file:///b"), wire, "m")
    finding = replace(about(virtual, "x", "c"), related_information=(here, ours, there))
    (found,) = relocate(virtual, [finding]).cell_diagnostics
    place = TextRange(TextPosition(1, 0), TextPosition(1, 1))
    assert found.diagnostic.related_information == (replace(here, range=place, cell_index=1), there)


def unreachable(virtual: VirtualDocument, first: str, last: str) -> Diagnostic:
    place = TextRange(find(virtual, first).start, find(virtual, last).end)
    return Diagnostic(place, HINT, "Code is unreachable", "server", None, tags=(DiagnosticTag.UNNECESSARY,))


@pytest.mark.parametrize(
    ("sources", "first", "last", "guard"),
    [
        (("die()", "b = 2"), "b = 2", "b = 2", Guard("die()", 0)),
        (("die()", "", "# c", "b = 2", "c"), "b = 2", "c", Guard("die()", 0)),
        (("die()\ndead = 1", "b = 2"), "dead", "b = 2", Guard("die()\ndead = 1", 1, 0)),
        (("global a; die()", "b = 2"), "b = 2", "b = 2", Guard("global a; die()", 0)),
        (
            ("x", "while True:\n    die()", "b = 2"),
            "if _jla_flag: break",
            "b = 2",
            Guard("while True:\n    die()", 1, 9),
        ),
        (("die()\ndead = 1", "b = 2"), "dead", "dead = 1", None),
        (("def f():\n    die()\n    dead = 1", "b = 2"), "dead", "dead = 1", None),
    ],
)
def test_a_later_cell_that_a_server_calls_dead_asks_for_a_guard(
    sources: tuple[str, ...], first: str, last: str, guard: Guard | None
) -> None:
    virtual = document(*sources)
    found = relocate(virtual, [unreachable(virtual, first, last)])
    assert found.cell_diagnostics == ()
    assert found.guards == (frozenset() if guard is None else {guard})


def test_hints_with_no_code_between_them_are_one() -> None:
    virtual = document("die(); dead", "# c\n\nb = 2\nc")
    found = relocate(virtual, [unreachable(virtual, "b = 2", "b = 2"), unreachable(virtual, "dead", "dead")])
    assert found.guards == {Guard("die(); dead", 0, 7)}
    assert found.unreached == {1}


def test_a_hint_in_words_that_nobody_knows_is_understood_where_it_reaches_into_the_next_cell() -> None:
    virtual = document("x", "b = 2", "c = 3")
    across, inside = (replace(unreachable(virtual, "b", last), message="?") for last in ("c = 3", "b = 2"))
    assert relocate(virtual, [across]).unreached == {1, 2}
    assert relocate(virtual, [inside]).unreached == frozenset()


def test_cells_that_are_said_never_to_run_are_told_even_where_there_is_nothing_to_guard() -> None:
    virtual = document("a = 1", "b = 2")
    whole = replace(unreachable(virtual, "a", "b = 2"), range=TextRange(TextPosition(0, 0), find(virtual, "b = 2").end))
    assert relocate(virtual, [whole]).unreached == {0, 1}


@pytest.mark.parametrize(
    ("cell", "dead", "unreached"),
    [
        ("x.foo if False else 1", "x.foo", set()),
        ("(x.foo if False else\n 1)", "x.foo", set()),
        ("x.foo", "x.foo", {1}),
        ("x.foo; y", "x.foo", {1}),
        ("x.foo  # and why", "x.foo", {1}),
    ],
)
def test_a_part_of_a_statement_may_be_dead_and_the_cell_not(cell: str, dead: str, unreached: set[int]) -> None:
    virtual = document("a = 1", cell, "b = 2")
    assert relocate(virtual, [unreachable(virtual, dead, dead)]).unreached == unreached


def test_an_error_about_the_first_statement_that_does_not_run_stands_for_all_that_follow() -> None:
    virtual = document("die()", "b = 2", "c = 3")
    first = replace(unreachable(virtual, "b", "b = 2"), code="unreachable", severity=ERROR, tags=())
    found = relocate(virtual, [first])
    assert (found.guards, found.unreached) == ({Guard("die()", 0)}, {1, 2})
