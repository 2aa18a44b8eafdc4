"""`%lsp_check` in real kernels: it finds its notebook and says which content it checked, or says that it found none."""

import json
import os
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from jupyter_lsp_agent.frontends.magic.checks import KernelChecks
from jupyter_lsp_agent.frontends.magic.question import AskingCell, KernelQuestion
from jupyter_lsp_agent.frontends.magic.surroundings import KernelSurroundings
from jupyter_lsp_agent.service.execution import Execution
from jupyter_lsp_agent.service.settings import Settings
from tests.frontends.magic.conftest import Open
from tests.support.environments import add_package, kernelspec, real_venv, site_packages
from tests.support.jupyter_server import JupyterServer, jupyter_server
from tests.support.kernels import NotebookKernel, attached, notebook, plain_kernel, runtime_folder

pytestmark = pytest.mark.timeout(180)

MISTAKEN = ("price = 1", "price.foo", "%lsp_check")
FOUND = [(1, "missing-attribute")]


def name_below(server: JupyterServer, path: Path) -> str:
    return path.relative_to(server.root).as_posix()


def write(path: Path, *sources: str, **options: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(notebook(*sources, **options))
    return path


@pytest.mark.parametrize("place", ["a.ipynb", "sub/a.ipynb", "with space # and é.ipynb", "100%20 (1).ipynb"])
async def test_a_saved_notebook_is_found_by_its_server(
    kernel_server: JupyterServer, folder: Path, open_kernel: Open, place: str
) -> None:
    path = write(folder / place, *MISTAKEN)
    kernel = await open_kernel(kernel_server, name_below(kernel_server, path))
    report = (await kernel.check()).report
    assert report["path"] == name_below(kernel_server, path)
    assert [cell["cell_index"] for cell in report["cells"]] == [1]
    assert report["content_source"] == "contents"
    assert "language servers of its Jupyter server" in report["content"]
    assert report["notes"] == []


async def test_a_renamed_notebook_is_found_where_it_is_now(
    kernel_server: JupyterServer, folder: Path, open_kernel: Open
) -> None:
    path = write(folder / "old.ipynb", *MISTAKEN)
    kernel = await open_kernel(kernel_server, name_below(kernel_server, path))
    await kernel.run("price = 1", "c0")
    new = name_below(kernel_server, folder / "new.ipynb")
    assert kernel_server.contents("PATCH", name_below(kernel_server, path), {"path": new}).status == 200
    renamed = kernel_server.send("PATCH", f"api/sessions/{kernel.session['id']}", {"path": new})
    assert renamed.status == 200
    # Another notebook takes the old name, which the kernel's environment still tells.
    write(path, "nothing = 1")
    report = (await kernel.check()).report
    assert report["path"] == new
    assert report["cells"][0]["cell_index"] == 1


async def test_a_notebook_that_is_gone_is_told(kernel_server: JupyterServer, folder: Path, open_kernel: Open) -> None:
    """Deleted, or named by an editor in a way of its own: the inputs are the document, and it is said why."""
    path = write(folder / "a.ipynb", *MISTAKEN)
    kernel = await open_kernel(kernel_server, name_below(kernel_server, path))
    await kernel.run("price = 1", "c0")
    await kernel.run("price.foo", "c1")
    path.unlink()
    report = (await kernel.check()).report
    assert (report["path"], report["content_source"], report["verdict"]) == (None, "history", "errors")
    assert report["notes"][0].startswith("No notebook is known: a.ipynb, named by its Jupyter server, is not there; ")


async def test_what_ran_and_is_not_saved_is_told(kernel_server: JupyterServer, folder: Path, open_kernel: Open) -> None:
    path = write(folder / "a.ipynb", *MISTAKEN)
    kernel = await open_kernel(kernel_server, name_below(kernel_server, path))
    await kernel.run("price = 1", "c0")
    assert (await kernel.check(cell_id="c2")).report["notes"] == []
    await kernel.run("price = 2", "c0")
    report = (await kernel.check(cell_id="c2")).report
    assert report["verdict"] == "errors"
    assert ["[4]" in note for note in report["notes"]] == [True]


async def test_a_cell_that_is_not_saved_is_checked_as_it_is(
    kernel_server: JupyterServer, folder: Path, open_kernel: Open
) -> None:
    path = write(folder / "a.ipynb", "price = 1", "price.foo", "%%lsp_check\nprice")
    kernel = await open_kernel(kernel_server, name_below(kernel_server, path))
    shown = (await kernel.run("%%lsp_check\nprice\nprice.bar", "c2")).report
    assert [cell["cell_index"] for cell in shown["cells"]] == [2]
    assert shown["counts"]["present"] == 2  # the counts are of all cells
    assert shown["notes"] == ["1 finding in other cells: `%%lsp_check --all` shows them."]
    edited = await kernel.run("%%lsp_check --all\nprice\nprice.bar", "c2")
    places = [(cell["cell_index"], found["line"]) for cell in edited.report["cells"] for found in cell["diagnostics"]]
    assert places == [(1, 1), (2, 3)]
    assert edited.report["notes"] == []
    new = await kernel.run("%%lsp_check\nprice.baz", "brand-new")
    assert [(cell["cell_index"], cell["cell_id"]) for cell in new.report["cells"]] == [(3, "brand-new")]
    assert "not in the saved notebook yet" in new.report["notes"][0]
    assert json.loads(path.read_text()) == json.loads(
        notebook("price = 1", "price.foo", "%%lsp_check\nprice")
    )  # nothing is written


@pytest.mark.parametrize("tells_ids", [True, False])
async def test_names_of_cells_that_are_not_saved_are_there(
    kernel_server: JupyterServer, folder: Path, open_kernel: Open, tells_ids: bool
) -> None:
    path = write(folder / "a.ipynb", "price = 1", "other = price + 1", "print(other)")
    kernel = await open_kernel(kernel_server, name_below(kernel_server, path), tells_ids=tells_ids)
    await kernel.run("price = 1", "c0")
    await kernel.run("%lsp_check --auto on", "auto")
    news = [
        await kernel.run("def helper(number: int) -> int:\n    return number + price", "n1"),
        await kernel.run("text = helper(2)", "n2"),
        await kernel.run("helper(3)", "n3"),
    ]
    report = (await kernel.run("%%lsp_check\nhelper(1) + text + gone", "n4")).report
    found = [found for cell in report["cells"] for found in cell["diagnostics"]]
    assert [(one["line"], one["code"]) for one in found] == [(2, "unresolved-reference")]
    assert "with what ran since" in report["content"]
    for outputs in news:
        assert "new error" not in outputs.text.replace("no new error", "")
        assert "fixed" not in outputs.text.replace(", 0 fixed", "")


async def test_a_checked_cell_does_not_run(kernel_server: JupyterServer, folder: Path, open_kernel: Open) -> None:
    path = write(folder / "a.ipynb", "price = 1")
    kernel = await open_kernel(kernel_server, name_below(kernel_server, path))
    await kernel.run("%%lsp_check\nmade_here = 1", "c1")
    assert "NameError" in (await kernel.run("made_here", "c2")).text


@pytest.mark.parametrize("tells_ids", [True, False])  # JupyterLab makes ids for a file that has none
async def test_notebooks_without_ids(
    kernel_server: JupyterServer, folder: Path, open_kernel: Open, tells_ids: bool
) -> None:
    path = write(folder / "a.ipynb", *MISTAKEN, "%%lsp_check\nprice + 1", ids=False, minor=4)
    kernel = await open_kernel(kernel_server, name_below(kernel_server, path), tells_ids=tells_ids)
    report = (await kernel.check(cell_id="made-2")).report
    assert [(cell["cell_index"], cell["cell_id"]) for cell in report["cells"]] == [(1, None)]
    edited = (await kernel.run("%%lsp_check\nprice + one", "made-3")).report
    assert [cell["cell_index"] for cell in edited["cells"]] == [3]


async def test_two_kernels_on_one_notebook(kernel_server: JupyterServer, folder: Path, open_kernel: Open) -> None:
    path = write(folder / "a.ipynb", *MISTAKEN, "mine")
    name = name_below(kernel_server, path)
    one = await open_kernel(kernel_server, name)
    other = NotebookKernel(await second_kernel(kernel_server, one))
    await other.open()
    try:
        await other.run("%load_ext jupyter_lsp_agent")
        await one.run("mine = 1")
        path.write_bytes(path.read_bytes())  # saved since, and the cell that ran is still not in it
        reports = [(await kernel.check()).report for kernel in (one, other)]
    finally:
        await other.close()
    # The server's session is the first one's; the second has only the name that it was started with.
    assert [report["path"] for report in reports] == [name, None]
    codes = [[found["code"] for cell in report["cells"] for found in cell["diagnostics"]] for report in reports]
    assert "hidden-state" in codes[0]
    assert codes[1] == []


async def second_kernel(server: JupyterServer, first: NotebookKernel) -> Any:
    answer = server.send("POST", "api/kernels", {"name": "python3"})
    assert answer.status == 201
    return attached(runtime_folder(server) / f"kernel-{answer.json['id']}.json")


async def test_another_document_may_be_named(kernel_server: JupyterServer, folder: Path, open_kernel: Open) -> None:
    path = write(folder / "a.ipynb", "price = 1")
    write(folder / "other.ipynb", "1", "2", "wrong")
    (folder / "module.py").write_text("x: int = ''\n")
    kernel = await open_kernel(kernel_server, name_below(kernel_server, path))
    other = (await kernel.check("%lsp_check other.ipynb")).report
    assert [cell["cell_index"] for cell in other["cells"]] == [2]
    module = (await kernel.check("%lsp_check module.py")).report
    assert [found["line"] for found in module["diagnostics"]] == [1]
    missing = (await kernel.check("%lsp_check nowhere.ipynb")).report
    assert (missing["verdict"], missing["reason"]) == ("no_verdict", "unreadable")
    own = (await kernel.check("%lsp_check a.ipynb")).report
    assert "Found: named." in own["content"]


async def test_the_verdict_follows_the_kernel(
    tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, open_kernel: Open
) -> None:
    """The kernel was changed for one of another environment, and the file still names the old one."""
    other = real_venv(tmp_path / "other")
    add_package(other, "only_here")
    add_package(other, "different", "value: str = ''\n")
    (site_packages(other) / "ours.pth").write_text("\n".join(path for path in sys.path if "site-packages" in path))
    specs = kernelspec(tmp_path / "data" / "kernels", "other", str(other / "bin" / "python"))
    root = tmp_path_factory.mktemp("root")
    write(root / "a.ipynb", "import only_here", "only_here.value.foo", "%lsp_check")
    environment = {"JUPYTER_PATH": str(specs.parent)}
    with jupyter_server(root, environment=environment) as server:
        kernel = await open_kernel(server, "a.ipynb", kernel="other")
        report = (await kernel.check()).report
    assert [(cell["cell_index"], cell["diagnostics"][0]["code"]) for cell in report["cells"]] == FOUND
    assert report["environment"] == {"python": str(other / "bin" / "python"), "origin": "this kernel"}
    assert "own language servers" in report["content"]


@pytest.fixture(scope="module", params=["PasswordIdentityProvider.hashed_password", "ServerApp.password"])
def password_server(
    tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> Iterator[JupyterServer]:
    """A real server with a password and no token."""
    root = tmp_path_factory.mktemp("root")
    with jupyter_server(root, password="of the tests", password_trait=request.param) as server:
        yield server


def test_it_lets_in_who_has_its_cookie_alone(password_server: JupyterServer) -> None:
    """The server is what the tests below take it for."""
    (file,) = runtime_folder(password_server).glob("jpserver-*.json")
    assert json.loads(file.read_text())["token"] == ""
    assert password_server.send("GET", "api/sessions").status == 200
    stranger = replace(password_server, cookies={})
    for token in (None, "x"):
        assert stranger.send("GET", "api/sessions", token=token).status == 403
        assert stranger.send("GET", "jupyter-lsp-agent/status", token=token).status == 403
        assert stranger.send("POST", "jupyter-lsp-agent/edits", {}, token=token).status == 403


@pytest.mark.parametrize("hint", ["absolute", "basename", "wrong", "renamed"])
async def test_a_server_that_wants_a_password(password_server: JupyterServer, open_kernel: Open, hint: str) -> None:
    """It tells its sessions to nobody; what the kernel was started with may be right."""
    path = write(password_server.root / hint / "a.ipynb", *MISTAKEN)
    kernel = await open_kernel(password_server, name_below(password_server, path))
    if hint == "basename":
        await kernel.run(f"import os; os.environ['JPY_SESSION_NAME'] = '{hint}/a.ipynb'")
    if hint == "wrong":
        write(path, "another = 1", "notebook = 2", ids=False)
    if hint == "renamed":
        new = name_below(password_server, path.with_name("b.ipynb"))
        renamed = password_server.contents("PATCH", name_below(password_server, path), {"path": new})
        assert renamed.status == 200
        session = password_server.send("PATCH", f"api/sessions/{kernel.session['id']}", {"path": new})
        assert session.status == 200
    await kernel.run("price = 1", "c0")
    await kernel.run("price.foo", "c1")
    report = (await kernel.check()).report
    assert "this kernel's own language servers" in report["content"]
    assert report["verdict"] == "errors"
    if hint in {"wrong", "renamed"}:
        doubt = "does not hold what ran here" if hint == "wrong" else "is not there"
        assert (report["path"], report["content_source"]) == (None, "history")
        assert doubt in report["notes"][0]
        assert "does not tell its sessions (it wants a password" in report["notes"][0]
        named = (await kernel.check(f"%lsp_check {'a' if hint == 'wrong' else 'b'}.ipynb")).report
        assert named["content_source"] == "file"
        assert named["verdict"] == ("clean" if hint == "wrong" else "errors")
    else:
        assert report["cells"][0]["cell_index"] == 1
        assert report["content_source"] == "file"
        assert "JPY_SESSION_NAME" in report["content"]


async def test_a_server_that_has_an_editors_notebook_is_asked(
    kernel_server: JupyterServer, folder: Path, tmp_path: Path
) -> None:
    """An editor starts kernels itself, beside a server that has the same files: its language servers are warm."""
    path = write(folder / "a.ipynb", *MISTAKEN)
    environment = {name: value for name, value in os.environ.items() if name != "JPY_SESSION_NAME"}
    environment |= {"JUPYTER_RUNTIME_DIR": str(runtime_folder(kernel_server)), "IPYTHONDIR": str(tmp_path)}
    with plain_kernel(tmp_path, environment) as file:
        kernel = NotebookKernel(attached(file))
        await kernel.open()
        try:
            await kernel.run_silently(f"__vsc_ipynb_file__ = {str(path)!r}")
            await kernel.run("%load_ext jupyter_lsp_agent")
            await kernel.run("price = 1")
            await kernel.run("price.foo")
            report = (await kernel.check()).report
        finally:
            await kernel.close()
    assert [cell["cell_index"] for cell in report["cells"]] == [1]
    assert report["content_source"] == "contents"
    assert "language servers of its Jupyter server" in report["content"]
    assert "named by the editor" in report["content"]


async def test_two_terminals_have_a_session_each(
    kernel_server: JupyterServer, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """They ask one Jupyter server about the notebook that they name, and neither has an id to be told by."""
    monkeypatch.setenv("JUPYTER_RUNTIME_DIR", str(runtime_folder(kernel_server)))
    path = write(folder / "a.ipynb", "price = 1")
    ran = (Execution("%lsp_check", 1),)
    asked = KernelQuestion(
        around=KernelSurroundings(folder),
        executed=ran,
        names=frozenset(),
        asking=AskingCell(None, ran[0].source),
        path="a.ipynb",
        baseline="session",
    )
    terminals = [await KernelChecks.open(Settings()) for _ in range(2)]
    try:
        first = await terminals[0].check(asked)
        assert "language servers of its Jupyter server" in first.content
        write(path, "price = 1", "price.foo")
        counts = [(await checks.check(asked)).report.counts for checks in terminals]
    finally:
        for checks in terminals:
            await checks.aclose()
    assert [(one.introduced, one.preexisting) for one in counts if one] == [(1, 0), (0, 1)]


async def test_no_server_at_all(tmp_path: Path) -> None:
    environment = {name: value for name, value in os.environ.items() if name != "JPY_SESSION_NAME"}
    environment |= {"JUPYTER_RUNTIME_DIR": str(tmp_path), "IPYTHONDIR": str(tmp_path / "ipython")}
    with plain_kernel(tmp_path, environment) as file:
        kernel = NotebookKernel(attached(file))
        await kernel.open()
        try:
            await kernel.run("%load_ext jupyter_lsp_agent", "c0")
            for number, source in enumerate(("price = 1", "price.foo", "text = price", "text.foo")):
                await kernel.run(source, f"c{number + 1}")
            # The cell is run again, mended: its first version counts no more.
            await kernel.run("price.real", "c2")
            outputs = await kernel.check(cell_id="c5")
            vs_code = write(tmp_path / "editor.ipynb", "1", "wrong")
            await kernel.run(f"__vsc_ipynb_file__ = {str(vs_code)!r}")
            editor = await kernel.check()
        finally:
            await kernel.close()
    assert (outputs.report["path"], outputs.report["content_source"]) == (None, "history")
    assert [(cell["cell_index"], cell["execution_count"]) for cell in outputs.report["cells"]] == [(5, 5)]
    assert outputs.text.startswith("executed cells: 1 error")
    assert [cell["cell_index"] for cell in editor.report["cells"]] == [1]
    assert "the editor" in editor.report["content"]
