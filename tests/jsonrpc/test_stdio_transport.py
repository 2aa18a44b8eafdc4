"""Real child processes: what they are given, how they end, what is left of them."""

import asyncio
import json
import os
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from contextlib import AsyncExitStack
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil
import pytest

from jupyter_lsp_agent.core.errors import ServerExitedError, ServerNotFoundError, SpawnFailedError
from jupyter_lsp_agent.core.launch import LaunchCommand
from jupyter_lsp_agent.jsonrpc.framing import FrameDecoder
from jupyter_lsp_agent.jsonrpc.transport import Patience, StdioTransport
from tests.support.clock import ManualClock
from tests.support.processes import lives, processes_of, stubborn, survivors

ON_LINUX = sys.platform == "linux"


def python(code: str, *arguments: str, environment: dict[str, str] | None = None) -> LaunchCommand:
    return LaunchCommand((sys.executable, "-I", "-S", "-c", code, *arguments), Path.cwd(), environment or {})


Spawn = Callable[..., Awaitable[StdioTransport]]


@pytest.fixture(autouse=True)
def nothing_left() -> Iterator[None]:
    """No test of this file may leave a child or a descriptor."""
    before = open_descriptors()
    children = set(psutil.Process().children(recursive=True))
    yield
    assert set(psutil.Process().children(recursive=True)) <= children
    assert open_descriptors() == before


@pytest.fixture
async def spawn(nothing_left: None) -> AsyncIterator[Spawn]:
    """`StdioTransport.spawn`, closed after the test whatever became of it; by `clock` of its own if it had one."""
    async with AsyncExitStack() as stack:

        async def spawn_and_keep(command: LaunchCommand, **options: Any) -> StdioTransport:
            transport = await StdioTransport.spawn(command, **options)
            stack.push_async_callback(close_now, transport, options.get("clock"))
            return transport

        yield spawn_and_keep


async def close_now(transport: StdioTransport, clock: ManualClock | None) -> None:
    closing = asyncio.create_task(transport.aclose())
    # A fault may make this last for ever; the loop's own end then lets go of everything, and the test has failed.
    async with asyncio.timeout(10):
        while not closing.done() and clock is not None:
            timer = asyncio.create_task(clock.wait_for_timer())
            await asyncio.wait([closing, timer], return_when=asyncio.FIRST_COMPLETED)
            clock.advance(timer.result() if timer.done() else 0)
            timer.cancel()
            await asyncio.sleep(0)
        await closing


def wait_until_gone(paths: list[Path]) -> None:
    ends_at = time.monotonic() + 10
    while any(path.exists() for path in paths) and time.monotonic() < ends_at:
        time.sleep(0.01)
    assert not [path for path in paths if path.exists()]


def open_descriptors() -> set[tuple[str, str]]:
    folder = Path("/proc/self/fd" if ON_LINUX else "/dev/fd")
    targets = set()
    for entry in folder.iterdir():
        try:
            targets.add((entry.name, str(entry.readlink()) if ON_LINUX else ""))
        except OSError:
            continue  # the descriptor that lists the folder
    # The event loop of the test itself comes and goes with it.
    return {target for target in targets if not target[1].startswith(("anon_inode:", "socket:"))}


async def read_all(transport: StdioTransport) -> bytes:
    received = bytearray()
    while data := await transport.receive():
        received += data
    return bytes(received)


async def read_exactly(transport: StdioTransport, n_bytes: int) -> bytes:
    received = bytearray()
    while len(received) < n_bytes:
        data = await transport.receive()
        assert data, await transport.exit_error()
        received += data
    return bytes(received)


async def ready_pids(transport: StdioTransport) -> list[int]:
    """The pids that a `stubborn` process tells."""
    decoder = FrameDecoder()
    while (payload := decoder.next_message()) is None:
        data = await transport.receive()
        assert data, await transport.exit_error()
        decoder.receive_data(data)
    pids: list[int] = json.loads(payload)["params"]
    return pids


