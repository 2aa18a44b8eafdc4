"""What a report is made of: the facts of one check, and what the asker wants to see of them."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime

from jupyter_lsp_agent.core.diagnostic import CellDiagnostic, Diagnostic, DiagnosticSeverity
from jupyter_lsp_agent.core.ids import LanguageId
from jupyter_lsp_agent.diagnostics.report import (
    CellReference,
    ContentSource,
    DocumentKind,
    EnvironmentReport,
    NoVerdictReason,
    OtherFile,
    ReportedDiagnostic,
    ServerReport,
    Status,
    Unchecked,
)
from jupyter_lsp_agent.notebook.model import Cell

SHOWN_STATUSES = frozenset({Status.INTRODUCED, Status.OUTSTANDING, Status.PRESENT})
"""What is shown unless something else is asked for."""


@dataclass(frozen=True, slots=True)
class Finding:
    """A finding and how it stands: of a cell, or, in a text file, of the text."""

    status: Status
    diagnostic: CellDiagnostic | Diagnostic
    caused_by: CellReference | None = None


@dataclass(frozen=True, slots=True)
class ChainFailure:
    """A chain of servers that gave no answer.

    Attributes:
        language: what it was to answer about.
        reason: the contract's word.
        detail: one sentence: what happened, and what to do about it.
    """

    language: LanguageId
    reason: NoVerdictReason
    detail: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportFacts:
    """Everything that one check found out.

    Attributes:
        path: the document as the asker named it.
        kind: notebook or text.
        language: of the kernel, or of the file.
        cells: all cells of the notebook, in order; empty for a text.
        text: the text of a plain file; empty for a notebook. `None`: the content could not be read.
        findings: all of them, of every severity, also those that will be ignored.
        fixed: what was in the last verdict and is gone.
        gone_entries: what a baseline file knows and nobody finds any more, in words.
        carried: findings that were not looked at again, at or above the asked severity.
        servers: who was asked, also those that failed.
        failures: chains that gave no answer.
        unchecked: lines that no server looked at.
        unmapped: findings that belong to no cell line.
        other_files: what changed elsewhere.
        environment: the Python that the servers were told of.
        content_source: where the content came from.
        baseline: what was compared with.
        checked_at: when, in UTC.
        elapsed_seconds: how long it took.
    """

    path: str | None
    kind: DocumentKind = DocumentKind.NOTEBOOK
    language: LanguageId | None = None
    cells: tuple[Cell, ...] = ()
    text: str | None = ""
    findings: tuple[Finding, ...] = ()
    fixed: tuple[ReportedDiagnostic, ...] = ()
    gone_entries: tuple[str, ...] = ()
    carried: int = 0
    servers: tuple[ServerReport, ...] = ()
    failures: tuple[ChainFailure, ...] = ()
    unchecked: tuple[Unchecked, ...] = ()
    unmapped: tuple[Diagnostic, ...] = ()
    other_files: Mapping[str, OtherFile] = field(default_factory=dict, hash=False)
    environment: EnvironmentReport | None = None
    content_source: ContentSource | None = ContentSource.FILE
    baseline: str = "none"
    checked_at: datetime
    elapsed_seconds: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class ViewOptions:
    """What the asker wants to see.

    Attributes:
        severity: findings below it are in no count and no verdict.
        statuses: which are shown.
        cells: indexes of the cells that are shown; `None`: all.
        edited_cells: indexes of the cells of an edit; they come first and are always listed.
        max_per_cell: the most that is shown of one cell; 0: no bound.
        max_total: the most that is shown; 0: no bound.
        ignore: codes whose findings are left out of everything.
        ignore_cell_tags: cells with one of these tags are left out of everything.
    """

    severity: DiagnosticSeverity = DiagnosticSeverity.ERROR
    statuses: frozenset[Status] = SHOWN_STATUSES
    cells: frozenset[int] | None = None
    edited_cells: frozenset[int] = frozenset()
    max_per_cell: int = 10
    max_total: int = 20
    ignore: frozenset[str] = frozenset()
    ignore_cell_tags: frozenset[str] = frozenset({"skip-lsp-check"})
