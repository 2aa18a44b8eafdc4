"""The small program that stands between us and one server, so that nothing is left when we are killed.

Run as `python -I -S supervisor.py <owner's pid> <stdin> <stdout>` (the numbers of two inherited descriptors), with a
socket to its owner as standard input. It imports nothing of the package. What it is told and tells is in `supervision`.

Why a process of its own. A process that dies by SIGKILL cleans up nothing, so somebody else must; and only a parent
learns of every descendant: on Linux this program is a "child subreaper" (prctl(2)), so a grandchild whose parent
ended, and one that left its group by setsid(2), stay below it until they are dead. One supervisor for each server and
not one for all, since then whatever lives below it belongs to that server, without any book-keeping that could be
wrong; nothing is shared between servers, threads or event loops; and at no moment does a server run unwatched.
It costs some 15 ms of processor time at the start and 5 MB that it shares with nobody, a small part of what a server
takes.

It ends everything below it when the owner asks, when the server has ended, when the owner has ended. The last is seen
by the end of the socket, and also by watching the owner itself (pidfd, kqueue), as a process that the owner forked may
still hold the socket. SIGTERM comes first and SIGKILL a second later, as long as anything lives. Should the
supervisor itself be killed, the kernel kills the server (PR_SET_PDEATHSIG).

A server may want a folder that no other process of its program uses (`LaunchCommand.private_folder`): it is made here,
since only here is it known when nothing is left that could use it.

Elsewhere than on Linux a descendant that leaves the process group is not seen, only the group.
"""

import errno
import os
import select
import sys
import time

TYPE_CHECKING = False  # `typing` and `signal` (for its enumerations) take longer to load than all the rest
if TYPE_CHECKING:
    import signal
    from collections.abc import Callable
    from typing import Protocol

    class Watch(Protocol):
        """What `select` takes."""

        def fileno(self) -> int:
            """The descriptor."""
            ...
else:
    import _signal as signal

OWNER = 0
"""The socket to the owner."""

TERMINATE_SECONDS = 1.0
"""From SIGTERM to SIGKILL, where the owner gives no word."""

_SEES_ALL = sys.platform == "linux"
"""Whether all that descends from us stays below us and can be listed."""

_PR_SET_PDEATHSIG = 1
_PR_SET_CHILD_SUBREAPER = 36
_PLACE = b"/tmp"
_MAX_PLACE_BYTES = 40
_WAKING = (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP)


class Order:
    """What to start: decoded from NUL-separated fields, their number of bytes before them."""

    def __init__(self, fields: list[bytes]) -> None:
        rest = iter(fields)
        self.cwd = next(rest)
        self.argv = [next(rest) for _ in range(int(next(rest)))]
        self.private_folder = [next(rest) for _ in range(int(next(rest)))]
        self.environment = {name: value for name, _, value in (field.partition(b"=") for field in rest)}


