"""One diagnostic, in LSP's vocabulary and our coordinates."""

from dataclasses import dataclass
from enum import IntEnum

from jupyter_lsp_agent.core.ids import DocumentUri
from jupyter_lsp_agent.core.positions import TextRange, WireRange


class DiagnosticSeverity(IntEnum):
    """LSP's severities: the smaller the graver."""

    ERROR = 1
    WARNING = 2
    INFORMATION = 3
    HINT = 4


class DiagnosticTag(IntEnum):
    """LSP's tags."""

    UNNECESSARY = 1
    DEPRECATED = 2


@dataclass(frozen=True, slots=True)
class RelatedInformation:
    """Another place that a diagnostic speaks of.

    `range` is a text range where `uri` is the diagnosed document itself; for other files only `wire_range`
    (the server's own numbers) is known, since we have not read them. After relocation `range` is in the cell
    `cell_index`, and `wire_range` means nothing any more.
    """

    uri: DocumentUri
    wire_range: WireRange
    message: str
    range: TextRange | None = None
    cell_index: int | None = None


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A finding about one text.

    `range` is in the coordinates of the text that was diagnosed: the virtual document when it comes from `lsp/`,
    the cell's source after relocation. `source` is the server's own word (`ty`, `Pyright`, `clang`, …), empty where it
    gave none; `code` is text whatever the server sent, `None` where it sent none.
    """

    range: TextRange
    severity: DiagnosticSeverity
    message: str
    source: str = ""
    code: str | None = None
    code_description: str | None = None
    tags: tuple[DiagnosticTag, ...] = ()
    related_information: tuple[RelatedInformation, ...] = ()


@dataclass(frozen=True, slots=True)
class CellDiagnostic:
    """A diagnostic of one cell: `diagnostic.range` is in that cell's source; `cell_index` counts all cell types."""

    cell_index: int
    diagnostic: Diagnostic
