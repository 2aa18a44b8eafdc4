"""What is kept of a standard error, and what of it goes into a message."""

import pytest

from jupyter_lsp_agent.jsonrpc.stderr import StderrTail


def tail_of(*chunks: bytes) -> StderrTail:
    tail = StderrTail()
    for chunk in chunks:
        tail.add(chunk)
    return tail


@pytest.mark.parametrize(
    ("chunks", "text"),
    [
        ([], ""),
        ([b"one\n", b"tw", b"o\n\n"], "one\ntwo"),
        ([b"one\r\ntwo\r\n"], "one\ntwo"),
        (["é".encode()[:1], "é".encode()[1:]], "é"),
        ([b"caf\xe9"], "caf\ufffd"),
        ([b"%d\n" % number for number in range(250)], "\n".join(map(str, range(150, 250)))),
        ([b"x" * 50_000, b"y"], "x" * (16 * 1024 - 1) + "y"),
        ([b"x" * 10, b"y" * 50_000], "y" * 16 * 1024),
    ],
)
def test_the_end_is_kept_in_lines_and_bytes(chunks: list[bytes], text: str) -> None:
    assert tail_of(*chunks).text == text


@pytest.mark.parametrize(
    ("data", "line"),
    [
        (b"", ""),
        (b"first\nlast \n\n", "last"),
        (b"\x1b[1;31merror\x1b[0m: bad\x07 \x1b[2K", "error: bad"),
        ("right\u202eleft\u200b".encode(), "rightleft"),
        (b"z" * 1000, "z" * 300),
    ],
)
def test_the_line_for_a_message_is_short_and_plain(data: bytes, line: str) -> None:
    assert tail_of(data).last_line == line
