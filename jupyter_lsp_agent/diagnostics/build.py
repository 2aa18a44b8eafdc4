"""From the facts of a check to its report: what counts, what is shown, in which order.

Three circles, each within the one before: all findings (the fingerprints are made of these, so that no choice of view
changes them); the counted ones, at or above the severity and not ignored (the verdict, the counts and the hint are
made of these); the shown ones, by status, by cell and within the caps.
"""

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from jupyter_lsp_agent.core.diagnostic import CellDiagnostic, Diagnostic, RelatedInformation
from jupyter_lsp_agent.core.ids import LanguageId
from jupyter_lsp_agent.core.positions import (
    TextPosition,
    split_lines,
    utf16_range,
)
from jupyter_lsp_agent.core.uris import path_from_uri
from jupyter_lsp_agent.diagnostics.cleaning import clean_message, clean_path, clean_source_line, shorten
from jupyter_lsp_agent.diagnostics.facts import Finding, ReportFacts, ViewOptions
from jupyter_lsp_agent.diagnostics.fingerprint import Located, fingerprints
from jupyter_lsp_agent.diagnostics.hashes import notebook_hash, text_hash
from jupyter_lsp_agent.diagnostics.hints import CountedFinding, build_hint
from jupyter_lsp_agent.diagnostics.report import (
    CellReference,
    CellReport,
    Counts,
    DocumentKind,
    EnvironmentReport,
    NoVerdictReason,
    Report,
    ReportedDiagnostic,
    ReportedRelation,
    ServerReport,
    Status,
    UnmappedDiagnostic,
    Verdict,
)
from jupyter_lsp_agent.diagnostics.verdict import Judgement, judge
from jupyter_lsp_agent.notebook.model import Cell

_MAX_NAME_CHARACTERS = 200
_MAX_PATH_CHARACTERS = 4096


@dataclass(frozen=True, slots=True)
class _Shown:
    """The findings that fit the caps, and how many of each cell did not; a text file's are filed under `None`."""

    diagnostics: tuple[ReportedDiagnostic, ...]
    omitted: Counter[int | None]


def build_report(facts: ReportFacts, view: ViewOptions) -> Report:
    """The report on one check."""
    counted = _counted(facts, view)
    judgement = judge(facts, (diagnostic.status for diagnostic in counted), view.ignore)
    if judgement.verdict is Verdict.NO_VERDICT:
        return _report(facts, view, judgement, hint=judgement.detail or "")
    shown = _choose(counted, view)
    counts = _counts(facts, view, counted, shown)
    hint = build_hint(
        [CountedFinding(item.status, item.severity, _index(item)) for item in counted],
        counts,
        errors_elsewhere=sum(1 for other in facts.other_files.values() for _ in other),
        severity=view.severity,
    )
    report = replace(
        _report(facts, view, judgement, hint=hint), counts=counts, counted=tuple(counted), fixed=facts.fixed
    )
    if facts.kind is DocumentKind.TEXT:
        return replace(report, diagnostics=shown.diagnostics)
    return replace(report, cells=_cell_reports(facts.cells, view, shown))


def no_verdict_report(facts: ReportFacts, reason: NoVerdictReason, detail: str) -> Report:
    """The report on a check that came to no verdict, whatever it found on the way.

    Args:
        facts: what is known nevertheless; only the path and the time are needed.
        reason: the contract's word.
        detail: one sentence: what happened, and what to do about it.
    """
    return _report(facts, ViewOptions(), Judgement(Verdict.NO_VERDICT, reason, detail), hint=detail)


def _report(facts: ReportFacts, view: ViewOptions, judgement: Judgement, *, hint: str) -> Report:
    return Report(
        path=None if facts.path is None else clean_path(facts.path),
        kind=facts.kind,
        language=None if facts.language is None else LanguageId(_name(facts.language)),
        verdict=judgement.verdict,
        reason=judgement.reason,
        detail=None if judgement.detail is None else clean_message(judgement.detail),
        content_hash=_content_hash(facts),
        content_source=facts.content_source,
        baseline=facts.baseline,
        servers=tuple(_clean_server(server) for server in facts.servers),
        environment=_clean_environment(facts.environment),
        severity=view.severity,
        gone_entries=facts.gone_entries,
        other_files={clean_path(path): other for path, other in facts.other_files.items()},
        unchecked=tuple(replace(one, reason=clean_message(one.reason)) for one in facts.unchecked),
        unmapped=tuple(_unmapped(diagnostic) for diagnostic in facts.unmapped),
        hint=clean_message(hint),
        checked_at=facts.checked_at,
        elapsed_seconds=facts.elapsed_seconds,
    )


