"""A name for a finding that outlives the places it is found at.

Cells move, lines shift, messages quote line numbers; the finding is the same. So its fingerprint is made of what it
says (source, code, severity, the message without positions and without what is this machine's) and of the line it
stands on, never of where that line is. Findings that agree in all of this are told apart by an ordinal. The ordinal
follows the cells' own identity (a stored id that is unique, else the cell's source), not their order, so that equal
findings in two cells keep their fingerprints when the cells change places; and the set of fingerprints is the same in
any order.
"""

import hashlib
import json
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass

from jupyter_lsp_agent.core.diagnostic import Diagnostic
from jupyter_lsp_agent.core.printable import visible_line
from jupyter_lsp_agent.diagnostics.cleaning import headline_of
from jupyter_lsp_agent.notebook.model import Cell

_POSITION = re.compile(
    r"\b(?P<word>lines?|ln|columns?|col|cells?|rows?|positions?|offset)(?P<gap>[\s:#=]+)\d+"
    r"|(?P<bracket>\b(?:In|Out) ?\[)\d+\]"
    r"|(?P<file>\.\w+|>):\d+(?::\d+)?\b",
    re.IGNORECASE,
)

_ABSOLUTE_PATH = re.compile(r"(?<![\w./~])(?:/|[A-Za-z]:[\\/])(?:[\w.@+~-]+[\\/])+[\w.@+~-]*")


@dataclass(frozen=True, slots=True)
class Located:
    """A finding with what its fingerprint needs.

    Attributes:
        diagnostic: what was found.
        source_line: the line it starts on, as stored.
        cell: the cell it is in, `None` in a plain text file.
    """

    diagnostic: Diagnostic
    source_line: str
    cell: Cell | None = None


def normalise_message(message: str) -> str:
    """The message without the positions that it quotes, and with single spaces; other numbers stay.

    Without the explanations behind it too, and without absolute paths: where a server has searched for a module differs
    from one checkout and from one environment to the next, and the finding is the same.
    """
    said = _ABSOLUTE_PATH.sub("", headline_of(visible_line(message)))
    return " ".join(_POSITION.sub(_without_number, said).split())


def fingerprints(findings: Sequence[Located]) -> tuple[str, ...]:
    """One fingerprint for each finding, in the given order; no two are equal.

    Args:
        findings: all findings of one document, whatever a report will show of them.
    """
    names = _cell_names(findings)
    order = sorted(range(len(findings)), key=lambda position: _rank(findings[position], names))
    seen: Counter[str] = Counter()
    result = [""] * len(findings)
    for position in order:
        key = _key(findings[position])
        result[position] = _digest([key, seen[key]])
        seen[key] += 1
    return tuple(result)


def _key(finding: Located) -> str:
    diagnostic = finding.diagnostic
    return _digest(
        [
            diagnostic.source,
            diagnostic.code,
            int(diagnostic.severity),
            normalise_message(diagnostic.message),
            finding.source_line.strip(),
        ]
    )


def _rank(finding: Located, names: dict[int, str]) -> tuple[str, int, int, int]:
    start = finding.diagnostic.range.start
    index = finding.cell.index if finding.cell else 0
    return names.get(index, ""), index, start.line, start.column


def _cell_names(findings: Sequence[Located]) -> dict[int, str]:
    cells = {finding.cell.index: finding.cell for finding in findings if finding.cell}
    ids = Counter(cell.cell_id for cell in cells.values())
    return {
        index: cell.cell_id if cell.cell_id and ids[cell.cell_id] == 1 else _digest(cell.source)
        for index, cell in cells.items()
    }


def _without_number(match: re.Match[str]) -> str:
    return "".join(part or "" for part in match.groups())


def _digest(value: object) -> str:
    return hashlib.sha256(json.dumps(value, ensure_ascii=True).encode("ascii")).hexdigest()[:32]