class Supervisor:
    """One server and everything below it."""

    def __init__(self, owner_pid: int, stdin: int, stdout: int) -> None:
        self.owner_pid = owner_pid
        self.stdin = stdin
        self.stdout = stdout
        self.signals = _wake_on_signals()
        self.owner_exit = _watch_exit(owner_pid)
        self.watched = [watch for watch in (OWNER, self.signals, self.owner_exit) if watch is not None]
        self.server_pid = 0
        self.group = 0
        self.server_ended = False
        self.anybody_left = True
        self.kill_at: float | None = None
        self.private_folder: bytes | None = None

    def run(self) -> None:
        """Start the server when told to, and stay as long as anything of it lives."""
        order = self._read_order()
        if order is None:
            return
        try:
            if self._give_private_folder(order) and self._start(order):
                self._stay()
        finally:
            if self.private_folder is not None:
                _delete(self.private_folder)

    def _stay(self) -> None:
        try:
            while self.anybody_left:
                self._wait()
        finally:
            self._kill()

    def _give_private_folder(self, order: Order) -> bool:
        if order.private_folder:
            try:
                self.private_folder = _make_private_folder(order.environment.get(b"TMPDIR"))
            except OSError as error:
                _tell(b"failed folder %d" % (error.errno or errno.EINVAL))
                return False
            order.environment |= dict.fromkeys(order.private_folder, self.private_folder)
        return True

    def _read_order(self) -> Order | None:
        length = self._read_exactly(4)
        fields = self._read_exactly(int.from_bytes(length, "big")) if length else None
        return Order(fields.split(b"\0")) if fields else None

    def _read_exactly(self, n_bytes: int) -> bytes | None:
        """So many bytes of the owner and not one more; `None` where it ends first, or a signal ends us."""
        received = b""
        while len(received) < n_bytes:
            data = _hear(n_bytes - len(received)) if select.select(self.watched, [], [])[0] == [OWNER] else b""
            if not data:
                return None
            received += data
        return received

    def _start(self, order: Order) -> bool:
        failure_read, failure_write = os.pipe()
        for descriptor in (self.stdin, self.stdout):
            os.set_inheritable(descriptor, False)  # noqa: FBT003 - it takes no keywords
        own_pid = os.getpid()
        self.server_pid = os.fork()
        if self.server_pid == 0:
            self._become_server(order, own_pid, failure_write)
        self.group = self.server_pid
        os.close(failure_write)
        failure = os.read(failure_read, 64)
        os.close(failure_read)
        self._let_go_of_pipes()
        _tell(b"failed " + failure if failure else b"started %d" % self.server_pid)
        return not failure

    def _become_server(self, order: Order, supervisor_pid: int, failure_write: int) -> None:
        stage = b"chdir"
        try:
            _prctl(_PR_SET_PDEATHSIG, signal.SIGKILL)
            if os.getppid() != supervisor_pid:
                os._exit(1)
            os.setsid()
            os.chdir(order.cwd)
            stage = b"exec"
            _reset_signals()
            os.dup2(self.stdin, 0)
            os.dup2(self.stdout, 1)
            os.execvpe(order.argv[0], order.argv, order.environment)  # noqa: S606 - no shell is what is wanted
        except OSError as error:
            os.write(failure_write, stage + b" %d" % (error.errno or errno.EINVAL))
        os._exit(127)

    def _let_go_of_pipes(self) -> None:
        os.close(self.stdin)
        os.close(self.stdout)
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, 2)
        os.close(nowhere)

    def _wait(self) -> None:
        timeout = None if self.kill_at is None else max(0.0, self.kill_at - time.monotonic())
        ready = select.select(self.watched, [], [], timeout)[0]
        if self.kill_at is not None and time.monotonic() >= self.kill_at:
            self._kill()
        if OWNER in ready:
            self._obey(_hear())
        if self.signals in ready and set(os.read(self.signals, 4096)) - {signal.SIGCHLD}:
            self._end()
        if self.owner_exit in ready:
            self.watched.remove(self.owner_exit)
            self._end()
        self._reap()
        if self.server_ended:
            self._end()

    def _obey(self, words: bytes) -> None:
        if b"K" in words:
            self._kill()
        elif b"T" in words:
            self._signal(signal.SIGTERM)
        elif not words:
            self.watched.remove(OWNER)
            self._end()

    def _end(self) -> None:
        """Terminate now, kill a little later."""
        if self.kill_at is None and self.anybody_left:
            self.kill_at = time.monotonic() + TERMINATE_SECONDS
            self._signal(signal.SIGTERM)

    def _kill(self) -> None:
        self._signal(signal.SIGKILL)
        while self.anybody_left:
            self._reap_one(0)
            self._reap()
            self._signal(signal.SIGKILL)  # those who have become our children only now

    def _reap(self) -> None:
        while self.anybody_left and self._reap_one(os.WNOHANG):
            pass

    def _reap_one(self, options: int) -> bool:
        """Take note of one end; whether there was one."""
        try:
            pid, status = os.waitpid(-1, options)
        except ChildProcessError:
            self.anybody_left = False
            return False
        if pid == self.server_pid:
            _tell(b"exited %d" % os.waitstatus_to_exitcode(status))
            self.server_ended = True
        return pid != 0

    def _signal(self, number: int) -> None:
        pids = _descendants(os.getpid()) if _SEES_ALL and self.anybody_left else []
        for pid in pids:
            _send_signal(os.kill, pid, number)
        if not pids and (self.anybody_left or not _SEES_ALL):
            _send_signal(os.killpg, self.group, number)


def _make_private_folder(wanted_place: bytes | None) -> bytes:
    """A new folder for us alone, with a short path: sockets are put into it, whose paths may have some 100 bytes."""
    place = wanted_place if wanted_place and len(wanted_place) <= _MAX_PLACE_BYTES else _PLACE
    folder = os.path.join(place, b"jupyter-lsp-agent-" + os.urandom(6).hex().encode())
    os.mkdir(folder, 0o700)
    return folder


