"""Diagnostics as servers send them: pushed, and in the answer to a pull."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from jupyter_lsp_agent.core.diagnostic import Diagnostic, DiagnosticSeverity, DiagnosticTag, RelatedInformation
from jupyter_lsp_agent.core.ids import DocumentUri
from jupyter_lsp_agent.core.positions import PositionEncoding, WireRange, text_range_from_wire
from jupyter_lsp_agent.core.uris import uri_key
from jupyter_lsp_agent.lsp.wire.values import (
    START,
    as_integer,
    as_items,
    as_object,
    as_range,
    as_text,
    markup_text,
    objects_in,
)

_NO_MESSAGE = "the server gave no message for this finding"


@dataclass(frozen=True, slots=True)
class WireDiagnostic:
    """One diagnostic in the server's own coordinates: it has no text to be placed in yet."""

    range: WireRange
    severity: DiagnosticSeverity
    message: str
    source: str
    code: str | None
    code_description: str | None
    tags: tuple[DiagnosticTag, ...]
    related_information: tuple[RelatedInformation, ...]


@dataclass(frozen=True, slots=True)
class Findings:
    """The diagnostics of one message; `dropped` counts the items that could not be read."""

    diagnostics: tuple[WireDiagnostic, ...] = ()
    dropped: int = 0

    @property
    def is_unreadable(self) -> bool:
        """Nothing is left of it: to call that an empty list would be a lie."""
        return self.dropped > 0 and not self.diagnostics


@dataclass(frozen=True, slots=True)
class PublishedDiagnostics:
    """`textDocument/publishDiagnostics`."""

    uri: DocumentUri
    version: int | None
    findings: Findings


@dataclass(frozen=True, slots=True)
class FullReport:
    """A report that carries its items."""

    findings: Findings
    result_id: str | None = None


@dataclass(frozen=True, slots=True)
class UnchangedReport:
    """A report that says: as in the one that `result_id` named."""

    result_id: str | None


@dataclass(frozen=True, slots=True)
class DocumentDiagnosticReport:
    """The answer to a pull, with what it says on other documents (by URI)."""

    main: FullReport | UnchangedReport
    related: Mapping[DocumentUri, FullReport | UnchangedReport]


def decode_publish_diagnostics(params: Any) -> PublishedDiagnostics | None:
    """The parameters of `publishDiagnostics`; `None` where they name no document.

    What is no list of diagnostics is one item that cannot be read: it may have held an error.
    """
    message = as_object(params)
    uri, items = as_text(message.get("uri")), message.get("diagnostics")
    if uri is None:
        return None
    findings = _findings(items) if isinstance(items, list) else Findings(dropped=1)
    return PublishedDiagnostics(DocumentUri(uri), as_integer(message.get("version")), findings)


def decode_document_diagnostic_report(result: Any) -> DocumentDiagnosticReport | None:
    """The result of `textDocument/diagnostic`; `None` where it is no report: never taken for an empty one."""
    main = _report(result)
    if main is None:
        return None
    related = {}
    for uri, value in as_object(as_object(result).get("relatedDocuments")).items():
        report = _report(value)
        if report is not None:
            related[DocumentUri(uri)] = report
    return DocumentDiagnosticReport(main, related)


def decode_retrigger_request(data: Any) -> bool:
    """Whether a pull that the server cancelled is to be asked again; so it is where the server did not say."""
    return as_object(data).get("retriggerRequest") is not False


def place_diagnostic(
    diagnostic: WireDiagnostic, uri: DocumentUri, lines: list[str], encoding: PositionEncoding
) -> Diagnostic:
    """The diagnostic in the coordinates of the text it is about.

    Args:
        diagnostic: as the server sent it.
        uri: the document's.
        lines: the lines of exactly the text that the server has.
        encoding: what the server counts in.
    """
    key = uri_key(uri)
    related = tuple(
        RelatedInformation(
            place.uri,
            place.wire_range,
            place.message,
            text_range_from_wire(lines, place.wire_range, encoding) if uri_key(place.uri) == key else None,
        )
        for place in diagnostic.related_information
    )
    return Diagnostic(
        text_range_from_wire(lines, diagnostic.range, encoding),
        diagnostic.severity,
        diagnostic.message,
        diagnostic.source,
        diagnostic.code,
        diagnostic.code_description,
        diagnostic.tags,
        related,
    )


def _report(value: Any) -> FullReport | UnchangedReport | None:
    report = as_object(value)
    result_id = as_text(report.get("resultId"))
    if report.get("kind") == "unchanged":
        return UnchangedReport(result_id)
    items = report.get("items")
    # `kind` is left out by some servers, and the items are what makes a report full; another word is another thing.
    is_full = report.get("kind") is None or report.get("kind") == "full"
    return FullReport(_findings(items), result_id) if is_full and isinstance(items, list) else None


def _findings(items: list[Any]) -> Findings:
    decoded = [_diagnostic(item) for item in items]
    kept = tuple(diagnostic for diagnostic in decoded if diagnostic is not None)
    return Findings(kept, dropped=len(decoded) - len(kept))


def _diagnostic(item: Any) -> WireDiagnostic | None:
    value = as_object(item)
    message, range_ = markup_text(value.get("message")), as_range(value.get("range"))
    if message is None and range_ is None:
        return None
    return WireDiagnostic(
        # A finding whose place cannot be read is still a finding, at the top of the text; so is one without words.
        range=range_ or START,
        severity=_severity(value.get("severity")),
        message=_NO_MESSAGE if message is None else message,
        source=as_text(value.get("source")) or "",
        code=_code(value.get("code")),
        code_description=as_text(as_object(value.get("codeDescription")).get("href")),
        tags=_tags(value.get("tags")),
        related_information=_related_information(value.get("relatedInformation")),
    )


def _severity(value: Any) -> DiagnosticSeverity:
    """LSP leaves the meaning of a missing severity to the client; an error is the reading that hides nothing."""
    number = as_integer(value)
    return DiagnosticSeverity(number) if number in set(DiagnosticSeverity) else DiagnosticSeverity.ERROR


def _code(value: Any) -> str | None:
    number = as_integer(value)
    if number is not None:
        return str(number)
    # clang-tidy's and others' older form: `{value, target}`.
    return as_text(value) if not isinstance(value, dict) else _code(value.get("value"))


def _tags(value: Any) -> tuple[DiagnosticTag, ...]:
    numbers = [as_integer(item) for item in as_items(value)]
    return tuple(DiagnosticTag(number) for number in numbers if number in set(DiagnosticTag))


def _related_information(value: Any) -> tuple[RelatedInformation, ...]:
    places = []
    for item in objects_in(value):
        location = as_object(item.get("location"))
        uri, range_ = as_text(location.get("uri")), as_range(location.get("range"))
        if uri is not None and range_ is not None:
            places.append(RelatedInformation(DocumentUri(uri), range_, markup_text(item.get("message")) or ""))
    return tuple(places)
