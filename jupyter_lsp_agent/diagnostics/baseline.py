"""What is compared with what: a content, what one set of servers said about it, and what of that is still believed.

Findings of two sets of servers (or versions, environments, settings) are never compared: another type checker words the
same error in another way. So a verdict carries its judges, and where those have changed, the older contents are
judged again by the new ones (`contents_to_judge`, `delta.replay`) before anything is called new.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import Enum, auto
from itertools import groupby
from typing import NewType

from jupyter_lsp_agent.core.diagnostic import Diagnostic
from jupyter_lsp_agent.core.ids import ServerId
from jupyter_lsp_agent.core.positions import CellLine
from jupyter_lsp_agent.diagnostics.places import CellPlace
from jupyter_lsp_agent.notebook.model import Cell

ChainId = NewType("ChainId", str)
"""A chain of servers, named by its language and its place in the settings: stable while the settings are."""

OWN_CHAIN = ChainId("")
"""What this package finds itself; that is always answered."""


@dataclass(frozen=True, slots=True)
class Judge:
    """The server that spoke for a chain."""

    server_id: ServerId
    version: str | None = None


@dataclass(frozen=True, slots=True)
class Judges:
    """The set that gave a verdict.

    Attributes:
        chains: who spoke for each chain that was asked; `None`: nobody did.
        environment: a stamp of what the servers were told of the environment: its path, and what is installed there.
        settings: a stamp of the settings that the servers were given.
    """

    chains: Mapping[ChainId, Judge | None] = field(default_factory=dict, hash=False)
    environment: str = ""
    settings: str = ""

    def agree_with(self, newer: "Judges") -> bool:
        """Whether findings of the two sets may be compared.

        A chain that gives no answer now leaves what it said before; one that was never asked before had nothing to
        look at; but one that was asked, gave no answer and gives one now would bring old findings as new. Where
        nobody was asked at all, there was no code, and nothing to disagree about.
        """
        if not self.chains or not newer.chains:
            return True
        if (self.environment, self.settings) != (newer.environment, newer.settings):
            return False
        shared = self.chains.keys() & newer.chains.keys()
        return all(newer.chains[chain] in (None, self.chains[chain]) for chain in shared)

    def rolled_to(self, newer: "Judges") -> "Judges":
        """The set whose findings are in force after a newer verdict: the last judge that each chain had."""
        if not newer.chains:
            return self
        chains = dict(self.chains)
        for chain, judge in newer.chains.items():
            chains[chain] = judge or chains.get(chain)
        return Judges(chains, newer.environment, newer.settings)

    def silent_chains(self) -> frozenset[ChainId]:
        """The chains that were asked and gave no answer."""
        return frozenset(chain for chain, judge in self.chains.items() if judge is None)


@dataclass(frozen=True, slots=True)
class Finding:
    """A diagnostic, the cell it is in, and the chain that gave it. A plain text file is one cell, number 0."""

    cell_index: int
    diagnostic: Diagnostic
    chain: ChainId = OWN_CHAIN

    @property
    def start(self) -> CellPlace:
        """The line it starts on."""
        return CellPlace(self.cell_index, CellLine(self.diagnostic.range.start.line))


@dataclass(frozen=True, slots=True)
class UncheckedLines:
    """Lines of a cell that no server looked at, 0-based, both ends included."""

    cell_index: int
    first_line: CellLine
    last_line: CellLine

    def holds(self, place: CellPlace) -> bool:
        """Whether a line is among them."""
        return place.cell_index == self.cell_index and self.first_line <= place.line <= self.last_line


@dataclass(frozen=True, slots=True)
class StateVerdict:
    """What one set of servers said about one content, all severities.

    Attributes:
        cells: the content, in order; a plain text file is one code cell.
        findings: everything found, in any order.
        judges: who said it.
        unparsed: cells that do not parse.
        unchecked: lines that no server looked at.
    """

    cells: tuple[Cell, ...]
    findings: tuple[Finding, ...]
    judges: Judges = field(default_factory=Judges)
    unparsed: frozenset[int] = frozenset()
    unchecked: tuple[UncheckedLines, ...] = ()

    def was_looked_at(self) -> bool:
        """Whether nothing kept a server from seeing all of it."""
        return not (self.unparsed or self.judges.silent_chains())


@dataclass(frozen=True, slots=True)
class TrackedFinding:
    """A finding that the last verdict holds.

    Attributes:
        finding: where it is in the last content.
        in_baseline: it was there when the session met the file, or was accepted.
        carried: it was not looked at again; its place may be no more than near.
        of_unparsed_cell: it was found in a cell that did not parse, so it is about that.
    """

    finding: Finding
    in_baseline: bool
    carried: bool = False
    of_unparsed_cell: bool = False


class Why(Enum):
    """Why an older content is remembered."""

    SEEN_WHOLE = auto()
    """The newest that was looked at as a whole, where that is an older one: what is carried was found there."""
    MENDED = auto()
    """The newest in which something of the baseline was gone: where that came back since, it is not old any more."""


@dataclass(frozen=True, slots=True)
class Waypoint:
    """A content between the baseline's and the last one."""

    why: Why
    cells: tuple[Cell, ...]


@dataclass(frozen=True, slots=True)
class LastVerdict:
    """The newest verdict of a session on a file, with what it carries.

    Attributes:
        cells: the content that was judged.
        findings: what was found, and what was not looked at again.
        judges: the last that each chain had.
        unparsed: cells of it that do not parse.
        waypoints: older contents, in order, that other judges would have to see as well to come to this verdict.
    """

    cells: tuple[Cell, ...]
    findings: tuple[TrackedFinding, ...]
    judges: Judges
    unparsed: frozenset[int] = frozenset()
    waypoints: tuple[Waypoint, ...] = ()

    def accepted(self) -> "LastVerdict":
        """The same, as a baseline: all that it holds counts as old."""
        return replace(
            self,
            findings=tuple(replace(tracked, in_baseline=True) for tracked in self.findings),
            waypoints=tuple(point for point in self.waypoints if point.why is not Why.MENDED),
        )


@dataclass(frozen=True, slots=True)
class FileBaseline:
    """What a session knows of a file.

    Attributes:
        cells: the content that the session met, or accepted.
        last: its last verdict; `None` while the baseline's content could not be judged.
    """

    cells: tuple[Cell, ...]
    last: LastVerdict | None = None

    def is_all_old(self) -> bool:
        """Whether the last verdict is the baseline itself, met or accepted."""
        last = self.last
        return last is not None and last.cells == self.cells and all(found.in_baseline for found in last.findings)


def contents_to_judge(baseline: FileBaseline, judges: Judges) -> tuple[tuple[Cell, ...], ...]:
    """The older contents that these judges must see before their word on a newer one can be compared, in order.

    Args:
        baseline: what the session knows.
        judges: those of the newer verdict.
    """
    last = baseline.last
    if last is None:
        return (baseline.cells,)
    if last.judges.agree_with(judges):
        return ()
    contents = [baseline.cells, *(point.cells for point in last.waypoints), last.cells]
    return tuple(cells for cells, _ in groupby(contents))
