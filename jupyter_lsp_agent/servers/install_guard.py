"""Run one command of an install, and end it with all that it started once the installing process is gone.

    python -I install_guard.py COMMAND…

Standard input is a pipe whose other end the installing process holds: its end, by whatever death, is the sign. So half
an install never goes on without its owner, under a lock that nobody holds any more. The guard leads a session of its
own, out of reach of what ends its owner; the command leads a group in it, which is ended as one, and the guard ends
when the command has. It is run as a file, and imports nothing of ours.
"""

import contextlib
import os
import signal
import subprocess
import sys
import threading
from collections.abc import Sequence

NO_PROGRAM = 127
"""The exit code where the command cannot be run; a shell's."""

SIGNAL_BASE = 128
"""What a shell adds to the number of the signal that ended a command."""


_HAS_GROUPS = os.name == "posix"


def main(command: Sequence[str]) -> int:
    """Run `command`; its exit code, as a shell has it."""
    try:
        child = subprocess.Popen(command, stdin=subprocess.DEVNULL, process_group=0 if _HAS_GROUPS else None)
    except OSError as error:
        sys.stdout.write(f"{command[0]} cannot be run: {error.strerror}\n")
        return NO_PROGRAM
    threading.Thread(target=_end_with_owner, args=(child,), daemon=True).start()
    code = child.wait()
    return SIGNAL_BASE - code if code < 0 else code


def _end_with_owner(child: "subprocess.Popen[bytes]") -> None:
    while os.read(0, 1024):
        pass
    with contextlib.suppress(ProcessLookupError):  # it has ended meanwhile
        if _HAS_GROUPS:
            os.killpg(child.pid, signal.SIGKILL)
        else:
            child.kill()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
