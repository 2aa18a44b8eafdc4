"""Asking about a notebook whose kernel is not Python's.

We parse none of these languages. Where a server finds that the joined cells do not parse, each cell is shown to it
alone: the ones that do not parse by themselves report that, and the others are judged without them.
"""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass

from jupyter_lsp_agent.core.diagnostic import CellDiagnostic, Diagnostic
from jupyter_lsp_agent.core.ids import LanguageId
from jupyter_lsp_agent.diagnostics.kernel_findings import findings_on_glue, judge_kernel_findings
from jupyter_lsp_agent.diagnostics.relocate import relocate
from jupyter_lsp_agent.notebook.model import Cell
from jupyter_lsp_agent.notebook.virtual_document import VirtualDocument, build_kernel_document
from jupyter_lsp_agent.service.asking import ChainAnswer
from jupyter_lsp_agent.service.chain_calls import ChainSilence

MAX_CELLS_ALONE = 300
"""With more cells, errors are told where the server puts them in the joined document."""

Ask = Callable[[VirtualDocument], Awaitable[ChainAnswer | ChainSilence]]


@dataclass(frozen=True, slots=True)
class KernelAnswer:
    """What a chain said of the joined cells, in cells; `answer` is its last one."""

    findings: tuple[CellDiagnostic, ...]
    unmapped: tuple[Diagnostic, ...]
    answer: ChainAnswer


async def ask_about_joined(language: LanguageId, cells: Sequence[Cell], ask: Ask) -> KernelAnswer | ChainSilence:
    """Have the cells of a kernel's language judged.

    Args:
        language: of the kernel; one that `other_kernels.is_joinable`.
        cells: its code cells, in order.
        ask: asks a chain about a document.
    """
    first = await _ask_once(language, cells, ask, broken=frozenset())
    if isinstance(first, ChainSilence) or not first.broken_cells or len(cells) > MAX_CELLS_ALONE:
        return first if isinstance(first, ChainSilence) else first.said
    alone: list[CellDiagnostic] = []
    broken: set[str] = set()
    for cell in cells:
        said = await _ask_once(language, [cell], ask, broken=frozenset())
        if isinstance(said, ChainSilence):
            return said
        if said.broken_cells:
            broken.add(cell.source)
            alone += said.said.findings
    if not broken:
        return first.said
    rest = await _ask_once(language, cells, ask, broken=frozenset(broken))
    if isinstance(rest, ChainSilence):
        return rest
    return KernelAnswer((*alone, *rest.said.findings), rest.said.unmapped, rest.said.answer)


@dataclass(frozen=True, slots=True)
class _Said:
    said: KernelAnswer
    broken_cells: frozenset[int]


async def _ask_once(
    language: LanguageId, cells: Sequence[Cell], ask: Ask, *, broken: frozenset[str]
) -> _Said | ChainSilence:
    document = build_kernel_document(language, cells, broken)
    answer = await ask(document)
    if isinstance(answer, ChainSilence):
        return answer
    relocated = relocate(document, answer.diagnostics)
    findings = (*relocated.cell_diagnostics, *findings_on_glue(document, answer.diagnostics))
    judged = judge_kernel_findings(language, findings, has_broken=bool(broken))
    return _Said(KernelAnswer(judged.findings, relocated.unmapped, answer), judged.broken_cells)
