"""LSP 3.17, "Base Protocol": header lines, an empty line, so many bytes."""

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from jupyter_lsp_agent.core.errors import ProtocolError
from jupyter_lsp_agent.jsonrpc.framing import (
    MAX_HEADER_BYTES,
    MAX_NOISE_BYTES,
    NOISE_SAMPLE_BYTES,
    FrameDecoder,
    encode_frame,
)

END = "end"


def decode(chunks: list[bytes], *, max_body_bytes: int = 4096) -> tuple[list[bytes], str, int, str]:
    """The payloads, the error's text (or `END`), the noise and its sample."""
    decoder = FrameDecoder(max_body_bytes=max_body_bytes)
    payloads: list[bytes] = []
    outcome = END
    try:
        for chunk in chunks:
            decoder.receive_data(chunk)
            while (payload := decoder.next_message()) is not None:
                payloads.append(payload)
        decoder.receive_end()
    except ProtocolError as error:
        outcome = str(error)
    return payloads, outcome, decoder.noise_bytes, decoder.noise_sample


def cut(stream: bytes, places: list[int]) -> list[bytes]:
    borders = [0, *sorted(place % (len(stream) + 1) for place in places), len(stream)]
    return [stream[start:end] for start, end in pairwise(borders)]


FRAME = st.binary(max_size=60).map(encode_frame)
HEADER_WORDS = st.sampled_from(
    [
        b"Content-Length: 3\r\n\r\nabc",
        b"content-length:2\n\nab",
        b"Content-Length: 3\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\nabc",
        b"Content-Length: ",
        b"Content-Length: 99999\r\n",
        b"Content-Length: -1\r\n",
        b"Content-Type: x\r\n",
        b"INFO: starting\n",
        b"\r\n",
        b"\n",
        b"5",
        b"x" * 9000,
        "línea 😀".encode(),
    ]
)
STREAM = st.lists(st.one_of(FRAME, HEADER_WORDS, st.binary(max_size=20)), max_size=8).map(b"".join)
PLACES = st.lists(st.integers(min_value=0, max_value=20_000), max_size=12)


@given(STREAM, PLACES)
def test_decoding_does_not_depend_on_how_the_bytes_were_cut(stream: bytes, places: list[int]) -> None:
    assert decode(cut(stream, places)) == decode([stream])


@given(st.lists(st.binary(max_size=200), max_size=6))
def test_what_is_encoded_is_decoded_byte_by_byte(payloads: list[bytes]) -> None:
    stream = b"".join(map(encode_frame, payloads))
    assert decode([bytes([byte]) for byte in stream]) == (payloads, END, 0, "")


@given(st.lists(st.tuples(st.text(alphabet="abc :=-😀\n", max_size=30), st.binary(max_size=40)), max_size=5))
def test_lines_of_noise_cost_no_message(parts: list[tuple[str, bytes]]) -> None:
    noises = [(text + "\n").encode() for text, _ in parts]
    stream = b"".join(noise + encode_frame(payload) for noise, (_, payload) in zip(noises, parts, strict=True))
    payloads, outcome, noise_bytes, _ = decode([stream])
    assert (payloads, outcome) == ([payload for _, payload in parts], END)
    assert noise_bytes == sum(map(len, noises))


def test_length_counts_bytes_and_a_character_may_be_cut() -> None:
    payload = '"é😀漢"'.encode()
    frame = encode_frame(payload)
    assert frame.startswith(b"Content-Length: 11\r\n\r\n")
    assert decode([bytes([byte]) for byte in frame + frame]) == ([payload, payload], END, 0, "")


@pytest.mark.parametrize(
    "header",
    [
        b"Content-Length: 2\r\n\r\n",
        b"content-length: 2\r\n\r\n",
        b"CONTENT-LENGTH:2\r\n\r\n",
        b"Content-Length : \t2 \r\n\r\n",
        b"Content-Length: 002\r\n\r\n",
        b"Content-Length: 2\n\n",
        b"Content-Length: 2\r\nContent-Type: application/vscode-jsonrpc; charset=utf-8\r\n\r\n",
        b"Content-Type: application/vscode-jsonrpc; charset=utf8\r\nContent-Length: 2\r\n\r\n",
        b'content-type: a/b; charset="UTF-8"\r\nContent-Length: 2\r\n\r\n',
        b"Content-Type: application/vscode-jsonrpc\r\nContent-Length: 2\r\n\r\n",
        b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n",
    ],
)
def test_forms_of_a_header(header: bytes) -> None:
    assert decode([header + b"{}" + encode_frame(b"x")]) == ([b"{}", b"x"], END, 0, "")


