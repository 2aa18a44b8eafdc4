"""Agent sessions: what each of them was first shown of each file, and the last verdict that it had.

A store of frozen values with bounds and no work of its own: what is compared is decided in `diagnostics`, and who may
ask is decided before. A session belongs to a user; two sessions never see each other's baselines. Reading a baseline
does not use it up. A verdict is kept only by the caller that compared with what is still there (`keep`), so of two
checks at once the later one starts again from the earlier one's verdict instead of writing over it.
"""

import os
from collections import OrderedDict
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path, PurePath

from jupyter_lsp_agent.diagnostics.baseline import FileBaseline, LastVerdict
from jupyter_lsp_agent.diagnostics.report import Counts
from jupyter_lsp_agent.notebook.model import Cell
from jupyter_lsp_agent.service.requests import SessionKey


@dataclass(frozen=True, slots=True)
class SessionLimits:
    """How much is kept: sessions in all, files of one session, and for how long an unused session."""

    max_sessions: int = 1_000
    max_files: int = 256
    max_idle_seconds: float = 24 * 3600.0


@dataclass(frozen=True, slots=True)
class SessionFile:
    """What a session knows of a file.

    Attributes:
        baseline: what it is compared with.
        name: the file as its user names it.
        counts: of the last report; `None` before the first.
        checked_at: when that was.
        check_number: of the check that gave it, or met the file; they are numbered as they begin.
    """

    baseline: FileBaseline
    name: str = ""
    counts: Counts | None = None
    checked_at: datetime | None = None
    check_number: int = 0


@dataclass(frozen=True, slots=True)
class SessionEntry:
    """A session's file, as it is listed."""

    session: str
    path: PurePath
    file: SessionFile


class SessionStore:
    """The sessions of one server.

    Args:
        now_seconds: a time that never goes back.
        limits: how much is kept.
    """

    def __init__(self, now_seconds: Callable[[], float], limits: SessionLimits | None = None) -> None:
        self._now_seconds = now_seconds
        self._limits = limits or SessionLimits()
        self._sessions: OrderedDict[SessionKey, _Session] = OrderedDict()

    def find(self, key: SessionKey, path: PurePath) -> SessionFile | None:
        """What a session knows of a file; `None` where it has not met it, or has been forgotten."""
        session = self._use(key)
        return None if session is None else session.use(path)

    def peek(self, key: SessionKey, path: PurePath) -> SessionFile | None:
        """The same, without counting as use."""
        session = self._sessions.get(key)
        return None if session is None else session.files.get(path)

    def meet(
        self, key: SessionKey, path: PurePath, cells: tuple[Cell, ...], *, name: str = "", check_number: int = 0
    ) -> SessionFile:
        """What a session knows of a file; at first contact, `cells` become its baseline.

        Args:
            key: the session.
            path: the file, absolute.
            cells: the stored content, before an edit of this request; a plain text file is one code cell.
            name: the file as its user names it.
            check_number: of the check that meets it.
        """
        known = self.find(key, path)
        return known or self._put(key, path, SessionFile(FileBaseline(cells), name, check_number=check_number))

    def keep(self, key: SessionKey, path: PurePath, compared_with: FileBaseline, file: SessionFile) -> bool:
        """Keep a verdict, unless another was kept since `compared_with` was read, or the session forgot the file.

        Returns:
            Whether it was kept; where not, the caller compares again with what is there now.
        """
        known = self.find(key, path)
        if known is None or known.baseline is not compared_with:
            return False
        self._put(key, path, file)
        return True

    def accept(self, key: SessionKey, path: PurePath) -> SessionFile | None:
        """Make the last verdict the baseline; `None` where there is none."""
        known = self.find(key, path)
        if known is None or known.baseline.last is None:
            return known
        last: LastVerdict = known.baseline.last
        return self._put(key, path, replace(known, baseline=FileBaseline(last.cells, last.accepted())))

    def reset(self, key: SessionKey, path: PurePath) -> bool:
        """Forget a file; whether it was known."""
        session = self._use(key)
        return session is not None and session.files.pop(path, None) is not None

    def rename(self, old: PurePath, new: PurePath) -> None:
        """Follow a file or folder to its new name, in every session."""
        for session in self._sessions.values():
            for path in [path for path in session.files if path == old or old in path.parents]:
                file, moved = session.files.pop(path), new / path.relative_to(old)
                session.files[moved] = replace(file, name=_renamed(file.name, path, moved))

    def delete(self, path: PurePath) -> None:
        """Forget a file or folder that is gone, in every session."""
        for session in self._sessions.values():
            for gone in [known for known in session.files if known == path or path in known.parents]:
                del session.files[gone]

    def followed(self, path: PurePath | None = None) -> tuple[str, ...]:
        """The names of the files, or of the one, that some session of whatever user knows, each once.

        Those of the sessions used last are at the end.
        """
        self._drop_idle()
        known = (entry for session in self._sessions.values() for entry in session.files.items())
        return tuple(dict.fromkeys(file.name for where, file in known if path in (None, where)))

    def entries(self, user: str, path: PurePath | None = None) -> Iterator[SessionEntry]:
        """The files of a user's sessions, or those sessions' views of one file; the longest unused first."""
        self._drop_idle()
        for key, session in self._sessions.items():
            for known, file in session.files.items():
                if key.user == user and path in (None, known):
                    yield SessionEntry(key.name, known, file)

    def _put(self, key: SessionKey, path: PurePath, file: SessionFile) -> SessionFile:
        session = self._use(key) or self._open(key)
        session.put(path, file, self._limits.max_files)
        return file

    def _open(self, key: SessionKey) -> "_Session":
        while len(self._sessions) >= self._limits.max_sessions:
            self._sessions.popitem(last=False)
        return self._sessions.setdefault(key, _Session(self._now_seconds()))

    def _use(self, key: SessionKey) -> "_Session | None":
        self._drop_idle()
        session = self._sessions.get(key)
        if session is not None:
            session.used_at_seconds = self._now_seconds()
            self._sessions.move_to_end(key)
        return session

    def _drop_idle(self) -> None:
        oldest_seconds = self._now_seconds() - self._limits.max_idle_seconds
        while self._sessions:
            key, session = next(iter(self._sessions.items()))
            if session.used_at_seconds >= oldest_seconds:
                break
            del self._sessions[key]


def _renamed(name: str, old: PurePath, new: PurePath) -> str:
    """The user's name of a file that moved: below the same folder as before, where it is still there."""
    if not name or not old.as_posix().endswith(name):
        return name
    return new.as_posix().removeprefix(old.as_posix().removesuffix(name))


class _Session:
    """One session's files, the longest unused first."""

    def __init__(self, used_at_seconds: float) -> None:
        self.files: OrderedDict[PurePath, SessionFile] = OrderedDict()
        self.used_at_seconds = used_at_seconds

    def use(self, path: PurePath) -> SessionFile | None:
        if path in self.files:
            self.files.move_to_end(path)
        return self.files.get(path)

    def put(self, path: PurePath, file: SessionFile, max_files: int) -> None:
        self.files[path] = file
        self.files.move_to_end(path)
        while len(self.files) > max_files:
            self.files.popitem(last=False)


def session_path(location: Path) -> PurePath:
    """The one name under which sessions file a document, whoever asks."""
    return PurePath(os.path.normcase(os.path.normpath(location)))