# ------------------------------------------------------------------------------------------------ start


async def test_bytes_go_in_and_come_out(spawn: Spawn) -> None:
    transport = await spawn(LaunchCommand(("cat",), Path.cwd(), {"PATH": os.defpath}))
    payload = bytes(range(256)) * 32 * 1024
    sending = asyncio.create_task(transport.send(payload))
    assert await read_exactly(transport, len(payload)) == payload
    await sending
    assert transport.exit_code is None
    await transport.aclose()
    assert transport.exit_code == 0
    assert await transport.receive() == b""


async def test_environment_folder_and_arguments_are_exactly_the_given_ones(tmp_path: Path, spawn: Spawn) -> None:
    folder = tmp_path / "with blank é"
    folder.mkdir()
    environment = {"PATH": os.defpath, "EMPTY": "", "EQUALS": "a=b=c", "ODD": "caf\udce9", "LINES": "1\n2"}
    code = "import os, sys; print((dict(os.environb), os.getcwd(), sys.argv[1:]))"
    command = LaunchCommand((sys.executable, "-I", "-S", "-c", code, "a b", "", "$HOME"), folder, environment)
    transport = await spawn(command)
    shown = (await read_all(transport)).decode().strip()
    await transport.aclose()
    seen = {os.fsencode(name): os.fsencode(value) for name, value in environment.items()}
    # CPython adds LC_CTYPE itself where the locale is C (PEP 538).
    assert shown.replace(", b'LC_CTYPE': b'C.UTF-8'", "") == str((seen, str(folder), ["a b", "", "$HOME"]))


async def test_the_program_is_looked_up_in_the_given_environment(tmp_path: Path, spawn: Spawn) -> None:
    program = tmp_path / "only-here"
    program.write_text("#!/bin/sh\nexit 9\n")
    program.chmod(0o755)
    transport = await spawn(LaunchCommand(("only-here",), Path.cwd(), {"PATH": str(tmp_path)}))
    assert await transport.receive() == b""
    assert (await transport.exit_error()).exit_code == 9
    await transport.aclose()


@pytest.fixture(params=["usual", "ignored", "blocked"])
def signals(request: pytest.FixtureRequest) -> Iterator[None]:
    """What our own process does with signals: a shell's `&` and `nohup` have some ignored."""
    odd = {signal.SIGHUP, signal.SIGINT, signal.SIGQUIT, signal.SIGTERM, signal.SIGTSTP, signal.SIGUSR1, signal.SIGCHLD}
    ignored = odd - {signal.SIGCHLD} if request.param == "ignored" else set()
    handlers = {number: signal.signal(number, signal.SIG_IGN) for number in ignored}
    mask = signal.pthread_sigmask(signal.SIG_BLOCK, odd if request.param == "blocked" else ())
    yield
    signal.pthread_sigmask(signal.SIG_SETMASK, mask)
    for number, handler in handlers.items():
        signal.signal(number, handler)


@pytest.mark.skipif(not ON_LINUX, reason="reads /proc")
@pytest.mark.usefixtures("signals")
async def test_a_server_inherits_three_descriptors_and_usual_signals(spawn: Spawn) -> None:
    transport = await spawn(LaunchCommand(("ls", "/proc/self/fd"), Path.cwd(), {"PATH": os.defpath}))
    assert (await read_all(transport)).split() == [b"0", b"1", b"2", b"3"]  # the last is the folder
    transport = await spawn(LaunchCommand(("cat", "/proc/self/status"), Path.cwd(), {"PATH": os.defpath}))
    status = dict(line.split(":\t", 1) for line in (await read_all(transport)).decode().splitlines())
    assert {int(status[name], 16) for name in ("SigBlk", "SigIgn", "SigCgt")} == {0}


