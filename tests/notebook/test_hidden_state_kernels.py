"""Hidden state as real kernels have it: put there on purpose and found, and never told of what is run as it stands."""

import json
from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

from jupyter_lsp_agent.notebook.hidden_state import HiddenStateKind, find_hidden_state
from jupyter_lsp_agent.notebook.model import CellKind
from jupyter_lsp_agent.notebook.reader import notebook_from_json, read_notebook
from tests.support.corpus import CORPUS, needs_corpus
from tests.support.full import sample
from tests.support.notebooks import notebook_json, python_notebook
from tests.support.recorded_kernels import RECORD, TELL, KernelState, RunningKernel, running_kernel, state_from

KINDS = HiddenStateKind

# cells as they stand at the end; what was run, as (cell, source) in order; what must be found.
SEEDED = {
    "a cell was deleted": (
        ["print(rate * 2)"],
        [("c009", "rate = 3"), ("c000", "print(rate * 2)")],
        [(0, "rate", KINDS.CELL_DELETED)],
    ),
    "a name was changed, and its use was not": (
        ["prices = [1, 2]", "print(sum(price))"],
        [("c000", "price = [1, 2]"), ("c001", "print(sum(price))"), ("c000", "prices = [1, 2]")],
        [(1, "price", KINDS.CELL_EDITED)],
    ),
    "run in another order than they stand": (
        ["print(mean([1, 2]))", "from statistics import mean"],
        [("c001", "from statistics import mean"), ("c000", "print(mean([1, 2]))")],
        [(0, "mean", KINDS.DEFINED_BELOW)],
    ),
    "bound again below, and run after that": (
        ["x = 1", "print(x)", "x = 2"],
        [("c000", "x = 1"), ("c001", "print(x)"), ("c002", "x = 2"), ("c001", "print(x)")],
        [(1, "x", KINDS.OTHER_DEFINITION)],
    ),
    "a cell was edited and those below were not run again": (
        ["x = 10", "y = x + 1"],
        [("c000", "x = 1"), ("c001", "y = x + 1"), ("c000", "x = 10")],
        [(1, "x", KINDS.STALE_DEFINITION)],
    ),
    "defined in a console on the same kernel": (
        ["a = 1", "print(a + b)"],
        [("c000", "a = 1"), (None, "b = 2"), ("c001", "print(a + b)")],
        [(1, "b", KINDS.NO_CELL)],
    ),
    "a file was run into the namespace by hand": (
        ["a = 1", "print(a + given_by_file)"],
        [("c000", "a = 1"), (None, "%run -i given.py"), ("c001", "print(a + given_by_file)")],
        [(1, "given_by_file", KINDS.NO_CELL)],
    ),
    "deleted above, and brought back by hand": (
        ["x = 1", "del x", "print(x)"],
        [("c000", "x = 1"), ("c001", "del x"), ("c000", "x = 1"), ("c002", "print(x)")],
        [(2, "x", KINDS.NAME_DELETED)],
    ),
    "a counter whose start is gone": (
        ["n += 1"],
        [("c009", "n = 0"), ("c000", "n += 1"), ("c000", "n += 1")],
        [(0, "n", KINDS.CELL_DELETED)],
    ),
    "a function that uses what is gone": (
        ["def area(r):\n    return factor * r", "area(1)"],
        [("c009", "factor = 3"), ("c000", "def area(r):\n    return factor * r"), ("c001", "area(1)")],
        [(0, "factor", KINDS.CELL_DELETED)],
    ),
}


def found(cells: list[str], state: KernelState) -> list[tuple[int, str, HiddenStateKind]]:
    findings = find_hidden_state(python_notebook(*cells), state.executed, state.names)
    return [(one.cell_index, one.name, one.kind) for one in findings]


@pytest.mark.parametrize(("cells", "runs", "expected"), SEEDED.values(), ids=SEEDED)
def test_seeded_state_is_found(cells, runs, expected, tmp_path):
    (tmp_path / "given.py").write_text("given_by_file = 1\n")
    with running_kernel(tmp_path) as kernel:
        assert [kernel.run(source, cell_id) for cell_id, source in runs] == ["ok"] * len(runs)
        assert found(cells, kernel.state()) == expected
    with running_kernel(tmp_path) as kernel:
        failed = first_failure(kernel, cells)
        assert found(cells, kernel.state()) == []
    ((index, _, kind),) = expected
    if kind in {KINDS.OTHER_DEFINITION, KINDS.STALE_DEFINITION}:
        assert failed is None
    else:
        assert failed == len(cells) - 1 if "def " in cells[index] else failed == index


def first_failure(kernel: RunningKernel, cells: list[str]) -> int | None:
    """Run All, which ends at the first cell that fails."""
    runs = ((number, kernel.run(source, f"c{number:03}")) for number, source in enumerate(cells))
    return next((number for number, outcome in runs if outcome == "error"), None)


