"""What building the virtual document costs: from nothing, and after one cell changed.

Run with `python -m benchmarks.bench_virtual_document`. Times are processor time, the median of several runs. A fifth of
the cells have magics. Aims: a first build within 1 ms a cell; a changed cell within 1 ms at 1,000 lines and 4 ms at
10,000; a changed cell of 300 lines, and one of 50 magics, within 10 ms each.
"""

import statistics
import time
from collections.abc import Callable

from jupyter_lsp_agent.notebook.model import Cell, CellKind, KernelMetadata, Notebook
from jupyter_lsp_agent.notebook.virtual_document import BuildCache, BuildOptions, build_virtual_documents

PYTHON = KernelMetadata(language_name="python")
OPTIONS = BuildOptions()


def source(number: int) -> str:
    """Ten lines: definitions, annotations, loops; in every fifth cell magics."""
    if number % 5 == 0:
        lines = ["%matplotlib inline", f"!pip install x{number}", f"files_{number} = !ls", f"%time y{number} = 3"]
        return "\n".join([*lines, *(f"z{number}_{line} = [{line}]" for line in range(6))])
    return f"""import os
def f{number}(a: int) -> int:
    if a > {number}:
        return a
    return {number}
x{number}: int = f{number}(3)
for j in range(3):
    print(j, x{number})
data_{number} = [x{number}, "a"]
data_{number}.append({number})"""


def notebook(sources: list[str]) -> Notebook:
    return Notebook(tuple(Cell(n, None, CellKind.CODE, text) for n, text in enumerate(sources)), PYTHON)


def milliseconds(work: Callable[[], object]) -> float:
    began = time.process_time()
    work()
    return (time.process_time() - began) * 1000


def first_build(n_cells: int) -> float:
    """Milliseconds a cell."""
    fresh = notebook([source(number) for number in range(n_cells)])
    runs = [milliseconds(lambda: build_virtual_documents(fresh, OPTIONS, BuildCache())) for _ in range(5)]
    return statistics.median(runs) / n_cells


def changed_cell(n_cells: int, change: Callable[[int], str], n_runs: int = 25) -> float:
    """Milliseconds of a build after one cell changed."""
    sources, cache, runs = [source(number) for number in range(n_cells)], BuildCache(), []
    build_virtual_documents(notebook(sources), OPTIONS, cache)
    for run in range(n_runs):
        sources[run * 37 % n_cells] = change(run)
        changed = notebook(sources)
        runs.append(milliseconds(lambda changed=changed: build_virtual_documents(changed, OPTIONS, cache)))  # type: ignore[misc]
    return statistics.median(runs)


def ordinary(run: int) -> str:
    return source(run * 37 + 1) + f"\nchanged_{run} = {run}"


def long(run: int) -> str:
    return "\n".join(f"a{run}_{n} = [{n}, f(a)]\nif a{run}_{n}:\n    print(a{run}_{n})" for n in range(100))


def many_magics(run: int) -> str:
    return "\n".join(f"%time m{run}_{n} = {n}\nprint(m{run}_{n})" for n in range(50))


def main() -> None:
    for n_cells in (100, 1000):
        print(f"first build, {n_cells} cells: {first_build(n_cells):.3f} ms a cell")
    for name, n_cells, change in (
        ("one ordinary cell changed, 1,000 lines", 100, ordinary),
        ("one ordinary cell changed, 10,000 lines", 1000, ordinary),
        ("one cell of 300 lines changed", 100, long),
        ("one cell of 50 magics changed", 100, many_magics),
    ):
        print(f"{name}: {changed_cell(n_cells, change):.2f} ms")


if __name__ == "__main__":
    main()
