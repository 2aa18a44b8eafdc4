"""A program that does what it can to stay, started by tests as `python -I -S stubborn.py WORD…`.

Words: `deaf` ignores SIGTERM; `child` leaves a grandchild in the group, `daemon` one in a session of its own whose
parent has ended; `term` ends with exit code 7 at SIGTERM; `eof` ends with exit code 0 at the end of standard input;
`leave` ends at once with exit code 5; `shut-out` and `shut-in` close standard output or input and live on. When all is
done it writes one frame, the notification `ready` with the pids of everything, and waits for ever.
"""

import os
import signal
import sys


def main(words: set[str]) -> None:
    if "deaf" in words:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    pids = [os.getpid(), *(leave_behind(new_session=word == "daemon") for word in words & {"child", "daemon"})]
    if "term" in words:  # not for those that stay
        signal.signal(signal.SIGTERM, lambda *_: os._exit(7))
    payload = b'{"jsonrpc":"2.0","method":"ready","params":[%b]}' % b",".join(b"%d" % pid for pid in pids)
    os.write(1, b"Content-Length: %d\r\n\r\n%b" % (len(payload), payload))
    if "leave" in words:
        os._exit(5)
    os.closerange(0 if "shut-in" in words else 1, 2 if "shut-out" in words else 1)
    while "eof" in words:
        if not os.read(0, 65536):
            os._exit(0)
    while True:
        signal.pause()


def leave_behind(*, new_session: bool) -> int:
    """Fork twice; the pid of the one that stays."""
    read_end, write_end = os.pipe()
    if os.fork() == 0:
        if new_session:
            os.setsid()
        if os.fork() == 0:
            os.write(write_end, b"%d" % os.getpid())
            while True:
                signal.pause()
        os._exit(0)
    os.wait()
    return int(os.read(read_end, 20))


main(set(sys.argv[1:]))
