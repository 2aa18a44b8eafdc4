"""What a kernel knows and a file does not, told from texts alone. `test_hidden_state_kernels` asks real kernels.

A history is written as `"c001: x = 1"`: the source that was run, behind the id of its cell; without an id as in a
console or an old front end.
"""

import pytest

from jupyter_lsp_agent.core.ids import CellId
from jupyter_lsp_agent.core.positions import split_lines
from jupyter_lsp_agent.notebook.build_options import BuildOptions
from jupyter_lsp_agent.notebook.hidden_state import (
    ExecutedCell,
    HiddenState,
    HiddenStateKind,
    find_hidden_state,
    user_names,
)
from jupyter_lsp_agent.notebook.name_flow import name_flow
from tests.support.notebooks import python_notebook

KINDS = HiddenStateKind


def executed(*runs: str) -> list[ExecutedCell]:
    """The history; `c001!: …` failed, of `c001?: …` nobody knows."""
    return [_run(count, run) for count, run in enumerate(runs, 1)]


def _run(count: int, run: str) -> ExecutedCell:
    head, separator, source = run.partition(": ")
    has_id = separator and head.rstrip("!?")[:1] == "c" and head.rstrip("!?")[1:].isdigit()
    if not has_id:
        return ExecutedCell(run, count, failed=False)
    failed = True if head.endswith("!") else None if head.endswith("?") else False
    return ExecutedCell(source, count, CellId(head.rstrip("!?")), failed)


def find(cells: list[str], history: list[str], live: str, **options) -> list[HiddenState]:
    notebook = python_notebook(*cells)
    found = find_hidden_state(notebook, executed(*history), live.split(), BuildOptions(**options))
    for one in found:
        start, end = one.place.start, one.place.end
        assert split_lines(cells[one.cell_index])[start.line][start.column : end.column] == one.name
        assert "Restart & Run All" in one.message
        assert f"`{one.name}`" in one.message
    return list(found)


def told(cells: list[str], history: list[str], live: str, **options) -> list[tuple[int, str, HiddenStateKind]]:
    return [(one.cell_index, one.name, one.kind) for one in find(cells, history, live, **options)]


def in_order(*cells: str) -> list[str]:
    return [f"c{number:03}: {cell}" for number, cell in enumerate(cells)]


SEEDED = [
    # the cell that defined it is gone
    (["print(x)"], ["c009: x = 1", "c000: print(x)"], [(0, "x", KINDS.CELL_DELETED)]),
    (["print(x)"], ["x = 1", "print(x)"], [(0, "x", KINDS.CELL_DELETED)]),
    (["total = total + 1"], ["total = 0", "total = total + 1"], [(0, "total", KINDS.CELL_DELETED)]),
    (["del x\nx = 1"], ["x = 1", "del x\nx = 1"], [(0, "x", KINDS.CELL_DELETED)]),
    (["total += 1"], ["total = 0", "total += 1"], [(0, "total", KINDS.CELL_DELETED)]),
    (["def f():\n    return x", "f()"], ["x = 1", "def f():\n    return x", "f()"], [(0, "x", KINDS.CELL_DELETED)]),
    (["print(np.pi)"], ["c009: import numpy as np", "c000: print(np.pi)"], [(0, "np", KINDS.CELL_DELETED)]),
    (["for y in [1]:\n    for _ in [2]:\n        print(y)", "print(x)"], ["x = 1"], [(1, "x", KINDS.CELL_DELETED)]),
    (["while False:\n    y = 1\nprint(x)"], ["x = 1"], [(0, "x", KINDS.CELL_DELETED)]),
    (["with open('f') as y:\n    for _ in y:\n        x(_)"], ["x = 1"], [(0, "x", KINDS.CELL_DELETED)]),
    # an earlier version of a cell defined it
    (["y = 1", "print(x)"], ["c000: x = 1", "c001: print(x)", "c000: y = 1"], [(1, "x", KINDS.CELL_EDITED)]),
    # it stands below
    (["print(x)", "x = 1"], ["c001: x = 1", "c000: print(x)"], [(0, "x", KINDS.DEFINED_BELOW)]),
    (["[x for _ in [1]]", "x = 1"], ["c001: x = 1"], [(0, "x", KINDS.DEFINED_BELOW)]),
    (["class C(Base): pass", "class Base: pass"], ["c001: class Base: pass"], [(0, "Base", KINDS.DEFINED_BELOW)]),
    (["@wraps\ndef f(): pass", "wraps = list"], ["c001: wraps = list"], [(0, "wraps", KINDS.DEFINED_BELOW)]),
    (["def f(a=x): pass", "x = 1"], ["c001: x = 1"], [(0, "x", KINDS.DEFINED_BELOW)]),
    (["%time print(x)", "x = 1"], ["c001: x = 1"], [(0, "x", KINDS.DEFINED_BELOW)]),
    (["%%time\nprint(x)", "x = 1"], ["c001: x = 1"], [(0, "x", KINDS.DEFINED_BELOW)]),
    (["print(f'{x:>{2}}')", "x = 1"], ["c001: x = 1"], [(0, "x", KINDS.DEFINED_BELOW)]),
    # a cell above deletes it
    (["x = 1", "del x", "print(x)"], [*in_order("x = 1", "del x"), "c000: x = 1"], [(2, "x", KINDS.NAME_DELETED)]),
    # nothing that is a cell defines it
    (["print(x)"], ["c000!: print(x)"], [(0, "x", KINDS.NO_CELL)]),
    (["y = 1", "print(x)"], ["c000: y = 1", "x = 1", "c001: print(x)"], [(1, "x", KINDS.NO_CELL)]),
    # the cell was run when another definition was in force
    (
        ["x = 1", "print(x)", "x = 2"],
        ["c000: x = 1", "c002: x = 2", "c001: print(x)"],
        [(1, "x", KINDS.OTHER_DEFINITION)],
    ),
    (
        ["x = 1", "x = 2", "print(x)"],
        ["c000: x = 1", "c001: x = 2", "c000: x = 1", "c002: print(x)"],
        [(2, "x", KINDS.OTHER_DEFINITION)],
    ),
    (
        ["x = 1", "print(x)"],
        ["c000: x = 1", "c009: x = 5", "c001: print(x)"],
        [(1, "x", KINDS.OTHER_DEFINITION)],
    ),
    # a cell was edited, and another was run with what it defined before
    (["x = 3", "print(x)"], ["c000: x = 1", "c001: print(x)"], [(1, "x", KINDS.STALE_DEFINITION)]),
    (["x = 3", "print(x)"], ["c000: x = 1", "c001: print(x)", "c000: x = 3"], [(1, "x", KINDS.STALE_DEFINITION)]),
]


