"""Why an install failed, in one sentence for people: what pip and npm say is long, and names causes only for those who
know them."""

import errno
import re
import signal
from dataclasses import dataclass

from jupyter_lsp_agent.core.printable import one_line
from jupyter_lsp_agent.servers.install_guard import SIGNAL_BASE

_MAX_LINE_CHARACTERS = 300
_NOISE = re.compile(r"complete log of this run|^(npm error|npm ERR!)?\s*$|^\[notice\]|^WARNING: Retrying")
_MARKS = re.compile(r"^(npm error|npm ERR!|ERROR:|Error:)\s*")
_NO_SPACE = frozenset({errno.ENOSPC, errno.EDQUOT})


@dataclass(frozen=True, slots=True)
class _Cause:
    """What pip's and npm's words for it look like, what is wrong, and what mends it."""

    words: re.Pattern[str]
    problem: str
    mend: str


_CAUSES = (
    _Cause(
        re.compile(r"ENOSPC|No space left on device|EDQUOT|Disk quota exceeded|database or disk is full"),
        "there is no space left where it goes",
        "make room there or set JUPYTER_DATA_DIR",
    ),
    _Cause(
        re.compile(r"No module named '?(ensurepip|venv)|ensurepip is not available"),
        "this Python cannot make virtual environments",
        "install what it lacks, such as apt-get install python3-venv",
    ),
    _Cause(
        re.compile(r"CERTIFICATE_VERIFY_FAILED|SELF_SIGNED_CERT|UNABLE_TO_GET_ISSUER|UNABLE_TO_VERIFY_LEAF"),
        "the certificate of the package index is not trusted",
        "give pip and npm the certificate authority (PIP_CERT, NODE_EXTRA_CA_CERTS)",
    ),
    _Cause(
        re.compile(
            r"NewConnectionError|ConnectTimeoutError|ReadTimeoutError|ProxyError|Temporary failure in name resolution|"
            r"Network is unreachable|\b(ECONNREFUSED|ENOTFOUND|EAI_AGAIN|ETIMEDOUT|ECONNRESET|ENETUNREACH|"
            r"ERR_SOCKET_TIMEOUT)\b"
        ),
        "the package index cannot be reached",
        "check the network, and the index and proxy that pip and npm are set to",
    ),
    _Cause(
        re.compile(r"from versions: none\)"),
        "the package index cannot be reached or knows no such package",
        "check the network, and the index and proxy that pip is set to",
    ),
    _Cause(
        re.compile(r"No matching distribution found|\bETARGET\b|\bE404\b"),
        "the package index has no such version for this machine",
        "check which index pip and npm are set to",
    ),
)


def explain_output(server_id: str, command: str, exit_code: int, output: str) -> str:
    """The sentence on a command that failed.

    Args:
        server_id: what was to be installed.
        command: as a person would name it.
        exit_code: its exit code, as a shell has it.
        output: all that it printed.
    """
    again = f"then run `jupyter lsp-agent install {server_id}` again"
    for cause in _CAUSES:
        if cause.words.search(output):
            return f"{server_id} could not be installed: {cause.problem}; {cause.mend}, {again}"
    said = _last_word(output)
    said = f" ({said})" if said else ""
    return f"{server_id} could not be installed: `{command}` {_end(exit_code)}{said}; mend that, {again}"


def explain_error(server_id: str, folder: str, error: OSError) -> str:
    """The sentence on a folder of ours that could not be filled."""
    mend = "make room there" if error.errno in _NO_SPACE else "make it writable"
    return (
        f"{server_id} could not be installed below {folder}: {error.strerror or error}; "
        f"{mend}, or set JUPYTER_DATA_DIR to another folder"
    )


def _end(exit_code: int) -> str:
    if exit_code > SIGNAL_BASE:
        try:
            return f"was ended by {signal.Signals(exit_code - SIGNAL_BASE).name}"
        except ValueError:
            pass
    return f"failed with exit code {exit_code}"


def _last_word(output: str) -> str:
    """The last line that says something."""
    lines = [_MARKS.sub("", line.strip()) for line in output.splitlines() if not _NOISE.search(line.strip())]
    return one_line(next((line for line in reversed(lines) if line), ""), _MAX_LINE_CHARACTERS).rstrip(".;")
