from dataclasses import replace

from jupyter_lsp_agent.core.diagnostic import CellDiagnostic, DiagnosticSeverity
from jupyter_lsp_agent.diagnostics.merge import merge_cell_diagnostics, merge_diagnostics
from tests.support.reports import diagnostic


def test_the_same_words_at_the_same_place_are_one_finding():
    assert merge_diagnostics([[diagnostic()], [diagnostic()]]) == (diagnostic(),)


def test_whatever_differs_is_kept():
    base = diagnostic()
    variants = [
        base,
        diagnostic(line=1),
        diagnostic(end_column=2),
        diagnostic(severity=DiagnosticSeverity.WARNING),
        diagnostic(code=None),
        diagnostic(source="ruff"),
        diagnostic(message="another"),
    ]
    assert set(merge_diagnostics([[one] for one in variants])) == set(variants)


def test_a_missing_code_and_an_empty_one_differ():
    assert len(merge_diagnostics([[diagnostic(code=None)], [diagnostic(code="")]])) == 2


def test_what_only_accompanies_a_finding_makes_no_second_one():
    richer = replace(diagnostic(), code_description="https://example.org")
    assert merge_diagnostics([[diagnostic()], [richer]]) == (diagnostic(),)


def test_cells_are_part_of_the_place_and_of_the_order():
    first, second = CellDiagnostic(0, diagnostic(line=3)), CellDiagnostic(1, diagnostic())
    assert merge_cell_diagnostics([[second, first], [second]]) == (first, second)


def test_the_order_does_not_depend_on_the_sources():
    reports = [[diagnostic(line=2), diagnostic()], [diagnostic(line=1)]]
    assert merge_diagnostics(reports) == merge_diagnostics(reports[::-1])
