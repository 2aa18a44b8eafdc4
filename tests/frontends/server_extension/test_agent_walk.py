"""An agent's walk over a notebook: every edit is told what it did and nothing else, whatever happens to the server."""

import json
import signal

import psutil
import pytest

from jupyter_lsp_agent.servers.commands import read_command_search
from tests.support.jupyter_server import jupyter_server
from tests.support.real_servers import find_real
from tests.support.small_notebooks import sources_of, write_notebook


class Walker:
    """An agent at work on one notebook in one session."""

    def __init__(self, server, path: str, session: str) -> None:
        self.server, self.path, self.session = server, path, session

    def cells(self):
        answer = self.server.get("cells", path=self.path, session=self.session)
        assert answer.status == 200, answer.text
        return answer.json

    def edit(self, *edits, **options):
        return self.server.edit(self.path, *edits, session=self.session, **options)["report"]

    def check(self, **options):
        return self.server.check(self.path, session=self.session, **options)


def _said(report) -> tuple[str, dict[str, int], list[tuple[int, str]]]:
    """Verdict, the counts that are not nought, and each shown finding's cell and status."""
    shown = [(cell["cell_index"], found["status"]) for cell in report["cells"] for found in cell["diagnostics"]]
    return report["verdict"], {name: count for name, count in report["counts"].items() if count}, shown


@pytest.fixture
def walker(server, folder):
    # An old error that the agent is not to be blamed for, and definitions that later cells use.
    write_notebook(folder / "n.ipynb", "def area(r: float) -> float:\n    return 3.0 * r * r", "old = undefined_name",
                   "x = area(2.0)", "print(x)")  # fmt: skip
    return Walker(server, f"{folder.name}/n.ipynb", f"session of {folder.name}")


def test_the_walk_of_an_agent(walker):
    first = walker.cells()
    assert [cell["cell_id"] for cell in first["cells"]] == ["c0", "c1", "c2", "c3"]
    assert _said(walker.check()) == ("nothing_new", {"preexisting": 1}, [])

    broken = walker.edit(
        {"op": "replace", "cell": "c2", "source": "x = area(2.0)\ny = zzz"}, if_hash=first["content_hash"]
    )
    assert broken["baseline"] == "session"
    assert _said(broken) == ("errors", {"introduced": 1, "preexisting": 1}, [(2, "introduced")])
    assert broken["cells"][0]["diagnostics"][0]["line"] == 2
    assert _said(walker.check()) == ("errors", {"outstanding": 1, "preexisting": 1}, [(2, "outstanding")])

    moved = walker.edit({"op": "move", "cell": "c2", "after": "c3"}, {"op": "move", "cell": "c3", "after": "c2"})
    assert _said(moved) == ("errors", {"outstanding": 1, "preexisting": 1}, [(2, "outstanding")])
    inserted = walker.edit({"op": "insert", "after": None, "cell_type": "markdown", "source": "# Title"})
    assert _said(inserted) == ("errors", {"outstanding": 1, "preexisting": 1}, [(3, "outstanding")])

    proposed = walker.edit({"op": "replace", "cell": 4, "source": "print(x, qqq)"}, dry_run=True)
    assert _said(proposed)[2] == [(3, "outstanding"), (4, "introduced")]
    again = walker.edit({"op": "replace", "cell": 4, "source": "print(x, qqq)"}, dry_run=True)
    assert _said(again)[2] == [(3, "outstanding"), (4, "introduced")]

    mended = walker.edit({"op": "replace_text", "cell": "c2", "old": "\ny = zzz", "new": ""})
    assert _said(mended) == ("nothing_new", {"preexisting": 1, "fixed": 1}, [])
    assert [(found["cell_id"], found["cell_index"]) for found in mended["fixed"]] == [("c2", 3)]
    assert _said(walker.check()) == ("nothing_new", {"preexisting": 1}, [])

    text = walker.edit({"op": "set_type", "cell": "c0", "cell_type": "markdown"})
    assert _said(text)[:2] == ("errors", {"introduced": 1, "preexisting": 1})
    assert [cell["cell_index"] for cell in text["cells"] if cell["diagnostics"]] == [3]
    code = walker.edit({"op": "set_type", "cell": "c0", "cell_type": "code"})
    assert _said(code)[:2] == ("nothing_new", {"preexisting": 1, "fixed": 1})

    deleted = walker.edit({"op": "delete", "cell": "c1"})
    assert _said(deleted)[:2] == ("clean", {"fixed": 1})
    back = walker.edit({"op": "append", "cell_type": "code", "source": "old = undefined_name"})
    assert _said(back) == ("errors", {"introduced": 1}, [(4, "introduced")])

    accepted = walker.server.ok("baseline", path=walker.path, session=walker.session, action="accept")
    assert accepted["counts"]["introduced"] == 1
    assert _said(walker.check()) == ("nothing_new", {"preexisting": 1}, [])
    listed = walker.server.get("sessions", path=walker.path).json
    assert [(one["session"], one["path"]) for one in listed] == [(walker.session, walker.path)]
    assert walker.server.ok("baseline", path=walker.path, session=walker.session, action="reset") == {"counts": None}
    assert walker.server.get("sessions", path=walker.path).json == []


def _restart(server) -> None:
    server.ok("servers/ty/restart")


def _kill(server) -> None:
    for running in server.get("status").json["running"]:
        if running["id"] == "ty":
            victim = psutil.Process(running["pid"])
            victim.send_signal(signal.SIGKILL)
            psutil.wait_procs([victim], timeout=20)


