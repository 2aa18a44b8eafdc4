"""What a comparison looks at, counted instead of timed; `benchmarks/bench_delta.py` measures the time."""

from collections import Counter
from collections.abc import Sequence
from difflib import SequenceMatcher
from typing import Any

import pytest

from jupyter_lsp_agent.diagnostics import line_diff, line_shift
from jupyter_lsp_agent.diagnostics.line_diff import LineDiff, diff_lines
from jupyter_lsp_agent.diagnostics.line_shift import build_line_shift
from tests.support.states import cells


def test_only_changed_cells_are_diffed(monkeypatch: pytest.MonkeyPatch) -> None:
    diffed: list[tuple[int, int]] = []

    def counting(old: Sequence[str], new: Sequence[str]) -> LineDiff:
        diffed.append((len(old), len(new)))
        return diff_lines(old, new)

    monkeypatch.setattr(line_shift, "diff_lines", counting)
    sources = ["\n".join(f"value_{cell}_{line} = 1" for line in range(10)) for cell in range(1000)]
    edited = [*sources[:500], sources[500] + "\nx = 1", *sources[501:]]
    build_line_shift(cells(*sources), cells(*edited))
    assert diffed == [(10, 11)]


N_LINES = 4000


@pytest.mark.parametrize(
    ("old", "new"),
    [
        pytest.param(["a", "b"] * (N_LINES // 2), ["b", "a"] * (N_LINES // 2), id="two lines in turn"),
        pytest.param(["a"] * N_LINES, ["b", *["a"] * N_LINES, "b"], id="one line over and over"),
        pytest.param(["a", "b", "b"] * 1000, ["b", "a", "a"] * 1000, id="uneven turns"),
        pytest.param([f"{n % 97}" for n in range(N_LINES)], [f"{-n % 97}" for n in range(N_LINES)], id="reversed"),
    ],
)
def test_difflib_is_never_given_what_it_is_slow_with(
    old: list[str], new: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    asked: list[int] = []

    def watched(isjunk: Any, one: Sequence[str], other: Sequence[str], *, autojunk: bool) -> SequenceMatcher[str]:
        counts = Counter(other)
        asked.append(sum(counts[line] for line in one))
        assert not autojunk
        return SequenceMatcher(isjunk, one, other, autojunk=autojunk)

    monkeypatch.setattr(line_diff, "SequenceMatcher", watched)
    diff = diff_lines(old, new)
    assert sum(asked) <= 20_000
    assert all(old[old_line] == new[new_line] for old_line, new_line in diff.kept)
    assert diff.kept == tuple(sorted(set(diff.kept)))
