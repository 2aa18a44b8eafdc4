"""What is shown after a run: one line where nothing is new, else the report.

What is new is what was not shown yet: a check that was cut short by the next run has shown nothing, whatever the
session that it belongs to remembers of it.
"""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from html import escape
from typing import Any, Self

from jupyter_lsp_agent.diagnostics.report import CellReport
from jupyter_lsp_agent.frontends.magic.result import JSON_TYPE, LspCheck


@dataclass(frozen=True, slots=True, repr=False)
class News:
    """A line, and the check that has more to say, if one has."""

    line: str
    check: LspCheck | None = None

    @classmethod
    def of(cls, check: LspCheck) -> Self:
        """What a check brings."""
        head = check.shown().to_text().partition("\n")[0]
        return cls(f"lsp: {head}", check if check else None)

    def __repr__(self) -> str:
        return self.line if self.check is None else f"lsp: {self.check.shown().to_text()}"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        """Every representation; IPython chooses among them."""
        if self.check is None:
            return {"text/plain": self.line, "text/html": f"<small>{escape(self.line)}</small>"}
        return {
            "text/plain": repr(self),
            "text/html": self.check.to_html(),
            "text/markdown": self.check.to_markdown(),
            JSON_TYPE: self.check.to_dict(),
        }


class Told:
    """What has been shown to the user."""

    def __init__(self) -> None:
        self._fingerprints: frozenset[str] = frozenset()
        self.has_begun = False
        """There was a verdict, so that what comes from now on is new."""

    def news(self, check: LspCheck) -> LspCheck:
        """The check without what was shown before; from now on, what it has counts as shown."""
        found, told = frozenset(one.fingerprint for one in check), self._fingerprints
        if check.report.counts is not None:
            self._fingerprints, self.has_begun = found, True
        else:  # nobody looked, so nothing is gone
            self._fingerprints = told | found
        report = replace(check.report, cells=_without(check.report.cells, told))
        return replace(check, report=report, hidden_state=_without(check.hidden_state, told))


def _without(cells: Iterable[CellReport], told: frozenset[str]) -> tuple[CellReport, ...]:
    """The cells without findings that were shown before."""
    rest = []
    for cell in cells:
        kept = tuple(found for found in cell.diagnostics if found.fingerprint not in told)
        if kept or cell.omitted or not cell.diagnostics:
            rest.append(replace(cell, diagnostics=kept))
    return tuple(rest)
