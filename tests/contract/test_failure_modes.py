"""No failure of the list is forgotten, every test that is named exists, and every fault still fits the code."""

import ast
import re
from functools import cache
from pathlib import Path

import pytest

from tests.faults.replay import Fault, find_misfit, read_faults

TESTS = Path(__file__).resolve().parents[1]
ROWS = [f"F{number}" for number in range(1, 74)]
REASON = re.compile(r"another platform: .{20,}")
TEST_ID = re.compile(r"[\w/]+\.py::\w+")
HELD_BY_THE_CLIENT = re.compile(r"\b(?:lsp|jsonrpc)/\w+\.py::")


def read_table() -> dict[str, str]:
    """What holds each row."""
    lines = (TESTS / "failure_modes.md").read_text(encoding="utf-8").splitlines()
    cells = [[cell.strip() for cell in line.strip("|").split(" | ")] for line in lines if line.startswith("| F")]
    return {row.strip("| "): held for row, _, held in cells}


@cache
def functions_of(path: Path) -> frozenset[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    return frozenset(node.name for node in tree.body if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef))


def exists(test_id: str) -> bool:
    file, function = test_id.removeprefix("tests/").partition("[")[0].split("::")
    return (TESTS / file).is_file() and function in functions_of(TESTS / file)


def test_every_row_is_there_once() -> None:
    lines = (TESTS / "failure_modes.md").read_text(encoding="utf-8").splitlines()
    assert [line.split("|")[1].strip() for line in lines if line.startswith("| F")] == ROWS


@pytest.mark.parametrize("row", ROWS)
def test_every_row_is_held_by_tests_or_says_why_it_cannot(row: str) -> None:
    held = read_table()[row]
    named = TEST_ID.findall(held)
    assert named or REASON.search(held), held
    assert [test_id for test_id in named if not exists(test_id)] == []


OF_AGENTS = {f"F{number}" for number in range(61, 73)}
"""Output, environments, roots, companions, installs, trust: held by many parts, each with its fault."""

WITHOUT_FAULT = {
    "F68",  # another platform's: the row says so
    "F22",  # the client's half of it is the doubles within one answer; the rest is held where answers are merged
}


def test_every_row_that_the_client_holds_has_a_fault_for_one_of_its_tests() -> None:
    held = {row: text for row, text in read_table().items() if HELD_BY_THE_CLIENT.search(text)}
    proven = {fault.row for fault in read_faults() if fault.test.removeprefix("tests/") in held.get(fault.row, "")}
    assert set(held) - proven - WITHOUT_FAULT == set()


def test_rows_f61_to_f72_have_a_fault_for_one_of_their_tests() -> None:
    table = read_table()
    proven = {fault.row for fault in read_faults() if fault.test.removeprefix("tests/") in table.get(fault.row, "")}
    assert OF_AGENTS - proven - WITHOUT_FAULT == set()


@pytest.mark.parametrize("fault", read_faults(), ids=lambda fault: f"{fault.row}:{fault.test.split('::')[1]}")
def test_every_fault_fits_the_code_and_names_a_row_and_a_test(fault: Fault) -> None:
    assert find_misfit(fault) is None
    assert exists(fault.test)
    assert fault.row in ROWS or not fault.row.startswith("F")  # what the list does not speak of is named in words
