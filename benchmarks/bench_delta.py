"""What comparing two states costs: 1,000 cells, 10,000 lines, 1,000 findings, and one cell changed.

Run with `python -m benchmarks.bench_delta`. Times are processor time, the best of a few runs. The sizes double from
row to row: the cost must grow with them, not with their square. The second table has one cell of repeated lines,
which is what a diff finds hardest; the third has everything changed.
"""

import time
from collections.abc import Callable, Sequence

from jupyter_lsp_agent.core.diagnostic import Diagnostic, DiagnosticSeverity
from jupyter_lsp_agent.core.positions import CellLine, TextPosition, TextRange
from jupyter_lsp_agent.diagnostics.baseline import Finding, StateVerdict
from jupyter_lsp_agent.diagnostics.delta import compute_delta, first_verdict
from jupyter_lsp_agent.notebook.model import Cell, CellKind

LINES_A_CELL = 10


def notebook(n_cells: int) -> tuple[Cell, ...]:
    """Cells whose lines are distinct but for some that stand in all of them, without ids."""
    return tuple(
        Cell(index, None, CellKind.CODE, "\n".join(_line(index, line) for line in range(LINES_A_CELL)))
        for index in range(n_cells)
    )


def _line(cell: int, line: int) -> str:
    return "print(value)" if line % 5 == 4 else f"value_{cell}_{line} = load({cell}, {line})"


def finding(cell: int, line: int) -> Finding:
    where = TextRange(TextPosition(CellLine(line), 0), TextPosition(CellLine(line), 5))
    message = f"Name `value_{cell}` used when not defined (line {line})"
    return Finding(cell, Diagnostic(where, DiagnosticSeverity.ERROR, message, "bench", "undefined"))


def verdict(cells: Sequence[Cell]) -> StateVerdict:
    return StateVerdict(tuple(cells), tuple(finding(cell.index, 4) for cell in cells if cell.source))


def with_cell(cells: Sequence[Cell], index: int, source: str) -> tuple[Cell, ...]:
    return (*cells[:index], Cell(index, None, CellKind.CODE, source), *cells[index + 1 :])


def milliseconds(work: Callable[[], object], n_runs: int = 5) -> float:
    best = float("inf")
    for _ in range(n_runs):
        began = time.process_time()
        work()
        best = min(best, time.process_time() - began)
    return best * 1000


def compare(old: Sequence[Cell], new: Sequence[Cell]) -> float:
    """Milliseconds of one comparison."""
    last, current = first_verdict(verdict(old)), verdict(new)
    return milliseconds(lambda: compute_delta(last, current))


def one_cell_changed(n_cells: int) -> float:
    cells = notebook(n_cells)
    middle = n_cells // 2
    return compare(cells, with_cell(cells, middle, cells[middle].source.replace("load", "read", 1) + "\nx = 1"))


def repeated_lines(n_lines: int) -> dict[str, float]:
    """One changed cell of few different lines, in orders that a longest-match search takes long for."""
    orders = {
        "one line, over and over": (["x"] * n_lines, ["y", *["x"] * (n_lines - 2), "y"]),
        "two lines in turn, shifted": (["a", "b"] * (n_lines // 2), ["b", "a"] * (n_lines // 2)),
        "runs against turns": (["a"] * (n_lines // 2) + ["b"] * (n_lines // 2), ["b", "a"] * (n_lines // 2)),
        "reversed blocks": (
            [f"l{i % 97}" for i in range(n_lines)],
            [f"l{i % 97}" for i in reversed(range(n_lines))],
        ),
    }
    return {
        name: compare(with_cell(notebook(3), 1, "\n".join(old)), with_cell(notebook(3), 1, "\n".join(new)))
        for name, (old, new) in orders.items()
    }


def everything_changed(n_cells: int) -> dict[str, float]:
    cells = notebook(n_cells)
    edited = [Cell(c.index, None, c.kind, c.source.replace("load", "read", 1)) for c in cells]
    rewritten = [Cell(c.index, None, c.kind, "\n".join(f"other_{c.index}_{n}" for n in range(10))) for c in cells]
    moved = [Cell(index, None, c.kind, c.source) for index, c in enumerate(reversed(cells))]
    twins = [Cell(c.index, None, c.kind, "print(value)") for c in cells]
    merged = [Cell(0, None, CellKind.CODE, "\n".join(c.source for c in cells))]
    return {
        "every cell edited": compare(cells, edited),
        "every cell rewritten": compare(cells, rewritten),
        "order reversed": compare(cells, moved),
        "all cells equal, one edited": compare(twins, with_cell(twins, n_cells // 2, "print(other)")),
        "all merged into one": compare(cells, merged),
        "one split into all": compare(merged, cells),
    }


def main() -> None:
    """Print the tables."""
    print("one cell changed         cells   lines  findings       ms")
    for n_cells in (250, 500, 1000, 2000):
        print(f"{'':24}{n_cells:6}{n_cells * LINES_A_CELL:8}{n_cells:10}{one_cell_changed(n_cells):9.1f}")
    for table, sizes in ((repeated_lines, (2_500, 5_000, 10_000)), (everything_changed, (250, 500, 1000))):
        print(f"\n{table.__name__.replace('_', ' '):30}" + "".join(f"{size:>10}" for size in sizes))
        columns = [table(size) for size in sizes]
        for name in columns[0]:
            print(f"{name:30}" + "".join(f"{column[name]:10.1f}" for column in columns))


if __name__ == "__main__":
    main()