@pytest.mark.skipif(not ON_LINUX, reason="reads /proc")
async def test_no_other_child_inherits_the_ways_to_a_server(spawn: Spawn) -> None:
    before = descriptors_of_a_child()
    await spawn(stubborn())
    assert descriptors_of_a_child() == before


def descriptors_of_a_child() -> bytes:
    """What a program is given that somebody starts without closing anything."""
    return subprocess.check_output(["/bin/ls", "/proc/self/fd"], close_fds=False)


async def test_a_server_leads_a_session_of_its_own(spawn: Spawn) -> None:
    transport = await spawn(stubborn())
    (pid,) = await ready_pids(transport)
    assert pid == transport.pid == os.getpgid(pid) == os.getsid(pid)
    assert os.getsid(pid) != os.getsid(0)
    await transport.aclose()


@pytest.mark.parametrize(
    ("argv", "error", "words"),
    [
        (("no-such-program",), ServerNotFoundError, "no-such-program was not found; install"),
        (("/no/such/program",), ServerNotFoundError, "/no/such/program was not found"),
        (("{tmp}",), SpawnFailedError, "Permission denied"),
        (("{tmp}/plain",), SpawnFailedError, "Permission denied"),
        (("{tmp}/junk",), SpawnFailedError, "Exec format error"),
        (("a\0b",), SpawnFailedError, "NUL"),
    ],
)
async def test_what_cannot_be_started_says_why(
    argv: tuple[str, ...], error: type[Exception], words: str, tmp_path: Path, spawn: Spawn
) -> None:
    (tmp_path / "plain").write_text("")
    (tmp_path / "junk").write_bytes(b"\x00\x01junk")
    (tmp_path / "junk").chmod(0o755)
    command = LaunchCommand(tuple(word.format(tmp=tmp_path) for word in argv), Path.cwd(), {"PATH": os.defpath})
    with pytest.raises(error, match=words):
        await spawn(command)


async def test_a_missing_folder_is_not_called_a_missing_program(tmp_path: Path, spawn: Spawn) -> None:
    with pytest.raises(SpawnFailedError, match=r"gone: No such file.*check that folder"):
        await spawn(LaunchCommand(("cat",), tmp_path / "gone", {"PATH": os.defpath}))


def with_private_folder(code: str, environment: dict[str, str]) -> LaunchCommand:
    return replace(python(code, environment=environment), private_folder=("CACHE", "OTHER"))


FILL_IT = """
import os
folder = os.environ["CACHE"]
os.makedirs(folder + "/a/b"), open(folder + "/a/b/c", "w").close(), os.mkdir(folder + "/shut", 0)
os.symlink(os.environ["KEPT"], folder + "/a/link")
print(folder, os.environ["OTHER"], oct(os.stat(folder).st_mode), flush=True)
"""


async def test_a_private_folder_is_new_and_shut_to_others_and_goes_with_the_process(
    tmp_path: Path, spawn: Spawn
) -> None:
    kept = tmp_path / "kept"
    kept.mkdir()
    (kept / "file").write_text("mine")
    command = with_private_folder(FILL_IT, {"CACHE": "theirs", "KEPT": str(kept)})
    said = [(await read_all(await spawn(command))).decode().split() for _ in range(2)]
    assert said[0][0] == said[0][1] != said[1][0]
    assert [mode for _, _, mode in said] == ["0o40700", "0o40700"]
    await asyncio.to_thread(wait_until_gone, [Path(folder) for folder, _, _ in said])
    assert (kept / "file").read_text() == "mine"


@pytest.mark.parametrize("end", ["aclose", "kill"])
async def test_a_private_folder_goes_when_the_process_is_ended(end: str, spawn: Spawn) -> None:
    code = "import os, time; print(os.environ['CACHE'], flush=True); time.sleep(60)"
    transport = await spawn(with_private_folder(code, {}))
    folder = Path((await transport.receive()).decode().strip())
    assert await asyncio.to_thread(folder.is_dir)
    if end == "kill":
        os.kill(transport.pid or 0, signal.SIGKILL)
    await transport.aclose()
    assert not await asyncio.to_thread(folder.exists)


