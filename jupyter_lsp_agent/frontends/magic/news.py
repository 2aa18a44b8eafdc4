"""What is shown after a run: one line where nothing is new, else the report."""

from dataclasses import dataclass
from html import escape
from typing import Any, Self

from jupyter_lsp_agent.frontends.magic.result import JSON_TYPE, LspCheck


@dataclass(frozen=True, slots=True, repr=False)
class News:
    """A line, and the check that has more to say, if one has."""

    line: str
    check: LspCheck | None = None

    @classmethod
    def of(cls, check: LspCheck) -> Self:
        """What a check brings."""
        head = check.report.to_text().partition("\n")[0]
        return cls(f"lsp: {head}", check if check else None)

    def __repr__(self) -> str:
        return self.line if self.check is None else f"lsp: {self.check.report.to_text()}"

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