@pytest.mark.parametrize("disturb", [_restart, _kill])
def test_a_language_server_that_is_restarted_or_killed_in_between_blames_nobody(walker, disturb):
    walker.check()
    disturb(walker.server)
    broken = walker.edit({"op": "replace", "cell": "c3", "source": "print(zzz)"})
    assert _said(broken) == ("errors", {"introduced": 1, "preexisting": 1}, [(3, "introduced")])
    disturb(walker.server)
    assert _said(walker.check()) == ("errors", {"outstanding": 1, "preexisting": 1}, [(3, "outstanding")])
    disturb(walker.server)
    mended = walker.edit({"op": "replace", "cell": "c3", "source": "print(x)"})
    assert _said(mended) == ("nothing_new", {"preexisting": 1, "fixed": 1}, [])


@pytest.mark.real_server("ty", "basedpyright")
def test_another_server_in_between_blames_nobody(tmp_path):
    write_notebook(tmp_path / "n.ipynb", "x: int = 'old'", "print(x)")
    # The first server of the chain is there at first, and gone later on.
    real = tmp_path / "first-server"
    real.symlink_to(find_real("ty", read_command_search()).argv[0])
    config = (
        "c.LspAgent.servers = {'python': ['ty', 'basedpyright']}\n"
        f"c.LspAgent.server_settings = {{'ty': {{'command': ['{real}', 'server']}}}}\n"
    )
    with jupyter_server(tmp_path, config=config) as server:
        walker = Walker(server, "n.ipynb", "s")
        assert _said(walker.check()) == ("nothing_new", {"preexisting": 1}, [])
        real.unlink()
        _kill(server)
        broken = walker.edit({"op": "replace", "cell": "c1", "source": "print(x, zzz)"})
        assert broken["fallback_used"] is True
        assert _said(broken) == ("errors", {"introduced": 1, "preexisting": 1}, [(1, "introduced")])
        mended = walker.edit({"op": "replace", "cell": "c1", "source": "print(x)"})
        assert _said(mended) == ("nothing_new", {"preexisting": 1, "fixed": 1}, [])


def test_two_agents_with_stale_hashes_never_lose_each_others_work(walker):
    known = walker.cells()["content_hash"]
    other = Walker(walker.server, walker.path, "another")
    done = {"written": 0, "stale": 0}
    for number in range(6):
        agent = (walker, other)[number % 2]
        edit = {"op": "append", "cell_type": "code", "source": f"n{number} = {number}"}
        answer = agent.server.post("edits", path=agent.path, session=agent.session, edits=[edit], if_hash=known)
        done["written" if answer.status == 200 else "stale"] += 1
    assert done == {"written": 1, "stale": 5}
    assert len(sources_of(walker.server.root / walker.path)) == 5


def test_another_agents_session_is_another_baseline(walker):
    walker.check()
    walker.edit({"op": "replace", "cell": "c3", "source": "print(zzz)"})
    other = Walker(walker.server, walker.path, "another")
    assert _said(other.check()) == ("nothing_new", {"preexisting": 2}, [])
    assert _said(walker.check())[1] == {"outstanding": 1, "preexisting": 1}
    without = walker.server.check(walker.path)
    assert (without["baseline"], _said(without)[1]) == ("none", {"present": 2})


def test_a_file_that_was_written_around_jupyter_is_seen_at_the_next_check(walker):
    walker.check()
    path = walker.server.root / walker.path
    path.write_text(path.read_text().replace("print(x)", "print(zzz)"))
    assert _said(walker.check()) == ("errors", {"introduced": 1, "preexisting": 1}, [(3, "introduced")])


def test_a_renamed_notebook_keeps_its_sessions(walker):
    walker.check()
    new = walker.path.replace("n.ipynb", "renamed.ipynb")
    assert walker.server.contents("PATCH", walker.path, {"path": new}).status == 200
    walker.path = new
    broken = walker.edit({"op": "replace", "cell": "c3", "source": "print(zzz)"})
    assert _said(broken)[1] == {"introduced": 1, "preexisting": 1}


def test_first_contact_by_an_edit_takes_the_content_before_it(walker):
    broken = walker.edit({"op": "replace", "cell": "c3", "source": "print(zzz)"})
    assert _said(broken) == ("errors", {"introduced": 1, "preexisting": 1}, [(3, "introduced")])


def test_first_contact_by_an_edit_without_a_check_too(walker):
    edit = {"op": "replace", "cell": 1, "source": "print(zzz)"}
    walker.server.edit(walker.path, edit, session="fresh", check=False)
    assert walker.server.check(walker.path, session="fresh")["counts"]["introduced"] == 1


def test_first_contact_by_proposed_content_takes_the_stored_one(walker):
    stored = json.loads((walker.server.root / walker.path).read_text())
    stored["cells"][3]["source"] = ["print(zzz)"]
    for _ in range(2):
        proposed = walker.check(content=stored)
        assert _said(proposed) == ("errors", {"introduced": 1, "preexisting": 1}, [(3, "introduced")])


def test_an_edit_of_a_module_tells_what_it_breaks_in_notebooks(walker):
    folder = (walker.server.root / walker.path).parent
    (folder / "helpers.py").write_text("def double(x: int) -> int:\n    return 2 * x\n")
    write_notebook(folder / "user.ipynb", "import helpers", "helpers.double(1)")
    user = Walker(walker.server, f"{folder.name}/user.ipynb", walker.session)
    assert _said(user.check())[0] == "clean"
    module = Walker(walker.server, f"{folder.name}/helpers.py", walker.session)
    broken = module.edit({"op": "replace_text", "old": "double", "new": "twice"})
    assert broken["verdict"] == "errors"
    ((path, other),) = broken["other_files"].items()
    assert path == user.path
    assert [(cell["cell_index"], len(cell["diagnostics"])) for cell in other["cells"]] == [(1, 1)]
    mended = module.edit({"op": "replace_text", "old": "twice", "new": "double"})
    assert mended["other_files"][user.path]["cells"] == []
