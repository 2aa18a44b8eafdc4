"""What an edit did, state by state: tables over a toy checker whose word on a notebook is plain to see."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from jupyter_lsp_agent.diagnostics.delta import compute_delta
from jupyter_lsp_agent.notebook.identity import match_cells
from jupyter_lsp_agent.notebook.model import Cell, CellKind
from tests.support.states import cells, outcome, run
from tests.support.toy_checker import judge

USE = "print(foo)"
TWICE = "print(foo)\nprint(foo)"


def check(states: Sequence[Sequence[Cell]], *expected: dict[str, list[str]]) -> None:
    assert [outcome(delta) for delta in run(states)] == list(expected)


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        pytest.param([USE], [USE], {"preexisting": ["0:0:6 foo"]}, id="nothing happened"),
        pytest.param(["x = 1"], ["x = 1", USE], {"introduced": ["1:0:6 foo"]}, id="a cell with an error added"),
        pytest.param(["x = 1"], ["x = 1\nprint(foo)"], {"introduced": ["0:1:6 foo"]}, id="a line with an error added"),
        pytest.param([USE], ["x = 1\ny = 2\nprint(foo)"], {"preexisting": ["0:2:6 foo"]}, id="lines inserted above"),
        pytest.param([USE], ["#md t", "", USE], {"preexisting": ["2:0:6 foo"]}, id="cells inserted above"),
        pytest.param(["x = 1", USE], [USE, "x = 1"], {"preexisting": ["0:0:6 foo"]}, id="moved up"),
        pytest.param([USE], ["print(foo, 1)"], {"preexisting": ["0:0:6 foo"]}, id="its line edited"),
        pytest.param([USE], ["  \nif 1:\n    print(foo)"], {"preexisting": ["0:2:10 foo"]}, id="its line indented"),
        pytest.param([USE], ["print(1,\n      foo)"], {"preexisting": ["0:1:6 foo"]}, id="its line broken in two"),
        pytest.param([USE], [""], {"fixed": ["0:0:6 foo"]}, id="its line deleted"),
        pytest.param([USE], [], {"fixed": ["0:0:6 foo"]}, id="its cell deleted"),
        pytest.param([USE], ["#md print(foo)"], {"fixed": ["0:0:6 foo"]}, id="its cell made Markdown"),
        pytest.param([USE], ["foo = 1", USE], {"fixed": ["0:0:6 foo"]}, id="the name defined above"),
        pytest.param(
            [USE], [USE, USE], {"preexisting": ["0:0:6 foo"], "introduced": ["1:0:6 foo"]}, id="its cell copied"
        ),
        pytest.param(
            [TWICE],
            ["print(foo)\nprint(1)"],
            {"preexisting": ["0:0:6 foo"], "fixed": ["0:1:6 foo"]},
            id="second mended",
        ),
        pytest.param(
            [TWICE], ["print(1)\nprint(foo)"], {"preexisting": ["0:1:6 foo"], "fixed": ["0:0:6 foo"]}, id="first mended"
        ),
        pytest.param(
            [USE, "x = 1", USE],
            [USE, "x = 1", "print(1)"],
            {"preexisting": ["0:0:6 foo"], "fixed": ["2:0:6 foo"]},
            id="last twin cell mended",
        ),
        pytest.param(
            [USE, "x = 1", USE],
            ["print(1)", "x = 1", USE],
            {"preexisting": ["2:0:6 foo"], "fixed": ["0:0:6 foo"]},
            id="first twin cell mended",
        ),
        pytest.param(
            [USE, USE],
            ["print(1)", USE],
            {"preexisting": ["1:0:6 foo"], "fixed": ["0:0:6 foo"]},
            id="neighbouring twin",
        ),
        pytest.param(
            [("a", USE), ("b", USE)],
            [("b", USE)],
            {"preexisting": ["0:0:6 foo"], "fixed": ["0:0:6 foo"]},
            id="twin deleted, with ids",
        ),
        pytest.param(
            ["print(foo, foo)"],
            ["print(1, foo)"],
            {"preexisting": ["0:0:9 foo"], "fixed": ["0:0:6 foo"]},
            id="twins on one line, the first mended",
        ),
        pytest.param(
            ["print(foo, foo)"],
            ["print(foo, 1)"],
            {"preexisting": ["0:0:6 foo"], "fixed": ["0:0:11 foo"]},
            id="twins on one line, the second mended",
        ),
        pytest.param(
            ["x = 1\ny = x\nprint(foo)\nz = bar"],
            ["x = 1\ny = x", "print(foo)\nz = bar"],
            {"preexisting": ["1:0:6 foo", "1:1:4 bar"]},
            id="split",
        ),
        pytest.param(
            ["print(foo)\nx = 1", "y = 2\nprint(bar)"],
            ["print(foo)\nx = 1\ny = 2\nprint(bar)"],
            {"preexisting": ["0:0:6 foo", "0:3:6 bar"]},
            id="merged",
        ),
        pytest.param(
            ["print(foo)\nx = 1", "y = 2"],
            ["x = 1", "y = 2\nprint(foo)"],
            {"preexisting": ["1:1:6 foo"]},
            id="carried to another cell",
        ),
        pytest.param(
            ["x = 1\nprint(foo)\ny = 2\nz = 3\nprint(bar)"],
            ["x = 1", "print(foo)", "y = 2\nz = 3\nprint(bar, 1)"],
            {"preexisting": ["1:0:6 foo", "2:2:6 bar"]},
            id="split in three and edited",
        ),
        pytest.param([USE], ["print(fooo)"], {"introduced": ["0:0:6 fooo"], "fixed": ["0:0:6 foo"]}, id="renamed"),
        pytest.param(
            [USE], ["print(foo)\nprint(bar)"], {"preexisting": ["0:0:6 foo"], "introduced": ["0:1:6 bar"]}, id="another"
        ),
        pytest.param(
            ["a = 1\x0c\nb = '\u2028\x85\v'\nprint(foo)"],
            ["a = 1\x0c\nprint(foo)"],
            {"preexisting": ["0:1:6 foo"]},
            id="form feed and line separator end no line",
        ),
        pytest.param(["x = 1\r\nprint(foo)"], ["x = 1\nprint(foo)"], {"preexisting": ["0:1:6 foo"]}, id="line ends"),
    ],
)
def test_one_edit(before: list[str], after: list[str], expected: dict[str, list[str]]) -> None:
    check([cells(*before), cells(*after)], expected)


def test_an_introduced_finding_is_outstanding_until_it_is_fixed_and_that_is_said_once() -> None:
    check(
        [
            cells("x = 1"),
            cells("x = 1", USE),
            cells("#md", "x = 1", USE),
            cells("#md", "x = 1", ""),
            cells("x = 1", ""),
        ],
        {"introduced": ["1:0:6 foo"]},
        {"outstanding": ["2:0:6 foo"]},
        {"fixed": ["2:0:6 foo"]},
        {},
    )


def test_a_baseline_finding_that_was_fixed_is_new_when_it_comes_back() -> None:
    check([cells(USE), cells("print(1)"), cells(USE)], {"fixed": ["0:0:6 foo"]}, {"introduced": ["0:0:6 foo"]})


def test_accepted_findings_are_old() -> None:
    [delta] = run([cells("x = 1"), cells(USE)])
    assert delta.last is not None
    assert outcome(compute_delta(delta.last.accepted(), judge(cells(USE)))) == {"preexisting": ["0:0:6 foo"]}


class TestCellsThatDoNotParse:
    """Nothing is lost or found elsewhere while a cell is broken."""

    def test_findings_of_a_broken_cell_are_carried_and_come_back_as_they_were(self) -> None:
        check(
            [cells(USE), cells("print(foo"), cells(USE)],
            {"introduced": ["0:0:5 syntax"], "carried": ["0:0:6 foo"]},
            {"preexisting": ["0:0:6 foo"], "fixed": ["0:0:5 syntax"]},
        )

    def test_breaking_one_cell_fixes_nothing_in_others(self) -> None:
        # The toy takes all words of a broken cell for names that it binds, so the finding in cell 1 disappears.
        check(
            [cells("x = 1", USE), cells("foo = (", USE), cells("x = 1", USE)],
            {"introduced": ["0:0:6 syntax"], "carried": ["1:0:6 foo"]},
            {"preexisting": ["1:0:6 foo"], "fixed": ["0:0:6 syntax"]},
        )

    @pytest.mark.parametrize(
        ("others", "place"),
        [
            (["x = 1", USE], "2:0:6"),
            (["# note\n\nx = 1", USE], "2:0:6"),
            (["x = 1\n\n# note\nprint(foo)"], "1:3:6"),
            (["y = 3\nx = 1\nprint(foo)"], None),
        ],
    )
    def test_cells_may_be_split_and_commented_while_another_is_broken(
        self, others: list[str], place: str | None
    ) -> None:
        states = [["y = 3", f"x = 1\n{USE}"], ["foo = (", f"x = 1\n{USE}"], ["foo = (", *others]]
        _, last = run([cells(*state) for state in states])
        expected = {"carried": [f"{place} foo"]} if place else {"fixed": ["1:1:6 foo"]}
        assert outcome(last) == {"outstanding": ["0:0:6 syntax"], **expected}

    def test_what_is_fixed_in_a_changed_cell_is_fixed_although_another_is_broken(self) -> None:
        check(
            [cells("x = 1", USE), cells("x = (", "print(1)")],
            {"introduced": ["0:0:4 syntax"], "fixed": ["1:0:6 foo"]},
        )

    def test_an_error_behind_a_mended_syntax_error_is_no_new_one(self) -> None:
        check(
            [cells("x = = 1\ny = 2\nz = = 3"), cells("x = 1\ny = 2\nz = = 3"), cells("x = 1\ny = 2\nz = 3")],
            {"preexisting": ["0:2:4 syntax"]},
            {"fixed": ["0:2:4 syntax"]},
        )

    def test_a_syntax_error_that_becomes_another_by_an_edit_is_new(self) -> None:
        check(
            [cells("x = = 1\nk = 0\ny = 2"), cells("x = 1\nk = 0\ny = = 2")],
            {"introduced": ["0:2:4 syntax"], "fixed": ["0:0:4 syntax"]},
        )

    def test_a_syntax_error_behind_another_one_is_not_looked_at(self) -> None:
        check(
            [cells("x = = 1", "y = = 2"), cells("x = = 1\ny = = 2"), cells("x = 1\ny = = 2")],
            {"preexisting": ["0:0:4 syntax"], "carried": ["0:1:4 syntax"]},
            {"preexisting": ["0:1:4 syntax"], "fixed": ["0:0:4 syntax"]},
        )

    def test_carried_findings_follow_their_cell(self) -> None:
        check(
            [cells("x = 1", TWICE), cells("print(foo\nprint(foo)", "x = 1"), cells("#md", TWICE, "x = 1")],
            {"introduced": ["0:0:5 syntax"], "carried": ["0:0:6 foo", "0:1:6 foo"]},
            {"preexisting": ["1:0:6 foo", "1:1:6 foo"], "fixed": ["0:0:5 syntax"]},
        )


def test_what_was_found_in_a_cell_that_is_text_now_is_fixed_although_another_is_broken() -> None:
    before, broken = cells("x = 1", USE), cells("foo = (", USE)
    check([before, (broken[0], replace(broken[1], kind=CellKind.MARKDOWN))],
          {"introduced": ["0:0:6 syntax"], "fixed": ["1:0:6 foo"]})  # fmt: skip


def test_the_edit_of_the_architecture_page() -> None:
    prices = "prices = [3, 4]"
    before = cells("#md Prices", prices, "'😀', pricse")
    after = cells("import math", "#md Prices", prices, "'😀', prices\npries")
    assert match_cells(before, after).old_of_new == (None, 0, 1, 2)
    check([before, after], {"introduced": ["3:1:0 pries"], "fixed": ["2:0:5 pricse"]})
