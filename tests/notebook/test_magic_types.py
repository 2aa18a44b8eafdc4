"""For each typed name that magics bind, a real server reports a wrong attribute and accepts the right ones."""

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from jupyter_lsp_agent.notebook.cell_translation import MagicOptions
from jupyter_lsp_agent.notebook.magic_prelude import PRELUDE
from jupyter_lsp_agent.notebook.magics import prelude_lines, translate_cell
from jupyter_lsp_agent.notebook.reserved_names import MISSING_MODULE

TY = shutil.which("ty", path=str(Path(sys.executable).parent)) or shutil.which("ty")

TYPED = [
    (
        "x = !ls",
        ["n", "s", "p", "l", "nlstr", "spstr", "paths", "list", "fields(0)", "grep('a').n", "sort(1, nums=True)"],
    ),
    ("a, b = x = 1, 2\nx = %sx ls", ["n.upper()", "append('a')"]),
    ("x = %pwd", ["upper()"]),
    ("x = %who_ls", ["append('a')"]),
    ("x = %timeit -o 1 + 1", ["best + 1", "average", "stdev", "timings", "all_runs[0]", "loops", "repeat", "worst"]),
    ("%timeit -v x 1 + 1", ["best"]),
    ("%time x = 'a'", ["upper()"]),
    ("x = %time 'a'.upper()", ["upper()"]),
    ("%%capture x\n1", ["stdout.upper()", "stderr", "outputs[0].anything", "show()"]),
    ("%%bash --out x\necho a", ["upper()"]),
    ("%%bash --err x\necho a", ["upper()"]),
    ("%sc -l x = ls", ["n"]),
]
UNTYPED = ["x = %unknown_thing", "%store -r x", "%%sql x <<\nselect 1", "%%R -o x\nx <- 1", "%%cython\ndef x(): pass"]


def reported_lines(folder: Path, text: str) -> list[int]:
    """0-based lines for which ty has a finding."""
    assert TY is not None
    path = folder / "cell.py"
    path.write_text(text, encoding="utf-8")
    run = subprocess.run(
        [TY, "check", "--output-format", "concise", "--project", str(folder), str(path)],
        capture_output=True, text=True, check=False, timeout=50,
    )  # fmt: skip
    assert run.returncode in {0, 1}, run.stderr
    return [int(line.split("cell.py:")[1].split(":")[0]) - 1 for line in run.stdout.splitlines() if "cell.py:" in line]


@pytest.mark.real_server("ty")
def test_a_wrong_attribute_is_reported_and_a_right_one_is_not(tmp_path: Path) -> None:
    lines = prelude_lines(PRELUDE)
    wrong: list[int] = []
    for number, (source, attributes) in enumerate(TYPED):
        lines += [f"def _cell_{number}() -> None:", "    if True: pass"]
        lines += [f"    {line}" for line in translate_cell(source, MagicOptions()).text.split("\n")]
        lines += [f"    x.{attribute}" for attribute in attributes]
        wrong.append(len(lines))
        lines.append("    x.no_such_attribute")
    for number, source in enumerate(UNTYPED):
        lines += [f"def _untyped_{number}() -> None:", "    if True: pass"]
        lines += [f"    {line}" for line in translate_cell(source, MagicOptions()).text.split("\n")]
        lines += ["    x.anything[0](1).at_all"]
    found = reported_lines(tmp_path, "\n".join(lines))
    assert [line for line in found if MISSING_MODULE not in lines[line]] == wrong
