"""A cell's part in the life of the notebook's names: what it needs from before, and what it leaves behind.

A pure function of the cell's source, kept per source, so that a notebook in which one cell changes costs one cell.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import lru_cache

from jupyter_lsp_agent.core.positions import TextPosition, TextRange
from jupyter_lsp_agent.notebook.cell_translation import CellTranslation, EffectKind, MagicOptions
from jupyter_lsp_agent.notebook.line_map import CellChunk
from jupyter_lsp_agent.notebook.magics import close_own_scopes, translate_cell
from jupyter_lsp_agent.notebook.name_events import EventKind, NameEvent, name_events
from jupyter_lsp_agent.notebook.namespace_calls import loads_unknown_extension
from jupyter_lsp_agent.notebook.python_cell import PythonCell, analyse_cell
from jupyter_lsp_agent.notebook.python_syntax import parse
from jupyter_lsp_agent.notebook.source_text import SourceText

_SURROGATE = re.compile("[\ud800-\udfff]")
_HIDING = frozenset({EffectKind.PYLAB, EffectKind.STORE_ALL, EffectKind.INJECT, EffectKind.RUN_MODULE})
_SOURCES_KEPT = 4096


@dataclass(frozen=True, slots=True)
class NameUse:
    """A name that a cell reads and has not bound itself before.

    Attributes:
        name: the name.
        place: its first use, in the cell's source.
        is_late: it is read only when functions are called.
        is_certain: it is read whenever the cell runs to its end.
    """

    name: str
    place: TextRange
    is_late: bool
    is_certain: bool


@dataclass(frozen=True, slots=True)
class NameBinding:
    """What a cell leaves of a name. `text`: the statement that bound it, `None` where that is unclear."""

    is_certain: bool
    text: str | None = None


@dataclass(frozen=True, slots=True)
class NameFlow:
    """A cell's part in the life of the notebook's names.

    Attributes:
        uses: what it needs, once each, in the order of first reads.
        bindings: what it leaves behind, by name.
        deleted: names that are gone behind it.
        hides_names: it may bind names that nobody can see.
        run_files: what it gives to `%run`, as written.
    """

    uses: tuple[NameUse, ...] = ()
    bindings: Mapping[str, NameBinding] = field(default_factory=dict, hash=False)
    deleted: frozenset[str] = frozenset()
    hides_names: bool = False
    run_files: tuple[str, ...] = ()


@lru_cache(maxsize=_SOURCES_KEPT)
def name_flow(source: str, magics: MagicOptions) -> NameFlow:
    """The name flow of one cell. A cell that does not parse needs nothing and may bind anything."""
    translation = _translate(source, magics)
    cell = analyse_cell(source, translation, magics.python_version)
    hides = loads_unknown_extension(source) or any(effect.kind in _HIDING for effect in translation.effects)
    run_files = tuple(effect.argument for effect in translation.effects if effect.kind is EffectKind.RUN_FILE)
    flow = None if cell.advice.broken else _flow_of(cell)
    if flow is None:
        bindings = {name: NameBinding(is_certain=False) for name in cell.advice.bound}
        return NameFlow(bindings=bindings, hides_names=True, run_files=run_files)
    return NameFlow(flow.uses, flow.bindings, flow.deleted, flow.hides_names or hides, run_files)


def _translate(source: str, magics: MagicOptions) -> CellTranslation:
    """The cell as Python; what runs in a scope of its own as a function, so that its names stay its own."""
    translation = translate_cell(_SURROGATE.sub("\ufffd", source), magics)
    return close_own_scopes(translation, frozenset().union(*(scope.names for scope in translation.own_scopes)))


def _flow_of(cell: PythonCell) -> NameFlow | None:
    text = "\n".join(line.text for line in cell.lines)
    tree = parse(text)
    if tree is None:
        return None
    source = SourceText(text)
    try:
        return _Fold(source, CellChunk(cell.lines)).fold(name_events(tree, source))
    except RecursionError:
        return None


class _Fold:
    """Takes a cell's events one by one."""

    def __init__(self, source: SourceText, chunk: CellChunk) -> None:
        self._source, self._chunk = source, chunk
        self._early: dict[str, tuple[TextRange, bool]] = {}
        self._late: dict[str, TextRange] = {}
        self._looped: set[str] = set()
        self._bindings: dict[str, NameBinding] = {}
        self._ever_bound: set[str] = set()
        self._deleted: set[str] = set()
        self._hides = False
        self._is_careful = False

    def fold(self, events: Iterator[NameEvent]) -> NameFlow:
        """All of them."""
        for event in events:
            self._take(event)
        uses = () if self._is_careful else tuple(self._uses())
        return NameFlow(uses, self._bindings, frozenset(self._deleted), self._hides)

    def _take(self, event: NameEvent) -> None:
        name = event.name
        match event.kind:
            case EventKind.READ | EventKind.LATE_READ:
                self._read(event)
            case EventKind.LOOP:
                self._looped.add(name)
            case EventKind.BIND:
                before = self._bindings.get(name)
                is_certain = event.certain or (before is not None and before.is_certain)
                self._bindings[name] = NameBinding(is_certain, event.text if event.certain else None)
                self._ever_bound.add(name)
                self._deleted.discard(name)
            case EventKind.DELETE if event.certain:
                self._bindings.pop(name, None)
                self._deleted.add(name)
            case EventKind.HIDDEN:
                self._hides = True

    def _read(self, event: NameEvent) -> None:
        name = event.name
        # A cell that speaks of this error reckons with names that are not there.
        self._is_careful |= name == "NameError"
        if name.startswith("_") or self._hides or name in self._ever_bound or name in self._looped:
            return
        place = self._place(event)
        if place is None:
            return
        if event.kind is EventKind.LATE_READ:
            self._late.setdefault(name, place)
        else:
            first, was_certain = self._early.get(name, (place, False))
            self._early[name] = first, was_certain or event.certain

    def _place(self, event: NameEvent) -> TextRange | None:
        """Where the name stands in the cell; `None` where only our text has it."""
        node = event.node
        if node is None:
            return None
        place = self._source.range(node)
        if self._source.slice(place) != event.name:  # before Python 3.12 places in f-strings are inexact
            found = re.search(rf"\b{re.escape(event.name)}\b", self._source.lines[place.start.line])
            if found is None:
                return None
            line = place.start.line
            place = TextRange(TextPosition(line, found.start()), TextPosition(line, found.end()))
        start, end = self._chunk.to_cell(place.start), self._chunk.to_cell(place.end)
        return None if start is None or end is None or end <= start else TextRange(start, end)

    def _uses(self) -> Iterator[NameUse]:
        for name, (place, is_certain) in self._early.items():
            yield NameUse(name, place, is_late=False, is_certain=is_certain)
        for name, place in self._late.items():
            if name not in self._early and name not in self._ever_bound:
                yield NameUse(name, place, is_late=True, is_certain=False)
