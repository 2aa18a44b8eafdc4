"""Known findings, kept in a file beside the code: what is in it is old, whatever else is found is new.

The file is made to be reviewed and merged: one finding a line, no line or cell numbers, an order that does not depend
on where anything stands. So moving a cell changes nothing in it, and a diff shows what came and what went.

A finding is known by its fingerprint. Where the line it stands on was edited, that is another one; then what the
finding says is enough, one entry for one finding, since an old error on an edited line is still an old error. Entries
that no longer occur are told (`KnownFindings.gone`), and are not there any more when the file is written again.
"""

import json
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

from jupyter_lsp_agent.core.errors import InvalidRequestError
from jupyter_lsp_agent.diagnostics.cleaning import clean_message, headline_of, shorten
from jupyter_lsp_agent.diagnostics.fingerprint import Located, fingerprints, normalise_message
from jupyter_lsp_agent.diagnostics.report import ReportedDiagnostic

_VERSION = 1
_MAX_LINE_CHARACTERS = 200


@dataclass(frozen=True, slots=True)
class BaselineEntry:
    """One known finding; all but the fingerprint is there for readers, and for when its line is edited."""

    code: str | None
    message: str
    source_line: str
    severity: str
    source: str
    fingerprint: str


@dataclass(frozen=True, slots=True)
class BaselineFile:
    """Known findings by file; paths are relative to the baseline file's folder, with `/`."""

    files: Mapping[str, tuple[BaselineEntry, ...]] = field(default_factory=dict, hash=False)


@dataclass(frozen=True, slots=True)
class KnownFindings:
    """Which findings of a file are known.

    Attributes:
        known: for each finding, in the given order, whether it is.
        gone: entries that none of them is.
    """

    known: tuple[bool, ...]
    gone: tuple[BaselineEntry, ...]


def baseline_entries(diagnostics: Iterable[ReportedDiagnostic]) -> tuple[BaselineEntry, ...]:
    """The entries for the findings of a report (one without caps)."""
    return _ordered(
        BaselineEntry(
            code=item.code,
            message=headline_of(item.message),
            source_line=shorten(item.source_line.strip(), _MAX_LINE_CHARACTERS),
            severity=item.severity.name.lower(),
            source=item.source,
            fingerprint=item.fingerprint,
        )
        for item in diagnostics
    )


def find_known(findings: Sequence[Located], entries: Sequence[BaselineEntry]) -> KnownFindings:
    """Which of a file's findings are in its entries.

    Args:
        findings: all of the file, as for `fingerprint.fingerprints`.
        entries: those of the file.
    """
    left = {entry.fingerprint: entry for entry in entries}
    known = [left.pop(name, None) is not None for name in fingerprints(findings)]
    said = Counter(_entry_says(entry) for entry in left.values())
    for place, finding in enumerate(findings):
        if not known[place] and said[_says(finding)]:
            said[_says(finding)] -= 1
            known[place] = True
    gone = []
    for entry in reversed(left.values()):
        if said[_entry_says(entry)]:
            said[_entry_says(entry)] -= 1
            gone.append(entry)
    return KnownFindings(tuple(known), tuple(reversed(gone)))


def renew_baseline(
    old: BaselineFile, found: Mapping[str, Sequence[BaselineEntry]], exists: Callable[[str], bool]
) -> BaselineFile:
    """The baseline to write after a run: what was found, and what is known of files that were not checked.

    Args:
        old: the file as it is.
        found: the entries of each file that has a verdict; what it had before and has no more is pruned.
        exists: whether a file is still there; the entries of others are pruned.
    """
    kept = {path: entries for path, entries in old.files.items() if path not in found and exists(path)}
    return BaselineFile({**kept, **{path: tuple(entries) for path, entries in found.items() if entries}})


def encode_baseline(baseline: BaselineFile) -> str:
    """The text of a baseline file: JSON, one finding a line, always in the same order."""
    files = [
        f"  {_json(path)}: [\n" + ",\n".join(f"    {_json(asdict(entry))}" for entry in _ordered(entries)) + "\n  ]"
        for path, entries in sorted(baseline.files.items())
        if entries
    ]
    body = "{\n" + ",\n".join(files) + "\n }" if files else "{}"
    return f'{{\n "version": {_VERSION},\n "files": {body}\n}}\n'


def decode_baseline(text: str, name: str) -> BaselineFile:
    """Read the text of a baseline file.

    Args:
        text: the text.
        name: the file's name, for messages.

    Raises:
        InvalidRequestError: it is none.
    """
    try:
        content = json.loads(text)
    except ValueError as error:
        raise _not_a_baseline(name, f"not JSON: {error}") from None
    if not isinstance(content, dict) or content.get("version") != _VERSION:
        raise _not_a_baseline(name, f"its version is not {_VERSION}")
    try:
        files = {str(path): tuple(map(_entry, entries)) for path, entries in content["files"].items()}
    except (AttributeError, KeyError, TypeError):
        raise _not_a_baseline(name, "its entries are not as they were written") from None
    return BaselineFile(files)


def _entry(content: Mapping[str, Any]) -> BaselineEntry:
    return BaselineEntry(
        code=None if content["code"] is None else str(content["code"]),
        message=str(content["message"]),
        source_line=str(content["source_line"]),
        severity=str(content["severity"]),
        source=str(content["source"]),
        fingerprint=str(content["fingerprint"]),
    )


def _not_a_baseline(name: str, why: str) -> InvalidRequestError:
    return InvalidRequestError(
        f"{name} is no baseline file ({why}) and stays as it is: name one that `--write-baseline` wrote, or a new one"
    )


def _ordered(entries: Iterable[BaselineEntry]) -> tuple[BaselineEntry, ...]:
    return tuple(
        sorted(entries, key=lambda entry: (entry.code or "", entry.message, entry.source_line, entry.fingerprint))
    )


def _says(finding: Located) -> tuple[str, str, str | None, str]:
    diagnostic = finding.diagnostic
    message = normalise_message(clean_message(diagnostic.message))
    return diagnostic.severity.name.lower(), clean_message(diagnostic.source), diagnostic.code, message


def _entry_says(entry: BaselineEntry) -> tuple[str, str, str | None, str]:
    return entry.severity, entry.source, entry.code, normalise_message(entry.message)


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
