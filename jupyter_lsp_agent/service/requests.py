"""What is asked of the service."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from pathlib import Path

from jupyter_lsp_agent.core.diagnostic import DiagnosticSeverity
from jupyter_lsp_agent.core.ids import ServerId
from jupyter_lsp_agent.diagnostics.baseline_file import BaselineEntry
from jupyter_lsp_agent.diagnostics.facts import ViewOptions
from jupyter_lsp_agent.diagnostics.report import ContentSource
from jupyter_lsp_agent.service.settings import Settings


@dataclass(frozen=True, slots=True)
class SessionKey:
    """An agent session: a user's name space, and the agent's own name in it."""

    user: str
    name: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """What a check is compared with.

    Attributes:
        baseline: `session`, `none` or `git:REV`.
        known: the entries of a baseline file for the document, in place of `baseline`.
        session: whose baseline; `None` with `none` and `git:REV` only.
        before_bytes: the stored content that a session takes as baseline where it meets the document now; `None`: the
            checked content itself.
        keeps: the session's last verdict becomes this one; false for what is only proposed, or told to nobody.
    """

    baseline: str = "none"
    known: tuple[BaselineEntry, ...] | None = None
    session: SessionKey | None = None
    before_bytes: bytes | None = field(default=None, repr=False)
    keeps: bool = True


@dataclass(frozen=True, slots=True)
class OptionWords:
    """What the asker calls what can be asked for, so that a sentence about it can be acted on."""

    python: str = "--python"
    timeout: str = "--timeout"


@dataclass(frozen=True, slots=True, kw_only=True)
class CheckRequest:
    """One document to check.

    Attributes:
        path: the document, absolute; with `content_bytes` it need not exist.
        display_path: how the report names it; `None`: as `path` says.
        content_bytes: the content in place of the file's.
        content_source: where `content_bytes` come from; `request`: they are not what is stored.
        named: the folder or file that the user named, which bounds the search for a root.
        severity: the least that counts; `None`: as the settings say.
        view: what else the asker wants to see; its `severity`, `ignore` and `ignore_cell_tags` come from the settings.
        server: this server alone, without fallback; `None`: the chains of the settings.
        python: the interpreter, in place of the one that the document means.
        given_names: names that the kernel has, whether a cell binds them or not.
        timeout_seconds: from when a server takes the document up; `None`: the settings' waits.
        wait_seconds: in place of the settings' waits, for the whole answer.
        comparison: what the findings are compared with.
        words: the asker's own for some of these.
        is_awaited: whether somebody still waits for the report; one that comes too late changes no state.
    """

    path: Path
    display_path: str | None = None
    content_bytes: bytes | None = field(default=None, repr=False)
    content_source: ContentSource = ContentSource.REQUEST
    named: Path | None = None
    severity: DiagnosticSeverity | None = None
    view: ViewOptions = field(default_factory=ViewOptions)
    server: ServerId | None = None
    python: Path | None = None
    given_names: frozenset[str] = frozenset()
    timeout_seconds: float | None = None
    wait_seconds: float | None = None
    comparison: Comparison = field(default_factory=Comparison)
    words: OptionWords = OptionWords()
    is_awaited: Callable[[], bool] = field(default=lambda: True, compare=False, repr=False)

    @property
    def is_proposed(self) -> bool:
        """The content is not what is stored."""
        return self.content_bytes is not None and self.content_source is ContentSource.REQUEST

    def view_under(self, settings: Settings) -> ViewOptions:
        """What to show, by the request and by the settings that hold for the document, its workspace's too."""
        return replace(
            self.view,
            severity=settings.severity if self.severity is None else self.severity,
            ignore=frozenset(settings.ignore),
            ignore_cell_tags=frozenset(settings.ignore_cell_tags),
        )