@pytest.mark.parametrize(
    "noise",
    [
        b"Starting server...\n",
        b"\r\n\r\n",
        b"INFO: listening\r\n",
        b"no line end",
        b"Content-Length is what comes next\n",
        b"a\x00\xff\xfe\n",
        b"Content-Length: 12\nthat was a line of a log\n",
        b"see Content-Length: many\n",
        b"Content-Type: text/plain\n\n",
        b"z" * (MAX_HEADER_BYTES + 1),
        b"z" * (3 * MAX_HEADER_BYTES) + b"\n",
    ],
)
def test_noise_before_a_header_is_skipped_and_counted(noise: bytes) -> None:
    payloads, outcome, noise_bytes, sample = decode([encode_frame(b"1") + noise + encode_frame(b"2")])
    assert (payloads, outcome, noise_bytes) == ([b"1", b"2"], END, len(noise))
    assert sample == noise[:NOISE_SAMPLE_BYTES].decode("utf-8", "replace")


def test_unknown_headers_do_not_break_a_block_but_are_counted() -> None:
    stream = b"X-One: 1\r\nContent-Length: 2\r\nX-Two: 2\r\n\r\n{}"
    assert decode([stream]) == ([b"{}"], END, len(b"X-One: 1\r\nX-Two: 2\r\n"), "X-One: 1\r\nX-Two: 2\r\n")


def test_what_a_program_printed_instead_of_messages_is_kept() -> None:
    assert decode([b"usage: server [--stdio]"]) == ([], END, 23, "usage: server [--stdio]")


@pytest.mark.parametrize(
    ("stream", "word"),
    [
        (b"Content-Length: -1\r\n\r\n", "no number"),
        (b"Content-Length: +1\r\n\r\n", "no number"),
        (b"Content-Length: 0x10\r\n\r\n", "no number"),
        (b"Content-Length: 1 2\r\n\r\n", "no number"),
        (b"Content-Length: \xd9\xa3\r\n\r\n", "no number"),
        (b"Content-Length:\r\n\r\n", "no number"),
        (b"Content-Length: 4097\r\n\r\n", "at most 4096"),
        (b"Content-Length: " + b"9" * 5000 + b"\r\n\r\n", "at most 4096"),
        (b"Content-Length: 2\r\nContent-Length: 3\r\n\r\n{}", "two lengths, 2 and 3"),
        (b"Content-Length: 2\r\nContent-Type: a; charset=utf-16\r\n\r\n{}", "utf-16"),
        (b"Content-Length: 2\r\n" * 500, "header of more than"),
        (b"noise\n" * (MAX_NOISE_BYTES // 6 + 1), "no messages.*'noise"),
        (b"x" * (MAX_NOISE_BYTES + MAX_HEADER_BYTES + 1), "no messages.*check its command"),
    ],
)
def test_what_cannot_be_mended_ends_the_stream(stream: bytes, word: str) -> None:
    payloads, outcome, _, _ = decode([encode_frame(b"before") + stream + encode_frame(b"after")])
    assert payloads == [b"before"]
    with pytest.raises(ProtocolError, match=word):
        raise ProtocolError(outcome)
    assert len(outcome) < 300


def test_a_body_after_a_wrong_length_is_never_parsed_as_headers() -> None:
    decoder = FrameDecoder(max_body_bytes=10)
    decoder.receive_data(b"Content-Length: 40\r\n\r\n" + encode_frame(b"{}"))
    errors = []
    for _ in range(2):
        with pytest.raises(ProtocolError) as caught:
            decoder.next_message()
        errors.append(caught.value)
    assert errors[0] is errors[1]


def test_a_line_without_end_is_bounded_too() -> None:
    _, outcome, _, _ = decode([b"x" * 4096] * (2 * MAX_NOISE_BYTES // 4096))
    assert "no messages" in outcome


def test_noise_between_messages_is_bounded_by_the_gap_and_not_by_the_stream() -> None:
    chatty = b"log line\n" * 1000 + encode_frame(b"{}")
    payloads, outcome, noise_bytes, _ = decode([chatty] * 150)
    assert (len(payloads), outcome, noise_bytes) == (150, END, 150 * 9000)
    assert noise_bytes > MAX_NOISE_BYTES


def test_default_bounds_are_those_of_the_documentation() -> None:
    decoder = FrameDecoder()
    decoder.receive_data(b"Content-Length: %d\r\n\r\n" % (64 * 1024 * 1024))
    assert decoder.next_message() is None
    decoder = FrameDecoder()
    decoder.receive_data(b"Content-Length: %d\r\n\r\n" % (64 * 1024 * 1024 + 1))
    with pytest.raises(ProtocolError):
        decoder.next_message()
