"""What a notebook is to us, in nbformat's words."""

from dataclasses import dataclass, field
from enum import StrEnum

from jupyter_lsp_agent.core.ids import CellId, LanguageId


class CellKind(StrEnum):
    """nbformat's cell types; nbformat 3's headings are Markdown."""

    CODE = "code"
    MARKDOWN = "markdown"
    RAW = "raw"
    UNKNOWN = "unknown"
    """A type that nbformat does not know, or none: JupyterLab shows it as raw; nobody can check it."""


@dataclass(frozen=True, slots=True)
class Cell:
    """One cell as stored.

    Attributes:
        index: 0-based among all cells of the notebook.
        cell_id: the stored id, `None` where there is none; never made up.
        kind: its cell type.
        source: its text, joined, line ends as stored.
        language: what `metadata.vscode.languageId` says, `None` where it says nothing.
        tags: `metadata.tags`, those that are strings.
        execution_count: as stored, `None` where absent or no integer.
        cell_type: the stored word, which `kind` loses for types unknown to nbformat.
        defect: why the cell cannot be looked at although the notebook opens, `None` for a sound cell.
    """

    index: int
    cell_id: CellId | None
    kind: CellKind
    source: str
    language: LanguageId | None = None
    tags: tuple[str, ...] = ()
    execution_count: int | None = None
    cell_type: str = "code"
    defect: str | None = None


@dataclass(frozen=True, slots=True)
class KernelMetadata:
    """What a notebook says about its kernel; every part may be missing."""

    kernel_name: str | None = None
    kernel_language: str | None = None
    language_name: str | None = None
    language_version: str | None = None
    file_extension: str | None = None


@dataclass(frozen=True, slots=True)
class Notebook:
    """A notebook as read."""

    cells: tuple[Cell, ...]
    kernel: KernelMetadata = field(default_factory=KernelMetadata)
    nbformat: int = 4
    nbformat_minor: int = 5
