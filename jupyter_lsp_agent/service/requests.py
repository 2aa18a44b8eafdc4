"""What is asked of the service."""

from dataclasses import dataclass, field, replace
from pathlib import Path

from jupyter_lsp_agent.core.diagnostic import DiagnosticSeverity
from jupyter_lsp_agent.core.ids import ServerId
from jupyter_lsp_agent.diagnostics.facts import ViewOptions
from jupyter_lsp_agent.service.settings import Settings


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRequest:
    """One document to check.

    Attributes:
        path: the document, absolute; with `content_bytes` it need not exist.
        display_path: how the report names it; `None`: as `path` says.
        content_bytes: the content in place of the file's.
        named: the folder or file that the user named, which bounds the search for a root.
        severity: the least that counts; `None`: as the settings say.
        view: what else the asker wants to see; its `severity`, `ignore` and `ignore_cell_tags` come from the settings.
        server: this server alone, without fallback; `None`: the chains of the settings.
        python: the interpreter, in place of the one that the document means.
        timeout_seconds: from when a server takes the document up; `None`: the settings' waits.
    """

    path: Path
    display_path: str | None = None
    content_bytes: bytes | None = field(default=None, repr=False)
    named: Path | None = None
    severity: DiagnosticSeverity | None = None
    view: ViewOptions = field(default_factory=ViewOptions)
    server: ServerId | None = None
    python: Path | None = None
    timeout_seconds: float | None = None

    def view_under(self, settings: Settings) -> ViewOptions:
        """What to show, by the request and by the settings that hold for the document, its workspace's too."""
        return replace(
            self.view,
            severity=settings.severity if self.severity is None else self.severity,
            ignore=frozenset(settings.ignore),
            ignore_cell_tags=frozenset(settings.ignore_cell_tags),
        )
