"""What a server said of exactly one text."""

from dataclasses import dataclass

from jupyter_lsp_agent.core.behaviour import Freshness
from jupyter_lsp_agent.core.diagnostic import Diagnostic
from jupyter_lsp_agent.core.ids import DocumentUri, DocumentVersion
from jupyter_lsp_agent.core.positions import PositionEncoding
from jupyter_lsp_agent.lsp.documents import OpenDocument
from jupyter_lsp_agent.lsp.wire.diagnostics import Findings, place_diagnostic


@dataclass(frozen=True, slots=True)
class DiagnosticReport:
    """A verdict: an empty one says that the server looked at this text and found nothing.

    Attributes:
        uri: the document.
        version: under which the text was sent.
        diagnostics: in the coordinates of that text, each once.
        freshness: how they are known to be about it.
        elapsed_seconds: from the call to the verdict, waiting for other callers of the same document included.
        is_ready: false where the server never gave the signal that its behaviour class asks for.
        dropped: how many diagnostics could not be read.
    """

    uri: DocumentUri
    version: DocumentVersion
    diagnostics: tuple[Diagnostic, ...]
    freshness: Freshness
    elapsed_seconds: float
    is_ready: bool = True
    dropped: int = 0


def place_findings(findings: Findings, document: OpenDocument, encoding: PositionEncoding) -> tuple[Diagnostic, ...]:
    """The findings placed in the text that the server has, without doubles.

    Two findings are the same where severity, code, source, message and range are: what is pushed *and* pulled, or
    pushed by two of a server's own sources.
    """
    lines = document.lines
    unique: dict[tuple[object, ...], Diagnostic] = {}
    for found in findings.diagnostics:
        placed = place_diagnostic(found, document.uri, lines, encoding)
        key = (placed.severity, placed.code, placed.source, placed.message, placed.range)
        unique.setdefault(key, placed)
    return tuple(unique.values())
