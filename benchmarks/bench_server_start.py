"""What the extension adds to the start of a Jupyter server, in processor time.

Run with `python -m benchmarks.bench_server_start`. A server is set up and not started, with and without the extension
in turn, each in a process of its own; `ServerApp.initialize` loads and links extensions. No other extension is there,
so all that ours shares with others, or with a server that answers, is its own here. The target is 50 ms.
"""

import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

RUNS = 15
_SET_UP = """
import sys, time
from jupyter_server.serverapp import ServerApp

began = time.process_time()
extensions = "{'jupyter_lsp_agent': %s}" % sys.argv[1]
arguments = [f"--ServerApp.jpserver_extensions={extensions}", "--ServerApp.root_dir=.", "--ServerApp.log_level=50"]
app = ServerApp()
app.initialize(arguments, find_extensions=False, new_httpserver=False)
linked = app.extension_manager.linked_extensions.get("jupyter_lsp_agent", False)
assert linked is (sys.argv[1] == "True"), "the extension is not as it was asked for"
print(time.process_time() - began)
"""


def measure(folder: str, *, is_enabled: bool) -> float:
    """Seconds of processor time that one set-up takes, beside the import of `jupyter_server`."""
    names = ("JUPYTER_CONFIG_DIR", "JUPYTER_DATA_DIR", "JUPYTER_RUNTIME_DIR")
    done = subprocess.run(
        [sys.executable, "-c", _SET_UP, str(is_enabled)],
        cwd=folder,
        env={**os.environ, **dict.fromkeys(names, folder), "PYTHONPATH": str(Path.cwd())},
        capture_output=True,
        text=True,
        check=True,
    )
    return float(done.stdout)


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        pairs = [(measure(folder, is_enabled=True), measure(folder, is_enabled=False)) for _ in range(RUNS)]
    more = sorted((with_it - without) * 1000 for with_it, without in pairs)
    plain = statistics.median(without for _, without in pairs) * 1000
    median, most = statistics.median(more), more[-1]
    print(f"{RUNS} set-ups of {plain:.0f} ms: {median:.1f} ms more (median), {most:.1f} at most, of 50")


if __name__ == "__main__":
    main()
