"""The end of what a server wrote to its standard error."""

import re
from typing import Final

MAX_TAIL_BYTES: Final = 16 * 1024
MAX_TAIL_LINES: Final = 100

_TERMINAL_SEQUENCE = re.compile(r"\x1b\[[0-?]*[ -/]*[@-~]")
"""A control sequence of ECMA-48, §5.4."""


class StderrTail:
    """Keeps the last lines of a stream, whatever their length, in bounded memory."""

    def __init__(self) -> None:
        self._tail = bytearray()

    def add(self, data: bytes) -> None:
        """Take in the next bytes of the stream."""
        self._tail += data[-MAX_TAIL_BYTES:]
        del self._tail[:-MAX_TAIL_BYTES]

    @property
    def text(self) -> str:
        """The last `MAX_TAIL_LINES` lines, at most `MAX_TAIL_BYTES` bytes of them."""
        lines = self._tail.decode("utf-8", "replace").rstrip().split("\n")
        return "\n".join(line.rstrip("\r") for line in lines[-MAX_TAIL_LINES:])

    @property
    def last_line(self) -> str:
        """The last line that is not empty, for a message: at most 300 characters, no colours, nothing unprintable."""
        line = _TERMINAL_SEQUENCE.sub("", self.text.rpartition("\n")[2])
        return "".join(filter(str.isprintable, line)).strip()[:300]