def _name(text: str) -> str:
    """What somebody calls something: a language, a code, a server, a version."""
    return clean_message(text, _MAX_NAME_CHARACTERS)


def _clean_server(server: ServerReport) -> ServerReport:
    return replace(
        server,
        language=LanguageId(_name(server.language)),
        version=None if server.version is None else _name(server.version),
        reason=None if server.reason is None else clean_message(server.reason),
    )


def _clean_environment(environment: EnvironmentReport | None) -> EnvironmentReport | None:
    if environment is None:
        return None
    return EnvironmentReport(clean_path(environment.python), clean_message(environment.origin))


def _counted(facts: ReportFacts, view: ViewOptions) -> list[ReportedDiagnostic]:
    """What counts, in the order of its places."""
    counted = report_counted(facts, view, facts.findings)
    return sorted(counted, key=lambda item: (_index(item) or 0, item.range, item.severity, item.source, item.message))


def report_counted(facts: ReportFacts, view: ViewOptions, chosen: Iterable[Finding]) -> list[ReportedDiagnostic]:
    """Those of some findings that count, as they are shown, in the order of `facts.findings`.

    Args:
        facts: a state, with all of its findings: their fingerprints depend on each other.
        view: which severities, codes and cells count.
        chosen: findings of `facts`.
    """
    skipped = {cell.index for cell in facts.cells if view.ignore_cell_tags.intersection(cell.tags)}
    wanted = set(chosen)
    if not wanted:
        return []
    return [
        item
        for finding, item in zip(facts.findings, _reported(facts), strict=True)
        if finding in wanted
        and item.severity <= view.severity
        and _diagnostic(finding).code not in view.ignore
        and _index(item) not in skipped
    ]


def _reported(facts: ReportFacts) -> list[ReportedDiagnostic]:
    texts = _Texts(facts)
    located = [texts.locate(finding) for finding in facts.findings]
    names = fingerprints(located)
    return [
        _as_shown(finding, place, texts, name)
        for finding, place, name in zip(facts.findings, located, names, strict=True)
    ]


class _Texts:
    """The lines of what was checked, each text split once."""

    def __init__(self, facts: ReportFacts) -> None:
        self._cells = {cell.index: cell for cell in facts.cells}
        self._lines: dict[int | None, list[str]] = {None: split_lines(facts.text or "")}

    def cell(self, index: int | None) -> Cell | None:
        return None if index is None else self._cells[index]

    def lines(self, index: int | None) -> list[str]:
        if index is not None and index not in self._lines:
            self._lines[index] = split_lines(self._cells[index].source)
        return self._lines[index]

    def locate(self, finding: Finding) -> Located:
        found = finding.diagnostic
        index = found.cell_index if isinstance(found, CellDiagnostic) else None
        diagnostic = _diagnostic(finding)
        return Located(diagnostic, _line(self.lines(index), diagnostic.range.start), self.cell(index))


def _as_shown(finding: Finding, place: Located, texts: _Texts, fingerprint: str) -> ReportedDiagnostic:
    diagnostic = place.diagnostic
    lines = texts.lines(place.cell.index if place.cell else None)
    return ReportedDiagnostic(
        status=finding.status,
        severity=diagnostic.severity,
        range=diagnostic.range,
        wire_range=utf16_range(lines, diagnostic.range),
        message=clean_message(diagnostic.message),
        source=_name(diagnostic.source),
        code=None if diagnostic.code is None else _name(diagnostic.code),
        code_description=None if diagnostic.code_description is None else clean_message(diagnostic.code_description),
        source_line=clean_source_line(place.source_line),
        tags=diagnostic.tags,
        related_information=tuple(_relation(item, texts) for item in diagnostic.related_information),
        caused_by=finding.caused_by,
        fingerprint=fingerprint,
        cell=_reference(place.cell),
    )