def _delete(folder: bytes) -> None:
    """Delete a folder with all that is in it; symbolic links are not followed."""
    for parent, folders, files in os.walk(folder, topdown=False):
        for name in (*files, *folders):
            path = os.path.join(parent, name)
            _try_to(os.unlink if name in files or os.path.islink(path) else os.rmdir, path)
    _try_to(os.rmdir, folder)


def _try_to(remove: "Callable[[bytes], None]", path: bytes) -> None:
    try:
        remove(path)
    except OSError:
        return  # the system's own cleaning, or nobody's right: nothing is lost with it


def _send_signal(send: "Callable[[int, int], None]", target: int, number: int) -> None:
    try:
        send(target, number)
    except (ProcessLookupError, PermissionError):
        return  # it is gone, or a set-user-ID program that only its user may end


def _descendants(ancestor: int) -> list[int]:
    """Everything below `ancestor`, from the kernel's list of all processes, as it is at this moment."""
    children: dict[int, list[int]] = {}
    try:
        names = os.listdir("/proc")
    except OSError:
        return []  # not mounted; the caller has the group
    for name in names:
        if name.isdigit() and (parent := _parent_of(name)):
            children.setdefault(parent, []).append(int(name))
    found = list(children.get(ancestor, ()))
    for pid in found:  # grows while it is walked
        found.extend(children.get(pid, ()))
    return found


def _parent_of(pid: str) -> int:
    try:
        descriptor = os.open(f"/proc/{pid}/stat", os.O_RDONLY)
    except OSError:
        return 0  # it ended meanwhile
    try:
        # "pid (name) state parent …", and the name may hold blanks and brackets
        return int(os.read(descriptor, 512).rpartition(b")")[2].split()[1])
    except OSError:
        return 0
    finally:
        os.close(descriptor)


def _prctl(option: int, value: int) -> None:
    """prctl(2), which the standard library does not have; nothing where there is no Linux."""
    if sys.platform == "linux":
        try:
            import ctypes
        except ImportError:
            return  # a Python without it; the group is still ended
        ctypes.CDLL(None).prctl(option, ctypes.c_ulong(value), 0, 0, 0)


def _watch_exit(pid: int) -> "int | Watch | None":
    """Something to `select` that is ready when the process has ended; `None` where the system has no such thing."""
    watch: int | Watch | None = None
    try:
        if sys.platform == "linux":
            watch = os.pidfd_open(pid)
        elif sys.platform == "darwin":
            watch = select.kqueue()
            exits = select.kevent(pid, select.KQ_FILTER_PROC, select.KQ_EV_ADD, select.KQ_NOTE_EXIT)
            watch.control([exits], 0)
    except OSError:
        return None  # an old kernel, or it has ended, which `main` asks next
    return watch


def _wake_on_signals() -> int:
    """A descriptor from which the numbers of the signals that came can be read."""
    read_end, write_end = os.pipe()
    os.set_blocking(write_end, False)
    signal.set_wakeup_fd(write_end, warn_on_full_buffer=False)
    for number in _WAKING:
        signal.signal(number, lambda *_: None)
    signal.pthread_sigmask(signal.SIG_UNBLOCK, _WAKING)  # an owner that blocked them handed that down
    return read_end


def _reset_signals() -> None:
    """Ignore none and block none: what Python ignores, and what a shell's `&` and `nohup` had ignored before us."""
    for number in range(1, signal.NSIG):
        if signal.getsignal(number) == signal.SIG_IGN:
            signal.signal(number, signal.SIG_DFL)
    signal.pthread_sigmask(signal.SIG_SETMASK, ())


def _hear(n_bytes: int = 64) -> bytes:
    """What the owner said; nothing when it is gone, whether it took leave or not."""
    try:
        return os.read(OWNER, n_bytes)
    except OSError:
        return b""


def _tell(words: bytes) -> None:
    try:
        os.write(OWNER, words + b"\n")
    except OSError:
        return  # nobody wants to know any more


def main() -> None:
    """Supervise one server."""
    owner_pid, stdin, stdout = map(int, sys.argv[1:4])
    _prctl(_PR_SET_CHILD_SUBREAPER, 1)
    supervisor = Supervisor(owner_pid, stdin, stdout)
    if os.getppid() == owner_pid:  # else it ended before it was watched
        supervisor.run()


if __name__ == "__main__":
    main()
