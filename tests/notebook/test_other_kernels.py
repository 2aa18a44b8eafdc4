"""Cells of other kernels as files: C++ held against a compiler, the rest against what the language allows."""

import shutil
import subprocess
from collections.abc import Sequence
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_lsp_agent.core.ids import LanguageId
from jupyter_lsp_agent.core.positions import CellLine, TextPosition, split_lines
from jupyter_lsp_agent.notebook.cpp_statements import split_pieces
from jupyter_lsp_agent.notebook.model import Cell, CellKind
from jupyter_lsp_agent.notebook.other_kernels import is_joinable, join_cells
from jupyter_lsp_agent.notebook.virtual_document import build_kernel_document

LANGUAGES = ["shellscript", "typescript", "javascript", "r", "cpp", "go", "rust"]


def cells_of(*sources: str) -> list[Cell]:
    return [Cell(index, None, CellKind.CODE, source) for index, source in enumerate(sources)]


def text_of(language: str, *sources: str) -> str:
    return join_cells(LanguageId(language), cells_of(*sources)).text


CPP_CELLS = [
    [
        "#include <iostream>\n#include <vector>",
        "std::vector<int> v = {1, 2};\nv.push_back(3);",
        "std::cout << v.size();",
    ],
    ["int f(int a) {\n  return a;\n}", "int x = f(1); x++;\nx", "if (x) { f(1); } else { f(2); }"],
    ["struct S { int a; S(); };\nS::S() : a(1) {}", "S s;\ns.a = 2;", "do { s.a--; } while (s.a);"],
    ["template <typename T>\nT add(T a, T b) { return a + b; }", "auto y = add(1.0, 2.0); // }\ny"],
    [
        'const char *t = "};{";',
        "/* ; { */ auto g = [](int a) { return a; };\ng(1)",
        "for (int i = 0; i < 3; ++i) g(i);",
    ],
    [
        "#include <string>\nnamespace n { int z; }\nusing namespace n;",
        "z = 3;",
        'std::string r = R"x(a;"{)x";\nr.size();',
    ],
    ["enum E { A, B };\nE e = A;", "switch (e) { case A: break; default: break; }", "try { throw 1; } catch (int) { }"],
    [
        "#define TWICE(x) \\\n  ((x) * 2)\nint w = TWICE(2);",
        "unsigned long q = 1;\nint* p = &w;\n*p = 4;\ndelete new int;",
    ],
]


@pytest.mark.skipif(shutil.which("g++") is None, reason="no C++ compiler on this machine")
@pytest.mark.parametrize("sources", CPP_CELLS, ids=lambda sources: sources[0].partition("\n")[0])
def test_cpp_cells_become_a_file_that_compiles(tmp_path: Path, sources: Sequence[str]) -> None:
    file = tmp_path / "cells.cpp"
    file.write_text(text_of("cpp", *sources))
    done = subprocess.run(
        ["g++", "-std=c++17", "-fsyntax-only", str(file)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, file.read_text() + done.stderr


@pytest.mark.skipif(shutil.which("g++") is None, reason="no C++ compiler on this machine")
def test_a_mistake_in_a_cpp_statement_stays_a_mistake(tmp_path: Path) -> None:
    file = tmp_path / "cells.cpp"
    file.write_text(text_of("cpp", "int x = 1;", "x = undefined_name;"))
    done = subprocess.run(["g++", "-fsyntax-only", str(file)], capture_output=True, text=True, check=False)
    assert "undefined_name" in done.stderr


@pytest.mark.parametrize(
    ("language", "line"),
    [
        ("cpp", "%timeit x"),
        ("cpp", "!ls"),
        ("cpp", "?std::vector"),
        ("cpp", ".L lib"),
        ("cpp", "#pragma cling load(1)"),
        ("go", "!ls"),
        ("go", "%env A=1"),
        ("rust", ":dep serde = 1"),
    ],
)
def test_a_kernels_own_lines_are_left_blank(language: str, line: str) -> None:
    assert line not in text_of(language, f"{line}\n")


@pytest.mark.parametrize(
    ("language", "line"), [("go", "%% x"), ("go", "%main"), ("cpp", "x %= 3;"), ("rust", "a::b();"), ("r", "?mean")]
)
def test_other_lines_are_not(language: str, line: str) -> None:
    chunk = join_cells(LanguageId(language), cells_of(line)).chunks[0][1]
    assert chunk.lines[0].text


def test_go_imports_of_all_cells_come_first_and_once() -> None:
    text = text_of("go", 'import "fmt"', 'var x = 1\nimport (\n\t"os" // c\n\tm "math"\n)', 'import "fmt"\nvar y = 2')
    imports = [line for line in text.split("\n") if line.startswith("import")]
    assert imports == ['import "fmt"', 'import "os"', 'import m "math"']
    assert text.index('m "math"') < text.index("var x")


def test_a_broken_cell_leaves_nothing_behind_but_its_place() -> None:
    cells = cells_of("const a = foo(1,", "const b = 2")
    joined = join_cells(LanguageId("typescript"), cells, frozenset({cells[0].source}))
    assert "foo" not in joined.text
    assert [index for index, _ in joined.chunks] == [0, 1]


@given(st.sampled_from(LANGUAGES), st.lists(st.text(max_size=60), min_size=1, max_size=4))
def test_nothing_raises_and_every_line_has_its_place(language: str, sources: list[str]) -> None:
    document = build_kernel_document(LanguageId(language), cells_of(*sources))
    for index, source in enumerate(sources):
        place = document.line_map.place_of(index)
        assert place is not None
        lines = {line.cell_line for line in place.chunk.lines} - {None}
        assert lines == {CellLine(number) for number in range(len(split_lines(source)))}


@given(st.sampled_from(["shellscript", "typescript", "cpp", "rust"]), st.text("abx;{}()=\"'/* \n#<>1", max_size=80))
def test_every_copied_character_is_found_again(language: str, source: str) -> None:
    document = build_kernel_document(LanguageId(language), cells_of(source))
    lines = document.text.split("\n")
    for number, line in enumerate(split_lines(source)):
        for column, character in enumerate(line):
            virtual = document.line_map.to_virtual(0, TextPosition(number, column))
            if virtual is not None:
                assert lines[virtual.line][virtual.column] == character


@given(st.text("abx;{}()=\"'/* \n#<>1:&", max_size=200))
def test_cpp_pieces_are_in_order_and_do_not_overlap(source: str) -> None:
    pieces = list(split_pieces(source))
    assert all(piece.start < piece.end <= len(source) for piece in pieces)
    assert all(first.end <= second.start for first, second in pairwise(pieces))


def test_a_language_without_a_way_is_not_joined() -> None:
    assert not is_joinable(LanguageId("julia"))


def test_a_command_goes_on_after_a_backslash() -> None:
    assert text_of("go", "!while true; do \\\n  echo 1; \\\ndone\nvar x = 1").split("\n")[1:5] == [
        "",
        "",
        "",
        "var x = 1",
    ]