@pytest.mark.parametrize(("cells", "history", "expected"), SEEDED, ids=lambda value: repr(value)[:60])
def test_seeded_state_is_found(cells, history, expected):
    assert told(cells, history, "x y total np Base wraps f C") == expected


QUIET = [
    # as it stands, also twice, and with Markdown, magics and failures between
    (["x = 1", "print(x)"], in_order("x = 1", "print(x)")),
    (["x = 1", "print(x)", "x = 2"], in_order("x = 1", "print(x)", "x = 2") * 2),
    (["x = 1", "x = x + 1", "print(x)"], in_order("x = 1", "x = x + 1", "print(x)")),
    # a cell is run again alone
    (["x = 1", "x = x + 1", "print(x)"], [*in_order("x = 1", "x = x + 1", "print(x)"), "c001: x = x + 1"]),
    (["x = 1", "print(x)"], [*in_order("x = 1", "print(x)"), "c000: x = 1"]),
    (["x = 1", "print(x)"], [*in_order("x = 1", "print(x)"), "c001: print(x)"]),
    # the same thing from another place
    (
        ["import os as x", "print(x)", "import os as x"],
        [*in_order("import os as x", "print(x)", "import os as x"), "c001: print(x)"],
    ),
    (["import os.path", "print(os)", "import os"], ["c000: import os.path", "c002: import os", "c001: print(os)"]),
    (
        ["def x(): return 1", "x()", "def x():\n    return 1  # the same"],
        ["c000: def x(): return 1", "c002: def x():\n    return 1  # the same", "c001: x()"],
    ),
    # an edit that changes nothing
    (["x = 1  # one", "print(x)"], ["c000: x = 1", "c001: print(x)"]),
    # a function is called when all is there
    (["def f():\n    return x", "x = 1", "f()"], in_order("def f():\n    return x", "x = 1", "f()")),
    (["f = lambda: x", "x = 1"], ["c001: x = 1", "c000: f = lambda: x"]),
    (["g = (x for _ in [1])", "x = 1"], ["c001: x = 1"]),
    (["class C:\n    def f(self):\n        return x", "x = 1"], ["c001: x = 1"]),
    (["def f(a: x) -> x: pass", "x = 1"], ["c001: x = 1"]),
    # names of a scope of their own
    (["print([x for x in [1]])", "x = 1"], ["c001: x = 1"]),
    (["def f(x): return x", "x = 1"], ["c001: x = 1"]),
    (["def f():\n    x = 1\n    return x", "x = 1"], ["c001: x = 1"]),
    (["def f():\n    import os as x\n    def g(): return x\n    return g", "x = 1"], ["c001: x = 1"]),
    (["class C:\n    x = 1\n    y = x", "x = 1"], ["c001: x = 1"]),
    (["%%timeit\nx = 1\nx + 1", "x = 2"], ["c001: x = 2"]),
    # the cell may bind it itself
    (["try:\n    x\nexcept NameError:\n    x = 1", "x = 2"], ["c001: x = 2"]),
    (["try:\n    print(x)\nexcept Exception:\n    pass", "x = 1"], ["c001: x = 1"]),
    (["try:\n    print(x)\nexcept NameError:\n    print()"], ["x = 1"]),
    (["if 'x' not in globals():\n    x = 1\nprint(x)"], ["x = 5"]),
    (["for _ in [1, 2]:\n    if _ > 1:\n        print(x)\n    x = _"], ["x = 5"]),
    (["while y:\n    print(x)\n    x = 1", "x = 1"], ["c001: x = 1"]),
    (["if y:\n    print(x)", "x = 1"], ["c001: x = 1"]),
    (["print(x if y else 1, y and x)", "x = 1"], ["c001: x = 1"]),
    (["match [1]:\n    case [x]:\n        print(x)"], ["x = 1"]),
    (["with open('f') as x:\n    print(x)"], ["x = 1"]),
    (["try:\n    pass\nexcept ValueError as x:\n    print(x)"], ["x = 1"]),
    (["(x := 1) + x"], ["x = 2"]),
    (["def f():\n    global x\n    x = 1", "f()", "print(x)"], ["x = 2"]),
    (["%%capture x\nprint()", "print(x)"], ["x = 2"]),
    (["x = !ls", "print(x)"], ["x = 2"]),
    # nobody can see what is bound
    (["from math import *", "print(x)"], ["x = 1"]),
    (["%run other.py", "print(x)"], ["x = 1"]),
    (["%pylab inline", "print(x)"], ["x = 1"]),
    (["exec('x = 1')", "print(x)"], ["x = 1"]),
    (["globals()['x'] = 1", "print(x)"], ["x = 1"]),
    (["get_ipython().user_ns['x'] = 1", "print(x)"], ["x = 1"]),
    (["get_ipython().run_cell('x = 1')", "print(x)"], ["x = 1"]),
    (["get_ipython().run_line_magic('run', 'a.py')", "print(x)"], ["x = 1"]),
    (["%load_ext something_unknown", "print(x)"], ["x = 1"]),
    (["from sympy import var\nvar('x y')", "print(x)"], ["x = 1"]),
    (["x = (", "print(x)"], ["x = 1"]),
    (["x = 1", "print(x)", "from math import *"], ["c000: x = 1", "c002: from math import *", "c001: print(x)"]),
    (
        ["x = 1", "print(x)", "x = 2", "from math import *"],
        ["c000: x = 1", "c002: x = 2", "c003: from math import *", "c001: print(x)"],
    ),
    # a run that failed, or of which nobody knows, may have bound the name or not
    (["x = 1", "print(x)", "x = 2"], ["c000: x = 1", "c002!: x = 2", "c001: print(x)"]),
    (["x = 1", "print(x)", "x = 2"], ["c000: x = 1", "c002?: x = 2", "c001: print(x)"]),
    (["x = 1", "print(x)", "x = 2"], ["c000: x = 1", "c002: x = 2", "c001!: print(x)"]),
    (["x = 1", "print(x)", "if y:\n    x = 2"], ["c000: x = 1", "c002: if y:\n    x = 2", "c001: print(x)"]),
    # two cells of one source: either may have been run
    (["x = 1", "print(x)", "x = 2", "x = 1"], ["x = 1", "print(x)"]),
    (["x = 1", "print(x)", "x = 2", "print(x)"], ["x = 1", "print(x)", "x = 2", "print(x)"]),
    # what a cell was before it was changed is of no matter before it is run again
    (["x = 1", "print(x, 1)", "x = 2"], ["c000: x = 1", "c002: x = 2", "c001: print(x)"]),
]


