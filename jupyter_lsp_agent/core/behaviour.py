"""How a server behaves, as values: the catalogue says them, `lsp/` obeys them, and no code asks for a server's name."""

from dataclasses import dataclass
from enum import StrEnum


class ReadySignal(StrEnum):
    """What must have come before an empty answer may be believed."""

    NONE = "none"
    QUIESCENT = "quiescent"
    """`experimental/serverStatus` with `quiescent: true` (rust-analyzer); it must be advertised."""
    PROGRESS_END = "progress-end"
    """The end of every work-done progress that began after `initialized`."""


class EmptyConfiguration(StrEnum):
    """What a server is given for a section of `workspace/configuration` that has no value."""

    NULL = "null"
    OBJECT = "object"


class FullChange(StrEnum):
    """The form of a full replacement in `didChange`."""

    TEXT = "text"
    """`{text}`, legal for every sync kind."""
    RANGE = "range"
    """The whole range over the old text, for servers that mis-handle the other."""


class Freshness(StrEnum):
    """How a verdict was known to describe the text that was sent."""

    PULL = "pull"
    VERSIONED_PUSH = "versioned_push"
    PUSH = "push"
    QUIET_PUSH = "quiet_push"


class ChangedFilesReaction(StrEnum):
    """What makes a server see a file that changed on disk."""

    WATCHED_FILES = "watched-files"
    NUDGE = "nudge"
    """`didChangeWatchedFiles`, then a `didChange` with the same text."""
    RESTART = "restart"


@dataclass(frozen=True, slots=True)
class ServerBehaviour:
    """One server's behaviour class. The default is a well-behaved server; every deviation is a value.

    Attributes:
        advertise_pull: offer `textDocument.diagnostic`; false for a server whose pull is worse than its push.
        dynamic_registration: offer `dynamicRegistration` for it.
        merge_push_with_pull: its pushes hold findings that its pulls do not.
        quiet_period_seconds: a push is its last word once nothing more came for so long.
        first_quiet_period_seconds: the same for the first verdict on a document.
        first_push_seeds: its first push for a document is no verdict.
        pushes_per_change: how many pushes with one version there are before the last counts (a double push is 2).
        stale_push_seconds: pushes that claim the new version may show the old text for so long.
        silent_when_clean_seconds: it pushes nothing when there is nothing to say; so long a silence is a clean verdict.
        ready: what must have come before its answers count.
        ready_timeout_seconds: after so long without that signal, findings are had as they come, marked as not ready;
            an empty answer waits for the signal.
        empty_configuration: its answer for an unknown configuration section.
        full_change: the form of a full replacement.
        reopen_to_recheck: it is silent on a change to a text that it checked last, so such a document is closed and
            opened again.
        reopen_when_clean: it is silent on a change to a document that was without findings and still is, so such a one
            is closed and opened again.
        save_after_change: it checks only what was saved: `didSave` follows each change.
        changed_files: how it is told of files of the workspace that changed on disk.
        changed_configuration: how it is told of its own configuration files.
        changed_packages: how it is told of packages that came or went in the environment.
        one_at_a_time: a change of one document makes it forget the check of another that is under way.
        refuses_progress: it crashes on a null answer to `window/workDoneProgress/create`; not advertised then.
    """

    advertise_pull: bool = True
    dynamic_registration: bool = True
    merge_push_with_pull: bool = False
    quiet_period_seconds: float = 0.15
    first_quiet_period_seconds: float | None = None
    first_push_seeds: bool = False
    pushes_per_change: int = 1
    stale_push_seconds: float = 0.0
    silent_when_clean_seconds: float | None = None
    ready: ReadySignal = ReadySignal.NONE
    ready_timeout_seconds: float = 60.0
    empty_configuration: EmptyConfiguration = EmptyConfiguration.NULL
    full_change: FullChange = FullChange.TEXT
    reopen_to_recheck: bool = False
    reopen_when_clean: bool = False
    save_after_change: bool = False
    changed_files: ChangedFilesReaction = ChangedFilesReaction.WATCHED_FILES
    changed_configuration: ChangedFilesReaction = ChangedFilesReaction.WATCHED_FILES
    changed_packages: ChangedFilesReaction = ChangedFilesReaction.WATCHED_FILES
    one_at_a_time: bool = False
    refuses_progress: bool = False
