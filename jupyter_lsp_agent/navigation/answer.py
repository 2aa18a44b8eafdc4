"""The answer to one question about code: what was found, in the asker's own places, and who said it.

An answer that could not be had has no results at all (`None`), which is something else than none found. All text in
it is cleaned and bounded.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from jupyter_lsp_agent.core.ids import LanguageId
from jupyter_lsp_agent.core.positions import TextRange, WireRange
from jupyter_lsp_agent.diagnostics.report import CellReference, ContentSource, NoVerdictReason, ServerReport, Unchecked

MAX_RESULTS = 50
"""So many results are shown where nobody says."""


class QueryMethod(StrEnum):
    """What can be asked."""

    HOVER = "hover"
    DEFINITION = "definition"
    REFERENCES = "references"
    DOCUMENT_SYMBOLS = "document_symbols"
    WORKSPACE_SYMBOLS = "workspace_symbols"
    SIGNATURE_HELP = "signature_help"

    @property
    def needs_place(self) -> bool:
        """Whether it is asked about a place."""
        return self not in {QueryMethod.DOCUMENT_SYMBOLS, QueryMethod.WORKSPACE_SYMBOLS}

    @property
    def wants_symbols(self) -> bool:
        """Whether it gives symbols, of which a server that has none is not believed at once."""
        return not self.needs_place


@dataclass(frozen=True, slots=True, kw_only=True)
class FoundPlace:
    """A place.

    Attributes:
        path: the document, as the asker names it; below the root, else absolute, else a URI.
        cell: of a notebook.
        range: in the cell's or the file's own text, 0-based, columns in code points.
        wire_range: the same in UTF-16 code units.
        source_line: the line that it begins on; `None` where the asker may not read it.
    """

    path: str
    cell: CellReference | None
    range: TextRange
    wire_range: WireRange
    source_line: str | None


@dataclass(frozen=True, slots=True)
class FoundHover:
    """What is known of a place, as Markdown or plain text, and the stretch that it is about."""

    text: str
    place: FoundPlace | None


@dataclass(frozen=True, slots=True)
class FoundSymbol:
    """A symbol: its name, LSP's `SymbolKind`, what it is in, and the place of its name."""

    name: str
    kind: int
    detail: str
    container_name: str
    place: FoundPlace


@dataclass(frozen=True, slots=True)
class FoundParameter:
    """One parameter of a signature."""

    label: str
    documentation: str


@dataclass(frozen=True, slots=True)
class FoundSignature:
    """One signature of the call around a place; `active_parameter` is the number of the one at it, from 0."""

    label: str
    documentation: str
    parameters: tuple[FoundParameter, ...]
    active_parameter: int | None
    is_active: bool


Found = FoundHover | FoundPlace | FoundSymbol | FoundSignature


@dataclass(frozen=True, slots=True, kw_only=True)
class QueryAnswer:
    """An answer. It is true where something was found.

    Attributes:
        path: the document, as it was asked about.
        method: what was asked.
        language: of the place that was asked about, else of the document.
        results: what was found; `None` where no server answered.
        omitted: how many more there were than are shown.
        unmapped: places that belong to no cell: names that the kernel or a magic gives.
        reason: why nobody answered.
        detail: what to do about it.
        servers: who was asked, also those that failed.
        unchecked: lines whose symbols no server was asked for, with the reason.
        content_hash: of the content that the places are in.
        content_source: where it came from.
        elapsed_seconds: how long it took.
    """

    path: str
    method: QueryMethod
    language: LanguageId | None = None
    results: tuple[Found, ...] | None = None
    omitted: int = 0
    unmapped: int = 0
    reason: NoVerdictReason | None = None
    detail: str | None = None
    servers: tuple[ServerReport, ...] = ()
    unchecked: tuple[Unchecked, ...] = ()
    content_hash: str | None = None
    content_source: ContentSource | None = None
    elapsed_seconds: float = 0.0

    @property
    def fallback_used(self) -> bool:
        """Whether a server answered in the place of another."""
        return any(server.fallback for server in self.servers)

    @property
    def was_answered(self) -> bool:
        """Whether a server answered, be it with nothing."""
        return self.results is not None

    def __iter__(self) -> Iterator[Found]:
        return iter(self.results or ())

    def __len__(self) -> int:
        return len(self.results or ())

    def __bool__(self) -> bool:
        return bool(self.results)

    def to_dict(self) -> dict[str, Any]:
        """As JSON carries it."""
        from jupyter_lsp_agent.navigation.render_json import answer_to_dict

        return answer_to_dict(self)

    def to_text(self) -> str:
        """As a model or a terminal reads it."""
        from jupyter_lsp_agent.navigation.render_text import render_answer

        return render_answer(self)
