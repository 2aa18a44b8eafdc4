"""`--since`, `--baseline` and `--write-baseline`: what `check` compares with, and what it writes down.

A baseline file names files relative to its own folder, so it means the same wherever the command is run.
"""

import argparse
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from jupyter_lsp_agent.core.errors import InvalidRequestError
from jupyter_lsp_agent.core.files import read_regular_text
from jupyter_lsp_agent.diagnostics.baseline_file import (
    BaselineEntry,
    BaselineFile,
    baseline_entries,
    decode_baseline,
    encode_baseline,
    renew_baseline,
)
from jupyter_lsp_agent.diagnostics.report import Report
from jupyter_lsp_agent.diagnostics.wording import counted
from jupyter_lsp_agent.frontends.cli_arguments import UsageError
from jupyter_lsp_agent.service.requests import Comparison

_MAX_BASELINE_BYTES = 256 * 1024 * 1024
_MAX_TOLD = 3
"""Entries of one file that are told in full."""


class Baselines:
    """What a run is compared with, and what it finds.

    Args:
        options: of the command line.

    Raises:
        UsageError: the options do not go together, or the baseline file cannot be read.
    """

    def __init__(self, options: argparse.Namespace) -> None:
        if options.since is not None and options.baseline is not None:
            raise UsageError("--since and --baseline are two baselines: choose one")
        self._since: str | None = options.since
        self._known = None if options.baseline is None else _KnownFile(options.baseline)
        self._written = None if options.write_baseline is None else _WrittenFile(options.write_baseline)

    def comparison(self, path: Path) -> Comparison:
        """What the check of a file is compared with."""
        if self._since is not None:
            return Comparison(baseline=f"git:{self._since}")
        return Comparison(known=None if self._known is None else self._known.entries(path))

    def take(self, path: Path, report: Report) -> Iterator[str]:
        """Note what was found in a file; what of the baseline no longer occurs, in a sentence."""
        if self._written is not None and report.counts is not None:
            self._written.take(path, report)
        if self._known is not None and report.gone_entries:
            yield f"{report.path}: {_tell(report.gone_entries, self._known.name)}"

    def close(self) -> Iterator[str]:
        """Write what is to be written.

        Raises:
            UsageError: it cannot be written.
        """
        if self._written is not None:
            yield self._written.write()


class _KnownFile:
    """A baseline file that was read."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._folder = _folder_of(name)
        self._baseline = _read(name)

    def entries(self, path: Path) -> tuple[BaselineEntry, ...]:
        return self._baseline.files.get(_relative(path, self._folder), ())


class _WrittenFile:
    """A baseline file that is to be written; what it holds of files that are not checked stays."""

    def __init__(self, name: str) -> None:
        self._name = name
        self._folder = _folder_of(name)
        self._old = _read(name) if Path(name).exists() else BaselineFile()
        self._found: dict[str, tuple[BaselineEntry, ...]] = {}

    def take(self, path: Path, report: Report) -> None:
        self._found[_relative(path, self._folder)] = baseline_entries(report.counted)

    def write(self) -> str:
        renewed = renew_baseline(self._old, self._found, lambda path: (self._folder / path).exists())
        try:
            Path(self._name).write_text(encode_baseline(renewed), encoding="utf-8", newline="\n")
        except OSError as error:
            raise UsageError(f"{self._name} cannot be written ({error.strerror}): name another file") from None
        n_findings = sum(map(len, renewed.files.values()))
        return f"{self._name}: {counted(n_findings, 'known finding')} in {counted(len(renewed.files), 'file')}"


def _folder_of(name: str) -> Path:
    return Path(os.path.normpath(Path.cwd() / name)).parent


def _relative(path: Path, folder: Path) -> str:
    return Path(os.path.relpath(path, folder)).as_posix()


def _read(name: str) -> BaselineFile:
    try:
        return decode_baseline(read_regular_text(Path(name), max_bytes=_MAX_BASELINE_BYTES), name)
    except FileNotFoundError:
        raise UsageError(f"{name} does not exist: `--write-baseline {name}` writes one") from None
    except OSError as error:
        raise UsageError(f"{name} cannot be read ({error.strerror}): name another file") from None
    except UnicodeDecodeError:
        raise UsageError(f"{name} cannot be read (it is no UTF-8): name a file that `--write-baseline` wrote") from None
    except InvalidRequestError as error:
        raise UsageError(str(error)) from None


def _tell(gone: Sequence[str], name: str) -> str:
    told = "; ".join(gone[:_MAX_TOLD]) + ("; …" if len(gone) > _MAX_TOLD else "")
    number = "1 entry" if len(gone) == 1 else f"{len(gone)} entries"
    verb = "occurs" if len(gone) == 1 else "occur"
    return f"{number} of {name} no longer {verb} ({told}); `--write-baseline {name}` leaves such entries out"
