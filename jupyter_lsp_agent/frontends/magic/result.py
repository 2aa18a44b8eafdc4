"""What `%lsp_check` gives: the report, and which content it is about."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from html import escape
from typing import Any

from jupyter_lsp_agent.diagnostics.render_html import render_html
from jupyter_lsp_agent.diagnostics.render_json import cells_to_list
from jupyter_lsp_agent.diagnostics.render_markdown import render_markdown
from jupyter_lsp_agent.diagnostics.report import CellReport, Report, ReportedDiagnostic, Verdict

_SPECIAL = re.compile(r"([\\`*_{}\[\]()<>#+!|$~-])")
"""What Markdown takes for more than text."""

JSON_TYPE = "application/vnd.jupyter-lsp-agent.v1+json"
"""The media type of a report as JSON, in a notebook's outputs."""


@dataclass(frozen=True, slots=True, repr=False, eq=False)
class LspCheck:
    """A report with its circumstances. Iterating gives the findings; it is true when there are any.

    Attributes:
        report: the report.
        content: which content it is about, how that was found and who was asked, in sentences.
        notes: what a reader must know to take the report for what it is, in sentences.
        hidden_state: what the kernel knows and the file does not, where the report has no verdict and so no cells.
    """

    report: Report
    content: str
    notes: tuple[str, ...] = ()
    hidden_state: tuple[CellReport, ...] = ()

    @property
    def verdict(self) -> Verdict:
        """The word on the whole document."""
        return self.report.verdict

    @property
    def errors(self) -> tuple[ReportedDiagnostic, ...]:
        """The shown findings of severity `error`."""
        return self.report.errors

    @property
    def cells(self) -> tuple[CellReport, ...]:
        """The cells with something to show."""
        return self.report.cells

    def __iter__(self) -> Iterator[ReportedDiagnostic]:
        """The shown findings."""
        return iter(self.shown())

    def __bool__(self) -> bool:
        """There is something to show."""
        return bool(self.shown())

    def __repr__(self) -> str:
        return self.to_text()

    def to_text(self) -> str:
        """As a terminal or a model reads it."""
        return "\n".join((self.shown().to_text(), *self._remarks()))

    def to_dict(self) -> dict[str, Any]:
        """The report as JSON has it, with `content`, `notes` and `hidden_state`."""
        return {
            **self.report.to_dict(),
            "content": self.content,
            "notes": list(self.notes),
            "hidden_state": cells_to_list(self.hidden_state),
        }

    def to_html(self) -> str:
        """As a notebook shows it."""
        remarks = "<br>".join(map(escape, self._remarks()))
        return f"{render_html(self.shown())}<p><small>{remarks}</small></p>"

    def to_markdown(self) -> str:
        """For a text that people write."""
        remarks = "  \n".join(_SPECIAL.sub(r"\\\1", remark) for remark in self._remarks())
        return f"{render_markdown(self.shown())}\n\n{remarks}"

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, Any]:
        """Every representation; IPython chooses among them."""
        return {
            "text/plain": self.to_text(),
            "text/html": self.to_html(),
            "text/markdown": self.to_markdown(),
            JSON_TYPE: self.to_dict(),
        }

    def shown(self) -> Report:
        """What a reader sees: the report, and in its cells what the kernel knows."""
        return replace(self.report, cells=self.hidden_state) if self.hidden_state else self.report

    def _remarks(self) -> tuple[str, ...]:
        return (self.content, *self.notes)
