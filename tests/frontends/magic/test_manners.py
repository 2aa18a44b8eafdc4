"""How `%lsp_check` behaves in a real kernel: mistakes, quiet, interrupts, unloading, a long life and a sudden end."""

import asyncio
import os
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import psutil
import pytest

from tests.support.kernels import JSON_TYPE, NotebookKernel, attached, notebook, plain_kernel
from tests.support.processes import survivors
from tests.support.services import command_of

pytestmark = pytest.mark.timeout(180)


@asynccontextmanager
async def kernel_alone(folder: Path, settings: Mapping[str, str] = {}) -> AsyncIterator[NotebookKernel]:
    """A kernel that no server knows, with the magic loaded."""
    environment = {name: value for name, value in os.environ.items() if name != "JPY_SESSION_NAME"}
    own = {"JUPYTER_RUNTIME_DIR": str(folder), "IPYTHONDIR": str(folder / "ipython"), **settings}
    with plain_kernel(folder, environment | own) as file:
        kernel = NotebookKernel(attached(file))
        await kernel.open()
        try:
            await kernel.run("%load_ext jupyter_lsp_agent")
            yield kernel
        finally:
            await kernel.close()


def children_of_kernel(folder: Path) -> list[psutil.Process]:
    """The processes below the kernel of a folder; servers are among them."""
    kernel = kernel_process(folder)
    return kernel.children(recursive=True)


def kernel_process(folder: Path) -> psutil.Process:
    mine = [
        one for one in psutil.Process().children(recursive=True) if str(folder / "kernel-of") in " ".join(one.cmdline())
    ]
    return mine[0]


@pytest.fixture
async def kernel(tmp_path: Path) -> AsyncIterator[NotebookKernel]:
    (tmp_path / "a.ipynb").write_text(notebook("price = 1", "price.foo"))
    async with kernel_alone(tmp_path) as running:
        yield running


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("%lsp_check --severity grave", "invalid choice: 'grave'"),
        ("%lsp_check --no-such", "unrecognized arguments: --no-such; `%lsp_check?` has the help"),
        ("%lsp_check a.ipynb b.ipynb", "unrecognized arguments: b.ipynb; `%lsp_check?` has the help"),
        ("%lsp_check --severty warning", "unrecognized arguments: --severty; --severity is one; `%lsp_check?` has"),
        ("%lsp_check --basline=session", "arguments: --basline=session; --baseline is one; `%lsp_check?` has"),
        ("%lsp_check --severity", "expected one argument: error, warning, information or hint; `%lsp_check?` has"),
        ("%lsp_check --server", "expected one argument; `%lsp_check?` has"),
        ("%lsp_check 'a.ipynb", "no closing quotation"),
        ('%lsp_check "', "no closing quotation"),
        ("%lsp_check --auto", "argument --auto: expected one argument: on or off; `%lsp_check?` has"),
        ("%lsp_check --auto on --all", "goes with no other argument"),
        ("%lsp_check --baseline yesterday", "none, session or git:REV"),
        (
            "%lsp_check a.ipynb --baseline git:HEAD",
            "in no git repository, so nothing can be compared with a revision: ask without one",
        ),
        ("%lsp_check a.ipynb --cell 7", "there is no cell 7"),
    ],
)
async def test_a_mistake_is_one_line(kernel: NotebookKernel, line: str, said: str) -> None:
    outputs = await kernel.run(line)
    assert said in outputs.text
    assert "Traceback" not in outputs.text
    assert len(outputs.text.strip().splitlines()) == 1, outputs.text


async def test_a_server_that_is_not_there(kernel: NotebookKernel) -> None:
    report = (await kernel.run("%lsp_check a.ipynb --server no-such-server")).report
    assert (report["verdict"], report["reason"]) == ("no_verdict", "not_installed")


async def test_the_result(kernel: NotebookKernel) -> None:
    shown = await kernel.run("%lsp_check a.ipynb")
    assert set(shown.all[0]["data"]) == {"text/plain", "text/html", "text/markdown", JSON_TYPE}
    values = await kernel.run(
        "r = %lsp_check a.ipynb\n"
        "print(bool(r), r.verdict, len(r.errors), [one.code for one in r], r.to_dict()['counts']['present'])"
    )
    assert values.text.strip() == "True errors 1 ['missing-attribute'] 1"
    quiet = await kernel.run("%lsp_check a.ipynb ;")
    assert quiet.all == []
    hint = await kernel.run("%lsp_check?")
    assert hint.all == []  # help goes to the pager, which is no output
    clean = await kernel.run("r = %lsp_check a.ipynb --cell 0\nprint(bool(r), r.verdict, list(r))")
    assert clean.text.strip() == "False errors []"


