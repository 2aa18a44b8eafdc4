"""Where documents that are edited come from and go to, behind one protocol.

A front end brings the adapter: a Jupyter server reads through its contents manager or from a shared document that is
open, and writes to where it read. What is written is decided here and not there, so every way of writing means the
same.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path
from typing import Protocol

from jupyter_lsp_agent.diagnostics.report import ContentSource
from jupyter_lsp_agent.notebook.edits import EditPlan, PlannedCell
from jupyter_lsp_agent.notebook.surgery import EditedOutputs

__all__ = [
    "DocumentChange",
    "DocumentStore",
    "EditPlan",
    "EditedOutputs",
    "OpenedDocument",
    "PlanChange",
    "PlannedCell",
    "WriteKind",
    "WrittenDocument",
]


class WriteKind(StrEnum):
    """Who wrote an edited document."""

    BYTES = "bytes"
    """We did: every byte outside the edited cells stayed."""
    CONTENTS = "contents"
    """The contents manager did; the file looks as it writes files."""
    LIVE = "live"
    """The shared document took the edits and is saved by its own engine."""


@dataclass(frozen=True, slots=True)
class OpenedDocument:
    """A document as it was read.

    Attributes:
        name: as its user names it; over REST a contents path.
        location: where it lies, or would lie, absolute: there servers look for its neighbours.
        data: its bytes.
        source: where they came from.
        boundary: the folder above which nothing may be looked for, where that is not what `location` says.
    """

    name: str
    location: Path
    data: bytes = field(repr=False)
    source: ContentSource
    boundary: Path | None = None


@dataclass(frozen=True, slots=True)
class DocumentChange:
    """What a document is to be.

    Attributes:
        data: its bytes, all edits made.
        plan: the same for a store that keeps cells instead of bytes; `None` for a plain file.
        outputs: what becomes of the outputs of changed code cells; in `data` it is done.
    """

    data: bytes = field(repr=False)
    plan: EditPlan | None
    outputs: EditedOutputs


PlanChange = Callable[[OpenedDocument], DocumentChange]
"""What a document is to be, by what it is."""


@dataclass(frozen=True, slots=True)
class WrittenDocument:
    """How a change was written.

    Attributes:
        kind: by whom.
        before: the document as it was when it was changed.
        change: what was written.
        note: what the asker should know of it, in one sentence.
    """

    kind: WriteKind
    before: OpenedDocument
    change: DocumentChange
    note: str | None = None


class DocumentStore(Protocol):
    """Reads and writes documents. What is wrong with a name or a permission it raises in its own words."""

    def location(self, name: str) -> Path:
        """Where the document lies, or would lie, absolute; it need not be there."""
        ...

    def name_of(self, location: Path) -> str | None:
        """The name of the document that lies there; `None` where there can be none. It need not be there."""
        ...

    async def read_if_allowed(self, name: str) -> OpenedDocument | None:
        """The document as `read` gives it; `None` where that raises: it is not there, hidden, or not to be read."""
        ...

    async def read(self, name: str) -> OpenedDocument:
        """The document as it is now: the shared one where it is open, else the stored one."""
        ...

    async def read_or_empty(self, name: str) -> OpenedDocument:
        """As `read`, or an empty document where none is stored under a name that a new one may have."""
        ...

    async def write(self, document: OpenedDocument, change: DocumentChange, plan: PlanChange) -> WrittenDocument:
        """Write `change` to where `document` was read from.

        Args:
            document: as it was read.
            change: what `plan` said of it.
            plan: says it of the document as it is now, for a store that can look and change in one step. It may raise,
                and then nothing is written.

        Raises:
            ContentChangedError: the document is not what it was any more; nothing was written.
        """
        ...
