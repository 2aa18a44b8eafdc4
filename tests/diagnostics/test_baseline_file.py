"""The baseline file: what it holds, what its text looks like, and which findings it knows."""

import json
from collections.abc import Sequence
from datetime import UTC, datetime

import pytest

from jupyter_lsp_agent.core.diagnostic import CellDiagnostic
from jupyter_lsp_agent.core.errors import InvalidRequestError
from jupyter_lsp_agent.diagnostics.baseline_file import (
    BaselineEntry,
    BaselineFile,
    KnownFindings,
    baseline_entries,
    decode_baseline,
    encode_baseline,
    find_known,
    renew_baseline,
)
from jupyter_lsp_agent.diagnostics.build import build_report
from jupyter_lsp_agent.diagnostics.facts import Finding, ReportFacts, ViewOptions
from jupyter_lsp_agent.diagnostics.fingerprint import Located
from jupyter_lsp_agent.diagnostics.report import Status
from tests.support.states import CellSpec, cells
from tests.support.toy_checker import judge


def entries(*specs: CellSpec) -> tuple[BaselineEntry, ...]:
    """The entries that a report on these cells gives."""
    notebook = cells(*specs)
    found = tuple(
        Finding(Status.PRESENT, CellDiagnostic(item.cell_index, item.diagnostic)) for item in judge(notebook).findings
    )
    facts = ReportFacts(path="a.ipynb", cells=notebook, findings=found, checked_at=datetime(2026, 1, 1, tzinfo=UTC))
    return baseline_entries(build_report(facts, ViewOptions(max_per_cell=0, max_total=0)))


def known(specs: Sequence[CellSpec], to: Sequence[BaselineEntry]) -> KnownFindings:
    notebook = cells(*specs)
    located = [
        Located(
            item.diagnostic, notebook[item.cell_index].source.split("\n")[item.start.line], notebook[item.cell_index]
        )
        for item in judge(notebook).findings
    ]
    return find_known(located, to)


@pytest.mark.parametrize(
    ("before", "after", "new", "n_gone"),
    [
        pytest.param(["print(foo)"], ["print(foo)"], [], 0, id="the same"),
        pytest.param(["print(foo)", "x = 1\nprint(bar)"], ["#md", "print(bar)", "print(foo)"], [], 0, id="cells moved"),
        pytest.param(["print(foo)"], ["print(foo, 1)"], [], 0, id="its line edited"),
        pytest.param(["print(foo)"], ["print(foo)", "print(foo)"], [False], 0, id="one more of the same"),
        pytest.param(["print(foo)", "print(foo)"], ["print(foo)"], [], 1, id="one less of the same"),
        pytest.param(["print(foo)"], ["print(1)"], [], 1, id="mended"),
        pytest.param(["print(foo)"], ["print(bar)"], [False], 1, id="another instead"),
        pytest.param([], ["print(foo)"], [False], 0, id="all new"),
    ],
)
def test_which_findings_are_known(before: list[CellSpec], after: list[CellSpec], new: list[bool], n_gone: int) -> None:
    found = known(after, entries(*before))
    assert [item for item in found.known if not item] == new
    assert len(found.gone) == n_gone


def test_of_two_equal_findings_on_edited_lines_one_entry_knows_one() -> None:
    found = known(["print(foo, 1)", "print(foo, 2)"], entries("print(foo)"))
    assert (sorted(found.known), found.gone) == ([False, True], ())


def test_the_text_is_the_same_wherever_things_stand() -> None:
    one = BaselineFile({"b.ipynb": entries("print(foo)", "print(bar)"), "a.ipynb": entries("print(x)")})
    two = BaselineFile({"a.ipynb": entries("\n\nprint(x)"), "b.ipynb": entries("print(bar)", "#md", "\nprint(foo)")})
    assert encode_baseline(one) == encode_baseline(two)


def test_one_finding_is_one_line_without_positions() -> None:
    text = encode_baseline(BaselineFile({"a.ipynb": entries("print(foo)", "print(bar)")}))
    lines = [line for line in text.split("\n") if "fingerprint" in line]
    assert len(lines) == 2
    assert json.loads(lines[0].strip().rstrip(",")).keys() == {
        "code", "message", "source_line", "severity", "source", "fingerprint",
    }  # fmt: skip


@pytest.mark.parametrize("specs", [[], ["print(foo)", "print('ä', bar)"]])
def test_what_is_written_is_read(specs: list[CellSpec]) -> None:
    files = {"ä/a.ipynb": entries(*specs)} if specs else {}
    assert decode_baseline(encode_baseline(BaselineFile(files)), "b.json") == BaselineFile(files)


def test_writing_again_prunes_what_is_gone_and_keeps_what_was_not_checked() -> None:
    old = BaselineFile(
        {name: entries("print(foo)") for name in ("checked.ipynb", "mended.ipynb", "elsewhere.ipynb", "deleted.ipynb")}
    )
    found = {"checked.ipynb": entries("print(bar)"), "mended.ipynb": (), "new.ipynb": entries("print(x)")}
    renewed = renew_baseline(old, found, lambda path: path != "deleted.ipynb")
    assert renewed.files == {
        "checked.ipynb": entries("print(bar)"),
        "new.ipynb": entries("print(x)"),
        "elsewhere.ipynb": entries("print(foo)"),
    }


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("", "not JSON"),
        ("{", "not JSON"),
        ("[]", "its version"),
        ('{"version": 2, "files": {}}', "its version"),
        ('{"version": 1}', "its entries"),
        ('{"version": 1, "files": []}', "its entries"),
        ('{"version": 1, "files": {"a": [{}]}}', "its entries"),
        ('{"version": 1, "files": {"a": [1]}}', "its entries"),
        ('{"version": 1, "files": {"a": 1}}', "its entries"),
    ],
)
def test_what_is_no_baseline_is_told_with_the_mend(text: str, why: str) -> None:
    with pytest.raises(
        InvalidRequestError, match=rf"b\.json is no baseline file \({why}.*name one that `--write-baseline`"
    ):
        decode_baseline(text, "b.json")