def test_everyday_use_is_no_hidden_state(tmp_path):
    """Twice, alone, with magics, with a function that is called when all is there, interrupted, and with a failure."""
    cells = [
        "import time\nimport os",
        "limit = 3",
        "def scaled(values):\n    return [scale * value for value in values]",
        "scale = 2",
        "%%time\nresult = scaled(range(limit))",
        "%time total = sum(result)",
        "for step in range(limit):\n    print(step, total)",
        "total = total + 1",
        "print(total, step)",
        "%%timeit -n1 -r1\ninner = total",
        "%%capture shown\nprint(result)",
        "shown.stdout, len(result), Out, In[-1]",
        "[value for value in result], {key: 1 for key in result}",
        "await __import__('asyncio').sleep(0)",
    ]
    with running_kernel(tmp_path) as kernel:
        for _ in range(2):
            assert {kernel.run(source, f"c{number:03}") for number, source in enumerate(cells)} == {"ok"}
        assert found(cells, kernel.state()) == []
        for number in (0, 2, 3, 4, 7, 7, 8, 1):
            assert kernel.run(cells[number], f"c{number:03}") == "ok"
        assert found(cells, kernel.state()) == []
        assert kernel.run("1 / 0", "c003") == "error"
        assert found(cells, kernel.state()) == []


def test_what_was_interrupted_says_nothing(tmp_path):
    slow = "import time\nprint('ready', flush=True)\ntime.sleep(600)\nx = 2"
    cells = ["x = 1", "print(x)", slow]
    with running_kernel(tmp_path) as kernel:
        assert kernel.run("x = 1", "c000") == "ok"
        assert kernel.interrupt_in(slow, "c002") == "error"
        assert kernel.run("print(x)", "c001") == "ok"
        state = kernel.state()
        assert [one.failed for one in state.executed] == [False, True, False]
        assert found(cells, state) == []


def test_names_of_start_up_files_survive_a_restart(tmp_path):
    startup = tmp_path / "ipython" / "profile_default" / "startup"
    startup.mkdir(parents=True)
    (startup / "00.py").write_text("import math\nfrom_startup = 1\n")
    with running_kernel(tmp_path, IPYTHONDIR=str(tmp_path / "ipython")) as kernel:
        assert kernel.run("print(from_startup, math.pi)", "c000") == "ok"
        state = kernel.state()
        assert state.names == frozenset()
        assert found(["print(from_startup, math.pi)"], state) == []


def test_a_fresh_kernel_has_no_names_of_its_user(tmp_path):
    with running_kernel(tmp_path) as kernel:
        assert kernel.state() == KernelState((), frozenset())


RUNNABLE = json.loads((Path(__file__).parent / "runnable_notebooks.json").read_text(encoding="utf-8"))
"""Notebooks of the corpus that run to their end in a moment, and touch no file elsewhere, no process and no network: so
chosen by their imports, calls and magics. `needs`: what must be installed beside the standard library."""


@needs_corpus
@pytest.mark.shared
@pytest.mark.timeout(180)
@pytest.mark.parametrize("entry", sample(RUNNABLE, RUNNABLE[:8]), ids=lambda entry: entry["file"])
async def test_nothing_is_told_after_restart_and_run_all(entry, tmp_path):
    for module in entry["needs"]:
        pytest.importorskip(module)
    name = entry["file"]
    notebook = read_notebook((CORPUS / name).read_bytes(), name)
    code = [cell for cell in notebook.cells if cell.kind is CellKind.CODE]
    document = nbformat.v4.new_notebook(
        cells=[nbformat.v4.new_code_cell(cell.source, metadata={"tags": list(cell.tags)}) for cell in code]
    )
    client = NotebookClient(
        document, timeout=100, kernel_name="python3", resources={"metadata": {"path": str(tmp_path)}}
    )
    async with client.async_setup_kernel():
        await client.async_wait_for_reply(client.kc.execute(RECORD, silent=True))
        for number, cell in enumerate(document.cells):
            await client.async_execute_cell(cell, number)
        asked = client.kc.execute("", silent=True, user_expressions={"state": TELL})
        state = state_from(await client.async_wait_for_reply(asked))
    ran = [one for one in state.executed if one.source.strip()]
    assert len(ran) == sum(bool(cell.source.strip()) for cell in code)
    assert sum(bool(one.failed) for one in ran) <= sum("raises-exception" in cell.tags for cell in code)
    assert find_hidden_state(notebook, state.executed, state.names) == ()


def test_ids_of_cells_reach_the_kernel(tmp_path):
    notebook = notebook_from_json(notebook_json("x = 1"), "n.ipynb")
    with running_kernel(tmp_path) as kernel:
        kernel.run("x = 1", notebook.cells[0].cell_id)
        (one,) = kernel.state().executed
        assert (one.cell_id, one.execution_count, one.failed, one.source) == ("c000", 1, False, "x = 1")
