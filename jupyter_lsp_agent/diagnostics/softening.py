"""What may well be right when the notebook runs is a warning, not an error: names and types that depend on the
moment."""

import __future__

import re
import sys
from collections.abc import Iterator, Sequence
from dataclasses import replace

from jupyter_lsp_agent.core.diagnostic import CellDiagnostic, DiagnosticSeverity
from jupyter_lsp_agent.core.positions import TextPosition, TextRange, split_lines
from jupyter_lsp_agent.diagnostics.finding_kinds import FindingKind, kind_of
from jupyter_lsp_agent.diagnostics.notebook_ways import names_it
from jupyter_lsp_agent.notebook.advice import CellAdvice
from jupyter_lsp_agent.notebook.late_reads import find_late_reads
from jupyter_lsp_agent.notebook.virtual_document import VirtualDocument

_REMOTE = re.compile(r"[\"'](?:npm|jsr|node|https?):")
"""Imports that a kernel fetches when it runs, and a server cannot see."""
_MODULE = re.compile(r"(?:(?:from|import)\s+)?(\w+)")
_NO_ADVICE = CellAdvice()


class Softening:
    """Judges the findings of one virtual document; what it finds out about a cell it keeps."""

    def __init__(self, document: VirtualDocument, findings: Sequence[CellDiagnostic]) -> None:
        self._document = document
        self._late_reads: dict[int, dict[TextPosition, list[tuple[str, TextRange]]]] = {}
        hiding = {index for index, advice in document.advice.items() if advice.hides_names}
        anywhere = (index for index, advice in document.advice.items() if advice.open_ends.looks_anywhere)
        self._looks_anywhere_from = min(anywhere, default=sys.maxsize)
        self._hidden_from = min(hiding | set(self._failed_stars(findings)), default=None)

    def soften(self, findings: Sequence[CellDiagnostic]) -> Iterator[CellDiagnostic]:
        """The findings, errors that need not be any as warnings."""
        for finding in findings:
            is_error = finding.diagnostic.severity is DiagnosticSeverity.ERROR
            yield _as_warning(finding) if is_error and self._depends_on_the_moment(finding) else finding

    def _depends_on_the_moment(self, finding: CellDiagnostic) -> bool:
        match kind_of(finding.diagnostic):
            case FindingKind.UNDEFINED:
                return self._is_tested(finding) or self._may_be_bound_unseen(finding)
            case FindingKind.POSSIBLY_UNBOUND:
                bound = self._advice_of(finding).bound
                return self._is_tested(finding) or not any(names_it(finding.diagnostic, name) for name in bound)
            case FindingKind.IMPORT:
                return self._may_fail(finding)
            case FindingKind.OTHER:
                return self._is_about_late_read(finding)
        return False

    def _advice_of(self, finding: CellDiagnostic) -> CellAdvice:
        return self._document.advice.get(finding.cell_index, _NO_ADVICE)

    def _is_tested(self, finding: CellDiagnostic) -> bool:
        """Whether the cell itself asks whether the name exists."""
        start, tests = finding.diagnostic.range.start, self._advice_of(finding).existence_tests
        return any(
            not test.of_modules
            and _holds(test.place, start)
            and (not test.names or any(names_it(finding.diagnostic, name) for name in test.names))
            for test in tests
        )

    def _may_fail(self, finding: CellDiagnostic) -> bool:
        """Whether a kernel fetches the module when it runs, or finds it where the notebook has it look, or the notebook
        itself asks whether it exists: there, or elsewhere, and imports it under a condition."""
        words = words_at(self._document, finding)
        if _REMOTE.match(words):
            return True
        start, advice = finding.diagnostic.range.start, self._advice_of(finding)
        found = _MODULE.match(words)
        module = found[1] if found else ""
        if module in self._document.elsewhere_modules or finding.cell_index >= self._looks_anywhere_from:
            return True
        asked = (test for test in advice.existence_tests if test.of_modules and _holds(test.place, start))
        if any(not test.names or module in test.names for test in asked):
            return True
        is_conditional = any(_holds(place, start) for place in advice.conditional_imports)
        return is_conditional and any(module in other.asked_modules for other in self._document.advice.values())

    def _may_be_bound_unseen(self, finding: CellDiagnostic) -> bool:
        """Whether a name may have been bound by what nobody can see: before its cell, or before its function runs."""
        named = (advice.open_ends.names for advice in self._document.advice.values() if advice.open_ends.names)
        if any(names_it(finding.diagnostic, name) for names in named for name in names):
            return True
        if self._hidden_from is None:
            return False
        lines = split_lines(self._document.sources.get(finding.cell_index, ""))
        line = lines[finding.diagnostic.range.start.line] if finding.diagnostic.range.start.line < len(lines) else ""
        return finding.cell_index >= self._hidden_from or line[:1].isspace()

    def _failed_stars(self, findings: Sequence[CellDiagnostic]) -> Iterator[int]:
        """The cells in which `from … import *` of a module failed."""
        for finding in findings:
            line = finding.diagnostic.range.start.line
            stars = self._document.advice.get(finding.cell_index, _NO_ADVICE).star_imports
            if kind_of(finding.diagnostic) is FindingKind.IMPORT and any(
                star.start.line <= line <= star.end.line for star in stars
            ):
                yield finding.cell_index

    def _is_about_late_read(self, finding: CellDiagnostic) -> bool:
        """Whether a type error is about a name that a function reads and several cells bind."""
        place = finding.diagnostic.range
        reads = self._reads_of(finding.cell_index).get(place.start, ())
        return any(place.end <= read.end and self._is_rebound(name) for name, read in reads)

    def _reads_of(self, cell_index: int) -> dict[TextPosition, list[tuple[str, TextRange]]]:
        """The late reads of a cell by where they start."""
        found = self._late_reads.get(cell_index)
        if found is None:
            found = self._late_reads[cell_index] = {}
            for name, read in self._find_reads(cell_index):
                found.setdefault(read.start, []).append((name, read))
        return found

    def _find_reads(self, cell_index: int) -> Iterator[tuple[str, TextRange]]:
        place = self._document.line_map.place_of(cell_index)
        if place is None or self._document.language_id != "python":
            return
        for name, read in find_late_reads(place.chunk.text):
            start, end = place.chunk.to_cell(read.start), place.chunk.to_cell(read.end)
            if start is not None and end is not None:
                yield name, TextRange(start, end)

    def _is_rebound(self, name: str) -> bool:
        """Whether several cells bind `name`; of definitions the last one counts, for servers as for kernels."""
        if name in __future__.all_feature_names:
            # Bound by a future import above all cells; a star import below may have given it its own meaning.
            return True
        binding = [advice for advice in self._document.advice.values() if name in advice.bound]
        return len(binding) > 1 and name not in self._document.redefined


def _holds(stretch: TextRange, place: TextPosition) -> bool:
    return stretch.start <= place <= stretch.end


def words_at(document: VirtualDocument, finding: CellDiagnostic) -> str:
    """What stands in the cell where the finding is, as far as it is in one line."""
    start, end = finding.diagnostic.range.start, finding.diagnostic.range.end
    place = document.line_map.place_of(finding.cell_index)
    virtual = document.line_map.to_virtual(finding.cell_index, TextPosition(start.line, start.column))
    if place is None or virtual is None:
        return ""
    text = place.chunk.lines[virtual.line - place.first_line].text if virtual.line >= place.first_line else ""
    length = end.column - start.column if end.line == start.line else len(text)
    return text[virtual.column : virtual.column + length]


def _as_warning(finding: CellDiagnostic) -> CellDiagnostic:
    return replace(finding, diagnostic=replace(finding.diagnostic, severity=DiagnosticSeverity.WARNING))
