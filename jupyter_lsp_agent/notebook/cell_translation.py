"""What one cell becomes when IPython's own syntax is turned into Python: the values, no behaviour.

A translation is in place: every line of the source is there, in order, as a `MappedLine`; lines that IPython's syntax
needs and no cell has (glue) stand between them with `cell_line` `None`. Only `magics.translate_cell` makes one.
"""

from dataclasses import dataclass
from enum import StrEnum

from jupyter_lsp_agent.core.ids import LanguageId
from jupyter_lsp_agent.core.positions import CellLine, TextRange
from jupyter_lsp_agent.notebook.line_map import MappedLine


class CellScope(StrEnum):
    """Where the Python of a cell runs."""

    NOTEBOOK = "notebook"
    """In the notebook's namespace: what it binds, later cells see."""

    OWN = "own"
    """In a scope of its own (`%%timeit`): it sees the notebook's names and binds none there."""

    NONE = "none"
    """Nowhere that the notebook sees: another language, another process, a file, text."""


class EffectKind(StrEnum):
    """What a magic does to the namespace that its own line does not tell."""

    RUN_FILE = "run_file"
    """`%run PATH`: binds what the file's top level binds. `argument` is the path, without quotes."""

    RUN_MODULE = "run_module"
    """`%run -m NAME`: binds what the module's top level binds. `argument` is its dotted name."""

    PYLAB = "pylab"
    """`%pylab`: a star import of `numpy` and `matplotlib.pylab`."""

    STORE_ALL = "store_all"
    """`%store -r` without names: binds whatever was stored."""

    INJECT = "inject"
    """Binds names that cannot be told from the text (`%rerun`, `%run` with a computed path, …)."""

    RESET = "reset"
    """`%reset`, `%reset_selective`, `%xdel`: names vanish."""

    WRITE_FILE = "write_file"
    """`%%writefile PATH`: later cells may import what it holds. `argument` is the path, without quotes."""

    CHANGE_FOLDER = "change_folder"
    """`%cd PATH`: later relative paths mean something else. `argument` is the path, without quotes."""


@dataclass(frozen=True, slots=True)
class MagicOptions:
    """What translation depends on beside the cell.

    Attributes:
        python_cell_magics: further cell magics, with or without `%%`, whose body is Python in the notebook's namespace.
        python_version: the kernel's (major, minor); `None`: as the Python that we run in.
        automagic: whether a one-line cell such as `pip list` is read as the line magic that it would be.
    """

    python_cell_magics: frozenset[str] = frozenset()
    python_version: tuple[int, int] | None = None
    automagic: bool = True


@dataclass(frozen=True, slots=True)
class MagicBinding:
    """A name that a magic binds in the notebook's namespace.

    Attributes:
        name: the name.
        cell_line: the magic's line.
        type_name: its type as IPython has it: `str`, `SList`, `CapturedIO`, …; `Any` where it is not known.
    """

    name: str
    cell_line: CellLine
    type_name: str


@dataclass(frozen=True, slots=True)
class ForeignBody:
    """Lines of another language.

    Attributes:
        language: an LSP language id: `shellscript`, `javascript`, `html`, …; `python` for a Python of another process.
        first_line: the body's first line in the cell.
        last_line: its last line, inclusive; `first_line - 1` where the body is empty.
        magic: the magic's name without `%`.
        arguments: the rest of the magic's line.
        is_line_magic: whether it is the `%sql` of a whole cell, and no cell magic.
    """

    language: LanguageId
    first_line: CellLine
    last_line: CellLine
    magic: str
    arguments: str
    is_line_magic: bool = False

    @property
    def origin(self) -> str:
        """What made it another language, to be told to a reader: `cell magic %%bash`."""
        return f"line magic %{self.magic}" if self.is_line_magic else f"cell magic %%{self.magic}"


@dataclass(frozen=True, slots=True)
class UncheckedLines:
    """Lines that nobody can look at, and why; `first_line` and `last_line` are inclusive."""

    first_line: CellLine
    last_line: CellLine
    reason: str


@dataclass(frozen=True, slots=True)
class NamespaceEffect:
    """Something that defines (or removes) names which the text does not show."""

    kind: EffectKind
    cell_line: CellLine
    argument: str = ""


@dataclass(frozen=True, slots=True)
class TranslationError:
    """A form that IPython refuses and CPython's parse of the translated text would not report; in cell coordinates."""

    message: str
    range: TextRange


@dataclass(frozen=True, slots=True)
class OwnScope:
    """A stretch of `CellTranslation.lines` that runs in a scope of its own.

    Attributes:
        first_index: the first of its lines, as an index into `CellTranslation.lines`.
        last_index: its last, inclusive.
        names: what it binds, and the notebook does not see.
    """

    first_index: int
    last_index: int
    names: frozenset[str]


@dataclass(frozen=True, slots=True)
class CellTranslation:
    """One cell in Python.

    Attributes:
        lines: the text, line for line, with glue.
        scope: where the cell's body runs. Whatever it says, `lines` belongs into the document.
        bindings: names that magics bind; `lines` binds each of them already, with that type.
        helpers: names of the prelude that `lines` uses.
        foreign: bodies of other languages.
        unchecked: lines that no Python server will look at, though they are code.
        effects: what defines names that nobody can see in the text.
        errors: what IPython would refuse.
        own_scopes: stretches whose names are nobody else's (`magics.close_own_scopes`).
        scoped_names: what they bind, kept when they are closed.
        automagic: the first word of a one-line cell read as a magic without `%`. It is Python after all where the
            notebook binds that word; then translate again with `MagicOptions(automagic=False)`.
        is_identity: whether `lines` is the source, unchanged, line by line.
    """

    lines: tuple[MappedLine, ...]
    scope: CellScope = CellScope.NOTEBOOK
    bindings: tuple[MagicBinding, ...] = ()
    helpers: frozenset[str] = frozenset()
    foreign: tuple[ForeignBody, ...] = ()
    unchecked: tuple[UncheckedLines, ...] = ()
    effects: tuple[NamespaceEffect, ...] = ()
    errors: tuple[TranslationError, ...] = ()
    own_scopes: tuple[OwnScope, ...] = ()
    scoped_names: frozenset[str] = frozenset()
    automagic: str | None = None
    is_identity: bool = False

    @property
    def text(self) -> str:
        """The Python text: the lines joined with LF."""
        return "\n".join(line.text for line in self.lines)
