"""What is asked of the service."""

from dataclasses import dataclass, field
from pathlib import Path

from jupyter_lsp_agent.core.ids import ServerId
from jupyter_lsp_agent.diagnostics.facts import ViewOptions


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRequest:
    """One document to check.

    Attributes:
        path: the document, absolute; with `content_bytes` it need not exist.
        display_path: how the report names it; `None`: as `path` says.
        content_bytes: the content in place of the file's.
        named: the folder or file that the user named, which bounds the search for a root.
        view: what the asker wants to see. `ignore`, `severity` and `ignore_cell_tags` in it are final.
        server: this server alone, without fallback; `None`: the chains of the settings.
        python: the interpreter, in place of the one that the document means.
        timeout_seconds: from when a server takes the document up; `None`: the settings' waits.
    """

    path: Path
    display_path: str | None = None
    content_bytes: bytes | None = field(default=None, repr=False)
    named: Path | None = None
    view: ViewOptions = field(default_factory=ViewOptions)
    server: ServerId | None = None
    python: Path | None = None
    timeout_seconds: float | None = None
