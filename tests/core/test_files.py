"""Reading what may be no regular file: it must end, and say why."""

import os
import socket
from pathlib import Path

import pytest

from jupyter_lsp_agent.core.files import (
    NotRegularFileError,
    exists,
    is_file,
    is_folder,
    read_regular_file,
    read_regular_text,
)


def test_a_regular_file_is_read_up_to_the_bound(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes(b"0123456789")
    assert (read_regular_file(path), read_regular_file(path, 4)) == (b"0123456789", b"0123")


def test_text_has_the_line_ends_that_pathlib_gives_it(tmp_path: Path) -> None:
    path = tmp_path / "a"
    path.write_bytes("ä\r\nb\rc\n".encode())
    assert read_regular_text(path) == path.read_text(encoding="utf-8")


def test_a_pipe_without_a_writer_is_refused_at_once(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(NotRegularFileError):
        read_regular_file(tmp_path / "pipe")


def test_a_device_and_a_socket_are_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)  # a socket's name has few characters
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind("s")
        for path in (Path("s"), Path("/dev/zero")):
            with pytest.raises(NotRegularFileError):
                read_regular_file(path)


def test_a_folder_is_told_as_one(tmp_path: Path) -> None:
    with pytest.raises(IsADirectoryError):
        read_regular_file(tmp_path)


@pytest.mark.parametrize("name", ["loop", "x" * 5000, "a\0b", "half\ud800"])
def test_a_path_that_cannot_be_looked_at_is_an_os_error_and_is_not_there(tmp_path: Path, name: str) -> None:
    (tmp_path / "loop").symlink_to(tmp_path / "loop")
    path = tmp_path / name
    assert not (is_file(path))
    assert not (is_folder(path))
    assert not (exists(path))
    with pytest.raises(OSError):  # noqa: PT011 - any kind of it
        read_regular_file(path)
