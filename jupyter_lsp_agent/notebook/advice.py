"""What relocation must know of each cell to tell a notebook's own ways from errors. All places are the cell's own."""

from dataclasses import dataclass, field
from enum import IntEnum

from jupyter_lsp_agent.core.positions import TextPosition, TextRange
from jupyter_lsp_agent.notebook.existence_tests import ExistenceTest
from jupyter_lsp_agent.notebook.open_ends import NO_OPEN_ENDS, OpenEnds


class GuardStrength(IntEnum):
    """How much of a cell a guard changes; each is tried where the one before did not help."""

    LIGHT = 0
    """What is sent of the statement is changed as little as can be."""
    STATEMENT = 1
    """The whole statement may or may not run."""
    CELL = 2
    """The whole cell may or may not run."""


@dataclass(frozen=True, slots=True)
class Guard:
    """A statement after which a server believes that nothing runs, found from its hints; fed back to the next build.

    Attributes:
        source: the cell's source: a cell that changed has no guards, a cell that moved keeps them.
        line: 0-based line of the cell on which the dead stretch begins; the statement before it is the one to guard.
        column: its column; `None`: the dead stretch begins in a later cell, so the cell's last statement is meant.
        strength: how it is guarded.
    """

    source: str
    line: int
    column: int | None = None
    strength: GuardStrength = GuardStrength.LIGHT


@dataclass(frozen=True, slots=True)
class CellAdvice:
    """How findings in one cell are to be read.

    Attributes:
        broken: the cell does not parse: its own error is told, and what a server says of the rest of it is not.
        await_places: where `await` and `async` stand outside functions, which a kernel allows.
        dead: stretches that never run since the cell ended before.
        first_code: where its first statement begins; `None` without statements.
        last_expression: the expression whose value a kernel shows.
        imports_end: where the first statement begins that is no import; `None` where there is none.
        bound: names that it binds.
        rebound: names that it binds more than once.
        star_imports: its `from … import *`.
        checks: relative virtual line of a check of ours → the place that its findings are about.
        missing_imports: imports of modules that are told to be missing by us.
        existence_tests: where it asks itself whether names or modules exist.
        asked_modules: top-level names of the modules that it asks for so.
        conditional_imports: its imports that only run under an `if`.
        open_ends: what it binds, and where it has modules looked for, by calls.
        hides_names: it binds names that nobody can see (`%run` of what cannot be read, `%pylab`, …).
        silenced_codes: what the cell's own file-level directive switches off.
    """

    broken: bool = False
    await_places: frozenset[TextPosition] = frozenset()
    dead: tuple[TextRange, ...] = ()
    first_code: TextPosition | None = None
    last_expression: TextRange | None = None
    imports_end: TextPosition | None = None
    bound: frozenset[str] = frozenset()
    rebound: frozenset[str] = frozenset()
    star_imports: tuple[TextRange, ...] = ()
    checks: dict[int, TextRange] = field(default_factory=dict, hash=False)
    missing_imports: tuple[TextRange, ...] = ()
    existence_tests: tuple[ExistenceTest, ...] = ()
    asked_modules: frozenset[str] = frozenset()
    conditional_imports: tuple[TextRange, ...] = ()
    open_ends: OpenEnds = NO_OPEN_ENDS
    hides_names: bool = False
    silenced_codes: frozenset[str] = frozenset()