async def test_a_private_folder_is_made_where_temporary_files_go_unless_its_path_grows_too_long(spawn: Spawn) -> None:
    code = "import os; print(os.environ['CACHE'], flush=True)"
    with tempfile.TemporaryDirectory(dir="/tmp", prefix="t") as short:
        long = Path(short) / ("x" * 100)
        long.mkdir()
        placed = {
            place: Path(
                (await read_all(await spawn(with_private_folder(code, {"TMPDIR": str(place)})))).decode()
            ).parent
            for place in (Path(short), long)
        }
    assert placed == {Path(short): Path(short), long: Path("/tmp")}


async def test_a_private_folder_that_cannot_be_made_says_so(spawn: Spawn) -> None:
    with pytest.raises(SpawnFailedError, match=r"no folder for temporary files.*No such file.*set TMPDIR"):
        await spawn(with_private_folder("", {"TMPDIR": "/no/such/folder"}))


async def test_an_order_larger_than_any_buffer_arrives(spawn: Spawn) -> None:
    environment = {f"NAME{number}": "x" * 100_000 for number in range(10)}
    code = "import os; print(sum(map(len, os.environ.values())))"
    transport = await spawn(python(code, environment=environment))
    assert int(await read_all(transport)) >= 1_000_000
    await transport.aclose()


@pytest.mark.parametrize("after_seconds", [0, 0.001, 0.005, 0.01, 0.015, 0.02, 0.025, 0.03, 0.04])
async def test_a_start_that_is_cancelled_leaves_nothing(after_seconds: float) -> None:
    clock = ManualClock()  # stands still: a start that failed is ended without asking first
    spawning = asyncio.create_task(StdioTransport.spawn(stubborn("deaf", "child", "daemon"), clock=clock))
    await asyncio.wait([spawning], timeout=after_seconds)
    spawning.cancel()
    await asyncio.wait([spawning])
    if not spawning.cancelled():
        await close_now(spawning.result(), clock)


# ------------------------------------------------------------------------------------------------ stderr


async def test_standard_error_is_drained_and_its_tail_kept(spawn: Spawn) -> None:
    code = """if True:
        import os, sys
        os.write(2, b"one line without end " * 500_000)
        for number in range(1000): os.write(2, b"\\nline %d" % number)
        os.write(1, b"alive")
        sys.stdin.read()
    """
    transport = await spawn(python(code))
    assert await read_exactly(transport, 5) == b"alive"
    await transport.aclose()
    assert transport.stderr_tail.split("\n") == [f"line {number}" for number in range(900, 1000)]


@pytest.mark.parametrize("end", ["", "\n", "\r\n\n"])
async def test_the_tail_is_bounded_in_bytes_too(end: str, spawn: Spawn) -> None:
    transport = await spawn(python("import os, sys; os.write(2, b'x' * 200_000 + sys.argv[1].encode())", end))
    assert await transport.receive() == b""
    error = await transport.exit_error()
    assert 16_000 <= len(error.stderr_tail) <= 16 * 1024
    assert set(error.stderr_tail) == {"x"}
    assert len(str(error)) < 600
    await transport.aclose()


# ------------------------------------------------------------------------------------------------ the end


@pytest.mark.parametrize(
    ("code", "exit_code", "words"),
    [
        ("raise SystemExit(3)", 3, "ended with exit code 3"),
        ("import os; os.write(2, b'no\\nmodule x\\n'); os._exit(1)", 1, "exit code 1; the last it said: module x"),
        ("import os; os.kill(os.getpid(), 9)", -9, "was ended by SIGKILL"),
        ("pass", 0, "ended with exit code 0"),
    ],
)
async def test_how_a_server_ended_is_told(code: str, exit_code: int, words: str, spawn: Spawn) -> None:
    transport = await spawn(python(code))
    assert await transport.receive() == b""
    error = await transport.exit_error()
    assert error.exit_code == transport.exit_code == exit_code
    assert words in str(error)
    with pytest.raises(ServerExitedError) as caught:
        await transport.send(b"x")
    assert caught.value.exit_code == exit_code
    await transport.aclose()


