"""The report: what every front end gives, as values.

Places are kept as they are computed: text positions (0-based, code points) and LSP's (0-based, UTF-16). The 1-based
numbers that a reader sees are made in `render`. What is counted and chosen is decided in `build`; nothing here
computes. A report without a verdict has no counts at all, so that it cannot be mistaken for one that found nothing.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from typing import Any

from jupyter_lsp_agent.core.behaviour import Freshness
from jupyter_lsp_agent.core.diagnostic import DiagnosticSeverity, DiagnosticTag
from jupyter_lsp_agent.core.ids import CellId, LanguageId, ServerId
from jupyter_lsp_agent.core.positions import CellLine, TextRange, WireRange
from jupyter_lsp_agent.diagnostics import render_json, render_text


class DocumentKind(StrEnum):
    """What was checked."""

    NOTEBOOK = "notebook"
    TEXT = "text"


class ContentSource(StrEnum):
    """Where the checked content came from."""

    REQUEST = "request"
    CONTENTS = "contents"
    LIVE = "live"
    FILE = "file"
    HISTORY = "history"


class Status(StrEnum):
    """How a finding stands to what was known before."""

    INTRODUCED = "introduced"
    OUTSTANDING = "outstanding"
    PREEXISTING = "preexisting"
    PRESENT = "present"


class Verdict(StrEnum):
    """The word on the whole document."""

    CLEAN = "clean"
    NOTHING_NEW = "nothing_new"
    ERRORS = "errors"
    NO_VERDICT = "no_verdict"


class NoVerdictReason(StrEnum):
    """Why there is no verdict."""

    TIMEOUT = "timeout"
    STARTING = "starting"
    NOT_INSTALLED = "not_installed"
    BROKEN = "broken"
    DISABLED = "disabled"
    UNTRUSTED = "untrusted"
    OUTSIDE_WORKSPACE = "outside_workspace"
    UNSUPPORTED_LANGUAGE = "unsupported_language"
    UNREADABLE = "unreadable"
    TOO_LARGE = "too_large"
    BUSY = "busy"


@dataclass(frozen=True, slots=True)
class CellReference:
    """A cell, named by its place and, where the file has one, its id."""

    cell_index: int
    cell_id: CellId | None = None


@dataclass(frozen=True, slots=True)
class ReportedRelation:
    """Another place that a finding speaks of.

    Attributes:
        path: the file; `None`: the checked document itself.
        cell: the cell, where the place is in the checked notebook.
        range: the place as text, where its text is known.
        wire_range: the place as LSP writes it.
        message: what is said about it, cleaned.
    """

    path: str | None
    cell: CellReference | None
    range: TextRange | None
    wire_range: WireRange
    message: str


@dataclass(frozen=True, slots=True)
class ReportedDiagnostic:
    """One finding as it is shown. All text is cleaned.

    Attributes:
        status: how it stands to what was known before.
        severity: LSP's.
        range: in the cell's own source, or in the text file.
        wire_range: the same place in UTF-16 code units.
        message: on one line, at most 2,000 characters.
        source: the server's own word for itself.
        code: `None` where the server gave none.
        code_description: a web page about the code.
        source_line: the line it starts on, of unchanged columns.
        tags: LSP's.
        related_information: other places.
        caused_by: the cell whose change made it, where that is another one.
        fingerprint: the same for the same finding, wherever it moves.
        cell: the cell it is in; `None` in a text file.
    """

    status: Status
    severity: DiagnosticSeverity
    range: TextRange
    wire_range: WireRange
    message: str
    source: str
    code: str | None
    code_description: str | None
    source_line: str
    tags: tuple[DiagnosticTag, ...]
    related_information: tuple[ReportedRelation, ...]
    caused_by: CellReference | None
    fingerprint: str
    cell: CellReference | None


@dataclass(frozen=True, slots=True)
class CellReport:
    """What is shown of one cell. `omitted`: how many more the caps cut."""

    cell_id: CellId | None
    cell_index: int
    execution_count: int | None
    source_hash: str
    diagnostics: tuple[ReportedDiagnostic, ...] = ()
    omitted: int = 0


@dataclass(frozen=True, slots=True)
class ServerReport:
    """A server that was asked, and what became of it.

    Attributes:
        id: its key in the catalogue.
        version: `None` where it did not say, or did not answer.
        language: what it was asked about.
        fallback: another server of its chain was to answer first.
        reason: why it, or the one before it, gave no answer; `None` where all went well.
        freshness: how its answer was known to be about this content; `None` without an answer.
        elapsed_seconds: how long it took; `None` without an answer.
    """

    id: ServerId
    language: LanguageId
    version: str | None = None
    fallback: bool = False
    reason: str | None = None
    freshness: Freshness | None = None
    elapsed_seconds: float | None = None


@dataclass(frozen=True, slots=True)
class EnvironmentReport:
    """Which Python the servers were told of, and why that one."""

    python: str
    origin: str


@dataclass(frozen=True, slots=True)
class Counts:
    """How many findings there are at or above the asked severity, whatever is shown of them."""

    introduced: int = 0
    outstanding: int = 0
    preexisting: int = 0
    present: int = 0
    fixed: int = 0
    carried: int = 0
    omitted: int = 0


@dataclass(frozen=True, slots=True)
class Unchecked:
    """Lines that no server looked at, or that it could not judge.

    Attributes:
        cell: where.
        first_line: 0-based.
        last_line: 0-based, inclusive.
        reason: one phrase, for a reader.
        cause: the contract's word, where the lines would have been checked but for it.
        partial: a server did look at the lines, and one question about them could not be answered.
    """

    cell: CellReference
    first_line: CellLine
    last_line: CellLine
    reason: str
    cause: NoVerdictReason | None = None
    partial: bool = False


@dataclass(frozen=True, slots=True)
class UnmappedDiagnostic:
    """A finding that belongs to no cell line."""

    severity: DiagnosticSeverity
    source: str
    code: str | None
    message: str


@dataclass(frozen=True, slots=True)
class OtherFile:
    """What an edit of the checked document changed in another one.

    `cells` where that is a notebook, `diagnostics` where it is a text file; both empty: its former errors are gone.
    """

    kind: DocumentKind
    cells: tuple[CellReport, ...] = ()
    diagnostics: tuple[ReportedDiagnostic, ...] = ()
    fixed: tuple[ReportedDiagnostic, ...] = ()

    def __iter__(self) -> Iterator[ReportedDiagnostic]:
        """Its findings."""
        yield from self.diagnostics
        for cell in self.cells:
            yield from cell.diagnostics


@dataclass(frozen=True, slots=True, kw_only=True, repr=False)
class Report:
    """The answer to one check. Iterating gives the findings that it shows; it is true when there are any.

    Attributes:
        path: the document as the asker named it, cleaned; `None` where it has none.
        kind: notebook or text.
        language: of the kernel, or of the file; `None` where unknown.
        verdict: the word on the whole.
        reason: why there is no verdict.
        detail: what to do about that, in one sentence.
        content_hash: names the checked content; `None` where it could not be read.
        content_source: where it came from.
        baseline: what it was compared with: `none`, `session`, `unknown`, `file` or `git:REV`.
        servers: who was asked.
        environment: the Python that they were told of.
        severity: the gravest that was left out is below this.
        cells: those with something to show, of a notebook.
        diagnostics: what is shown of a text file.
        fixed: what was there before and is gone.
        counts: `None` without a verdict.
        counted: all that counts, whatever is shown of it.
        gone_entries: what a baseline file knows of the document and nobody finds any more, in words.
        other_files: by path, what changed elsewhere.
        unchecked: lines that no server looked at.
        unmapped: findings that belong to no cell line.
        hint: one true sentence.
        checked_at: when, in UTC.
        elapsed_seconds: how long it took.
    """

    path: str | None
    kind: DocumentKind
    language: LanguageId | None
    verdict: Verdict
    reason: NoVerdictReason | None = None
    detail: str | None = None
    content_hash: str | None = None
    content_source: ContentSource | None = None
    baseline: str = "none"
    servers: tuple[ServerReport, ...] = ()
    environment: EnvironmentReport | None = None
    severity: DiagnosticSeverity = DiagnosticSeverity.ERROR
    cells: tuple[CellReport, ...] = ()
    diagnostics: tuple[ReportedDiagnostic, ...] = ()
    fixed: tuple[ReportedDiagnostic, ...] = ()
    counts: Counts | None = None
    counted: tuple[ReportedDiagnostic, ...] = ()
    gone_entries: tuple[str, ...] = ()
    other_files: Mapping[str, OtherFile] = field(default_factory=dict, hash=False)
    unchecked: tuple[Unchecked, ...] = ()
    unmapped: tuple[UnmappedDiagnostic, ...] = ()
    hint: str = ""
    checked_at: datetime
    elapsed_seconds: float = 0.0

    def __repr__(self) -> str:
        return f"<Report on {self.path}: {self.verdict.value}; {self.hint}>"

    @property
    def fallback_used(self) -> bool:
        """Another server than the first of its chain answered."""
        return any(server.fallback for server in self.servers)

    @property
    def errors(self) -> tuple[ReportedDiagnostic, ...]:
        """What is shown and has the severity `error`."""
        return tuple(diagnostic for diagnostic in self if diagnostic.severity is DiagnosticSeverity.ERROR)

    def __iter__(self) -> Iterator[ReportedDiagnostic]:
        """What is shown of this document, in the order of its places."""
        yield from self.diagnostics
        for cell in self.cells:
            yield from cell.diagnostics

    def __bool__(self) -> bool:
        """There is something to show, here or in another file."""
        omitted = self.counts.omitted if self.counts else 0
        return (
            bool(omitted) or any(True for _ in self) or any(True for other in self.other_files.values() for _ in other)
        )

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON carries it."""
        return render_json.report_to_dict(self)

    def to_text(self) -> str:
        """The report as a model or a terminal reads it, without a final line end."""
        return render_text.render_text(self)