@pytest.mark.parametrize(("cells", "history"), QUIET, ids=lambda value: repr(value)[:70])
def test_nothing_is_told_without_cause(cells, history):
    assert told(cells, history, "x os f g C") == []


def test_a_name_that_does_not_live_is_for_the_servers():
    assert told(["print(x)"], ["x = 1", "print(x)"], "") == []


def test_names_that_are_everywhere_are_not_told():
    assert told(["print(In, Out, _, _3, display, _private, spark, quit)"], [], "print In Out _ _3 _private spark") == []
    assert told(["table(x)"], [], "x", kernel_names=frozenset({"x"})) == []


def test_a_cell_magic_with_a_python_body_is_known_by_its_setting():
    cells = ["%%ours\nx = 1", "print(x)"]
    assert told(cells, ["x = 5"], "x", python_cell_magics=frozenset({"ours"})) == []
    assert told(["%%bash\necho $x", "print(x)"], ["x = 5"], "x") == [(1, "x", KINDS.CELL_DELETED)]


def test_what_a_file_binds_counts_where_it_is_known():
    cells = ["%run a.py", "print(x, y)"]
    given = {"a.py": frozenset({"y"})}
    assert told(cells, ["x = 5", "y = 5"], "x y", run_names=given) == [(1, "x", KINDS.CELL_DELETED)]


