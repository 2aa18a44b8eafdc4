"""What a server knows of places in code, in LSP's vocabulary: hover, locations, symbols, signatures.

Places in a text that the server was sent are text ranges of that text. Places in files that it read itself are its own
numbers, with the encoding that they count in.
"""

from dataclasses import dataclass, field

from jupyter_lsp_agent.core.ids import DocumentUri
from jupyter_lsp_agent.core.positions import PositionEncoding, TextRange, WireRange


@dataclass(frozen=True, slots=True)
class Hover:
    """What is known of a place, as Markdown or plain text, and the stretch that it is about."""

    text: str
    range: TextRange | None


@dataclass(frozen=True, slots=True)
class Location:
    """A place.

    Attributes:
        uri: of its document, as the server spells it.
        wire_range: the place, counted in `encoding`.
        encoding: of the server.
        range: the place in `open_text`; `None` where the server was not sent the document.
        open_text: the document as the server was sent it.
    """

    uri: DocumentUri
    wire_range: WireRange
    encoding: PositionEncoding
    range: TextRange | None
    open_text: str | None = field(default=None, repr=False)


@dataclass(frozen=True, slots=True)
class Symbol:
    """A symbol. `kind` is LSP's `SymbolKind`; `selection` is its name, `location` the whole of it."""

    name: str
    kind: int
    detail: str
    container_name: str
    location: Location | None
    selection: TextRange | None
    children: tuple["Symbol", ...]


@dataclass(frozen=True, slots=True)
class SignatureParameter:
    """One parameter of a signature, as it stands there."""

    label: str
    documentation: str


@dataclass(frozen=True, slots=True)
class Signature:
    """One signature of a callable. `active_parameter` is the one at the cursor, where that is known."""

    label: str
    documentation: str
    parameters: tuple[SignatureParameter, ...]
    active_parameter: int | None
    is_active: bool