async def test_a_server_that_closes_its_output_but_lives_counts_as_dead(spawn: Spawn) -> None:
    clock = ManualClock()
    transport = await spawn(stubborn("shut-out"), clock=clock)
    await ready_pids(transport)
    assert await transport.receive() == b""
    asking = asyncio.create_task(transport.exit_error())
    clock.advance(await clock.wait_for_timer())
    error = await asking
    assert error.exit_code is None
    assert "still runs" in str(error)
    assert lives(psutil.Process(transport.pid))


async def test_a_server_that_closes_its_input_but_lives_fails_the_send_and_ends_the_stream(spawn: Spawn) -> None:
    clock = ManualClock()
    transport = await spawn(stubborn("shut-in"), clock=clock)
    await ready_pids(transport)
    receiving = asyncio.create_task(transport.receive())
    sending = asyncio.create_task(send_until_refused(transport))
    assert await receiving == b""
    clock.advance(await clock.wait_for_timer())
    assert "still runs" in str(await sending)


async def send_until_refused(transport: StdioTransport) -> ServerExitedError:
    # `ready` comes just before the descriptor is closed, so the first bytes may still find the pipe open.
    try:
        while True:
            await transport.send(b"x")
            await asyncio.sleep(0)
    except ServerExitedError as error:
        return error


@pytest.mark.parametrize("words", [("child",), ("daemon",), ("child", "daemon", "deaf")], ids=" ".join)
async def test_a_stream_ends_with_its_server_whoever_still_holds_the_pipes(
    words: tuple[str, ...], spawn: Spawn
) -> None:
    transport = await spawn(stubborn("leave", *words))
    received = await read_all(transport)
    pids = json.loads(received.partition(b"\r\n\r\n")[2])["params"]
    assert (await transport.exit_error()).exit_code == 5
    # Without being asked to: nobody may ever close this.
    left = [process for process in psutil.process_iter() if process.pid in pids]
    assert await asyncio.to_thread(survivors, left) == []


@pytest.mark.parametrize(
    ("words", "n_steps", "exit_code"),
    [
        (("eof",), 0, 0),
        (("eof", "child", "daemon"), 0, 0),
        (("term",), 1, 7),
        (("term", "child", "daemon"), 1, 7),
        (("deaf",), 2, -9),
        (("deaf", "child", "daemon"), 2, -9),
    ],
    ids=lambda words: " ".join(words) if isinstance(words, tuple) else None,
)
async def test_the_ladder_goes_no_further_than_it_must(
    words: tuple[str, ...], n_steps: int, exit_code: int, spawn: Spawn
) -> None:
    clock = ManualClock()
    patience = Patience(close_seconds=10, terminate_seconds=20)
    transport = await spawn(stubborn(*words), clock=clock, patience=patience)
    processes = processes_of(await ready_pids(transport))
    closing = asyncio.create_task(transport.aclose())
    waited = []
    for _ in range(n_steps):
        waited.append(await clock.wait_for_timer())
        assert all(map(lives, processes))
        clock.advance(waited[-1])
        await asyncio.sleep(0)
    await closing
    assert waited == [10, 20][:n_steps]
    assert transport.exit_code == exit_code
    assert not any(map(lives, processes))