async def test_names_in_braces_are_not_expanded(kernel: NotebookKernel, tmp_path: Path) -> None:
    (tmp_path / "{price} $HOME.ipynb").write_text(notebook("wrong"))
    await kernel.run("price = 1")
    report = (await kernel.run("%lsp_check '{price} $HOME.ipynb'")).report
    assert [cell["cell_index"] for cell in report["cells"]] == [0]


async def test_loading_twice_and_unloading(kernel: NotebookKernel, tmp_path: Path) -> None:
    await kernel.run("%lsp_check a.ipynb")
    servers = children_of_kernel(tmp_path)
    assert servers
    await kernel.run("%load_ext jupyter_lsp_agent")
    await kernel.run("%reload_ext jupyter_lsp_agent")
    assert (await kernel.run("%lsp_check a.ipynb")).report["verdict"] == "errors"
    await kernel.run("%unload_ext jupyter_lsp_agent")
    assert survivors(servers) == []
    assert children_of_kernel(tmp_path) == []
    assert "not found" in (await kernel.run("%lsp_check a.ipynb")).text
    callbacks = "print([len(get_ipython().events.callbacks[one]) for one in ('pre_run_cell', 'post_run_cell')])"
    before = (await kernel.run(callbacks)).text
    await kernel.run("%load_ext jupyter_lsp_agent")
    await kernel.run("%lsp_check --auto on")
    await kernel.run("%unload_ext jupyter_lsp_agent")
    after = await kernel.run(callbacks)
    assert after.text.strip() == before.strip(), after.all


async def test_under_a_running_loop_and_with_autoawait_off(kernel: NotebookKernel) -> None:
    inside = (
        "import asyncio\n"
        "await asyncio.sleep(0)\n"
        "r = %lsp_check a.ipynb\n"
        "print(asyncio.get_running_loop().is_running(), len(r.errors))"
    )
    assert (await kernel.run(inside)).text.strip() == "True 1"
    await kernel.run("%autoawait False")
    assert (await kernel.run("%lsp_check a.ipynb")).report["verdict"] == "errors"


async def test_it_never_raises_into_a_cell_that_ran(kernel: NotebookKernel, tmp_path: Path) -> None:
    await kernel.run("%lsp_check --auto on")
    (tmp_path / "pyproject.toml").write_text("[tool.jupyter-lsp-agent]\nseverity = 'no such'\n")
    await kernel.run("import jupyter_core.paths\njupyter_core.paths.jupyter_runtime_dir = None")
    outputs = await kernel.run("print('mine')")
    assert outputs.text.startswith("mine")
    assert "Traceback" not in outputs.text


@pytest.mark.parametrize("mode", ["hang", "silent"])
async def test_the_stop_button_ends_the_wait(tmp_path: Path, mode: str) -> None:
    """A server that hangs in its handshake, or with its answer."""
    settings = {
        "JUPYTER_LSP_AGENT_SERVER_SETTINGS": hanging(mode),
        "JUPYTER_LSP_AGENT_SERVERS": '{"python": ["ty"]}',
        "JUPYTER_LSP_AGENT_FIRST_WAIT_MS": "100000",
    }
    async with kernel_alone(tmp_path, settings) as kernel:
        await kernel.run("price = 1")
        running = asyncio.ensure_future(kernel.run("%lsp_check"))
        await until(lambda: children_of_kernel(tmp_path))
        await kernel.interrupt()
        outputs = await running
        assert outputs.text.strip() == "UsageError: interrupted: there is no verdict"
        assert (await kernel.run("print(price)")).text.strip() == "1"


async def test_the_kernel_is_not_kept_longer_than_it_was_told(tmp_path: Path) -> None:
    settings = {
        "JUPYTER_LSP_AGENT_SERVER_SETTINGS": hanging("silent"),
        "JUPYTER_LSP_AGENT_SERVERS": '{"python": ["ty"]}',
        "JUPYTER_LSP_AGENT_FIRST_WAIT_MS": "500",
    }
    async with kernel_alone(tmp_path, settings) as kernel:
        report = (await kernel.run("%lsp_check")).report
        assert (report["verdict"], report["reason"] in {"timeout", "starting"}) == ("no_verdict", True)


def hanging(mode: str) -> str:
    import json

    return json.dumps({"ty": {"command": [str(part) for part in command_of(mode)]}})


async def until(holds: Any) -> None:
    for _ in range(1000):
        if holds():
            return
        await asyncio.sleep(0.05)
    raise AssertionError("it never came")