def test_ids_of_another_front_end_are_no_ids():
    """VS Code tells kernels ids of its own; what has no place is then not said to be of a deleted cell."""
    history = [ExecutedCell("x = 1", 1, CellId("vscode#0"), failed=False)]
    history += [ExecutedCell("x = 5", 2, CellId("vscode#7"), failed=False)]
    history += [ExecutedCell("print(x)", 3, CellId("vscode#1"), failed=False)]
    assert find_hidden_state(python_notebook("x = 1", "print(x)"), history, {"x"}) == ()


def test_the_first_use_of_a_name_is_told_once_a_cell():
    (found,) = find(["a = 1\nif a:\n    print(x)\nprint(x, x)", "x = 1"], ["c001: x = 1"], "x a")
    assert (found.place.start.line, found.place.start.column) == (2, 10)


def test_a_message_names_the_cell_and_the_run():
    (found,) = find(["print(x)", "x = 1"], ["c001: x = 1", "c000: print(x)"], "x")
    assert found.message == (
        "`x` is defined only in cell 1, which stands below and was run before this one; "
        "Restart & Run All fails here with NameError"
    )
    assert found.definition_index == 1
    (found,) = find(["x = 3", "print(x)"], ["c000: x = 1", "c001: print(x)"], "x")
    assert found.message == (
        "`x` had its value from an earlier version of cell 0 (run as In [1]), when this cell was run; "
        "Restart & Run All gives it that of the cell as it is now"
    )
    diagnostic = found.diagnostic.diagnostic
    assert (diagnostic.code, diagnostic.source, diagnostic.severity.name) == (
        "hidden-state", "jupyter-lsp-agent", "WARNING",
    )  # fmt: skip


def test_places_are_those_of_the_cell_behind_magics_and_wide_characters():
    (found,) = find(["%time print('😀', x)", "x = 1"], ["c001: x = 1"], "x")
    assert found.place.start.column == 17


@pytest.mark.parametrize("depth", [50, 500, 5000])
def test_an_expression_as_deep_as_may_be_is_no_failure(depth):
    find(["1" + " + x" * depth], ["x = 1"], "x")


def test_names_of_the_user():
    assert user_names(["x", "_i1", "In", "np", "len", "spark"], {"np"}, {"spark"}) == {"x"}


def test_what_is_not_saved_yet_is_nothing_that_only_the_kernel_knows():
    cells = ["x = 1", "print(x)", "print(y)"]
    newer = [
        ExecutedCell("x = 1", 1, CellId("c000"), failed=False),
        ExecutedCell("x = 5", 2, CellId("c000"), failed=False, may_be_unsaved=True),
        ExecutedCell("y = 1", 3, CellId("new"), failed=False, may_be_unsaved=True),
        ExecutedCell("print(x)", 4, CellId("c001"), failed=False, may_be_unsaved=True),
        ExecutedCell("z = 1", 5, failed=False, may_be_unsaved=True),
    ]
    assert find_hidden_state(python_notebook(*cells), newer, {"x", "y"}) == ()
    # What the front end tells no id of is no cell, saved or not.
    (found,) = find_hidden_state(python_notebook(*cells, "print(z)"), newer, {"x", "y", "z"})
    assert (found.name, found.kind) == ("z", KINDS.NO_CELL)


def test_sources_that_were_seen_cost_nothing_again():
    cells = [f"unique_{number} = {number}\nprint(unique_{number - 1})" for number in range(100)]
    history = executed(*in_order(*cells))
    live = {f"unique_{number}" for number in range(100)}
    find_hidden_state(python_notebook(*cells), history, live)
    before = name_flow.cache_info().misses
    find_hidden_state(python_notebook(*cells), history, live)
    assert name_flow.cache_info().misses == before
    find_hidden_state(python_notebook(*cells[:50], "changed = 1", *cells[51:]), history, live)
    assert name_flow.cache_info().misses == before + 1
