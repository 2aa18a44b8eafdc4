"""Standard output for results alone, standard error for everything else, and a progress bar that is in nobody's way."""

import os
import sys
from pathlib import Path
from typing import BinaryIO, Protocol, TextIO

from jupyter_lsp_agent.core.printable import escape_hidden


class ProgressBar(Protocol):
    """What is used of a progress bar."""

    def update(self, n: float = 1) -> object:
        """Count some more."""
        ...

    def clear(self) -> None:
        """Take it off the line."""
        ...

    def refresh(self) -> object:
        """Draw it again."""
        ...

    def close(self) -> None:
        """Take it away for good."""
        ...


class Console:
    """Where a command writes.

    Results are UTF-8 where they are JSON, else what the stream says; what it cannot write becomes an escape, which in
    JSON is the right spelling of half a surrogate pair.

    Args:
        output: for results.
        encoding: of results.
        errors: for notes.
        progress: whether a progress bar is wanted; it is drawn on a terminal alone.
    """

    def __init__(self, output: BinaryIO, errors: TextIO, *, encoding: str, progress: bool = False) -> None:
        self._output = output
        self._errors = errors
        self._encoding = encoding
        self._wants_progress = progress and errors.isatty()
        self._bar: ProgressBar | None = None
        self._told: set[str] = set()

    def result(self, text: str) -> None:
        """Write results now.

        Raises:
            BrokenPipeError: nobody reads them any more.
        """
        if not text:
            return
        if self._bar is not None:
            self._bar.clear()
        self._output.write(text.encode(self._encoding, "backslashreplace"))
        self._output.flush()
        if self._bar is not None:
            self._bar.refresh()

    def note(self, text: str) -> None:
        """Write a line for the user, not for a program."""
        if self._bar is not None:
            self._bar.clear()
        line = f"{text}\n"
        encoding = self._errors.encoding or "utf-8"
        self._errors.write(line.encode(encoding, "backslashreplace").decode(encoding))
        self._errors.flush()
        if self._bar is not None:
            self._bar.refresh()

    def note_once(self, text: str) -> None:
        """Write a line that may hold anything, unless it was written before."""
        if text not in self._told:
            self._told.add(text)
            self.note(escape_hidden(text))

    def start_progress(self, total: int) -> None:
        """Draw a bar, where one is wanted and there is something to wait for."""
        if self._wants_progress and total > 1:
            from tqdm import tqdm

            self._bar = tqdm(total=total, file=self._errors, unit="file", leave=False, dynamic_ncols=True)

    def advance(self) -> None:
        """One more is done."""
        if self._bar is not None:
            self._bar.update(1)

    def close(self) -> None:
        """Take the bar away."""
        if self._bar is not None:
            self._bar.close()
            self._bar = None


def standard_console(*, json: bool, progress: bool) -> Console:
    """The console of this process. A stream that was closed by whoever started us swallows what is written."""
    encoding = (sys.stdout.encoding if sys.stdout else None) or "utf-8"
    output = sys.stdout.buffer if sys.stdout else Path(os.devnull).open("wb")  # noqa: SIM115 - as long as the process
    errors = sys.stderr or Path(os.devnull).open("w", encoding="utf-8")  # noqa: SIM115
    return Console(output, errors, encoding="utf-8" if json else encoding, progress=progress)