async def test_what_a_deaf_wrapper_started_is_asked_to_end_too(spawn: Spawn) -> None:
    wrapper = """if True:
        import os, signal
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
        if os.fork() == 0:
            signal.signal(signal.SIGTERM, lambda *_: (os.write(1, b"bye"), os._exit(0)))
            os.write(1, b"ready")
        while True:
            signal.pause()
    """
    clock = ManualClock()
    transport = await spawn(python(wrapper), clock=clock)
    assert await read_exactly(transport, 5) == b"ready"
    closing = asyncio.create_task(transport.aclose())
    clock.advance(await clock.wait_for_timer())
    assert await read_exactly(transport, 3) == b"bye"
    clock.advance(await clock.wait_for_timer())
    await closing
    assert transport.exit_code == -9


async def test_closing_is_idempotent_and_finishes_though_cancelled(spawn: Spawn) -> None:
    transport = await spawn(stubborn("term"), patience=Patience(close_seconds=0))
    await ready_pids(transport)
    process = psutil.Process(transport.pid)
    closings = [asyncio.create_task(transport.aclose()) for _ in range(3)]
    await asyncio.sleep(0)
    for closing in closings:
        closing.cancel()
    assert all(
        isinstance(error, asyncio.CancelledError) for error in await asyncio.gather(*closings, return_exceptions=True)
    )
    await transport.aclose()
    await transport.aclose()
    assert not lives(process)
    with pytest.raises(ServerExitedError):
        await transport.send(b"x")


async def test_a_send_that_is_cancelled_is_sent_whole(spawn: Spawn) -> None:
    transport = await spawn(LaunchCommand(("cat",), Path.cwd(), {"PATH": os.defpath}))
    first, second = b"a" * 5_000_000, b"b" * 5_000_000
    sending = asyncio.create_task(transport.send(first))
    await asyncio.sleep(0)
    assert not sending.done()  # `cat` is held up, since nobody receives
    sending.cancel()
    await asyncio.wait([sending])
    assert sending.cancelled()
    second_sending = asyncio.create_task(transport.send(second))
    assert await read_exactly(transport, 10_000_000) == first + second
    await second_sending
    await transport.aclose()


async def test_what_is_not_received_holds_up_the_server_and_not_our_memory(spawn: Spawn) -> None:
    code = "import os, sys\nfor n in range(1000): os.write(1, b'x' * 65536); os.write(2, b'%d\\n' % n)"
    transport = await spawn(python(code))
    first = await transport.receive()
    rest = await read_all(transport)
    assert len(first) + len(rest) == 65_536_000
    await transport.aclose()
    assert transport.stderr_tail.endswith("999")


@pytest.mark.skipif(not ON_LINUX, reason="PR_SET_PDEATHSIG is Linux's")
async def test_a_server_dies_with_its_supervisor(spawn: Spawn) -> None:
    transport = await spawn(stubborn("deaf"))
    await ready_pids(transport)
    server = psutil.Process(transport.pid)
    supervisor = server.parent()
    assert supervisor is not None
    supervisor.kill()
    assert await transport.receive() == b""
    assert "lost with its supervisor" in str(await transport.exit_error())
    await transport.aclose()
    assert survivors([server]) == []


async def test_a_server_ends_with_the_socket_to_its_supervisor_though_we_live(spawn: Spawn) -> None:
    transport = await spawn(stubborn("deaf", "child", "daemon"))
    processes = processes_of(await ready_pids(transport))
    transport._supervision.close()  # as when a loop was closed and the transport forgotten
    assert await asyncio.to_thread(survivors, processes) == []


@pytest.mark.usefixtures("signals")
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
async def test_a_supervisor_that_is_told_to_end_ends_its_server_first(number: signal.Signals, spawn: Spawn) -> None:
    transport = await spawn(stubborn("deaf", "child", "daemon"))
    processes = processes_of(await ready_pids(transport))
    supervisor = processes[0].parent()
    assert supervisor is not None
    supervisor.send_signal(number)
    assert await transport.receive() == b""
    await transport.aclose()
    assert transport.exit_code == -9
    assert survivors(processes) == []
