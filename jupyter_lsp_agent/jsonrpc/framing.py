"""LSP's base protocol without I/O: bytes in, payloads out.

A frame is a block of header lines, an empty line, and `Content-Length` *bytes* (LSP 3.17, "Base Protocol"). How the
bytes were cut on their way makes no difference, to errors neither.

Servers and the wrappers around them print: banners, log lines, a usage text. So whatever stands before a header block
is skipped, counted and sampled, never an error by itself; a line that is not a header ends the block that it stands
in. What cannot be mended ends the stream with `ProtocolError`: after a wrong length there is no telling
where the next message begins, and guessing would parse a body as headers. Everything is bounded.
"""

import re
from typing import Final

from jupyter_lsp_agent.core.errors import ProtocolError

MAX_HEADER_BYTES: Final = 8 * 1024
"""A header block, and the part of one line that is looked at."""

MAX_NOISE_BYTES: Final = 1024 * 1024
"""What may stand between two messages."""

MAX_BODY_BYTES: Final = 64 * 1024 * 1024
"""A payload, unless a decoder is told otherwise."""

NOISE_SAMPLE_BYTES: Final = 512
"""How much of the noise is kept, from its beginning."""

_CONTENT_LENGTH = re.compile(rb"content-length[ \t]*:[ \t]*(.*?)[ \t]*$", re.IGNORECASE)
_CONTENT_TYPE = re.compile(rb"content-type[ \t]*:", re.IGNORECASE)
_HEADER = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+[ \t]*:")
_CHARSET = re.compile(rb"charset[ \t]*=[ \t]*\"?([^\s;\"]+)", re.IGNORECASE)
_CHARSETS = frozenset({b"utf-8", b"utf8", b"us-ascii", b"ascii"})


def encode_frame(payload: bytes) -> bytes:
    """The frame that carries `payload`."""
    return b"Content-Length: %d\r\n\r\n%b" % (len(payload), payload)


class FrameDecoder:
    """Cuts a stream of bytes into payloads.

    Feed it with `receive_data`, take messages with `next_message` until that is `None`; at the end of the stream call
    `receive_end`. After a `ProtocolError` every further `next_message` raises it again.
    """

    def __init__(self, *, max_body_bytes: int = MAX_BODY_BYTES) -> None:
        self._max_body_bytes = max_body_bytes
        self._buffer = bytearray()
        self._block = bytearray()  # the header lines of the block being read
        self._content_length: int | None = None
        self._body_bytes: int | None = None  # set while a body is awaited
        self._gap_bytes = 0
        self._noise_bytes = 0
        self._noise_sample = bytearray()
        self._error: ProtocolError | None = None

    @property
    def noise_bytes(self) -> int:
        """How many bytes that belong to no message were skipped so far."""
        return self._noise_bytes

    @property
    def noise_sample(self) -> str:
        """The beginning of them, as text."""
        return self._noise_sample.decode("utf-8", "replace")

    def receive_data(self, data: bytes) -> None:
        """Take in the next bytes of the stream. Never raises."""
        self._buffer += data

    def receive_end(self) -> None:
        """The stream is over: what is left of it is noise, and may hold the reason."""
        if self._body_bytes is None:
            self._count_noise(bytes(self._block + self._buffer))
        self._block.clear()
        self._buffer.clear()

    def next_message(self) -> bytes | None:
        """The next payload; `None` until more data has come.

        Raises:
            ProtocolError: the stream is broken and cannot be read on.
        """
        if self._error is not None:
            raise self._error
        try:
            return self._next_message()
        except ProtocolError as error:
            self._error = error
            raise

    def _next_message(self) -> bytes | None:
        while self._body_bytes is None:
            line = self._take_line()
            if line is None:
                return None
            self._take_header_line(line)
        if len(self._buffer) < self._body_bytes:
            return None
        payload = bytes(self._buffer[: self._body_bytes])
        del self._buffer[: self._body_bytes]
        self._body_bytes = None
        return payload

    def _take_line(self) -> bytes | None:
        """The next line with its end; of a line that is too long only the end, the rest being noise."""
        end = self._buffer.find(b"\n") + 1
        surplus = (end or len(self._buffer)) - MAX_HEADER_BYTES
        if surplus > 0:
            self._drop_block()
            self._skip_noise(bytes(self._buffer[:surplus]))
            del self._buffer[:surplus]
            end -= surplus
        if end <= 0:
            return None
        line = bytes(self._buffer[:end])
        del self._buffer[:end]
        return line

    def _take_header_line(self, line: bytes) -> None:
        text = line.rstrip(b"\r\n")
        if not text:
            self._end_block(line)
            return
        found = _CONTENT_LENGTH.search(text)
        if found is not None and (found.start() == 0 or found[1].isdigit()):
            if found.start():
                self._drop_block()
                self._skip_noise(line[: found.start()])
            self._set_content_length(found[1])
            self._extend_block(line[found.start() :])
        elif _CONTENT_TYPE.match(text):
            _check_charset(text)
            self._extend_block(line)
        else:
            if not _HEADER.match(text):  # an unknown header may stand in a block, a log line ends it
                self._drop_block()
            self._skip_noise(line)

    def _extend_block(self, line: bytes) -> None:
        self._block += line
        if len(self._block) > MAX_HEADER_BYTES:
            if self._content_length is not None:
                raise ProtocolError(f"the server sent a message header of more than {MAX_HEADER_BYTES} bytes")
            self._drop_block()

    def _set_content_length(self, value: bytes) -> None:
        shown = value[:40].decode("utf-8", "replace")
        if not value.isdigit():
            raise ProtocolError(f"the server sent a message whose Content-Length is no number of bytes: {shown!r}")
        length = int(value) if len(value) < 20 else self._max_body_bytes + 1
        if length > self._max_body_bytes:
            raise ProtocolError(f"the server sent a message of {shown} bytes; at most {self._max_body_bytes} are read")
        if self._content_length not in {None, length}:
            raise ProtocolError(f"the server sent one message with two lengths, {self._content_length} and {length}")
        self._content_length = length

    def _end_block(self, line: bytes) -> None:
        if self._content_length is None:
            self._drop_block()
            self._skip_noise(line)
            return
        self._body_bytes = self._content_length
        self._content_length = None
        self._block.clear()
        self._gap_bytes = 0

    def _drop_block(self) -> None:
        """What looked like the beginning of a header was noise."""
        block = bytes(self._block)
        self._block.clear()
        self._content_length = None
        self._skip_noise(block)

    def _skip_noise(self, noise: bytes) -> None:
        self._count_noise(noise)
        self._gap_bytes += len(noise)
        if self._gap_bytes > MAX_NOISE_BYTES:
            raise ProtocolError(
                f"the server wrote more than {MAX_NOISE_BYTES} bytes to its standard output that are no messages, "
                f"beginning with {self.noise_sample[:80]!r}; check its command line"
            )

    def _count_noise(self, noise: bytes) -> None:
        self._noise_bytes += len(noise)
        self._noise_sample += noise[: NOISE_SAMPLE_BYTES - len(self._noise_sample)]


def _check_charset(header: bytes) -> None:
    charset = _CHARSET.search(header)
    if charset is not None and charset[1].lower() not in _CHARSETS:
        shown = charset[1].decode("ascii", "replace")
        raise ProtocolError(f"the server sends its messages as {shown}; LSP has UTF-8 only")