def _relation(information: RelatedInformation, texts: _Texts) -> ReportedRelation:
    message, place = clean_message(information.message), information.range
    if place is None:
        path = path_from_uri(information.uri)
        shown = shorten(clean_path(information.uri if path is None else str(path)), _MAX_PATH_CHARACTERS)
        return ReportedRelation(shown, None, None, information.wire_range, message)
    index = information.cell_index
    wire_range = utf16_range(texts.lines(index), place)
    return ReportedRelation(None, _reference(texts.cell(index)), place, wire_range, message)


def _reference(cell: Cell | None) -> CellReference | None:
    return None if cell is None else CellReference(cell.index, cell.cell_id)


def _choose(counted: Sequence[ReportedDiagnostic], view: ViewOptions) -> _Shown:
    """What is shown: the edited cells first, then what is new, then by place, until the caps are reached."""
    wanted = [item for item in counted if item.status in view.statuses and _in_cells(item, view.cells)]
    ranked = sorted(
        wanted, key=lambda item: (_index(item) not in view.edited_cells, item.status is not Status.INTRODUCED)
    )
    taken: Counter[int | None] = Counter()
    omitted: Counter[int | None] = Counter()
    kept: set[int] = set()
    for item in ranked:
        index = _index(item)
        full = view.max_total and len(kept) >= view.max_total
        # A text file has no cells: only the whole bounds it.
        crowded = index is not None and view.max_per_cell and taken[index] >= view.max_per_cell
        if full or crowded:
            omitted[index] += 1
        else:
            taken[index] += 1
            kept.add(id(item))
    return _Shown(tuple(item for item in wanted if id(item) in kept), omitted)


def _counts(facts: ReportFacts, view: ViewOptions, counted: Iterable[ReportedDiagnostic], shown: _Shown) -> Counts:
    number = Counter(item.status for item in counted)
    return Counts(
        introduced=number[Status.INTRODUCED],
        outstanding=number[Status.OUTSTANDING],
        preexisting=number[Status.PREEXISTING],
        present=number[Status.PRESENT],
        fixed=sum(item.severity <= view.severity for item in facts.fixed),
        carried=facts.carried,
        omitted=shown.omitted.total(),
    )


def _cell_reports(cells: Iterable[Cell], view: ViewOptions, shown: _Shown) -> tuple[CellReport, ...]:
    by_cell: defaultdict[int | None, list[ReportedDiagnostic]] = defaultdict(list)
    for item in shown.diagnostics:
        by_cell[_index(item)].append(item)
    return tuple(
        CellReport(
            cell_id=cell.cell_id,
            cell_index=cell.index,
            execution_count=cell.execution_count,
            source_hash=text_hash(cell.source),
            diagnostics=tuple(by_cell[cell.index]),
            omitted=shown.omitted[cell.index],
        )
        for cell in cells
        if cell.index in by_cell or cell.index in shown.omitted or cell.index in view.edited_cells
    )


def _diagnostic(finding: Finding) -> Diagnostic:
    found = finding.diagnostic
    return found.diagnostic if isinstance(found, CellDiagnostic) else found


def _index(item: ReportedDiagnostic) -> int | None:
    return item.cell.cell_index if item.cell else None


def _in_cells(item: ReportedDiagnostic, cells: frozenset[int] | None) -> bool:
    return cells is None or _index(item) in cells


def _line(lines: list[str], position: TextPosition) -> str:
    return lines[position.line] if position.line < len(lines) else ""


def _content_hash(facts: ReportFacts) -> str | None:
    if facts.text is None:
        return None
    return text_hash(facts.text) if facts.kind is DocumentKind.TEXT else notebook_hash(facts.cells)


def _unmapped(diagnostic: Diagnostic) -> UnmappedDiagnostic:
    return UnmappedDiagnostic(
        severity=diagnostic.severity,
        source=_name(diagnostic.source),
        code=None if diagnostic.code is None else _name(diagnostic.code),
        message=clean_message(diagnostic.message),
    )
