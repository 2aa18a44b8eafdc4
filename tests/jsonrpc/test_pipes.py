"""Pipes whose other end is the test's own."""

import asyncio
import os
from collections.abc import Iterator

import pytest

from jupyter_lsp_agent.jsonrpc.pipes import PipeInbox, PipeWriter


class Pipe:
    def __init__(self) -> None:
        self.read_end, self.write_end = os.pipe()
        self.left_open = {self.read_end, self.write_end}

    def close(self, descriptor: int) -> None:
        self.left_open.discard(descriptor)
        os.close(descriptor)

    def give(self, descriptor: int) -> int:
        """The descriptor, which is another's to close now."""
        self.left_open.discard(descriptor)
        return descriptor


@pytest.fixture
def pipe() -> Iterator[Pipe]:
    pipe = Pipe()
    yield pipe
    for descriptor in pipe.left_open:
        os.close(descriptor)


async def test_a_finished_inbox_ends_though_somebody_holds_the_other_end(pipe: Pipe) -> None:
    inbox = PipeInbox(pipe.give(pipe.read_end))
    os.write(pipe.write_end, b"left behind")
    inbox.finish()
    os.write(pipe.write_end, b"by another")
    assert [await inbox.receive() for _ in range(3)] == [b"left behind", b"", b""]
    inbox.close()


async def test_an_inbox_that_is_closed_releases_who_waits(pipe: Pipe) -> None:
    inbox = PipeInbox(pipe.give(pipe.read_end))
    receiving = asyncio.create_task(inbox.receive())
    await asyncio.sleep(0)
    inbox.close()
    assert await receiving == b""
    inbox.close()
    inbox.finish()
    with pytest.raises(BrokenPipeError):
        os.write(pipe.write_end, b"x")


async def test_an_inbox_keeps_a_megabyte_and_then_holds_up_the_writer(pipe: Pipe) -> None:
    inbox = PipeInbox(pipe.give(pipe.read_end))
    writer = PipeWriter(pipe.give(pipe.write_end), lambda: None)
    sending = asyncio.create_task(writer.send(b"x" * 10_000_000))
    received = len(await inbox.receive())
    while received < 10_000_000:
        assert not sending.done() or received > 10_000_000 - 4_000_000  # what both sides may hold, and the pipe
        received += len(await inbox.receive())
    await sending
    writer.close()
    assert await inbox.receive() == b""
    inbox.close()


async def test_a_writer_tells_once_that_nobody_reads_and_releases_who_waits(pipe: Pipe) -> None:
    told: list[str] = []
    writer = PipeWriter(pipe.give(pipe.write_end), lambda: told.append("broken"))
    waiting = [asyncio.create_task(writer.send(b"x" * 2_000_000)) for _ in range(2)]
    await asyncio.sleep(0)
    pipe.close(pipe.read_end)
    errors = await asyncio.gather(*waiting, return_exceptions=True)
    assert [type(error) for error in errors] == [BrokenPipeError, BrokenPipeError]
    with pytest.raises(BrokenPipeError):
        await writer.send(b"x")
    assert told == ["broken"]
    writer.close()


async def test_a_writer_that_is_closed_here_releases_who_waits(pipe: Pipe) -> None:
    writer = PipeWriter(pipe.give(pipe.write_end), lambda: None)
    sending = asyncio.create_task(writer.send(b"x" * 3_000_000))
    await asyncio.sleep(0)
    writer.close()
    with pytest.raises(BrokenPipeError):
        await sending
    with pytest.raises(BrokenPipeError):
        await writer.send(b"x")
