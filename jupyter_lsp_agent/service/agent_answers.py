"""What an agent is answered, beside reports."""

from dataclasses import dataclass
from typing import Any

from jupyter_lsp_agent.diagnostics.report import NoVerdictReason, Report
from jupyter_lsp_agent.service.editing import EditOutcome


@dataclass(frozen=True, slots=True)
class TouchAnswer:
    """Whether a document's servers were started; where not, why, and what to do about it."""

    touched: bool
    reason: NoVerdictReason | None
    detail: str | None

    def to_dict(self) -> dict[str, Any]:
        """As JSON carries it."""
        return {"touched": self.touched, "reason": self.reason, "detail": self.detail}


@dataclass(frozen=True, slots=True)
class EditAnswer:
    """What became of a batch of edits, and the report on it where one was wanted."""

    outcome: EditOutcome
    report: Report | None

    def to_dict(self) -> dict[str, Any]:
        """As JSON carries it; `detail` says what is unusual about the writing."""
        written = self.outcome.written
        return {
            "written": written is not None,
            "write": written.kind.value if written else None,
            "detail": written.note if written else None,
            "content_hash": self.outcome.content_hash,
            "edits": [{"cell_id": place.cell_id, "cell_index": place.cell_index} for place in self.outcome.places],
            "report": None if self.report is None else self.report.to_dict(),
        }

    def to_text(self) -> str:
        """As a model reads it: one line on the writing, then the report."""
        written = self.outcome.written
        first = f"Written ({written.kind.value})." if written else "Nothing was written."
        note = f" {written.note[0].upper()}{written.note[1:]}." if written and written.note else ""
        report = "" if self.report is None else f"\n{self.report.to_text()}"
        return f"{first}{note} content_hash {self.outcome.content_hash}{report}"
