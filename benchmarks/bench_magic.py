"""What `%lsp_check --auto` costs the kernel's thread after each run, for a notebook of 100 cells.

Run: `python benchmarks/bench_magic.py`. A shell in this process, a real ty, one changed cell a run; the times are of
the whole callback, waiting included, since the kernel does nothing else meanwhile. The target is 50 ms.
"""

import json
import statistics
import tempfile
import time
from pathlib import Path

from IPython.core.interactiveshell import InteractiveShell
from IPython.utils.capture import capture_output

CELLS, RUNS = 100, 60


def cell(number: int, version: int = 0) -> str:
    return f"value_{number} = {number} + {version}\nlist_{number} = [value_{number}] * 3\nprint(len(list_{number}))\n"


def notebook() -> str:
    cells = [
        {"cell_type": "code", "id": f"c{n}", "source": cell(n), "metadata": {}, "outputs": [], "execution_count": None}
        for n in range(CELLS)
    ]
    return json.dumps({"cells": cells, "metadata": {}, "nbformat": 4, "nbformat_minor": 5})


def main() -> None:
    shell = InteractiveShell.instance()
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "bench.ipynb")
        path.write_text(notebook())
        shell.user_ns["__vsc_ipynb_file__"] = str(path)
        spent: list[float] = []
        with capture_output():
            for number in range(CELLS):
                shell.run_cell(cell(number), store_history=True, cell_id=f"c{number}")
            shell.run_cell("%load_ext jupyter_lsp_agent\n%lsp_check\n%lsp_check --auto on", store_history=True)
            auto = next(one for one in shell.events.callbacks["post_run_cell"] if one.__qualname__.startswith("Auto"))
            shell.events.unregister("post_run_cell", auto)
            for number in range(RUNS):
                result = shell.run_cell(cell(number, 1), store_history=True, cell_id=f"c{number}")
                began = time.perf_counter()
                auto(result)
                spent.append((time.perf_counter() - began) * 1000)
        shell.run_cell("%unload_ext jupyter_lsp_agent")
    spent.sort()
    print(f"{CELLS} cells, {RUNS} runs: median {statistics.median(spent):.1f} ms, most {spent[-1]:.1f} ms of 50 ms")


if __name__ == "__main__":
    main()
