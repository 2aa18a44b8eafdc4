"""What is asked from inside a kernel, and what the kernel knows at that moment: values that cost nothing to load."""

from dataclasses import dataclass, field

from jupyter_lsp_agent.core.diagnostic import DiagnosticSeverity
from jupyter_lsp_agent.frontends.magic.surroundings import KernelSurroundings
from jupyter_lsp_agent.service.execution import Execution


@dataclass(frozen=True, slots=True)
class AskingCell:
    """The cell that runs now: its id where the client sends it, and its text."""

    cell_id: str | None
    source: str


@dataclass(frozen=True, slots=True, kw_only=True)
class KernelQuestion:
    """What is asked, and what the kernel knows at that moment.

    Attributes:
        around: what surrounds the kernel.
        executed: what ran, in order.
        names: that live in the user's namespace.
        known: those, and what was there from the beginning: of a start-up file, a script, an embedding function.
        asking: the cell that asks.
        path: the named document; `None`: this kernel's notebook.
        body: what stands for the asking cell (`%%lsp_check`).
        everything: no caps, and findings of every status.
        severity: the least that counts; `None`: as the settings say.
        server: one language server alone.
        baseline: `none`, `session` or `git:REV`.
        cell: the one cell that is shown, by id or index.
    """

    around: KernelSurroundings
    executed: tuple[Execution, ...] = field(repr=False)
    names: frozenset[str] = field(repr=False)
    asking: AskingCell
    known: frozenset[str] = field(default=frozenset(), repr=False)
    path: str | None = None
    body: str | None = None
    everything: bool = False
    severity: DiagnosticSeverity | None = None
    server: str | None = None
    baseline: str = "none"
    cell: str | None = None

    @property
    def unjudged(self) -> frozenset[int]:
        """The numbers of inputs that failed in a terminal. In a notebook a cell that failed is still a cell."""
        failed = (cell.execution_count for cell in self.executed if cell.failed)
        return frozenset() if self.around.is_kernel else frozenset(failed)