async def test_a_long_life(kernel: NotebookKernel, tmp_path: Path) -> None:
    """200 checks, with as much at the end as after the first ones."""
    await kernel.run("%lsp_check --auto on")
    measure = (
        "import os, threading, psutil\n"
        "p = psutil.Process()\n"
        "print(p.num_fds(), threading.active_count(), p.memory_info().rss, len(p.children(recursive=True)))"
    )
    samples = []
    for _ in range(5):
        for _ in range(20):
            await kernel.run("%lsp_check a.ipynb")  # and the check after each run
        lines = (await kernel.run(measure)).text.splitlines()
        samples.append([int(number) for number in lines[0].split()])
    print("descriptors, threads, bytes, children after each 40 checks:", samples)
    descriptors, threads, memory, children = zip(*samples, strict=True)
    assert max(descriptors[1:]) <= descriptors[0] + 1
    assert max(threads[1:]) <= threads[0] + 1
    assert children[-1] == children[0]
    assert memory[-1] <= memory[1] * 1.05 + 2**20


@pytest.mark.parametrize("end", ["killed", "shut down"])
async def test_no_server_outlives_the_kernel(kernel: NotebookKernel, tmp_path: Path, end: str) -> None:
    await kernel.run("%lsp_check a.ipynb")
    process, servers = kernel_process(tmp_path), children_of_kernel(tmp_path)
    assert len(servers) >= 2  # a supervisor and a server
    if end == "killed":
        process.kill()
    else:
        await kernel.shut_down()
    assert survivors(servers) == []


async def test_a_forked_child_leaves_its_parents_servers_alone(kernel: NotebookKernel, tmp_path: Path) -> None:
    await kernel.run("%lsp_check a.ipynb")
    fork = (
        "import os\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    get_ipython().magics_manager.registry['LspMagics'].close()  # what is done at the interpreter's end\n"
        "    os._exit(7)\n"
        "print(os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]))"
    )
    assert (await kernel.run(fork)).text.strip() == "7"
    assert (await kernel.run("%lsp_check a.ipynb")).report["verdict"] == "errors"


async def test_a_forked_child_may_ask_too(kernel: NotebookKernel, tmp_path: Path) -> None:
    await kernel.run("%lsp_check a.ipynb")
    fork = (
        "import os\n"
        "pid = os.fork()\n"
        "if pid == 0:\n"
        "    try:\n"
        "        said = get_ipython().run_line_magic('lsp_check', 'a.ipynb').verdict\n"
        "    except BaseException as error:\n"
        "        said = repr(error)\n"
        "    open('said', 'w').write(said)\n"
        "    os._exit(0)\n"
        "_ = os.waitpid(pid, 0)"
    )
    await kernel.run(fork)
    assert (tmp_path / "said").read_text() == "errors"
    assert (await kernel.run("%lsp_check a.ipynb")).report["verdict"] == "errors"
    await until(lambda: len(children_of_kernel(tmp_path)) == 2)  # the child's servers went with it


async def test_threads_that_ask_at_once_share_the_servers(kernel: NotebookKernel, tmp_path: Path) -> None:
    ask = (
        "import threading\n"
        "said = []\n"
        "ask = lambda: said.append(get_ipython().run_line_magic('lsp_check', 'a.ipynb').verdict.value)\n"
        "threads = [threading.Thread(target=ask) for _ in range(8)]\n"
        "for one in threads: one.start()\n"
        "for one in threads: one.join()\n"
        "print(said)"
    )
    assert (await kernel.run(ask)).text.strip() == str(["errors"] * 8)
    assert len(children_of_kernel(tmp_path)) == 2  # a supervisor and a server


async def test_a_current_folder_that_is_gone(kernel: NotebookKernel) -> None:
    await kernel.run("import os; os.mkdir('gone'); os.chdir('gone'); os.rmdir('../gone')")
    told = "the current folder is not there any more"
    outputs = await kernel.run("%lsp_check")
    assert outputs.text.startswith(f"UsageError: {told}")
    assert "%cd" in outputs.text
    assert told in (await kernel.run("%lsp_check --auto on")).text
    assert told in (await kernel.run("print('mine')")).text


async def test_a_home_of_nobody_is_a_name(kernel: NotebookKernel, tmp_path: Path) -> None:
    (tmp_path / "~nobody-is-called-so").mkdir()
    (tmp_path / "~nobody-is-called-so" / "b.ipynb").write_text(notebook("wrong"))
    assert (await kernel.run("%lsp_check ~nobody-is-called-so/b.ipynb")).report["verdict"] == "errors"


def test_nbclient_runs_it_as_any_cell(tmp_path: Path) -> None:
    import nbformat
    from nbclient import NotebookClient

    running = nbformat.v4.new_notebook(
        cells=[
            nbformat.v4.new_code_cell(source)
            for source in (
                "%load_ext jupyter_lsp_agent",
                "price = 1",
                "%lsp_check",
                "%lsp_check --auto on",
                "price = 2",
            )
        ]
    )
    NotebookClient(running, resources={"metadata": {"path": str(tmp_path)}}, timeout=60).execute()
    assert "no errors" in running.cells[2].outputs[0]["data"]["text/plain"]
