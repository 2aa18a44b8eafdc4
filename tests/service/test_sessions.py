"""Sessions: first contact, keeping, accepting, forgetting, bounds, renames."""

from collections.abc import Callable
from pathlib import PurePosixPath

import pytest

from jupyter_lsp_agent.diagnostics.baseline import FileBaseline
from jupyter_lsp_agent.diagnostics.delta import compute_delta, first_verdict
from jupyter_lsp_agent.service.requests import SessionKey
from jupyter_lsp_agent.service.sessions import SessionFile, SessionLimits, SessionStore
from tests.support.states import cells, outcome
from tests.support.toy_checker import judge

ONE, TWO = SessionKey("ada", "one"), SessionKey("ada", "two")
PATH = PurePosixPath("/work/a.ipynb")
BEFORE, AFTER = cells("x = 1"), cells("x = 1", "print(foo)")


class Time:
    def __init__(self) -> None:
        self.seconds = 0.0

    def __call__(self) -> float:
        return self.seconds


def store(now: Callable[[], float] = lambda: 0.0, **limits: int) -> SessionStore:
    return SessionStore(now, SessionLimits(**limits))


def judged(sessions: SessionStore, key: SessionKey = ONE) -> SessionFile:
    """A session that met the file and has its first verdict."""
    known = sessions.meet(key, PATH, BEFORE)
    file = SessionFile(FileBaseline(BEFORE, first_verdict(judge(BEFORE))))
    assert sessions.keep(key, PATH, known.baseline, file)
    return file


def test_first_contact_takes_the_content_and_later_ones_do_not() -> None:
    sessions = store()
    assert sessions.find(ONE, PATH) is None
    assert sessions.meet(ONE, PATH, BEFORE).baseline == FileBaseline(BEFORE)
    assert sessions.meet(ONE, PATH, AFTER).baseline == FileBaseline(BEFORE)


def test_sessions_and_users_do_not_see_each_other() -> None:
    sessions = store()
    sessions.meet(ONE, PATH, BEFORE)
    assert sessions.meet(TWO, PATH, AFTER).baseline.cells == AFTER
    assert sessions.find(SessionKey("bob", "one"), PATH) is None
    assert [entry.session for entry in sessions.entries("ada")] == ["one", "two"]
    assert list(sessions.entries("bob")) == []


def test_reading_a_baseline_does_not_use_it_up() -> None:
    sessions = store()
    file = judged(sessions)
    assert sessions.find(ONE, PATH) == sessions.find(ONE, PATH) == file


def test_a_verdict_is_kept_only_over_the_one_it_was_compared_with() -> None:
    sessions = store()
    file = judged(sessions)
    last = file.baseline.last
    assert last is not None
    delta = compute_delta(last, judge(AFTER))
    newer = SessionFile(FileBaseline(BEFORE, delta.last))
    assert sessions.keep(ONE, PATH, file.baseline, newer)
    assert not sessions.keep(ONE, PATH, file.baseline, file)
    assert sessions.find(ONE, PATH) == newer


def test_a_verdict_for_a_file_that_was_forgotten_meanwhile_is_not_kept() -> None:
    sessions = store()
    file = judged(sessions)
    assert sessions.reset(ONE, PATH)
    assert not sessions.reset(ONE, PATH)
    assert not sessions.keep(ONE, PATH, file.baseline, file)
    assert sessions.find(ONE, PATH) is None


def test_accept_makes_the_last_verdict_the_baseline() -> None:
    sessions = store()
    file = judged(sessions)
    assert file.baseline.last is not None
    delta = compute_delta(file.baseline.last, judge(AFTER))
    assert outcome(delta) == {"introduced": ["1:0:6 foo"]}
    assert sessions.keep(ONE, PATH, file.baseline, SessionFile(FileBaseline(BEFORE, delta.last)))
    accepted = sessions.accept(ONE, PATH)
    assert accepted is not None
    assert accepted.baseline.last is not None
    assert accepted.baseline.cells == AFTER
    assert outcome(compute_delta(accepted.baseline.last, judge(AFTER))) == {"preexisting": ["1:0:6 foo"]}


def test_accepting_what_was_never_judged_changes_nothing() -> None:
    sessions = store()
    assert sessions.accept(ONE, PATH) is None
    sessions.meet(ONE, PATH, BEFORE)
    assert sessions.accept(ONE, PATH) == SessionFile(FileBaseline(BEFORE))


def test_the_session_unused_for_longest_goes_first() -> None:
    sessions = store(max_sessions=2)
    three = SessionKey("ada", "three")
    sessions.meet(ONE, PATH, BEFORE)
    sessions.meet(TWO, PATH, BEFORE)
    sessions.find(ONE, PATH)
    sessions.meet(three, PATH, BEFORE)
    assert [entry.session for entry in sessions.entries("ada")] == ["one", "three"]


def test_the_file_unused_for_longest_goes_first() -> None:
    sessions = store(max_files=2)
    paths = [PurePosixPath(f"/work/{name}.ipynb") for name in "abc"]
    sessions.meet(ONE, paths[0], BEFORE)
    sessions.meet(ONE, paths[1], BEFORE)
    sessions.find(ONE, paths[0])
    sessions.meet(ONE, paths[2], BEFORE)
    assert [entry.path for entry in sessions.entries("ada")] == [paths[0], paths[2]]


def test_a_session_is_forgotten_after_a_day_without_use() -> None:
    time = Time()
    sessions = store(time)
    sessions.meet(ONE, PATH, BEFORE)
    time.seconds = 23 * 3600
    assert sessions.find(ONE, PATH) is not None
    time.seconds += 24 * 3600
    assert sessions.find(ONE, PATH) is not None
    time.seconds += 24 * 3600 + 1
    assert list(sessions.entries("ada")) == []
    assert sessions.find(ONE, PATH) is None


@pytest.mark.parametrize(
    ("old", "new", "expected"),
    [
        pytest.param("/work/a.ipynb", "/work/b.ipynb", "/work/b.ipynb", id="file"),
        pytest.param("/work", "/play", "/play/a.ipynb", id="folder"),
        pytest.param("/wor", "/play", "/work/a.ipynb", id="a name that only begins alike"),
    ],
)
def test_a_rename_is_followed(old: str, new: str, expected: str) -> None:
    sessions = store()
    file = judged(sessions)
    sessions.rename(PurePosixPath(old), PurePosixPath(new))
    assert [(entry.path, entry.file) for entry in sessions.entries("ada")] == [(PurePosixPath(expected), file)]


def test_a_rename_changes_the_name_that_the_user_sees() -> None:
    sessions = store()
    sessions.meet(ONE, PurePosixPath("/root/work/a.ipynb"), BEFORE, name="work/a.ipynb")
    sessions.rename(PurePosixPath("/root/work"), PurePosixPath("/root/play"))
    assert [entry.file.name for entry in sessions.entries("ada")] == ["play/a.ipynb"]


@pytest.mark.parametrize(("path", "left"), [("/work/a.ipynb", 0), ("/work", 0), ("/wor", 1), ("/work/b.ipynb", 1)])
def test_what_is_deleted_is_forgotten(path: str, left: int) -> None:
    sessions = store()
    judged(sessions)
    sessions.delete(PurePosixPath(path))
    assert len(list(sessions.entries("ada", PATH))) == left
